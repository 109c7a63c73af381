import Foundation
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
  static let without = CommandOption.list(
    "without", "FAULT",
    help: "Never let this go wrong: \(InjectedFault.allCases.map(\.rawValue).joined(separator: ", ")).")
  static let situations = CommandOption.number(
    "situations", "N", in: 1...1_000_000,
    help: "Fail unless each situation that the merge has a rule for, and each thing that goes wrong, came up so often.")
  static let whole = CommandOption.flag(
    "whole", help: "Print a failing run as it was, without looking for a smaller story.")
  static let planted = CommandOption.flag(
    "planted", help: "Switch each known defect on in turn: every one must be noticed within five hundred seeds.")
  static let jobs = CommandOption.number(
    "jobs", "N", in: 1...256, help: "Runs at a time; as many as there are processors if nothing is said.")

  static let replay = CommandOption.text(
    "replay", "FILE", help: "Replay the trace of a real replica that 'tombolo doctor --bundle' has written.")

  package static let declaration = CommandDeclaration(
    "simulate", summary: "Run replicas and a server on a virtual clock, network and disk, and look for broken promises",
    discussion:
      "Each seed is one run: edits, lost, doubled and late messages, power cuts at any write, wrong clocks, full disks,\n"
      + "copied and restored replicas, upgrades. A seed replays its run exactly. A failure names the invariant of\n"
      + "ARCHITECTURE.md, and tells the smallest story that was found to break it.",
    options: [
      seeds.declaration, seed.declaration, replicas.declaration, saves.declaration, schema.declaration,
      trace.declaration, forever.declaration, fault.declaration, without.declaration, situations.declaration,
      whole.declaration, planted.declaration, jobs.declaration, replay.declaration,
    ])

  /// Failures whose story is told; the rest only name their seed.
  private static let storiesMax = 3

  let first: UInt64
  let count: UInt64
  let schema: String?
  let replay: String?
  let isForever: Bool
  let isWhole: Bool
  let isSurvey: Bool
  let situationsMin: Int
  let jobs: Int
  let configuration: SimulationConfiguration

  package init(_ arguments: ParsedArguments) throws {
    let seed = try arguments.value(Self.seed)
    let seeds = try arguments.value(Self.seeds)
    isForever = try arguments.value(Self.forever)
    isWhole = try arguments.value(Self.whole)
    isSurvey = try arguments.value(Self.planted)
    situationsMin = try arguments.value(Self.situations) ?? 0
    first = UInt64(seed ?? 1)
    count = UInt64(seeds ?? (seed == nil ? 20 : 1))
    schema = try arguments.value(Self.schema)
    replay = try arguments.value(Self.replay)
    jobs = try arguments.value(Self.jobs) ?? ProcessInfo.processInfo.activeProcessorCount
    var configuration = SimulationConfiguration()
    if let replicas = try arguments.value(Self.replicas) { configuration.replicas = replicas }
    if let saves = try arguments.value(Self.saves) { configuration.saves = saves }
    configuration.plantedFault = try arguments.value(Self.fault)
    configuration.keepsTrace = try arguments.value(Self.trace)
    for name in try arguments.value(Self.without) {
      guard let fault = InjectedFault(rawValue: name) else { throw UsageError("--without knows no fault '\(name)'") }
      configuration.faults.remove(fault)
    }
    self.configuration = configuration
    if configuration.keepsTrace, count > 1 || isForever {
      throw UsageError("--trace is for one seed: give --seed alone")
    }
  }

  package func run(in context: CommandContext) throws {
    if let replay { return try BundleReplaying(file: replay).run(in: context) }
    if isSurvey { return try survey(context.output) }
    let document = try schema.map { try SchemaFile.read($0) }
    let simulation =
      document.map { Simulation(document: $0, configuration: configuration) }
      ?? Simulation(configuration: configuration)
    if configuration.keepsTrace { return try runTraced(simulation, context.output) }
    var tally = SimulationTally(started: ContinuousClock.now)
    let end = isForever ? UInt64.max / 2 : first + count
    do {
      try SeedSweep(simulation, jobs: jobs).run(seeds: first..<end) { seed, outcome in
        switch outcome {
        case .success(let report): tally.take(report)
        case .failure(let failure):
          tally.failed.append(seed)
          tell(failure, of: simulation, number: tally.failed.count, context.output)
          if isForever { throw CommandStatus.negative }
        }
        let done = seed - first + 1
        context.output.progress("\(done) seeds, \(tally.failed.count) failed")
        if isForever, done % 1_000 == 0 { context.output.line(tally.summary) }
      }
    } catch let status as CommandStatus where isForever {
      context.output.line(tally.summary)
      throw status
    }
    context.output.endProgress()
    context.output.line(tally.summary)
    let rare = tally.situations(below: situationsMin)
    if !rare.isEmpty { context.output.line("Too rare: \(rare.joined(separator: ", ")).") }
    if !tally.failed.isEmpty || !rare.isEmpty { throw CommandStatus.negative }
  }

  /// Each planted fault in turn.
  private func survey(_ output: Output) throws {
    let survey = PlantedFaultSurvey(configuration, jobs: jobs)
    var missed = 0
    for fault in PlantedFault.allCases where [nil, fault].contains(configuration.plantedFault) {
      let finding = survey.find(fault)
      if finding.caught == nil { missed += 1 }
      output.line(finding.sentence)
    }
    guard missed == 0 else { throw CommandStatus.negative }
  }

  private func tell(_ failure: SimulationFailure, of simulation: Simulation, number: Int, _ output: Output) {
    guard number <= Self.storiesMax else { return output.note(String(failure.description.prefix { $0 != "\n" })) }
    output.note((isWhole ? failure : simulation.shrunk(failure)).description)
  }

  /// Every line of one run, and at the end its digest.
  private func runTraced(_ simulation: Simulation, _ output: Output) throws {
    do {
      let report = try simulation.run(seed: first)
      for line in report.trace.lines { output.line(line) }
      output.line("digest \(report.trace.digest)")
    } catch let failure as SimulationFailure {
      output.line((isWhole ? failure : simulation.shrunk(failure)).description)
      throw CommandStatus.negative
    }
  }
}

/// What many runs came to.
struct SimulationTally {
  let started: ContinuousClock.Instant
  var passed = 0
  var failed: [UInt64] = []
  private var conflicts = 0
  private var statistics: SimulationStatistics?

  init(started: ContinuousClock.Instant) { self.started = started }

  mutating func take(_ report: SimulationReport) {
    passed += 1
    conflicts += report.conflicts
    if statistics == nil { statistics = report.statistics } else { statistics?.add(report.statistics) }
  }

  /// What came up less often than so many times.
  func situations(below minimum: Int) -> [String] {
    minimum > 0 ? statistics?.situations(below: minimum) ?? [] : []
  }

  var summary: String {
    let time = started.duration(to: .now)
    let seconds = Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
    let rate = Double(passed + failed.count) / max(seconds, 0.001)
    var lines = ["\(passed) seeds passed in \(Int(seconds)) s, \((rate * 10).rounded() / 10) a second."]
    if !failed.isEmpty {
      lines[0] = "\(passed) seeds passed, \(failed.count) failed: \(failed.map(String.init).joined(separator: ", "))."
    }
    guard let statistics else { return lines[0] }
    func list(_ counts: [(String, Int)]) -> String {
      counts.sorted { $0.0 < $1.0 }.map { "\($0.1) \($0.0)" }.joined(separator: ", ")
    }
    lines.append("Events: \(list(statistics.events.map { ($0.key, $0.value) } + [("conflicts", conflicts)])).")
    lines.append("Faults: \(list(statistics.faults.map { ($0.key.rawValue, $0.value) })).")
    lines.append("Situations: \(list(statistics.situations.map { ($0.key.rawValue, $0.value) })).")
    lines.append("Went wrong: \(list(statistics.faultSituations.map { ($0.key.rawValue, $0.value) })).")
    lines.append("States visited: \(statistics.states.count).")
    return lines.joined(separator: "\n")
  }
}
