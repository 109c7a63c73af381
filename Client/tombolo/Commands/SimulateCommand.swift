import Dispatch
import Foundation
import Synchronization
import TomboloProtocol
import TomboloSimulation

/// `tombolo simulate`
package struct SimulateCommand: Command {
  static let seeds = CommandOption.number(
    "seeds", "N", in: 1...100_000_000, help: "How many seeds to run; 20 if nothing is said.")
  static let seed = CommandOption.number(
    "seed", "SEED", in: 0...Int.max / 2, help: "The first seed; alone, the only one.")
  static let replicas = CommandOption.number(
    "replicas", "N", in: 1...16, help: "Replicas that edit; 3 if nothing is said.")
  static let saves = CommandOption.number(
    "saves", "N", in: 1...100_000, help: "Saves by all replicas together; 60 if nothing is said.")
  static let schema = CommandOption.text(
    "schema", "FILE", help: "A schema document to run on, in place of the sample that has every merge rule in it.")
  static let trace = CommandOption.flag("trace", help: "Print what happens, line by line; for one seed.")
  static let forever = CommandOption.flag("forever", help: "Run seed after seed until one fails.")
  static let fault = CommandOption.choice(
    "fault", of: PlantedFault.self, help: "Switch a defect on: the run must notice it.")
  static let jobs = CommandOption.number(
    "jobs", "N", in: 1...256, help: "Runs at a time; as many as there are processors if nothing is said.")

  package static let declaration = CommandDeclaration(
    "simulate", summary: "Run replicas and a server on a virtual clock, network and disk, and look for broken promises",
    discussion:
      "Each seed is one run: edits, syncs, lost and doubled messages, power cuts, wrong clocks, restored backups. A seed\n"
      + "replays its run exactly. A failure names the invariant of ARCHITECTURE.md and prints the last lines of its trace.",
    options: [
      seeds.declaration, seed.declaration, replicas.declaration, saves.declaration, schema.declaration,
      trace.declaration, forever.declaration, fault.declaration, jobs.declaration,
    ])

  /// Failures that are printed whole; the rest only name their seed.
  private static let failuresShownMax = 3

  let first: UInt64
  let count: UInt64
  let schema: String?
  let isForever: Bool
  let jobs: Int
  let configuration: SimulationConfiguration

  package init(_ arguments: ParsedArguments) throws {
    let seed = try arguments.value(Self.seed)
    let seeds = try arguments.value(Self.seeds)
    isForever = try arguments.value(Self.forever)
    first = UInt64(seed ?? 1)
    count = UInt64(seeds ?? (seed == nil ? 20 : 1))
    schema = try arguments.value(Self.schema)
    jobs = try arguments.value(Self.jobs) ?? ProcessInfo.processInfo.activeProcessorCount
    var configuration = SimulationConfiguration()
    if let replicas = try arguments.value(Self.replicas) { configuration.replicas = replicas }
    if let saves = try arguments.value(Self.saves) { configuration.saves = saves }
    configuration.fault = try arguments.value(Self.fault)
    configuration.keepsTrace = try arguments.value(Self.trace)
    self.configuration = configuration
    if configuration.keepsTrace, count > 1 || isForever {
      throw UsageError("--trace is for one seed: give --seed alone")
    }
  }

  package func run(in context: CommandContext) throws {
    let document = try schema.map { try SchemaFile.read($0) }
    let simulation =
      document.map { Simulation(document: $0, configuration: configuration) }
      ?? Simulation(configuration: configuration)
    if configuration.keepsTrace { return try runTraced(simulation, context.output) }
    var tally = Tally()
    var next = first
    repeat {
      // One batch after the other, so that a failure is told soon and progress is shown.
      let size = isForever ? UInt64(jobs) * 4 : min(count - (next - first), UInt64(jobs) * 4)
      for (seed, result) in Self.results(simulation, seeds: next..<next + size, jobs: jobs) {
        tally.take(seed, result, context.output)
      }
      next += size
      context.output.progress("\(next - first) seeds, \(tally.failed.count) failed")
    } while isForever ? tally.failed.isEmpty : next - first < count
    context.output.endProgress()
    context.output.line(tally.summary)
    if !tally.failed.isEmpty { throw CommandStatus.negative }
  }

  /// Every line of one run, and at the end its digest.
  private func runTraced(_ simulation: Simulation, _ output: Output) throws {
    do {
      let report = try simulation.run(seed: first)
      for line in report.trace.lines { output.line(line) }
      output.line("digest \(report.trace.digest)")
    } catch let failure as SimulationFailure {
      output.line(failure.description)
      throw CommandStatus.negative
    }
  }

  private typealias Outcome = Result<SimulationReport, any Error>

  private static func results(
    _ simulation: Simulation, seeds: Range<UInt64>, jobs: Int
  ) -> [(seed: UInt64, result: Outcome)] {
    let results = Guarded<[UInt64: Outcome]>([:])
    let next = Atomic<UInt64>(seeds.lowerBound)
    DispatchQueue.concurrentPerform(iterations: min(jobs, seeds.count)) { _ in
      while true {
        let seed = next.add(1, ordering: .relaxed).oldValue
        guard seed < seeds.upperBound else { return }
        let outcome = Outcome { try simulation.run(seed: seed) }
        results.withLock { $0[seed] = outcome }
      }
    }
    return results.withLock { $0 }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// What the runs came to.
  private struct Tally {
    var passed = 0
    var failed: [UInt64] = []
    var counts: [String: Int] = [:]
    var conflicts = 0

    mutating func take(_ seed: UInt64, _ result: Outcome, _ output: Output) {
      switch result {
      case .success(let report):
        passed += 1
        conflicts += report.conflicts
        counts.merge(report.counts) { $0 + $1 }
      case .failure(let error):
        failed.append(seed)
        let text = (error as? SimulationFailure)?.description ?? "seed \(seed): \(error)"
        let isShownWhole = failed.count <= SimulateCommand.failuresShownMax
        output.note(isShownWhole ? text : String(text.prefix { $0 != "\n" }))
      }
    }

    var summary: String {
      let kinds = counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
      let facts = (kinds + ["\(conflicts) conflicts"]).joined(separator: ", ")
      return failed.isEmpty
        ? "\(passed) seeds passed: \(facts)."
        : "\(passed) seeds passed, \(failed.count) failed: \(failed.map(String.init).joined(separator: ", "))."
    }
  }
}
