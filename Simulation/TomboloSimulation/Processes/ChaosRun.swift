import Foundation
import Tombolo
package import TomboloProtocol
import TomboloServer

/// Real processes on one machine: replicas that are edited and synced by the program, a daemon, and a proxy between them that
/// loses, doubles, delays and cuts short what passes. Every process is killed at random. At the end all is quiet,
/// everybody syncs, and the checkers of the simulation judge.
///
/// The seed draws what is done; when a process comes to what is the machine's matter, so a seed does not replay a run.
package final class ChaosRun: Sendable {
  package struct Options: Sendable {
    /// How long edits and faults go on.
    package var seconds: Int
    package var seed: UInt64
    package var replicas = 3
    /// Records beyond which no person makes new ones.
    package var recordsMax = 14
    /// Whether anything is killed, or anything happens to what passes.
    package var hasFaults = true
    /// Whether pushes may share commits; else they pass one by one, and more can be judged.
    package var overlaps = false
    /// The paths of the two programs.
    package var tombolo: String
    package var tombolod: String
    package var document: SchemaDocument

    package init(
      seconds: Int, seed: UInt64, tombolo: String, tombolod: String, document: SchemaDocument = .simulationSample
    ) {
      self.seconds = seconds
      self.seed = seed
      self.tombolo = tombolo
      self.tombolod = tombolod
      self.document = document
    }
  }

  static let storeName = "chaos"
  /// What a person may be refused: by a rule, or since a pull has taken the record away meanwhile.
  static let editRefusals: Set<ErrorCode> = SimulationRun.localRefusals.union([.unknownRecord, .badLine])
  /// What ends a sync through such a network.
  static let syncFailures: Set<ErrorCode> = [
    .serverUnreachable, .serverTimeout, .syncUnderWay, .unavailable, .unexpectedResponse,
  ]

  package let options: Options
  package let folder: String
  let witness: WireWitness
  let daemon: ChaosDaemon
  let trace = Guarded(SimulationTrace(keepsAll: false))
  let generator: Guarded<SeededGenerator>
  private let began = ContinuousClock.now
  /// Set once nothing goes wrong any more.
  private let isCalm = Guarded(false)
  /// Set by a push that the daemon is to be killed in.
  private let aim = Guarded(false)
  private static let tickMilliseconds = 4
  private static let stackBytes = 8 << 20
  private static let calmSecondsMax = 30
  private static let roundsMax = 12
  private static let commandMilliseconds = 150_000

  /// - Parameter folder: an empty one, in which everything lies and is left.
  package init(_ options: Options, in folder: String) {
    self.options = options
    self.folder = folder
    daemon = ChaosDaemon(program: options.tombolod, folder: folder)
    witness = WireWitness(directory: daemon.directory, store: Self.storeName, overlaps: options.overlaps)
    generator = Guarded(SeededGenerator(seed: options.seed))
  }

  // MARK: Notes

  func note(_ sentence: String) {
    let milliseconds = UInt64(max(0, began.duration(to: .now).milliseconds))
    trace.withLock { $0.append(milliseconds, sentence) }
  }

  func count(_ kind: String) { witness.notes.withLock { $0.statistics.count(kind) } }

  func fail(_ error: any Error) {
    witness.note(error as? SimulationFailure ?? SimulationFailure(.progress, "unexpected error: \(error)"))
  }

  // MARK: The run

  /// - Returns: what happened, and what the checkers need to judge it again.
  /// - Throws: ``SimulationFailure``.
  package func run() throws -> ChaosEvidence {
    do {
      return try perform()
    } catch {
      // Whatever failed first is what is told.
      _ = try? daemon.kill()
      var failure = error as? SimulationFailure ?? SimulationFailure(.progress, "unexpected error: \(error)")
      failure.seed = options.seed
      failure.trace = trace.withLock { $0.newest }
      failure.command =
        "tombolo chaos --seconds \(options.seconds) --seed \(options.seed); everything is kept in \(folder)"
      throw failure
    }
  }

  private func perform() throws -> ChaosEvidence {
    let token = folder + "/token"
    try expectSuccess(
      options.tombolod,
      ["token", "create", "--data", daemon.directory, "--store", Self.storeName, "--role", "owner", "--out", token])
    try daemon.start()
    let proxy = try Proxy(
      upstream: daemon.port, decide: { [self] line in decide(line) }, witness: witness.exchange)
    defer { proxy.close() }
    let url = "http://127.0.0.1:\(proxy.port)/v1/stores/\(Self.storeName)"
    let machines = try makeMachines(url: url, token: token)
    try stir(machines, proxy)
    try settle(machines)
    let auditor = folder + "/audit.store"
    try expectSuccess(options.tombolo, ["clone", url, auditor, "--token-file", token])
    try examine(machines.map(\.replica.path) + [auditor])
    let evidence = ChaosEvidence(self, replicas: machines.map(\.replica), auditor: auditor)
    try daemon.stop()
    try evidence.judge()
    return evidence
  }

  private func makeMachines(url: String, token: String) throws -> [ChaosMachine] {
    let schema = folder + "/schema.json"
    try Data(options.document.canonicalJSON).write(to: URL(fileURLWithPath: schema))
    var machines: [ChaosMachine] = []
    for index in 0..<options.replicas {
      let letter = SimulationRun.letter(index)
      let path = "\(folder)/\(letter).store"
      try expectSuccess(options.tombolo, ["init", path, "--schema", schema])
      try expectSuccess(options.tombolo, ["remote", "add", path, url, "--token-file", token])
      let replica = StoredReplica(name: letter, path: path)
      let roles = try replica.look { SchemaRoles($0.schema) }
      machines.append(
        ChaosMachine(
          self, letter: letter, path: path, roles: roles, generator: generator.withLock { $0.fork() }))
    }
    return machines
  }

  /// Everybody works, and the daemon is killed now and then, until the time is up.
  private func stir(_ machines: [ChaosMachine], _ proxy: Proxy) throws {
    let deadline = ContinuousClock.now + .seconds(options.seconds)
    let group = DispatchGroup()
    for machine in machines {
      group.enter()
      let thread = Thread {
        machine.work(until: deadline)
        group.leave()
      }
      thread.stackSize = Self.stackBytes
      thread.start()
    }
    var next = pause()
    var waited = 0
    while group.wait(timeout: .now() + .milliseconds(Self.tickMilliseconds)) == .timedOut {
      waited += Self.tickMilliseconds
      // Some kills are timed by a push that is on its way: those meet the server in the middle of one.
      let isAimed = aim.withLock { aim in
        defer { aim = false }
        return aim
      }
      guard options.hasFaults, isAimed || waited >= next, !witness.hasFailed else { continue }
      try strikeDaemon()
      next = pause()
      waited = 0
    }
    if let failure = witness.notes.withLock({ $0.failure }) { throw failure }
    isCalm.withLock { $0 = true }
    // Whatever still waits at the server ends with it, so that nothing of before comes in between.
    try daemon.stop()
    try daemon.start()
    let limit = ContinuousClock.now + .seconds(Self.calmSecondsMax)
    while proxy.underWay > 0 {
      guard ContinuousClock.now < limit else {
        throw SimulationFailure(.progress, "requests of before are still under way when all is quiet")
      }
      usleep(5_000)
    }
  }

  private func pause() -> Int { generator.withLock { $0.within(400...3_000) } }

  private func strikeDaemon() throws {
    if generator.withLock({ $0.chance(0.15) }) {
      try daemon.stop()
      count("daemon stopped")
      note("the daemon is asked to stop")
    } else if try daemon.kill() {
      count("daemon killed")
      note("the daemon is killed")
    }
    usleep(UInt32(generator.withLock { $0.pick([0, 0, 5, 50, 400]) ?? 0 }) * 1_000)
    try daemon.start()
    note("the daemon is back")
  }

  /// What becomes of a request.
  private func decide(_ line: String) -> Proxy.Action {
    guard options.hasFaults, !isCalm.withLock({ $0 }) else { return .pass }
    let isPush = line.hasPrefix("POST ") && line.contains("/changes ")
    let action = generator.withLock { generator -> Proxy.Action in
      if isPush, generator.chance(0.08) { aim.withLock { $0 = true } }
      switch generator.below(100) {
      case ..<5: return .dropRequest
      case ..<12: return .swallowAnswer
      case ..<18: return .double(laterMilliseconds: generator.pick([0, 5, 300, 2_000]) ?? 0)
      case ..<24: return .delayRequest(milliseconds: generator.within(10...1_500))
      case ..<28: return .delayAnswer(milliseconds: generator.within(10...1_500))
      case ..<32: return .cutRequest
      case ..<36: return .cutAnswer
      default: return .pass
      }
    }
    if let name = action.faultName { count(name) }
    return action
  }

  // MARK: The end

  /// Rounds of syncs until nobody has anything to send or to pull.
  private func settle(_ machines: [ChaosMachine]) throws {
    note("all is quiet, and everybody syncs")
    witness.isQuiet.withLock { $0 = true }
    for _ in 0..<Self.roundsMax {
      var isQuiet = true
      for machine in machines {
        let output = try expectSuccess(options.tombolo, ["sync", machine.replica.path, "--json"], orStatus: 1)
        guard let report = report(output) else {
          throw SimulationFailure(.progress, "\(machine.replica.name) cannot sync when all is quiet: \(output)")
        }
        try check(report, of: machine.replica.name)
        let isIdle = ["pushed", "parked", "applied"].allSatisfy { report[$0] == "0" }
        if !isIdle { isQuiet = false }
        machine.replica.memory.hasPulledAll = true
        try machine.look(wasKilled: false)
        let unsent = try machine.replica.look { try $0.replicaState()?.unsent ?? 0 }
        if unsent > 0 { isQuiet = false }
      }
      if isQuiet { return }
    }
    throw SimulationFailure(
      .progress, "after \(Self.roundsMax) rounds somebody still has something to send or to pull")
  }

  /// The programs' own examinations of every store, and SQLite's of the server's.
  private func examine(_ stores: [String]) throws {
    for store in stores {
      let told = try expectSuccess(options.tombolo, ["doctor", store, "--json"], orStatus: 1)
      guard let findings = Self.members(told), findings["status"] == "fine" else {
        throw SimulationFailure(.integrity, "the doctor finds a problem in \(store): \(told)")
      }
      let verified = try expectSuccess(options.tombolo, ["verify", store, "--json"], orStatus: 1)
      guard Self.members(verified)?["equal"] == "true" else {
        throw SimulationFailure(.convergence, "\(store) and the server differ: \(verified)")
      }
    }
    let faults = try SettledSaves(directory: daemon.directory, store: Self.storeName).faults()
    guard faults.isEmpty else {
      throw SimulationFailure(.integrity, "the server's file is damaged: \(faults.prefix(5).joined(separator: "; "))")
    }
  }

  // MARK: Calls

  /// Runs a program when nothing may go wrong.
  @discardableResult
  private func expectSuccess(_ program: String, _ arguments: [String], orStatus other: Int32 = 0) throws -> String {
    let (output, errors) = ("\(folder)/run-call.out", "\(folder)/run-call.err")
    let process = try ChildProcess(program, arguments, output: output, errors: errors)
    let ending = process.wait(milliseconds: Self.commandMilliseconds)
    if ending == nil { process.killAndWait() }
    let text = try String(contentsOfFile: output, encoding: .utf8)
    guard ending == .status(0) || ending == .status(other) else {
      let told = try String(contentsOfFile: errors, encoding: .utf8)
      throw SimulationFailure(
        .progress,
        "'\(arguments.joined(separator: " "))' ends with \(ending.map { "\($0)" } ?? "nothing"): \(told.prefix(600))")
    }
    return text
  }

  /// The members of the JSON object that a sync prints, as texts; nil where it printed none.
  func report(_ output: String) -> [String: String]? {
    let members = Self.members(output)
    return members?["pushed"] == nil ? nil : members
  }

  static func members(_ output: String) -> [String: String]? {
    guard case .object(let members)? = try? JSONValue(parsing: Array(output.utf8)) else { return nil }
    return Dictionary(
      members.members.map { member in
        let text =
          if case .string(let text) = member.value { text } else {
            String(decoding: member.value.compact, as: UTF8.self)
          }
        return (member.key, text)
      }, uniquingKeysWith: { first, _ in first })
  }

  /// A sync that is over leaves replica and server equal, and repairs nothing that nobody had damaged.
  func check(_ report: [String: String], of name: String) throws {
    if report["checksum"] == "different" {
      throw SimulationFailure(.convergence, "\(name)'s checksum differs from the server's after a sync: \(report)")
    }
    if let repaired = report["repaired"], repaired != "0" {
      throw SimulationFailure(.convergence, "\(name) had to repair \(repaired) records that nothing had damaged")
    }
  }
}

extension Proxy.Action {
  /// What the figures call it; nil where nothing goes wrong.
  fileprivate var faultName: String? {
    switch self {
    case .pass, .hold: nil
    case .dropRequest: "requests dropped"
    case .swallowAnswer: "answers dropped"
    case .double: "requests doubled"
    case .delayRequest: "requests delayed"
    case .delayAnswer: "answers delayed"
    case .cutRequest: "requests cut short"
    case .cutAnswer: "answers cut short"
    }
  }
}
