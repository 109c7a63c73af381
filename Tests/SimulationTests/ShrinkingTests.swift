import Testing

@testable import TomboloSimulation

/// A failure is told as the smallest story that still breaks the same promise.
@Suite("Smallest stories")
struct ShrinkingTests {
  private func failure(_ fault: PlantedFault) throws -> (simulation: Simulation, failure: SimulationFailure) {
    var configuration = SimulationConfiguration()
    configuration.plantedFault = fault
    let simulation = Simulation(configuration: configuration)
    for seed in UInt64(1)...50 {
      do {
        _ = try simulation.run(seed: seed)
      } catch let failure as SimulationFailure {
        return (simulation, failure)
      }
    }
    throw NotFound()
  }

  private struct NotFound: Error {}

  @Test(
    "The story of a defect has few steps or a quarter of the run's at most, and breaks the same promise",
    arguments: [PlantedFault.sendsHalfASave, .cursorBeforeData, .linkSetReplaced])
  func isSmall(_ fault: PlantedFault) throws {
    let (simulation, failure) = try failure(fault)
    let shrunk = simulation.shrunk(failure)
    let shrinking = try #require(shrunk.shrinking)
    #expect(shrunk.invariant == failure.invariant)
    #expect(shrinking.steps * 4 <= shrinking.stepsBefore || shrinking.steps <= 4)
    #expect(!shrunk.story.isEmpty)
    #expect(shrunk.description.contains("tombolo simulate --seed \(failure.seed) --fault \(fault.rawValue)"))
  }

  @Test("A story names records and people, in whole sentences")
  func sentences() throws {
    let (simulation, failure) = try failure(.sendsHalfASave)
    let story = simulation.shrunk(failure).story.joined(separator: "\n")
    #expect(story.contains(" s  Replica "))
    #expect(story.contains(" inserts ") || story.contains(" sets ") || story.contains(" deletes "))
    #expect(!story.contains("Optional"))
  }

  @Test("The same failure has the same story each time")
  func isDeterministic() throws {
    let (simulation, failure) = try failure(.cursorBeforeData)
    #expect(simulation.shrunk(failure).story == simulation.shrunk(failure).story)
  }
}
