import Tombolo
import TomboloProtocol

/// Each entry names a write that its author made, and each that was delivered is in the log of a replica of its author's,
/// but for values that the author wrote over.
struct ConflictLogChecker {
  let ledger: WireLedger
  /// The machine behind each replica id.
  let machines: [ReplicaID: String]
  /// Every save as its person made it, also those that were refused, or of which nothing was left to send.
  let made: [ChangeSet]

  private struct Author: Hashable {
    var record: RecordID
    var field: String
    var machine: String
  }

  func check(_ replicas: [any CheckedReplica]) throws {
    var kept: Set<RecordID> = []
    var living: Set<ReplicaID> = []
    for replica in replicas {
      kept.formUnion(try replica.store?.conflicts().map(\.id) ?? [])
      living.formUnion(try replica.replicaIDs())
    }
    var stamps: Set<Stamp> = []
    var newest: [Author: Stamp] = [:]
    for accepted in ledger.accepted.values { stamps.insert(accepted.changeSet.stamp) }
    for set in ledger.accepted.values.map(\.changeSet) + made {
      for case .update(let update) in set.changes {
        for write in update.writes {
          let author = author(update.id, write.name, set.stamp.replica)
          newest[author] = max(newest[author, default: .zero], set.stamp)
        }
      }
    }
    for entry in ledger.delivered where !entry.lost.stamp.isZero && !entry.lost.stamp.isDerived {
      // Where a first answer never left the server, not every accepted save is known here.
      guard stamps.contains(entry.lost.stamp) || !ledger.knowsPositions else {
        throw SimulationFailure(
          .noLostWrite,
          "an entry (\(entry.rule.rawValue)) about \(entry.record.short) names a write that nobody made: "
            + entry.lost.stamp.traceText)
      }
      guard !kept.contains(entry.id), living.contains(entry.replica), let field = entry.field else { continue }
      guard newest[author(entry.record, field, entry.replica), default: .zero] > entry.lost.stamp else {
        throw SimulationFailure(
          .noLostWrite,
          "the loss of \(entry.entity) \(entry.record.short).\(field)=\(entry.lost.value.traceText) "
            + "(\(entry.rule.rawValue)) was delivered to \(machines[entry.replica] ?? "its author"), and is in no log")
      }
    }
  }

  private func author(_ record: RecordID, _ field: String, _ replica: ReplicaID) -> Author {
    Author(record: ledger.resolve(record), field: field, machine: machines[replica, default: ""])
  }
}
