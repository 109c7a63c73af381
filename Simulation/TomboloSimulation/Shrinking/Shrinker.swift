import TomboloProtocol

/// Finds the smallest story of a failure: leaves out saves, faults, replicas and settings, as long as a run still breaks
/// the same promise.
///
/// Source: A. Zeller, R. Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", IEEE TSE 28(2), 2002 (ddmin).
struct Shrinker {
  private let simulation: Simulation
  private let original: SimulationFailure
  private var configuration: SimulationConfiguration
  private var runs = 0
  private var smallest: SimulationFailure
  /// Enough for all but the longest runs; each is shorter than the one before.
  private static let runsMax = 400

  /// One thing that a run can do without.
  private enum Step {
    case edit(Int)
    case fault(Int)
    case choice(Choices.Point)
  }

  init(simulation: Simulation, failure: SimulationFailure) {
    self.simulation = simulation
    original = failure
    smallest = failure
    configuration = simulation.configuration
    configuration.keepsTrace = true
  }

  mutating func shrink() -> SimulationFailure {
    var recorded: SimulationPlan?
    _ = simulation.run(seed: original.seed, replaying: nil, configuration) { recorded = $0.recorded }
    // A failure that its own record does not repeat keeps the trace that it has.
    guard var plan = recorded, fails(plan) else { return original }
    let before = Self.steps(of: plan).count
    shrinkSteps(&plan)
    shrinkSetting(&plan)
    shrinkSaves(&plan)
    shrinkReplicas(plan)
    shrinkSteps(&plan)
    smallest.story = smallest.trace.filter { !Self.isIdle($0) }
    smallest.trace = original.trace
    smallest.shrinking = .init(runs: runs, stepsBefore: before, steps: Self.steps(of: plan).count)
    return smallest
  }

  /// Whether a line tells only that somebody looked and found nothing.
  private static func isIdle(_ line: String) -> Bool {
    line.hasSuffix(" sends a pull") || line.hasSuffix(" sends a pull that waits")
      || line.contains(" 0 items up to position")
      || line.contains(" has synced: pushed 0, pulled 0, checksum equal")
  }

  /// Whether the plan breaks the same promise.
  private mutating func fails(_ plan: SimulationPlan) -> Bool {
    guard runs < Self.runsMax else { return false }
    runs += 1
    guard case .failure(let failure) = simulation.run(seed: original.seed, replaying: plan, configuration),
      failure.kind == original.kind
    else { return false }
    smallest = failure
    return true
  }

  // MARK: Steps

  private static func steps(of plan: SimulationPlan) -> [Step] {
    plan.edits.indices.map(Step.edit) + plan.faults.indices.map(Step.fault)
      + (plan.script ?? [:]).keys.sorted().map(Step.choice)
  }

  private static func keeping(_ steps: [Step], of plan: SimulationPlan) -> SimulationPlan {
    var kept = plan
    kept.edits = []
    kept.faults = []
    kept.script = [:]
    for step in steps {
      switch step {
      case .edit(let place): kept.edits.append(plan.edits[place])
      case .fault(let place): kept.faults.append(plan.faults[place])
      case .choice(let point): kept.script?[point] = plan.script?[point]
      }
    }
    return kept
  }

  private mutating func shrinkSteps(_ plan: inout SimulationPlan) {
    var steps = Self.steps(of: plan)
    var size = max(1, steps.count / 2)
    while !steps.isEmpty {
      var place = 0
      var hasShrunk = false
      while place < steps.count {
        let rest = Array(steps[..<place] + steps[min(steps.count, place + size)...])
        if fails(Self.keeping(rest, of: plan)) {
          steps = rest
          hasShrunk = true
        } else {
          place += size
        }
      }
      if size == 1, !hasShrunk || runs >= Self.runsMax { break }
      size = max(1, size / 2)
    }
    plan = Self.keeping(steps, of: plan)
  }

  // MARK: What holds for the whole run

  private mutating func shrinkSetting(_ plan: inout SimulationPlan) {
    attempt(&plan) { $0.end = max($0.edits.last?.time ?? 0, $0.faults.last?.time ?? 0) + 1 }
    attempt(&plan) { $0.end = 1 }
    attempt(&plan) { $0.setting = SimulationPlan.Setting() }
    attempt(&plan) { $0.kinds = [] }
    for kind in plan.kinds.sorted(by: { $0.rawValue < $1.rawValue }) { attempt(&plan) { $0.kinds.remove(kind) } }
    attempt(&plan) { $0.setting.pageItemsMax = 5_000 }
    attempt(&plan) { $0.setting.batchRecordsMax = 5_000 }
    attempt(&plan) { $0.setting.skews = [] }
    attempt(&plan) { $0.setting.clockStep = 1 }
    attempt(&plan) { $0.setting.olderReplicas = [] }
  }

  private mutating func attempt(_ plan: inout SimulationPlan, _ change: (inout SimulationPlan) -> Void) {
    var simpler = plan
    change(&simpler)
    if fails(simpler) { plan = simpler }
  }

  /// Saves of several operations lose those that the failure does not need, and operations the values.
  private mutating func shrinkSaves(_ plan: inout SimulationPlan) {
    for place in plan.edits.indices {
      guard case .save(var operations) = plan.edits[place].action else { continue }
      for index in operations.indices.reversed() where operations.count > 1 {
        let removed = operations.remove(at: index)
        var simpler = plan
        simpler.edits[place].action = .save(operations)
        if fails(simpler) { plan = simpler } else { operations.insert(removed, at: index) }
      }
    }
  }

  private mutating func shrinkReplicas(_ plan: SimulationPlan) {
    let all = configuration.replicas
    for count in 1..<max(1, all) {
      configuration.replicas = count
      if fails(plan) { return }
    }
    configuration.replicas = all
  }
}

extension SimulationFailure {
  /// What makes two failures the same one.
  var kind: String {
    let isUnexpected = reason.hasPrefix("unexpected error")
    return invariant.rawValue + (isUnexpected ? String(reason.prefix(60)) : "")
  }
}
