import Tombolo
import TomboloProtocol

/// What a replica has pulled never goes back within one epoch; only a crash may take what was not synced.
struct CursorChecker {
  func check(_ state: ReplicaState, _ replica: any CheckedReplica) throws {
    defer { replica.memory.cursor = state.cursor }
    guard let before = replica.memory.cursor, let now = state.cursor, before.epoch == now.epoch,
      // A pull from the start, after tombstones that it needs were forgotten.
      now.start == before.start
    else { return }
    guard now.position >= before.position, now.base >= before.base else {
      throw SimulationFailure(
        .bookkeeping,
        "\(replica.name)'s cursor went back from \(before.position.rawValue) to \(now.position.rawValue)")
    }
  }
}
