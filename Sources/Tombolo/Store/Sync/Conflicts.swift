package import TomboloProtocol
import TomboloSQLite

/// Writes of this replica that do not stand, and the way to make them stand after all.
extension Store {
  /// In the order in which they arrived.
  package func conflicts() throws -> [ConflictEntry] { try read { try Self.conflicts($0) } }

  static func conflicts(_ connection: Connection) throws -> [ConflictEntry] {
    var entries: [ConflictEntry] = []
    try connection.eachRow("SELECT body FROM _tombolo_conflict ORDER BY position, id") { row in
      if case .conflict(let entry) = try FeedItem(decoding: row.bytes(0), as: .cbor) { entries.append(entry) }
    }
    return entries
  }

  /// Writes the lost value again, as an ordinary save of now, and takes the entry from the list.
  ///
  /// A record that is gone is made anew, under its identity, with every value of it that was lost. A deletion that was undone
  /// is made again.
  ///
  /// - Throws: `unknown_record`, if there is no such entry, or nothing to write the value into; what a save throws.
  @discardableResult
  package func restoreConflict(_ id: RecordID) throws -> ConflictRestoration {
    var restoration = ConflictRestoration()
    let outcome = try save { writer in
      let entries = try Self.conflicts(writer.connection)
      guard let entry = entries.first(where: { $0.id == id }) else {
        throw TomboloError(
          .unknownRecord, "There is no conflict \(id).", remedy: "'tombolo conflicts STORE' lists those that there are."
        )
      }
      restoration = try ConflictRestoring(writer: writer, schema: schema).restore(entry, among: entries)
      try Self.forget(restoration.settled, writer.connection)
    }.outcome
    // What stands already changes nothing, and a save that changes nothing is rolled back whole.
    if outcome.save == nil { try write { try Self.forget(restoration.settled, $0) } }
    return restoration
  }

  private static func forget(_ entries: [RecordID], _ connection: Connection) throws {
    for id in entries {
      try connection.run("DELETE FROM _tombolo_conflict WHERE id = ?1") { $0.bind(id, at: 1) }
    }
  }
}

/// What came of making an entry good.
package struct ConflictRestoration: Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    /// A value was written again, or a pair made again.
    case written
    /// A record that was gone was made anew.
    case remade
    /// A deletion was made again.
    case deleted
    /// Somebody has deleted the record meanwhile: nothing was left to do.
    case needless
  }

  package var kind = Kind.needless
  /// The properties that were written.
  package var properties: [String] = []
  /// Of a record that was made anew: the properties of which nothing was lost, and that have their defaults or nothing.
  package var missing: [String] = []
  /// The entries that this settles.
  package var settled: [RecordID] = []
}

/// How each kind of entry is made good.
private struct ConflictRestoring {
  let writer: StoreWriter
  let schema: StoreSchema
  let replay: ChangeReplay

  init(writer: StoreWriter, schema: StoreSchema) throws {
    self.writer = writer
    self.schema = schema
    replay = try ChangeReplay(writer: writer, schema: schema)
  }

  func restore(_ entry: ConflictEntry, among entries: [ConflictEntry]) throws -> ConflictRestoration {
    guard let entity = schema.entity(entry.entity) else {
      throw TomboloError(
        .unknownEntity, "The store's schema has no entity \(entry.entity).",
        remedy: "Open the store with the schema version that has it.")
    }
    let id = try replay.resolve(entry.record)
    guard let concrete = try writer.concreteEntity(of: entity, id) else {
      return try remake(id, entity, entry, among: entries)
    }
    guard let field = entry.field else {
      guard Self.undoneDeletes.contains(entry.rule) else { throw Self.unrestorable(entry) }
      try writer.delete(concrete, id)
      return ConflictRestoration(kind: .deleted, settled: [entry.id])
    }
    if let plan = concrete.links.first(where: { $0.property == field && $0.isSource }),
      let target = try entry.lost.value.reference.map(replay.resolve), try isThere(target, plan.destination)
    {
      try writer.link(plan, id, target)
      return ConflictRestoration(kind: .written, properties: [field], settled: [entry.id])
    }
    guard let column = concrete.column(field) else { throw Self.unrestorable(entry) }
    var value = entry.lost.value
    if column.isCounter, case .integer(let delta) = value {
      value = try replay.sum(Change.CounterAddition(name: field, delta: delta), concrete, id)
    }
    try replay.put([field: value], in: concrete, id, isNew: false)
    return ConflictRestoration(kind: .written, properties: [field], settled: [entry.id])
  }

  /// Makes a record that is gone anew, with all that was lost of it.
  private func remake(
    _ id: RecordID, _ entity: EntityPlan, _ entry: ConflictEntry, among entries: [ConflictEntry]
  ) throws -> ConflictRestoration {
    // Somebody has deleted it meanwhile.
    if Self.undoneDeletes.contains(entry.rule) { return ConflictRestoration(kind: .needless, settled: [entry.id]) }
    let parts = entries.filter { $0.record == entry.record && $0.field != nil }
      .sorted { ($0.lost.stamp, $0.id) < ($1.lost.stamp, $1.id) }
    guard !parts.isEmpty else { throw Self.unrestorable(entry) }
    var values: [String: Value] = [:]
    for part in parts {
      guard let field = part.field, let column = entity.column(field) else { continue }
      switch column.kind {
      case .reference(let reference):
        // What it named may be gone as well; the record can be without.
        let target = try part.lost.value.reference.map(replay.resolve)
        let isKept = try target.map { try isThere($0, reference.destination) } ?? false
        values[field] = isKept || !column.isOptional ? part.lost.value : .null
      case .attribute:
        if column.isCounter, case .integer(let delta) = part.lost.value {
          values[field] = CounterMerge.sum(values[field] ?? column.constantDefault, delta)
        } else {
          values[field] = part.lost.value
        }
      }
    }
    try replay.put(values, in: entity, id, isNew: true)
    let written = entity.columns.map(\.property).filter { values[$0].map { !$0.isNull } ?? false }
    return ConflictRestoration(
      kind: .remade, properties: written,
      missing: entity.columns.map(\.property).filter { !written.contains($0) }, settled: parts.map(\.id))
  }

  private func isThere(_ id: RecordID, _ entity: String) throws -> Bool {
    guard let entity = schema.entity(entity) else { return false }
    return try writer.contains(entity, id)
  }

  private static let undoneDeletes: Set<ConflictRule> = [.deny, .editWins, .mergeUnseen]

  private static func unrestorable(_ entry: ConflictEntry) -> TomboloError {
    TomboloError(
      .unknownRecord, "The conflict \(entry.id) names no value that could be written again.",
      remedy: "Make the change again by hand.")
  }
}

extension ColumnPlan {
  /// Whether edits of it merge by addition.
  fileprivate var isCounter: Bool {
    guard case .attribute(let attribute) = kind else { return false }
    return attribute.merge == .counter
  }
}
