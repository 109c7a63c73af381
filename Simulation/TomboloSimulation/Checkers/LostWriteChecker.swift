import Tombolo
import TomboloProtocol

/// I2: each accepted write stands, or somebody who had seen it wrote after it, or an entry says what became of it.
///
/// The judgement is made from the wire alone: the change sets that were accepted, and the entries that the replicas hold.
struct LostWriteChecker {
  let roles: SchemaRoles
  let ledger: WireLedger
  private let entries: [ConflictEntry]
  /// Writes that a later accepted one names as its base: (record, field, clock, replica).
  private var seen: Set<Write> = []
  /// Writes that an entry calls lost, or that had the field of an entry about the whole record.
  private var reported: Set<Write> = []
  private var reportedRecords: Set<Write> = []
  /// Records that a change set deleted, and records created more than once.
  private var deleted: Set<RecordID> = []
  private var created: [RecordID: Int] = [:]

  private struct Write: Hashable {
    var record: RecordID
    var field: String
    var clock: UInt64
    var replica: ReplicaID
  }

  init(roles: SchemaRoles, ledger: WireLedger, entries: [ConflictEntry]) {
    self.roles = roles
    self.ledger = ledger
    self.entries = entries
    for entry in entries {
      let record = ledger.resolve(entry.record)
      if let field = entry.field {
        reported.insert(write(record, field, entry.lost.stamp))
      } else {
        reportedRecords.insert(write(record, "", entry.lost.stamp))
      }
    }
    for accepted in ledger.accepted.values {
      for change in accepted.changeSet.changes {
        switch change {
        case .update(let update):
          for field in update.writes where !field.base.isZero {
            seen.insert(write(ledger.resolve(update.id), field.name, field.base))
          }
        case .create(let create): created[create.id, default: 0] += 1
        case .delete(let delete): deleted.insert(ledger.resolve(delete.id))
        case .link: break
        }
      }
    }
  }

  private func write(_ record: RecordID, _ field: String, _ stamp: Stamp) -> Write {
    Write(record: record, field: field, clock: stamp.clock.rawValue, replica: stamp.replica)
  }

  func check(_ content: StoreContent) throws {
    for id in ledger.order {
      guard let accepted = ledger.accepted[id] else { continue }
      let set = accepted.changeSet
      for change in set.changes {
        switch change {
        case .create(let create):
          for field in create.fields where field.isAssigned {
            try check(field.name, field.value, of: create.id, create.entity, set.stamp, content)
          }
        case .update(let update):
          for field in update.writes {
            try check(field.name, field.value, of: update.id, update.entity, set.stamp, content)
          }
        case .delete, .link: break
        }
      }
    }
  }

  private func check(
    _ name: String, _ value: Value, of id: RecordID, _ entityName: String, _ stamp: Stamp, _ content: StoreContent
  ) throws {
    let record = ledger.resolve(id)
    // Another life of the record, or a death: the edits of the dead are judged by whoever killed them.
    guard created[id, default: 0] <= 1, let now = content.record(record), now.entity == entityName,
      let entity = roles.entity(entityName), let column = entity.plan.column(name)
    else { return }
    switch column.kind {
    case .attribute(let attribute):
      guard attribute.merge == .lastWriter, now.values[column.position] != value else { return }
    case .reference:
      guard let target = value.reference else { return }
      let resolved = ledger.resolve(target)
      // A reference to a dead record reads as nil and keeps its value.
      guard content.record(resolved) != nil, now.values[column.position].reference != resolved, resolved != record
      else {
        return
      }
    }
    let own = write(record, name, stamp)
    guard !seen.contains(own), !reported.contains(own), !reportedRecords.contains(write(record, "", stamp)) else {
      return
    }
    throw SimulationFailure(
      .noLostWrite,
      "\(entityName) \(record.short).\(name)=\(value.traceText), written by \(stamp.replica) and accepted, is now "
        + "\(now.values[column.position].traceText), and no entry says why")
  }
}
