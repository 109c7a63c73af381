package import TomboloProtocol
package import TomboloSQLite

/// Where the writer takes a record's values from: a model object, or a dictionary of the command line.
package protocol RowSource {
  /// Binds the columns of the set, in ascending position, to consecutive parameters from `first`.
  func bind(_ columns: ColumnSet, to statement: Statement, from first: Int32) throws
  /// One column's value, as storage has it.
  func value(of column: ColumnPlan) throws -> Value
  /// For a counter: what its writer saw before it changed it; nil for the value that is stored.
  func base(of column: ColumnPlan) -> Value?
}

extension RowSource {
  package func base(of column: ColumnPlan) -> Value? { nil }
}

/// The one write path: delete rules, uniqueness and recording, driven by the schema document.
/// `ModelContext.save` and the command line use it; it is valid only inside ``Store/save(author:_:)``.
package final class StoreWriter {
  let schema: StoreSchema
  let statements: WriterStatements
  let options: Store.Options
  /// The writer's connection, for reads that must see this transaction.
  package let connection: Connection

  var outcome = SaveOutcome()
  var inserted: [(entity: String, id: RecordID)] = []
  var updated: [(entity: String, id: RecordID)] = []
  /// Records of entities with unique keys that were inserted, or whose key was written.
  var uniquePending: [UniqueCandidate] = []
  /// Where each record is among the first of them.
  var pendingPlaces: [RecordID: [Int]] = [:]
  var pendingPlacesCount = 0
  /// Written references that are one-to-one or declared acyclic.
  var referencesPending: [ReferenceCandidate] = []
  /// What another program wrote is there already, and a key that rejects cannot refuse it any more.
  var toleratesDuplicates = false
  /// Whether an update that makes a unique key equal to another stored record's is refused, where the two would
  /// otherwise become one (a new record still takes the place of the one that it meets).
  package var keepsRecordsApart = false
  /// Made when the first record is written that may be too large for the server.
  var sizes: RecordSizes?
  /// The positions that this save has given to members of ordered lists; nil where nobody will ask.
  var places: [PlaceName: PositionKey]?
  var knownReplica: ReplicaID?
  /// What is only decided when the save is complete.
  var finalChecks: [FinalCheck] = []

  struct UniqueCandidate {
    var entity: EntityPlan
    var id: RecordID
    /// The columns that this save assigned.
    var assigned: ColumnSet
    var isInsert: Bool
  }

  /// Made with the first change; nil where nothing is recorded.
  private(set) var recorder: ChangeRecorder?
  /// The columns that hold text in another than composed form, as table and column; nil until somebody asks.
  private var uncomposed: Set<[String]>?

  init(schema: StoreSchema, connection: Connection, statements: WriterStatements, options: Store.Options) {
    self.schema = schema
    self.connection = connection
    self.statements = statements
    self.options = options
  }

  /// Whether nothing was changed, or everything changed back.
  var isUnchanged: Bool {
    if options.recordsHistory { return (recorder?.changeCount ?? 0) == 0 }
    return inserted.isEmpty && updated.isEmpty && outcome.deleted.isEmpty && outcome.touched.isEmpty
  }

  /// The recorder, where changes are recorded; asked for before the first change is made.
  func recording() throws -> ChangeRecorder? {
    guard options.recordsHistory else { return nil }
    if let recorder { return recorder }
    let recorder = try ChangeRecorder(connection, statements: statements, options: options)
    self.recorder = recorder
    return recorder
  }

  /// Inserts a record. `assigned` has the columns whose value somebody chose (decisions.md, "Unassigned"):
  /// the others carry the zero stamp.
  ///
  /// A unique key that matches a stored record, or one of this save, is settled at the end of the save (upsert): see
  /// ``SaveOutcome/merged``.
  package func insert(_ entity: EntityPlan, _ id: RecordID, assigned: ColumnSet, from source: some RowSource) throws {
    let recorder = try recording()
    var assigned = assigned
    let places = entity.orders.isEmpty ? [] : try newPlaces(entity, id, assigned: &assigned, source)
    let statement = try statements.insert(entity)
    statement.forgetBound()
    statement.bind(high: id.high, low: id.low, at: 1)
    if let stamps = try recorder?.newRowStamps(entity, assigned: assigned) {
      statement.bind(stamps, at: 2)
    } else {
      statement.bindNull(at: 2)
    }
    try source.bind(entity.allColumns, to: statement, from: 3)
    let wide = try check(entity, id, entity.allColumns, in: statement, from: 3, source)
    for (position, key) in places { statement.bind(key, at: Int32(position + 3)) }
    do {
      try statement.run()
    } catch let error as SQLiteError where error.isConstraint {
      throw try refusal(of: error, entity, id)
    }
    if wide != 0 { try noteTexts(entity, id, entity.allColumns, wide, from: 3, source) }
    try recorder?.create(entity, id)
    inserted.append((entity.name, id))
    if !entity.uniqueKeys.isEmpty {
      uniquePending.append(UniqueCandidate(entity: entity, id: id, assigned: assigned, isInsert: true))
    }
    if !entity.guardedReferences.isEmpty { noteReferences(entity, id, written: entity.allColumns) }
  }

  /// Writes the columns of `changed`; a column whose stored value is equal already is no change.
  /// - Returns: false if there is no such record.
  @discardableResult
  package func update(_ entity: EntityPlan, _ id: RecordID, changed: ColumnSet, from source: some RowSource) throws
    -> Bool
  {
    if changed.isEmpty { return try contains(entity, id) }
    let recorder = try recording()
    let given = changed
    let changed = entity.orders.isEmpty ? changed : withKeys(of: entity, changed)
    if recorder == nil, changed == given, entity.uniqueKeys.isEmpty, entity.guardedReferences.isEmpty,
      !entity.hasCounters
    {
      return try updatePlainly(entity, id, changed: changed, from: source)
    }
    let pair = try statements.update(entity, changed)
    guard let old = try oldValues(pair.select, id, count: changed.count) else { return false }
    var real = ColumnSet()
    var writes: [ChangeRecorder.Write] = []
    var replaced: [(parameter: Int32, value: Value)] = []
    var index = 0
    try changed.forEach { position in
      let column = entity.columns[position]
      var new = try source.value(of: column)
      if !given.contains(position) {
        // The key of a reference comes after it.
        new = try newPlace(entity, id, key: position, beside: writes) ?? old.values[index]
        if new != old.values[index] { replaced.append((Int32(3 + writes.count), new)) }
      }
      if column.isCounter, let total = try sum(entity, column, over: old.values[index], new, source) {
        new = total
        if new != old.values[index] { replaced.append((Int32(3 + writes.count), total)) }
        // The record does not show what its writer believes.
        outcome.touched.append((entity.name, id))
      }
      if new != old.values[index] {
        if try keepsStored(column, old.values[index], new, stamps: old.stamps) {
          outcome.touched.append((entity.name, id))
          index += 1
          return
        }
        real.insert(position)
        writes.append(ChangeRecorder.Write(column: column, old: old.values[index], new: new))
      }
      index += 1
    }
    if real.isEmpty { return true }
    let update = real == changed ? pair : try statements.update(entity, real)
    update.update.forgetBound()
    // Bound and checked before it is recorded: a value that cannot be stored leaves no trace.
    try source.bind(real, to: update.update, from: 3)
    let wide = try check(entity, id, real, in: update.update, from: 3, source)
    for (parameter, value) in replaced { update.update.bind(value, at: parameter) }
    try finishUpdate(entity, id, writes, old, recorder, update)
    if wide != 0 { try noteTexts(entity, id, real, wide, from: 3, source) }
    updated.append((entity.name, id))
    noteUnique(entity, id, written: real)
    noteReferences(entity, id, written: real)
    return true
  }

  /// What a counter comes to where others have added to it since its writer read it; nil where nobody has.
  /// - Throws: `integer_out_of_range`: what replicas exchange is the difference, which has to fit as well.
  private func sum(
    _ entity: EntityPlan, _ column: ColumnPlan, over stored: Value, _ new: Value, _ source: some RowSource
  ) throws -> Value? {
    let base = source.base(of: column) ?? stored
    guard CounterMerge.fits(from: base, to: new, over: stored) else {
      throw TomboloError(
        .integerOutOfRange,
        "The change of the counter \(entity.name).\(column.property) does not fit 64 bits with a sign.",
        remedy: "Change it by less: what travels is the difference.")
    }
    guard base != stored, let added = CounterMerge.delta(from: base, to: new) else { return nil }
    return CounterMerge.sum(stored, added)
  }

  /// Where nothing is recorded and no rule looks at the old values: one statement, which passes over equal values itself.
  private func updatePlainly(
    _ entity: EntityPlan, _ id: RecordID, changed: ColumnSet, from source: some RowSource
  ) throws -> Bool {
    let statement = try statements.plainUpdate(entity, changed)
    statement.forgetBound()
    statement.bind(high: id.high, low: id.low, at: 1)
    try source.bind(changed, to: statement, from: 3)
    let wide = try check(entity, id, changed, in: statement, from: 3, source)
    try statement.run()
    if connection.changes == 0 { return try contains(entity, id) }
    if wide != 0 { try noteTexts(entity, id, changed, wide, from: 3, source) }
    updated.append((entity.name, id))
    return true
  }

  /// Writes columns whose values are at hand: the consequences of rules, and what a unite brings together.
  func write(_ entity: EntityPlan, _ id: RecordID, _ values: [(column: ColumnPlan, value: Value)], isConsequence: Bool)
    throws
  {
    let values = values.sorted { $0.column.position < $1.column.position }
    var columns = ColumnSet()
    for (column, _) in values { columns.insert(column.position) }
    // A unite may bring nothing.
    if values.isEmpty { return }
    let recorder = try recording()
    let pair = try statements.update(entity, columns)
    guard let old = try oldValues(pair.select, id, count: values.count) else { return }
    let writes = zip(values, old.values).filter { $0.value != $1 }.map {
      ChangeRecorder.Write(column: $0.column, old: $1, new: $0.value, isConsequence: isConsequence)
    }
    if writes.isEmpty { return }
    for (index, item) in values.enumerated() {
      pair.update.bind(item.value, at: Int32(index + 3))
    }
    try finishUpdate(entity, id, writes, old, recorder, pair)
    for (column, value) in values {
      if case .text(let text) = value { try noteText(entity, id, column, text) }
    }
    outcome.touched.append((entity.name, id))
  }

  private func finishUpdate(
    _ entity: EntityPlan, _ id: RecordID, _ writes: [ChangeRecorder.Write], _ old: OldRow,
    _ recorder: ChangeRecorder?, _ statements: WriterStatements.UpdateStatements
  ) throws {
    let stamps = try recorder.map { try $0.update(entity, id, writes, stamps: old.stamps) } ?? old.stamps
    let update = statements.update
    statements.bind(id, row: old.row)
    if let stamps { update.bind(stamps, at: 2) } else { update.bindNull(at: 2) }
    try update.run()
  }

  func noteUnique(_ entity: EntityPlan, _ id: RecordID, written: ColumnSet) {
    guard entity.uniqueKeys.contains(where: { $0.columns.contains(where: written.contains) }) else { return }
    uniquePending.append(UniqueCandidate(entity: entity, id: id, assigned: written, isInsert: false))
  }

  func oldValues(_ select: Statement, _ id: RecordID, count: Int) throws -> OldRow? {
    select.bind(high: id.high, low: id.low, at: 1)
    defer { select.reset() }
    guard try select.step() else { return nil }
    return OldRow(
      row: select.int64(0), stamps: select.isNull(1) ? nil : select.bytes(1),
      values: (0..<count).map { select.value(Int32($0 + 2)) })
  }

  /// What a row shows before it is written.
  struct OldRow {
    /// Its number, where the statements name rows so.
    var row: Int64
    var stamps: [UInt8]?
    var values: [Value]
  }

  /// Whether there is such a record.
  func contains(_ entity: EntityPlan, _ id: RecordID) throws -> Bool { try concreteEntity(of: entity, id) != nil }

  /// The very entity of a record that is at least an `entity`; nil if there is no such record.
  func concreteEntity(of entity: EntityPlan, _ id: RecordID) throws -> EntityPlan? {
    let statement = try statements.question(.init(kind: .kind, entity: entity.index)) { entity.selectKind }
    statement.bind(id, at: 1)
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    guard entity.hasEntityColumn else { return entity }
    let name = statement.string(0)
    return entity.concreteNames.contains(name) ? schema.entity(name) : nil
  }

  // MARK: Checks of values

  /// - Returns: the parameters that hold text which may not be in composed form: to be noted once the row is written, which
  ///   forgets what was noted of the text before.
  private func check(
    _ entity: EntityPlan, _ id: RecordID, _ columns: ColumnSet, in statement: Statement, from first: Int32,
    _ source: some RowSource
  ) throws -> UInt64 {
    let bound = statement.bound
    try checkSize(of: entity, id, columns, atMost: bound.byteCount + 8 * columns.count, source)
    if bound.hasNaN { throw try notANumber(entity, columns, source) }
    guard bound.nulls != 0 else { return bound.wideTexts }
    var parameter = first
    try columns.forEach { position in
      defer { parameter += 1 }
      guard bound.nulls & Statement.BoundNotes.bit(parameter) != 0 else { return }
      let column = entity.columns[position]
      if !column.isOptional, try source.value(of: column).isNull { throw missingValue(entity, column) }
    }
    return bound.wideTexts
  }

  /// Remembers of a column that it holds text that is not in composed form (NFC).
  private func noteTexts(
    _ entity: EntityPlan, _ id: RecordID, _ columns: ColumnSet, _ wide: UInt64, from first: Int32,
    _ source: some RowSource
  ) throws {
    var parameter = first
    try columns.forEach { position in
      defer { parameter += 1 }
      guard wide & Statement.BoundNotes.bit(parameter) != 0 else { return }
      let column = entity.columns[position]
      if case .text(let text) = try source.value(of: column) { try noteText(entity, id, column, text) }
    }
  }

  func noteText(_ entity: EntityPlan, _ id: RecordID, _ column: ColumnPlan, _ text: String) throws {
    guard case .attribute(let attribute) = column.kind, attribute.type == .string, !text.isComposed else { return }
    try DecomposedTexts(connection: connection).note(text, of: id, in: column, of: entity)
    guard try isComposed(entity, column) else { return }
    uncomposed?.insert([entity.table, column.column])
    try connection.run("UPDATE _tombolo_column SET is_composed = 0 WHERE entity = ?1 AND property = ?2") {
      $0.bind(column.declaringEntity, at: 1)
      $0.bind(column.property, at: 2)
    }
  }

  /// Whether the column never held text in another than composed form: then equal text has equal bytes.
  func isComposed(_ entity: EntityPlan, _ column: ColumnPlan) throws -> Bool {
    let known: Set<[String]>
    if let uncomposed {
      known = uncomposed
    } else {
      known = try schema.uncomposedColumns(connection)
      uncomposed = known
    }
    return !known.contains([entity.table, column.column])
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
