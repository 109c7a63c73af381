import TomboloProtocol
import TomboloSQLite

/// Makes recorded changes once more, as part of the save of `writer`, by the rules that hold for every save.
struct ChangeReplay {
  let writer: StoreWriter
  let schema: StoreSchema
  private let rows: ReplicaRows

  init(writer: StoreWriter, schema: StoreSchema) throws {
    self.writer = writer
    self.schema = schema
    rows = try ReplicaRows(writer.connection, schema: schema, replicas: ReplicaNumbers(writer.connection))
  }

  /// - Throws: `unknown_record` for a record or a target that is not there; what the writer throws.
  func run(_ changes: [Change]) throws {
    var created: Set<RecordID> = []
    for case .create(let create) in changes { created.insert(create.id) }
    for change in changes { try run(change, created: created) }
  }

  private func run(_ change: Change, created: Set<RecordID>) throws {
    switch change {
    case .create(let create):
      let entity = try entity(create.entity)
      var values: [String: Value] = [:]
      for field in create.fields where field.isAssigned { values[field.name] = field.value }
      try put(values, in: entity, create.id, isNew: !writer.contains(entity, create.id), expecting: created)
    case .update(let update):
      let entity = try entity(update.entity)
      let id = try rows.resolve(update.id)
      var values = Dictionary(update.writes.map { ($0.name, $0.value) }, uniquingKeysWith: { _, last in last })
      for addition in update.additions { values[addition.name] = try sum(addition, entity, id) }
      try put(values, in: entity, id, isNew: false, expecting: created)
    case .delete(let delete): try writer.delete(try entity(delete.entity), try rows.resolve(delete.id))
    case .link(let change):
      guard let plan = schema.linkTables.first(where: { $0.link.key == change.link.relationship }) else { return }
      let source = try rows.resolve(change.link.source)
      let target = try rows.resolve(change.link.target)
      if change.isPresent {
        try require(source, plan.link.source)
        try require(target, plan.link.target)
      }
      let (own, other) = plan.isSource ? (source, target) : (target, source)
      if change.isPresent { try writer.link(plan, own, other) } else { try writer.unlink(plan, own, other) }
    }
  }

  /// Writes values into a record that is there, or into a new one.
  func put(
    _ values: [String: Value], in entity: EntityPlan, _ id: RecordID, isNew: Bool, expecting: Set<RecordID> = []
  ) throws {
    var values = values
    for column in entity.columns {
      guard case .reference(let reference) = column.kind, let named = values[column.property]?.reference else {
        continue
      }
      let target = try rows.resolve(named)
      values[column.property] = Value(reference: target)
      if !expecting.contains(target) { try require(target, reference.destination) }
    }
    let row = try ValueRow(entity, values.filter { entity.column($0.key) != nil })
    if isNew { return try writer.insert(entity, id, assigned: row.assigned, from: row) }
    guard try writer.update(entity, id, changed: row.assigned, from: row) else { throw Self.missing(entity.name, id) }
  }

  /// What a counter of the record comes to with an addition.
  func sum(_ addition: Change.CounterAddition, _ entity: EntityPlan, _ id: RecordID) throws -> Value {
    guard let column = entity.column(addition.name), let row = try rows.row(entity, id) else {
      throw Self.missing(entity.name, id)
    }
    return CounterMerge.sum(row.values[column.position], addition.delta)
  }

  func resolve(_ id: RecordID) throws -> RecordID { try rows.resolve(id) }

  private func require(_ id: RecordID, _ entity: String) throws {
    guard try writer.contains(try self.entity(entity), id) else { throw Self.missing(entity, id) }
  }

  private func entity(_ name: String) throws -> EntityPlan {
    guard let entity = schema.entity(name) else {
      throw TomboloError(
        .unknownEntity, "The store's schema has no entity \(name).",
        remedy: "Open the store with the schema version that has it.")
    }
    return entity
  }

  private static func missing(_ entity: String, _ id: RecordID) -> TomboloError {
    TomboloError(
      .unknownRecord, "The \(entity) \(id), which this needs, is not there.",
      remedy: "Restore or retry what made it first, or discard this.")
  }
}
