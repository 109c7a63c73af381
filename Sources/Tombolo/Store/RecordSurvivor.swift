package import TomboloProtocol
package import TomboloSQLite

/// What became of a record that was made one with another by a unique key.
struct RecordSurvivor {
  let connection: Connection
  let schema: StoreSchema

  /// The record that stands for one that is gone, whoever united them: a sync, another process, another context.
  ///
  /// - Returns: nil where the record was deleted, or never was, or what it became one with is gone as well.
  func of(_ record: RecordID) throws -> (entity: EntityPlan, id: RecordID)? {
    var id = record
    var seen: Set<RecordID> = [record]
    // Ends: each turn comes to another record.
    while let next = try next(after: id), seen.insert(next).inserted {
      if let entity = try entity(of: next) { return (entity, next) }
      id = next
    }
    return nil
  }

  private func next(after id: RecordID) throws -> RecordID? {
    let pulled = try connection.firstRow(
      "SELECT survivor FROM _tombolo_alias WHERE record = ?1", { $0.bind(id, at: 1) }, { $0.recordID(0) })
    if let pulled { return pulled }
    // One of this replica's own that no pull has confirmed.
    let bytes = try connection.firstRow(
      "SELECT detail FROM _tombolo_change WHERE record = ?1 AND kind = \(ChangeKind.delete.rawValue) "
        + "ORDER BY save DESC LIMIT 1", { $0.bind(id, at: 1) }, { $0.isNull(0) ? nil : $0.bytes(0) })
    guard let bytes, case .delete(let detail) = try ChangeDetail(.delete, decoding: bytes) else { return nil }
    return detail.survivor?.id
  }

  private func entity(of id: RecordID) throws -> EntityPlan? {
    for root in schema.entities where root.lineage.count == 1 {
      let column = root.hasEntityColumn ? "_tombolo_entity" : root.name.quotedLiteral
      let name = try connection.firstRow(
        "SELECT \(column) FROM \(root.table.quotedIdentifier) WHERE _tombolo_id = ?1", { $0.bind(id, at: 1) },
        { $0.string(0) })
      if let name { return schema.entity(name) }
    }
    return nil
  }
}

extension Store {
  /// The record that stands for one that was made one with another by a unique key; nil if there is none.
  package func survivor(of record: RecordID) throws -> (entity: String, id: RecordID)? {
    try read { try survivor(of: record, on: $0) }
  }

  package func survivor(of record: RecordID, on connection: Connection) throws -> (entity: String, id: RecordID)? {
    try RecordSurvivor(connection: connection, schema: schema).of(record).map { ($0.entity.name, $0.id) }
  }
}

extension StoreWriter {
  /// The record that stands for one that was made one with another by a unique key; nil if there is none.
  package func survivor(of record: RecordID) throws -> RecordID? {
    try RecordSurvivor(connection: connection, schema: schema).of(record)?.id
  }

  /// The record to which a reference is to lead whose own target was made one with another meanwhile; nil where the target
  /// is there, or is gone for good.
  ///
  /// - Parameters:
  ///   - entity: the target's.
  ///   - destination: what the reference may lead to.
  package func standing(
    for record: RecordID, _ entity: EntityPlan, among destination: EntityPlan
  ) throws -> RecordID? {
    if try contains(entity, record) { return nil }
    guard let home = try survivor(of: record), let concrete = try concreteEntity(of: destination, home) else {
      return nil
    }
    // The object follows where it can stand for the other.
    if concrete.lineage.contains(entity.name) { outcome.merged[record] = home }
    return home
  }

  /// Has whoever shows a record read it again: it was not written as its object has it.
  package func noteWrittenOtherwise(_ entity: EntityPlan, _ record: RecordID) {
    outcome.touched.append((entity.name, record))
  }

  /// Writes what was changed in a record that was made one with another meanwhile to the one that stands.
  ///
  /// - Returns: whether there is one.
  package func updateSurvivor(
    _ entity: EntityPlan, _ record: RecordID, changed: ColumnSet, from source: some RowSource
  ) throws -> Bool {
    guard let home = try survivor(of: record), try contains(entity, home),
      try update(entity, home, changed: changed, from: source)
    else { return false }
    outcome.merged[record] = home
    return true
  }
}
