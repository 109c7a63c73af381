import Testing

@testable import TomboloSimulation

/// What goes wrong, goes wrong in fact: every kind is injected, and only those that a run has.
@Suite("Injected faults")
struct FaultTests {
  private static func statistics(_ seeds: ClosedRange<UInt64>, without: Set<InjectedFault> = []) throws
    -> SimulationStatistics
  {
    var configuration = SimulationConfiguration()
    configuration.faults.subtract(without)
    let simulation = Simulation(configuration: configuration)
    var sum: SimulationStatistics?
    for seed in seeds {
      let report = try simulation.run(seed: seed)
      if sum == nil { sum = report.statistics } else { sum?.add(report.statistics) }
    }
    return try #require(sum)
  }

  @Test("Forty seeds see every kind of fault, and many states")
  func everyKind() throws {
    let statistics = try Self.statistics(1...40)
    let missing = InjectedFault.available.filter { statistics.faults[$0, default: 0] == 0 }.map(\.rawValue).sorted()
    #expect(missing == [])
    #expect(statistics.states.count > 500)
    #expect(statistics.situations[.concurrentEdits, default: 0] > 0)
    #expect(statistics.faultSituations[.answerLost, default: 0] > 0)
    #expect(statistics.faultSituations[.editInFlight, default: 0] > 0)
    #expect(statistics.situations(below: 1_000_000).count > statistics.situations(below: 1).count)
  }

  @Test("A fault that is left out never happens", arguments: [InjectedFault.drop, .replicaCrash, .fileCopy, .diskFull])
  func leftOut(_ fault: InjectedFault) throws {
    let statistics = try Self.statistics(1...5, without: [fault])
    #expect(statistics.faults[fault] == nil)
  }

  @Test("Each seed leaves some faults out, so that none hides another for ever")
  func swarm() {
    let subject = SimulationSubject(document: .simulationSample, older: .simulationSampleBefore)
    let kinds = (UInt64(1)...50).map {
      SimulationPlan(seed: $0, configuration: SimulationConfiguration(), subject: subject).kinds
    }
    for fault in InjectedFault.available {
      #expect(kinds.contains { $0.contains(fault) }, "\(fault.rawValue)")
      #expect(kinds.contains { !$0.contains(fault) }, "\(fault.rawValue)")
    }
    // A server is never lost where the last copy of something may be lost too.
    #expect(kinds.allSatisfy { !$0.contains(.serverRestore) || $0.isDisjoint(with: InjectedFault.foesOfServerRestore) })
  }

  @Test("A replay of a plan takes nothing from the seed: an empty plan is a run in which nothing happens")
  func emptyPlan() throws {
    let simulation = Simulation()
    let subject = simulation.subject
    var plan = SimulationPlan(seed: 3, configuration: simulation.configuration, subject: subject)
    plan.edits = []
    plan.faults = []
    plan.script = [:]
    plan.setting.olderReplicas = []
    let report = try simulation.run(seed: 3, replaying: plan, simulation.configuration).get()
    #expect(report.records == 0)
    #expect(report.statistics.events["saves"] == nil)
    #expect(report.statistics.faults.isEmpty)
  }
}
