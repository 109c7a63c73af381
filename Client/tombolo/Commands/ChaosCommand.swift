import Foundation
import TomboloProtocol
import TomboloSimulation

/// `tombolo chaos`
package struct ChaosCommand: Command {
  static let seconds = CommandOption.number(
    "seconds", "N", in: 1...1_000_000, help: "How long edits and faults go on; 60 if nothing is said.")
  static let seed = CommandOption.number(
    "seed", "SEED", in: 0...Int.max / 2, help: "What is drawn; 1 if nothing is said, one more for each round.")
  static let daemon = CommandOption.text(
    "tombolod", "PATH", help: "The daemon's program; the one beside this program if nothing is said.")
  static let schema = CommandOption.text(
    "schema", "FILE", help: "A schema document to run on, in place of the sample that has every merge rule in it.")
  static let replicas = CommandOption.number("replicas", "N", in: 1...16, help: "Replicas; 3 if nothing is said.")
  static let keep = CommandOption.flag("keep", help: "Keep the stores of rounds that passed, too.")

  package static let declaration = CommandDeclaration(
    "chaos", summary: "Run real processes, kill them at random, and look for broken promises",
    discussion:
      "Replicas are edited and synced by this very program, against a daemon, through a proxy that drops, doubles, delays and\n"
      + "cuts short what passes; clients and daemon are killed with -9. Rounds last a minute at most. After each, all is\n"
      + "synced and the simulation's checkers judge. A failure names the invariant of ARCHITECTURE.md, and the folder with\n"
      + "everything that is left. A seed draws the same commands and faults again; when a process comes to what it draws is\n"
      + "the machine's matter.",
    options: [
      seconds.declaration, seed.declaration, daemon.declaration, schema.declaration, replicas.declaration,
      keep.declaration,
    ])

  private static let roundSeconds = 60

  let seconds: Int
  let seed: UInt64
  let daemon: String?
  let schema: String?
  let replicas: Int
  let keepsAll: Bool

  package init(_ arguments: ParsedArguments) throws {
    seconds = try arguments.value(Self.seconds) ?? Self.roundSeconds
    seed = UInt64(try arguments.value(Self.seed) ?? 1)
    daemon = try arguments.value(Self.daemon)
    schema = try arguments.value(Self.schema)
    replicas = try arguments.value(Self.replicas) ?? 3
    keepsAll = try arguments.value(Self.keep)
  }

  package func run(in context: CommandContext) throws {
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let daemon = daemon ?? URL(fileURLWithPath: own).deletingLastPathComponent().appending(path: "tombolod").path
    guard FileManager.default.isExecutableFile(atPath: daemon) else { throw CommandFailure.unreadable(daemon) }
    let document = try schema.map { try SchemaFile.read($0) }
    var tally = ChaosTally()
    let rounds = (seconds + Self.roundSeconds - 1) / Self.roundSeconds
    for round in 0..<rounds {
      var options = ChaosRun.Options(
        seconds: min(Self.roundSeconds, seconds - round * Self.roundSeconds), seed: seed + UInt64(round),
        tombolo: own, tombolod: daemon)
      if let document { options.document = document }
      options.replicas = replicas
      // Shared commits and the order of acceptance cannot be had together: the rounds take turns.
      options.overlaps = round % 2 == 1
      do {
        try tally.take(ChaosRun(options, in: Self.makeFolder(context.randomness)).run(), keepsAll: keepsAll)
      } catch let failure as SimulationFailure {
        context.output.line(tally.summary)
        context.output.note(failure.description)
        throw CommandStatus.negative
      }
      if rounds > 1 { context.output.note("\(round + 1) of \(rounds) rounds passed.") }
    }
    context.output.line(tally.summary)
  }

  private static func makeFolder(_ randomness: any Randomness) throws -> String {
    let name = "tombolo-chaos-" + String(randomness.next(), radix: 36)
    let folder = FileManager.default.temporaryDirectory.appending(path: name).path
    do {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    } catch {
      throw CommandFailure.unwritable(folder)
    }
    return folder
  }
}

/// What all rounds came to.
struct ChaosTally {
  private var rounds = 0
  private var conflicts = 0
  private var events: [String: Int] = [:]

  mutating func take(_ evidence: ChaosEvidence, keepsAll: Bool) throws {
    rounds += 1
    conflicts += try evidence.conflicts()
    events.merge(evidence.statistics.events) { $0 + $1 }
    if !keepsAll { try? FileManager.default.removeItem(atPath: evidence.folder) }
  }

  var summary: String {
    let counts = events.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
    return "\(rounds) round\(rounds == 1 ? "" : "s") passed. \(conflicts) entries in the conflict logs.\n"
      + counts.joined(separator: "\n")
  }
}
