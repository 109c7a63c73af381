import Dispatch
import Foundation
import Synchronization
import TomboloProtocol

/// Many seeds on all processors, in batches: what came of them is told in the order of the seeds, soon after it is known.
package struct SeedSweep: Sendable {
  private let simulation: Simulation
  private let jobs: Int

  package init(_ simulation: Simulation, jobs: Int? = nil) {
    self.simulation = simulation
    self.jobs = max(1, jobs ?? ProcessInfo.processInfo.activeProcessorCount)
  }

  package typealias Outcome = Result<SimulationReport, SimulationFailure>

  /// Runs the seeds; `take` ends it by throwing.
  package func run(seeds: Range<UInt64>, _ take: (UInt64, Outcome) throws -> Void) rethrows {
    var next = seeds.lowerBound
    // A batch ends when its slowest seed does: of many seeds, larger ones. Small ones first, since what is looked for is often
    // found soon.
    let sizeMax = max(4, min(32, seeds.count / (jobs * 16)))
    var size = 1
    while next < seeds.upperBound {
      let end = min(seeds.upperBound, next + UInt64(jobs * size))
      size = min(size * 2, sizeMax)
      for (seed, outcome) in outcomes(of: next..<end) { try take(seed, outcome) }
      next = end
    }
  }

  private func outcomes(of seeds: Range<UInt64>) -> [(seed: UInt64, outcome: Outcome)] {
    let outcomes = Guarded<[UInt64: Outcome]>([:])
    let next = Atomic<UInt64>(seeds.lowerBound)
    DispatchQueue.concurrentPerform(iterations: min(jobs, seeds.count)) { _ in
      while true {
        let seed = next.add(1, ordering: .relaxed).oldValue
        guard seed < seeds.upperBound else { return }
        let outcome = simulation.run(seed: seed, replaying: nil, simulation.configuration)
        outcomes.withLock { $0[seed] = outcome }
      }
    }
    return outcomes.withLock { $0 }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}
