import Tombolo
import TomboloProtocol

/// I7: on a replica with nothing unsent no reference dangles, no unique key is held twice, nothing required is missing,
/// and no acyclic reference closes a cycle.
struct IntegrityChecker {
  let roles: SchemaRoles

  func check(_ content: StoreContent, on replica: String) throws {
    for record in content.records {
      guard let entity = roles.entity(record.entity) else { continue }
      for column in entity.plan.columns {
        guard case .reference(let reference) = column.kind else { continue }
        let value = record.values[column.position]
        guard let target = value.reference else {
          if !reference.isOptional {
            throw broken(replica, "\(record.entity) \(record.id.short).\(column.property) is required and nil")
          }
          continue
        }
        if reference.rule != .noAction, content.record(target) == nil {
          throw broken(
            replica, "\(record.entity) \(record.id.short).\(column.property) names \(target.short), which is not there")
        }
        if reference.isAcyclic { try checkCycle(from: record.id, column, entity, content, replica) }
      }
    }
    for (key, pairs) in content.links {
      for pair in pairs where content.record(pair.source) == nil || content.record(pair.target) == nil {
        throw broken(replica, "the link \(key) \(pair.source.short)–\(pair.target.short) has no record at one end")
      }
    }
    try checkUniqueKeys(content, replica)
    try checkOneToOne(content, replica)
  }

  private func checkCycle(
    from start: RecordID, _ column: ColumnPlan, _ entity: SchemaRoles.Entity, _ content: StoreContent, _ replica: String
  ) throws {
    var id = start
    for _ in 0...content.records.count {
      guard let record = content.record(id), record.entity == entity.plan.name,
        let next = record.values[column.position].reference
      else { return }
      if next == start {
        throw broken(replica, "\(entity.plan.name).\(column.property) closes a cycle at \(start.short)")
      }
      id = next
    }
  }

  private func checkUniqueKeys(_ content: StoreContent, _ replica: String) throws {
    var holders: [String: RecordID] = [:]
    for record in content.records {
      guard let entity = roles.entity(record.entity) else { continue }
      for key in entity.plan.uniqueKeys {
        let values = key.columns.map { record.values[$0] }
        guard !values.contains(.null) else { continue }
        let names = key.columns.map { entity.plan.columns[$0].property }
        // Composed and decomposed text are one key, and Swift's String compares them so.
        let text = "\(key.declaringEntity) \(names) \(values.map(\.traceText))"
        if let other = holders[text] {
          throw broken(replica, "\(other.short) and \(record.id.short) both hold \(text)")
        }
        holders[text] = record.id
      }
    }
  }

  private func checkOneToOne(_ content: StoreContent, _ replica: String) throws {
    var claims: [String: RecordID] = [:]
    for record in content.records {
      guard let entity = roles.entity(record.entity) else { continue }
      for column in entity.plan.columns {
        guard case .reference(let reference) = column.kind, reference.isOneToOne,
          let target = record.values[column.position].reference
        else { continue }
        let text = "\(reference.declaringEntity).\(column.property) → \(target.short)"
        if let other = claims[text] {
          throw broken(replica, "\(other.short) and \(record.id.short) both claim \(text)")
        }
        claims[text] = record.id
      }
    }
  }

  private func broken(_ replica: String, _ text: String) -> SimulationFailure {
    SimulationFailure(.integrity, "on \(replica) \(text)")
  }
}
