/// Whether each planted fault is noticed, and how soon: the proof that the checkers are awake.
package struct PlantedFaultSurvey: Sendable {
  /// What became of one fault.
  package struct Finding: Sendable {
    package var fault: PlantedFault
    /// The seed that noticed it, and the promise that was broken; nil where none did.
    package var caught: (seed: UInt64, invariant: SimulationFailure.Invariant)?

    package var sentence: String {
      guard let caught else { return "\(fault.rawValue): not noticed" }
      return "\(fault.rawValue): seed \(caught.seed) breaks \(caught.invariant.rawValue) (\(caught.invariant))"
    }
  }

  private struct Caught: Error {
    var failure: SimulationFailure
  }

  private let configuration: SimulationConfiguration
  private let jobs: Int?
  /// A fault that this many seeds do not notice is one that the checkers sleep through.
  package static let seedsMax: UInt64 = 500

  package init(_ configuration: SimulationConfiguration = SimulationConfiguration(), jobs: Int? = nil) {
    self.configuration = configuration
    self.jobs = jobs
  }

  package func find(_ fault: PlantedFault, seeds: Range<UInt64> = 1..<seedsMax + 1) -> Finding {
    var configuration = configuration
    configuration.plantedFault = fault
    do {
      try SeedSweep(Simulation(configuration: configuration), jobs: jobs).run(seeds: seeds) { _, outcome in
        if case .failure(let failure) = outcome { throw Caught(failure: failure) }
      }
    } catch let caught as Caught {
      return Finding(fault: fault, caught: (caught.failure.seed, caught.failure.invariant))
    } catch {}
    return Finding(fault: fault, caught: nil)
  }
}
