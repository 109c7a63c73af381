import Tombolo
import TomboloProtocol

/// A replica as the checkers see it, from outside: a machine of the simulation, or a store's file that real processes write.
protocol CheckedReplica: AnyObject {
  var name: String { get }
  /// Nil while it is not open.
  var store: Store? { get }
  /// What was seen of it before, to hold it to.
  var memory: ReplicaMemory { get set }
  /// What a reader sees now.
  func content() throws -> StoreContent?
}

extension CheckedReplica {
  /// The replica's id, and those that it had before.
  func replicaIDs() throws -> [ReplicaID] {
    try store?.replicaState().map { [$0.replica] + $0.formerReplicas } ?? []
  }
}
