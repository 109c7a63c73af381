import TomboloProtocol
import TomboloSQLite

/// The rows of records as images: what they show, with hidden references in their place; and the way back.
final class ReplicaRows {
  let connection: Connection
  let schema: StoreSchema
  let merge: MergeSchema
  let replicas: ReplicaNumbers
  /// Whether any reference is hidden, and whether any record was merged away.
  private(set) var hasHidden: Bool
  private(set) var hasAliases: Bool
  private var tables: [RecordTable?]
  private var lastStamps: (bytes: [UInt8], stamps: RowStamps)?
  private var uncomposed: Set<[String]>
  private var visible: [RecordID: Bool] = [:]

  init(_ connection: Connection, schema: StoreSchema, replicas: ReplicaNumbers) throws {
    self.connection = connection
    self.schema = schema
    self.replicas = replicas
    merge = schema.merge
    tables = [RecordTable?](repeating: nil, count: schema.entities.count)
    hasHidden = try connection.firstRow("SELECT 1 FROM _tombolo_hidden LIMIT 1") { _ in true } ?? false
    hasAliases = try connection.firstRow("SELECT 1 FROM _tombolo_alias LIMIT 1") { _ in true } ?? false
    uncomposed = try schema.uncomposedColumns(connection)
  }

  func entity(_ plan: EntityPlan) throws -> MergeSchema.Entity {
    guard let entity = merge.entity(plan.name) else {
      throw TomboloError(.unknownEntity, "The store's schema has no entity \(plan.name).")
    }
    return entity
  }

  /// The statements of an entity.
  func table(_ entity: EntityPlan) -> RecordTable {
    if let table = tables[entity.index] { return table }
    let table = RecordTable(entity, connection)
    tables[entity.index] = table
    return table
  }

  /// The stamps in a column, which are mostly those of the row before.
  func stamps(_ row: Statement, _ column: Int32) throws -> RowStamps? {
    if row.isNull(column) { return nil }
    if let lastStamps, row.withBytes(column, { $0.elementsEqual(lastStamps.bytes) }) { return lastStamps.stamps }
    let bytes = row.bytes(column)
    let stamps = try RowStamps(bytes, replicas)
    lastStamps = (bytes, stamps)
    return stamps
  }

  /// Stamps as the column holds them.
  func bytes(of stamps: RowStamps) throws -> [UInt8] {
    if let lastStamps, lastStamps.stamps == stamps { return lastStamps.bytes }
    let bytes = try stamps.encoded(replicas)
    lastStamps = (bytes, stamps)
    return bytes
  }

  /// A row as it lies in the table.
  struct Row: Hashable {
    var entity: EntityPlan
    var values: [Value]
    var stamps: RowStamps
    var hidden: [String: FieldMerge.Version]

    static func == (a: Row, b: Row) -> Bool {
      a.entity === b.entity && a.values == b.values && a.stamps == b.stamps && a.hidden == b.hidden
    }
    func hash(into hasher: inout Hasher) { hasher.combine(values) }
  }

  /// The very entity of a row, for one that is at least an `entity`.
  func concrete(_ entity: EntityPlan, _ id: RecordID) throws -> EntityPlan? {
    let kind = entity.hasEntityColumn ? "_tombolo_entity" : "1"
    return try connection.firstRow(
      "SELECT \(kind) FROM \(entity.table.quotedIdentifier) WHERE _tombolo_id = ?1", { $0.bind(id, at: 1) }
    ) { row in entity.hasEntityColumn ? schema.entity(row.string(0)) : entity } ?? nil
  }

  func row(_ entity: EntityPlan, _ id: RecordID) throws -> Row? {
    guard let concrete = entity.hasEntityColumn ? try concrete(entity, id) : entity else { return nil }
    let row = try table(concrete).select()
    row.bind(id, at: 1)
    defer { row.reset() }
    guard try row.step() else { return nil }
    let stamps = try self.stamps(row, 0) ?? RowStamps(created: .zero, columnCount: concrete.tableColumnCount)
    let values = concrete.columns.indices.map { row.value(Int32($0 + 1)) }
    return Row(entity: concrete, values: values, stamps: stamps, hidden: try hidden(id))
  }

  private func hidden(_ id: RecordID) throws -> [String: FieldMerge.Version] {
    guard hasHidden else { return [:] }
    var hidden: [String: FieldMerge.Version] = [:]
    try connection.eachRow(
      "SELECT attribute, target, stamp FROM _tombolo_hidden WHERE record = ?1", { $0.bind(id, at: 1) }
    ) { row in
      let stamp = row.isNull(2) ? Stamp.zero : try Stamp(row.bytes(2), replicas)
      hidden[row.string(0)] = FieldMerge.Version(value: Value(reference: row.recordID(1)), stamp: stamp)
    }
    return hidden
  }

  /// What the row stands for: hidden references in their place.
  func image(_ row: Row) -> RecordImage {
    var fields: [String: FieldMerge.Version] = [:]
    for (column, value) in zip(row.entity.columns, row.values) {
      let stamp = row.stamps.stamp(of: column.number)
      var version = FieldMerge.Version(value: value, stamp: stamp)
      // A hidden reference that was written over since is out of date.
      if let kept = row.hidden[column.property], kept.stamp.consequence == stamp { version = kept }
      fields[column.property] = version
    }
    return RecordImage(entity: row.entity.name, incarnation: row.stamps.created, fields: fields)
  }

  /// The row that shows the image, given what is visible now.
  func project(_ image: RecordImage, _ entity: EntityPlan, _ id: RecordID) throws -> Row {
    var values: [Value] = []
    values.reserveCapacity(entity.columns.count)
    var stamps = RowStamps(created: image.incarnation, columnCount: entity.tableColumnCount)
    var hidden: [String: FieldMerge.Version] = [:]
    for column in entity.columns {
      let version = image.fields[column.property] ?? FieldMerge.Version(value: column.constantDefault, stamp: .zero)
      var shown = version
      if case .reference(let reference) = column.kind {
        shown = try Overlay.shown(version, in: id, isAcyclic: reference.isAcyclic, resolve: resolve) {
          try isVisible($0, as: reference.destination)
        }
        if shown != version { hidden[column.property] = version }
      }
      values.append(storable(shown.value, in: column))
      stamps.set(shown.stamp, of: column.number)
    }
    return Row(entity: entity, values: values, stamps: stamps, hidden: hidden)
  }

  /// A required attribute that the server has no value for still needs one in the table.
  private func storable(_ value: Value, in column: ColumnPlan) -> Value {
    guard value.isNull, !column.isOptional, case .attribute = column.kind else { return value }
    if !column.constantDefault.isNull { return column.constantDefault }
    switch column.storageType {
    case "INTEGER": return .integer(0)
    case "REAL": return .real(0)
    case "TEXT": return .text("")
    default: return .blob([])
    }
  }

  // MARK: Writing

  func write(_ row: Row, _ id: RecordID, replacing old: Row?) throws {
    if old == row { return }
    let entity = row.entity
    if let old, old.entity !== entity { try remove(old.entity, id) }
    let stamps = try row.stamps.encoded(replicas)
    if let old, old.entity === entity {
      var changed = ColumnSet()
      for (position, value) in row.values.enumerated() where old.values[position] != value { changed.insert(position) }
      let update = try table(entity).update(changed)
      update.bind(id, at: 1)
      update.bind(stamps, at: 2)
      var parameter: Int32 = 3
      changed.forEach {
        update.bind(row.values[$0], at: parameter)
        parameter += 1
      }
      try update.run()
    } else {
      let insert = try table(entity).insert()
      insert.bind(id, at: 1)
      for (index, value) in row.values.enumerated() { insert.bind(value, at: Int32(index + 2)) }
      insert.bind(stamps, at: Int32(row.values.count + 2))
      try insert.run()
    }
    try noteText(row, of: id)
    if hasHidden || !row.hidden.isEmpty { try writeHidden(row, id, old: old?.hidden ?? [:]) }
    visible[id] = true
  }

  private func writeHidden(_ row: Row, _ id: RecordID, old: [String: FieldMerge.Version]) throws {
    for (attribute, kept) in row.hidden.sorted(by: { $0.key < $1.key }) where old[attribute] != kept {
      guard let target = kept.value.reference else { continue }
      let stamp = try kept.stamp.encoded(replicas)
      try connection.run(
        "INSERT OR REPLACE INTO _tombolo_hidden(record, entity, attribute, target, stamp) VALUES (?1, ?2, ?3, ?4, ?5)"
      ) {
        $0.bind(id, at: 1)
        $0.bind(row.entity.name, at: 2)
        $0.bind(attribute, at: 3)
        $0.bind(target, at: 4)
        $0.bind(stamp, at: 5)
      }
      hasHidden = true
    }
    for attribute in old.keys.sorted() where row.hidden[attribute] == nil {
      try connection.run("DELETE FROM _tombolo_hidden WHERE record = ?1 AND attribute = ?2") {
        $0.bind(id, at: 1)
        $0.bind(attribute, at: 2)
      }
    }
  }

  private func noteText(_ row: Row, of id: RecordID) throws {
    for (column, value) in zip(row.entity.columns, row.values) {
      try noteText(value, of: id, in: column, of: row.entity)
    }
  }

  /// A column remembers whether it ever held text that is not in composed form.
  func noteText(_ value: Value, of id: RecordID, in column: ColumnPlan, of entity: EntityPlan) throws {
    guard case .text(let text) = value, !text.isComposed else { return }
    try DecomposedTexts(connection: connection).note(text, of: id, in: column, of: entity)
    guard uncomposed.insert([entity.table, column.column]).inserted else { return }
    try connection.run("UPDATE _tombolo_column SET is_composed = 0 WHERE entity = ?1 AND property = ?2") {
      $0.bind(column.declaringEntity, at: 1)
      $0.bind(column.property, at: 2)
    }
  }

  /// - Returns: whether pairs went with it.
  @discardableResult
  func remove(_ entity: EntityPlan, _ id: RecordID) throws -> Bool {
    try connection.run(entity.deleteRow) { $0.bind(id, at: 1) }
    if hasHidden { try connection.run("DELETE FROM _tombolo_hidden WHERE record = ?1") { $0.bind(id, at: 1) } }
    var hadLinks = false
    for plan in schema.neighbours(of: entity).links {
      try connection.run("DELETE FROM \(plan.table.quotedIdentifier) WHERE \(plan.ownColumn) = ?1") {
        $0.bind(id, at: 1)
      }
      if connection.changes > 0 { hadLinks = true }
    }
    visible[id] = false
    return hadLinks
  }

  // MARK: What there is

  /// Whether readers see a record with this identity.
  func isVisible(_ id: RecordID, as destination: String) throws -> Bool {
    if let known = visible[id] { return known }
    guard let entity = schema.entity(destination) else { return false }
    let found =
      try connection.firstRow(
        "SELECT 1 FROM \(entity.table.quotedIdentifier) WHERE _tombolo_id = ?1", { $0.bind(id, at: 1) }, { _ in true })
      ?? false
    visible[id] = found
    return found
  }

  /// What the batch at hand is about to show, so that references within it find their targets.
  func expect(_ id: RecordID, isVisible: Bool) { visible[id] = isVisible }

  /// Forgets which records are visible, where that has become much. Not while any are expected that are not written yet.
  func limitMemory() { if visible.count > 50_000 { visible.removeAll(keepingCapacity: true) } }

  /// The record that stands for an id after all unique merges.
  func resolve(_ id: RecordID) throws -> RecordID {
    guard hasAliases else { return id }
    var id = id
    var seen: Set<RecordID> = []
    while seen.insert(id).inserted {
      let next = try connection.firstRow(
        "SELECT survivor FROM _tombolo_alias WHERE record = ?1", { $0.bind(id, at: 1) }, { $0.recordID(0) })
      guard let next = next ?? nil else { break }
      id = next
    }
    return id
  }

  /// Every id that stands for this record, itself first.
  func namesakes(of id: RecordID) throws -> [RecordID] {
    var names = [id]
    guard hasAliases else { return names }
    var next = 0
    while next < names.count {
      let name = names[next]
      next += 1
      try connection.eachRow("SELECT record FROM _tombolo_alias WHERE survivor = ?1", { $0.bind(name, at: 1) }) { row in
        if let alias = row.recordID(0), !names.contains(alias) { names.append(alias) }
      }
    }
    return names
  }

  func setAlias(_ id: RecordID, _ tombstone: Tombstone?) throws {
    guard let survivor = tombstone?.survivor else {
      if hasAliases { try connection.run("DELETE FROM _tombolo_alias WHERE record = ?1") { $0.bind(id, at: 1) } }
      return
    }
    try connection.run("INSERT OR REPLACE INTO _tombolo_alias(record, survivor) VALUES (?1, ?2)") {
      $0.bind(id, at: 1)
      $0.bind(survivor.id, at: 2)
    }
    hasAliases = true
  }
}
