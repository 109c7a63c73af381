import Tombolo
import TomboloProtocol

/// I5: every counter is the sum of the deltas that were accepted, each once; every accepted insert is one record.
struct ExactlyOnceChecker {
  let roles: SchemaRoles
  let ledger: WireLedger

  private struct Counter: Hashable {
    var record: RecordID
    var field: String
  }

  func check(_ content: StoreContent) throws {
    var sums: [Counter: Int64] = [:]
    var isUncertain: Set<RecordID> = []
    var creations: [RecordID: Int] = [:]
    for id in ledger.order {
      guard let accepted = ledger.accepted[id] else { continue }
      for (index, change) in accepted.changeSet.changes.enumerated() {
        let fallen = accepted.fell.filter { Int($0.change) == index }
        switch change {
        case .create(let create):
          creations[create.id, default: 0] += 1
          for field in create.fields {
            if case .integer(let value) = field.value {
              sums[Counter(record: create.id, field: field.name), default: 0] += value
            }
          }
          if !fallen.isEmpty { isUncertain.insert(create.id) }
        case .update(let update):
          // Which parts fell is only in the first answer; where that was lost, the sum is not known from outside.
          if !fallen.isEmpty || ledger.heardOf.contains(id) { isUncertain.insert(update.id) }
          for addition in update.additions {
            sums[Counter(record: update.id, field: addition.name), default: 0] += addition.delta
          }
        case .delete, .link: break
        }
      }
    }
    let merged = Set(ledger.survivors.keys).union(ledger.survivors.values)
    for record in content.records where !merged.contains(record.id) {
      guard let entity = roles.entity(record.entity) else { continue }
      guard let creation = creations[record.id] else {
        throw SimulationFailure(
          .exactlyOnce, "\(record.entity) \(record.id.short) exists and nobody's insert was accepted")
      }
      for column in entity.plan.columns {
        guard case .attribute(let attribute) = column.kind, attribute.merge == .counter else { continue }
        guard creation == 1, !ledger.deadWhenLost.contains(record.id),
          !isUncertain.contains(record.id) || column.position == entity.ledger
        else { continue }
        let expected = sums[Counter(record: record.id, field: column.property), default: 0]
        if record.values[column.position] != .integer(expected) {
          throw SimulationFailure(
            .exactlyOnce,
            "\(record.entity) \(record.id.short).\(column.property) is \(record.values[column.position].traceText); "
              + "the accepted deltas give \(expected)")
        }
      }
    }
  }
}
