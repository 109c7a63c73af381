import TomboloProtocol

/// I12: the stamps of one replica's saves grow with their numbers, through crashes and wrong clocks, and none is given twice.
struct StampChecker {
  let ledger: WireLedger

  /// After the loss of a server the numbers of saves begin anew.
  private struct Numbering: Hashable {
    var replica: ReplicaID
    var life: Int
  }

  func check() throws {
    var byReplica: [Numbering: [WireLedger.Accepted]] = [:]
    var holders: [Stamp: SaveID] = [:]
    for id in ledger.order {
      guard let accepted = ledger.accepted[id] else { continue }
      byReplica[Numbering(replica: accepted.replica, life: accepted.life), default: []].append(accepted)
      if let other = holders.updateValue(id, forKey: accepted.changeSet.stamp) {
        throw SimulationFailure(
          .determinism, "saves \(other) and \(id) were taken under one stamp, \(accepted.changeSet.stamp.traceText)")
      }
    }
    for (numbering, saves) in byReplica.sorted(by: { ($0.key.replica, $0.key.life) < ($1.key.replica, $1.key.life) }) {
      let inOrder = saves.sorted { $0.changeSet.number < $1.changeSet.number }
      for (earlier, later) in zip(inOrder, inOrder.dropFirst())
      where earlier.changeSet.stamp.replica == later.changeSet.stamp.replica
        && earlier.changeSet.stamp >= later.changeSet.stamp
      {
        throw SimulationFailure(
          .determinism,
          "replica \(numbering.replica) made save \(later.changeSet.number.rawValue) under \(later.changeSet.stamp.traceText), "
            + "which is not above its save \(earlier.changeSet.number.rawValue) under \(earlier.changeSet.stamp.traceText)"
        )
      }
    }
  }
}
