import Tombolo
import TomboloProtocol

/// I1: after everybody has pushed and pulled all, every replica holds what a fresh one gets from the server, and all
/// checksums are one.
struct ConvergenceChecker {
  func check(_ replicas: [any CheckedReplica], against auditor: any CheckedReplica) throws {
    guard let truth = try auditor.content(), let store = auditor.store else { return }
    let sum = try store.checksum()
    for replica in replicas {
      guard let mine = try replica.content(), let own = replica.store else { continue }
      if let difference = mine.difference(from: truth, schema: own.schema) {
        throw SimulationFailure(.convergence, "\(replica.name) and a fresh replica differ: \(difference)")
      }
      let ownSum = try own.checksum()
      if ownSum != sum {
        throw SimulationFailure(
          .convergence, "\(replica.name) and a fresh replica show the same values under different stamps")
      }
    }
  }
}
