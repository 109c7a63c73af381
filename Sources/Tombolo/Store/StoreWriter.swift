package import TomboloProtocol
package import TomboloSQLite

/// Where the writer takes a record's values from: a model object, or a dictionary of the command line.
package protocol RowSource {
  /// Binds the columns of the set, in ascending position, to consecutive parameters from `first`.
  func bind(_ columns: ColumnSet, to statement: Statement, from first: Int32) throws
  /// One column's value, as storage has it.
  func value(of column: ColumnPlan) throws -> Value
}

/// The one write path: delete rules, uniqueness and recording, driven by the schema document.
/// `ModelContext.save` and the command line use it; it is valid only inside ``Store/save(author:_:)``.
package final class StoreWriter {
  let schema: StoreSchema
  let statements: WriterStatements
  let path: String
  /// The writer's connection, for reads that must see this transaction.
  package let connection: Connection

  var outcome = SaveOutcome()
  var inserted: [(entity: String, id: RecordID)] = []
  var updated: [(entity: String, id: RecordID)] = []
  /// Records of entities with unique keys that were inserted, or whose key was written.
  var uniquePending: [UniqueCandidate] = []
  /// What is only decided when the save is complete.
  var finalChecks: [FinalCheck] = []

  struct UniqueCandidate {
    var entity: EntityPlan
    var id: RecordID
    /// The columns that this save assigned.
    var assigned: ColumnSet
    var isInsert: Bool
  }

  init(schema: StoreSchema, connection: Connection, statements: WriterStatements, path: String) {
    self.schema = schema
    self.connection = connection
    self.statements = statements
    self.path = path
  }

  /// Whether nothing was changed.
  var isUnchanged: Bool {
    inserted.isEmpty && updated.isEmpty && outcome.deleted.isEmpty && outcome.touched.isEmpty
  }

  /// Inserts a record. `assigned` has the columns whose value somebody chose (decisions.md, "Unassigned"):
  /// the others carry the zero stamp.
  ///
  /// A unique key that matches a stored record, or one of this save, is settled at the end of the save (upsert): see
  /// ``SaveOutcome/merged``.
  package func insert(_ entity: EntityPlan, _ id: RecordID, assigned: ColumnSet, from source: some RowSource) throws {
    let statement = try statements.insert(entity)
    statement.forgetBound()
    statement.bind(high: id.high, low: id.low, at: 1)
    statement.bindNull(at: 2)
    try source.bind(entity.allColumns, to: statement, from: 3)
    try check(entity, entity.allColumns, in: statement, from: 3, source)
    do {
      try statement.run()
    } catch let error as SQLiteError where error.isConstraint {
      throw try refusal(of: error, entity, id)
    }
    inserted.append((entity.name, id))
    if !entity.uniqueKeys.isEmpty {
      uniquePending.append(UniqueCandidate(entity: entity, id: id, assigned: assigned, isInsert: true))
    }
  }

  /// Writes the columns of `changed`; a column whose stored value is equal already is no change.
  /// - Returns: false if there is no such record.
  @discardableResult
  package func update(_ entity: EntityPlan, _ id: RecordID, changed: ColumnSet, from source: some RowSource) throws
    -> Bool
  {
    if changed.isEmpty { return try contains(entity, id) }
    let pair = try statements.update(entity, changed)
    pair.select.bind(high: id.high, low: id.low, at: 1)
    guard let old = try oldValues(pair.select, count: changed.count) else { return false }
    var real = ColumnSet()
    var index = 0
    try changed.forEach { position in
      if try source.value(of: entity.columns[position]) != old.values[index] { real.insert(position) }
      index += 1
    }
    if real.isEmpty { return true }
    let update = real == changed ? pair.update : try statements.update(entity, real).update
    update.forgetBound()
    update.bind(high: id.high, low: id.low, at: 1)
    if let stamps = old.stamps { update.bind(stamps, at: 2) } else { update.bindNull(at: 2) }
    try source.bind(real, to: update, from: 3)
    try check(entity, real, in: update, from: 3, source)
    try update.run()
    updated.append((entity.name, id))
    noteUnique(entity, id, written: real)
    return true
  }

  func noteUnique(_ entity: EntityPlan, _ id: RecordID, written: ColumnSet) {
    guard entity.uniqueKeys.contains(where: { $0.columns.contains(where: written.contains) }) else { return }
    uniquePending.append(UniqueCandidate(entity: entity, id: id, assigned: written, isInsert: false))
  }

  private func oldValues(_ select: Statement, count: Int) throws -> (stamps: [UInt8]?, values: [Value])? {
    defer { select.reset() }
    guard try select.step() else { return nil }
    return (select.isNull(0) ? nil : select.bytes(0), (1...count).map { select.value(Int32($0)) })
  }

  /// Whether there is such a record.
  func contains(_ entity: EntityPlan, _ id: RecordID) throws -> Bool { try concreteEntity(of: entity, id) != nil }

  /// The very entity of a record that is at least an `entity`; nil if there is no such record.
  func concreteEntity(of entity: EntityPlan, _ id: RecordID) throws -> EntityPlan? {
    let kind = entity.hasEntityColumn ? "_tombolo_entity" : "1"
    return try connection.firstRow(
      "SELECT \(kind) FROM \(entity.table.quotedIdentifier) WHERE _tombolo_id = ?1", { $0.bind(id, at: 1) }
    ) { row in
      guard entity.hasEntityColumn else { return entity }
      let name = row.string(0)
      return entity.concreteNames.contains(name) ? schema.entity(name) : nil
    } ?? nil
  }

  // MARK: Checks of values

  private func check(
    _ entity: EntityPlan, _ columns: ColumnSet, in statement: Statement, from first: Int32, _ source: some RowSource
  ) throws {
    let bound = statement.bound
    if bound.hasNaN { throw try notANumber(entity, columns, source) }
    guard bound.nulls != 0 else { return }
    var parameter = first
    try columns.forEach { position in
      defer { parameter += 1 }
      guard bound.nulls & Statement.BoundNotes.bit(parameter) != 0 else { return }
      let column = entity.columns[position]
      if !column.isOptional, try source.value(of: column).isNull { throw missingValue(entity, column) }
    }
  }

  private func notANumber(_ entity: EntityPlan, _ columns: ColumnSet, _ source: some RowSource) throws -> TomboloError {
    var name = ""
    try columns.forEach { position in
      let column = entity.columns[position]
      // SQLite would make NULL of it, and so may the source's own value.
      switch try source.value(of: column) {
      case .real(let value) where value.isNaN: name = column.property
      case .null where name.isEmpty && column.storageType == "REAL": name = column.property
      default: break
      }
    }
    return TomboloError(
      .notANumber, "\(entity.name).\(name) is not a number (NaN), which cannot be stored.",
      remedy: "Store nil in an optional attribute instead.",
      details: [TomboloError.Detail(code: "not_a_number", entity: entity.name, property: name, text: "not a number")])
  }

  func missingValue(_ entity: EntityPlan, _ column: ColumnPlan) -> TomboloError {
    let isReference = if case .reference = column.kind { true } else { false }
    return TomboloError(
      isReference ? .requiredReference : .requiredAttribute,
      "\(entity.name).\(column.property) is required and has no value.",
      remedy: "Give it a value before saving, or declare it optional.",
      details: [
        TomboloError.Detail(
          code: isReference ? "required_reference" : "required_attribute", entity: entity.name,
          property: column.property, text: "a value is required")
      ])
  }

  private func refusal(of error: SQLiteError, _ entity: EntityPlan, _ id: RecordID) throws -> any Error {
    guard try concreteEntity(of: schema.entity(entity.root) ?? entity, id) != nil else { return error }
    return TomboloError(.recordExists, "There is a record of \(entity.root) with the identity \(id) already.")
  }
}
