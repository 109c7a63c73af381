import Tombolo
import TomboloProtocol

/// I6: what stands is a function of the accepted writes alone, whatever the order in which they arrived: the greatest
/// stamp, the greatest or smallest value, the first writer's value. Writes to a record that was merged into another count
/// as writes to that one.
///
/// Records with a second life are left out: there the order of arrival may show (merge.md). So are the unique values
/// of united records.
struct OrderChecker {
  let roles: SchemaRoles
  let ledger: WireLedger

  private struct Field: Hashable {
    var record: RecordID
    var name: String
  }

  private struct Version {
    var value: Value
    var stamp: Stamp
  }

  func check(_ content: StoreContent) throws {
    var versions: [Field: [Version]] = [:]
    var creations: [RecordID: Int] = [:]
    // Whoever made two records one chose the values.
    var unitedBySave: Set<RecordID> = []
    for accepted in ledger.accepted.values {
      let stamp = accepted.changeSet.stamp
      for change in accepted.changeSet.changes {
        switch change {
        case .create(let create):
          creations[create.id, default: 0] += 1
          for field in create.fields where field.isAssigned {
            versions[Field(record: ledger.resolve(create.id), name: field.name), default: []]
              .append(Version(value: field.value, stamp: stamp))
          }
        case .update(let update):
          for field in update.writes {
            versions[Field(record: ledger.resolve(update.id), name: field.name), default: []]
              .append(Version(value: field.value, stamp: stamp))
          }
        case .delete(let delete):
          if delete.survivor != nil { unitedBySave.insert(ledger.resolve(delete.id)) }
        case .link: break
        }
      }
    }
    let hasSecondLife = Set(creations.filter { $0.value > 1 }.map { ledger.resolve($0.key) })
    let united = Set(ledger.survivors.keys.map(ledger.resolve))
    for record in content.records
    where !hasSecondLife.contains(record.id) && creations[record.id] == 1 && !ledger.deadWhenLost.contains(record.id)
      && !unitedBySave.contains(record.id)
    {
      guard let entity = roles.entity(record.entity) else { continue }
      for column in entity.plan.columns {
        if united.contains(record.id), entity.uniqueColumns.contains(column.position) { continue }
        guard case .attribute(let attribute) = column.kind,
          let written = versions[Field(record: record.id, name: column.property)],
          let expected = Self.standing(of: written, attribute)
        else { continue }
        if record.values[column.position] != expected {
          throw SimulationFailure(
            .determinism,
            "\(record.entity) \(record.id.short).\(column.property) is \(record.values[column.position].traceText); "
              + "the accepted writes give \(expected.traceText), in whatever order they came")
        }
      }
    }
  }

  /// Nil where this checker has no opinion.
  private static func standing(of versions: [Version], _ attribute: SchemaAttribute) -> Value? {
    switch attribute.merge {
    case .counter: return nil
    case .lastWriter: return versions.max { $0.stamp < $1.stamp }?.value
    case .firstWriter: return versions.min { $0.stamp < $1.stamp }?.value
    case .max, .min:
      let isMax = attribute.merge == .max
      let values = versions.map(\.value)
      guard !values.contains(.null) else { return nil }
      return values.max { a, b in
        let isLess = FieldMerge.isLess(a, b, of: attribute.type)
        return isMax ? isLess : FieldMerge.isLess(b, a, of: attribute.type)
      }
    }
  }
}
