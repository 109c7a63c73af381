import TomboloProtocol
import TomboloSQLite

/// A save's changes, read when somebody asks.
final class HistoryDetails: Sendable {
  private let core: ContainerCore
  private let part: StorePart
  private let number: Int64
  private let loaded = Guarded<[HistoryChange]?>(nil)

  init(core: ContainerCore, part: StorePart, number: Int64) {
    self.core = core
    self.part = part
    self.number = number
  }

  /// Empty where they cannot be read.
  var changes: [HistoryChange] {
    if let known = loaded.withLock({ $0 }) { return known }
    try? load()
    return loaded.withLock { $0 } ?? []
  }

  func load() throws {
    let changes = try part.store.read { connection in
      try HistoryReader(connection, core: core, part: part, number: number).changes()
    }
    loaded.withLock { $0 = changes }
  }
}

/// Makes history's changes of the rows that a save has recorded.
private struct HistoryReader {
  private struct Entry {
    let entity: EntityPlan
    let record: RecordID
    let position: Int64
    var kind: ChangeKind
    /// Names of properties, in the order of their writing.
    var updated: [String] = []
    var values: [Int: Value] = [:]
  }

  private let connection: Connection
  private let core: ContainerCore
  private let part: StorePart
  private let number: Int64

  init(_ connection: Connection, core: ContainerCore, part: StorePart, number: Int64) {
    self.connection = connection
    self.core = core
    self.part = part
    self.number = number
  }

  func changes() throws -> [HistoryChange] {
    guard let save = HistoryNumber.save(of: number) else { return try pulled() }
    var entries: [Entry] = []
    var places: [RecordID: Int] = [:]
    try connection.eachRow(try HistoryTable.changes(connection), { $0.bind(save, at: 1) }) { row in
      guard let entity = part.store.schema.entity(number: Int(row.int64(1))), let record = row.recordID(2),
        let kind = ChangeKind(rawValue: Int(row.int64(3)))
      else { throw TomboloError.damaged("a change cannot be read") }
      let detail = try ChangeDetail(kind, decoding: row.isNull(4) ? nil : row.bytes(4))
      let place = places[record] ?? entries.count
      if place == entries.count {
        places[record] = place
        entries.append(Entry(entity: entity, record: record, position: row.int64(0), kind: kind))
      }
      Self.take(detail, into: &entries[place])
    }
    return described(entries)
  }

  private func described(_ entries: [Entry]) -> [HistoryChange] {
    entries.compactMap { entry in
      core.plans.plan(named: entry.entity.name).map { change(entry, $0, $0.description.type) }
    }
  }

  /// What a sync brought.
  private func pulled() throws -> [HistoryChange] {
    var entries: [Entry] = []
    for change in try PulledHistory(connection: connection).changes(of: number) {
      guard let entity = part.store.schema.entity(number: change.entity) else { continue }
      let kind: ChangeKind =
        switch change.kind {
        case .insert: .create
        case .update: .update
        case .delete: .delete
        }
      let columns = entity.columns.filter { change.columns.contains($0.number) }.map(\.property)
      entries.append(
        Entry(
          entity: entity, record: change.record, position: Int64(entries.count), kind: kind,
          updated: columns + change.links.sorted(), values: change.preserved))
    }
    return described(entries)
  }

  private static func take(_ detail: ChangeDetail, into entry: inout Entry) {
    switch detail {
    case .create: entry.kind = .create
    case .delete(let delete):
      entry.kind = .delete
      entry.values = delete.values
    case .update(let update):
      let numbers = update.fields.map(\.column)
      entry.updated += entry.entity.columns.filter { numbers.contains($0.number) }.map(\.property)
    case .link(let link):
      guard let plan = entry.entity.links.first(where: { $0.link.key == link.link.relationship }),
        !entry.updated.contains(plan.property)
      else { return }
      entry.updated.append(plan.property)
    }
  }

  private func change<Model: PersistentModel>(_ entry: Entry, _ plan: ModelPlan, _ type: Model.Type) -> HistoryChange {
    let identifier = PersistentIdentifier(
      record: entry.record, entityName: entry.entity.name, storeIdentifier: part.storeIdentifier, isTemporary: false)
    switch entry.kind {
    case .create:
      return .insert(
        DefaultHistoryInsert<Model>(
          changedPersistentIdentifier: identifier, transactionIdentifier: number, changeIdentifier: entry.position))
    case .update, .link:
      let paths = entry.updated.compactMap { name in
        plan.description.properties.first { $0.name == name }?.path as? PartialKeyPath<Model>
      }
      return .update(
        DefaultHistoryUpdate<Model>(
          changedPersistentIdentifier: identifier, transactionIdentifier: number, changeIdentifier: entry.position,
          updatedAttributes: paths))
    case .delete:
      return .delete(
        DefaultHistoryDelete<Model>(
          changedPersistentIdentifier: identifier, transactionIdentifier: number, changeIdentifier: entry.position,
          tombstone: tombstone(entry, plan, type)))
    }
  }

  private func tombstone<Model: PersistentModel>(
    _ entry: Entry, _ plan: ModelPlan, _ type: Model.Type
  ) -> HistoryTombstone<Model> {
    let preserved = plan.description.properties.filter { property in
      guard case .attribute(let attribute) = property.kind else { return false }
      return attribute.options.contains(Schema.Attribute.Option.preserveValueOnDeletion.name)
    }
    guard !preserved.isEmpty else { return HistoryTombstone([]) }
    var byName: [String: Value] = [:]
    for column in entry.entity.columns { byName[column.property] = entry.values[column.number] }
    guard let object = DeletedPlaceholder.make(type, entry.record, values: byName) else { return HistoryTombstone([]) }
    let root: Any = object
    return HistoryTombstone(
      preserved.compactMap { property in
        guard let value = byName[property.name], !value.isNull, let path = property.path as? PartialKeyPath<Model>,
          let read = root[keyPath: property.path]
        else { return nil }
        return (path, Self.sendable(read))
      })
  }

  /// The value was made for the tombstone alone: nobody else holds it. `Sendable` has no witness at run time, so a cast to
  /// it cannot be written; the representation is the same.
  private static func sendable(_ value: Any) -> any Sendable { unsafeBitCast(value as Any, to: (any Sendable).self) }
}
