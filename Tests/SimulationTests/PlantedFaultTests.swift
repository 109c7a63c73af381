import Testing

@testable import TomboloSimulation

/// A checker that never fires proves nothing: each planted defect must be noticed, on seeds that sound code passes.
@Suite("Planted faults")
struct PlantedFaultTests {
  private static let seedsMax: UInt64 = 40

  @Test(
    "Each defect is caught within a few seeds, and the sound code passes the seed that caught it",
    arguments: PlantedFault.allCases)
  func isCaught(_ fault: PlantedFault) throws {
    var configuration = SimulationConfiguration()
    configuration.mix = .all
    configuration.fault = fault
    let faulty = Simulation(configuration: configuration)
    configuration.fault = nil
    let sound = Simulation(configuration: configuration)
    for seed in UInt64(1)...Self.seedsMax {
      do {
        _ = try faulty.run(seed: seed)
      } catch let failure as SimulationFailure {
        #expect(failure.seed == seed)
        #expect(!failure.trace.isEmpty)
        _ = try sound.run(seed: seed)
        return
      }
    }
    Issue.record("\(fault.rawValue) went unnoticed for \(Self.seedsMax) seeds")
  }
}
