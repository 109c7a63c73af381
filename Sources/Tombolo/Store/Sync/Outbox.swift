import TomboloProtocol
import TomboloSQLite

/// The saves to send, each whole: values come from its own record, from what later saves covered, or from the row.
struct Outbox {
  let connection: Connection
  let schema: StoreSchema
  private let rows: ReplicaRows

  init(_ connection: Connection, schema: StoreSchema, rows: ReplicaRows? = nil) throws {
    self.connection = connection
    self.schema = schema
    self.rows = try rows ?? ReplicaRows(connection, schema: schema, replicas: ReplicaNumbers(connection))
  }

  /// A condition on a save: edits that cancelled out may have left it without a change.
  static let hasChanges = "EXISTS (SELECT 1 FROM _tombolo_change WHERE save = _tombolo_save.number)"

  func changeSets(recordsMax: Int, bytesMax: Int) throws -> [ChangeSet] {
    let offset = try RemoteBook(connection).numberOffset
    // Saves without a change keep the numbers in order, and go along with the next that has one.
    let hasWork = try connection.firstRow(
      "SELECT 1 FROM _tombolo_save WHERE state = 1 AND \(Self.hasChanges) LIMIT 1"
    ) { _ in true }
    guard hasWork ?? false else { return [] }
    guard let last = try lastSave(recordsMax: recordsMax) else { return [] }
    let queue =
      rows.hasAliases
      ? try PendingQueue(connection, schema: schema)
      : try PendingQueue(connection, schema: schema, sendingUpTo: last)
    let writing = queue.saves.filter { $0.state == .unsent && $0.number <= last }
    if !rows.hasAliases { try prepare(writing, in: queue) }
    try settleValues(of: writing, in: queue)
    var sets: [ChangeSet] = []
    var bytes = 0
    for save in writing {
      let set = try changeSet(save, number: save.number - offset)
      bytes += Self.size(set)
      if !sets.isEmpty, bytes > bytesMax { break }
      sets.append(set)
    }
    return sets
  }

  /// The number of the last save of the first few that have no more changes than that together, or of the first one.
  private func lastSave(recordsMax: Int) throws -> Int64? {
    let saves = try connection.cached(
      "SELECT number, (SELECT count(*) FROM _tombolo_change WHERE save = number) FROM _tombolo_save WHERE state = 1 "
        + "ORDER BY number LIMIT 1000")
    defer { saves.reset() }
    var last: Int64?
    var records = 0
    while try saves.step() {
      let (sum, isOver) = records.addingReportingOverflow(Int(saves.int64(1)))
      if last != nil, isOver || sum > recordsMax { break }
      records = sum
      last = saves.int64(0)
    }
    return last
  }

  /// Takes every touched record back in memory, so that each change knows what it wrote.
  func settleValues(of saves: [PendingSave], in queue: PendingQueue) throws {
    var done: Set<RecordID> = []
    for save in saves {
      for change in save.changes {
        if case .link = change.detail { continue }
        if change.prepared != nil { continue }
        let id = try rows.resolve(change.record)
        guard done.insert(id).inserted else { continue }
        let chain = try rows.namesakes(of: id).flatMap { queue.changes(of: $0) }.inOrder(\.number)
        let shown = try rows.row(change.entity, id).map(rows.image)
        _ = try RecordOverlay(id: id, rows: rows).unwind(shown, chain, covered: nil)
        for change in chain where !change.wasLaid { settleHidden(change) }
      }
    }
  }

  /// Makes what travels of each change that is the only one of its record: what it wrote is what the row shows.
  private func prepare(_ saves: [PendingSave], in queue: PendingQueue) throws {
    for save in saves where save.before == PendingSave.Laying() {
      for change in save.changes where queue.changes(of: change.record).count == 1 {
        switch change.detail {
        case .create(let detail): if detail.own.isEmpty { change.prepared = try create(change) }
        case .update(let detail): change.prepared = try update(change, detail)
        case .delete, .link: break
        }
      }
    }
  }

  private func create(_ change: PendingChange) throws -> Change? {
    let table = rows.table(change.entity)
    guard table.references.isEmpty || !rows.hasHidden else { return nil }
    let row = try table.select()
    row.bind(change.record, at: 1)
    defer { row.reset() }
    guard try row.step(), let stamps = try rows.stamps(row, 0), stamps.created == change.save.stamp,
      !change.entity.hasEntityColumn || row.holds(change.entity.name, Int32(table.columns.count + 1))
    else { return nil }
    var create = Change.Create(entity: change.entity.name, id: change.record, fields: [])
    create.fields.reserveCapacity(table.columns.count)
    for (position, column) in table.columns.enumerated() {
      create.fields.append(
        Change.InitialField(
          name: column.name, value: row.value(Int32(position + 1)),
          isAssigned: !stamps.stamp(of: column.number).isZero))
    }
    return .create(create)
  }

  private func update(_ change: PendingChange, _ detail: ChangeDetail.UpdateDetail) throws -> Change? {
    let table = rows.table(change.entity)
    guard table.references.isEmpty || !rows.hasHidden, table.references.allSatisfy({ !$0.isAcyclic }) else {
      return nil
    }
    let row = try table.select()
    row.bind(change.record, at: 1)
    defer { row.reset() }
    guard try row.step(),
      !change.entity.hasEntityColumn || row.holds(change.entity.name, Int32(table.columns.count + 1))
    else { return nil }
    var update = Change.Update(
      entity: change.entity.name, id: change.record, incarnation: detail.incarnation ?? .zero, writes: [])
    for field in detail.fields where !field.isConsequence {
      guard let position = table.columns.firstIndex(where: { $0.number == field.column }) else { return nil }
      let name = table.columns[position].name
      if let delta = field.delta {
        update.additions.append(Change.CounterAddition(name: name, delta: delta))
      } else {
        update.writes.append(
          Change.FieldWrite(
            name: name, value: field.own ?? row.value(Int32(position + 1)), base: field.base ?? .zero))
      }
    }
    return .update(update)
  }

  /// A save that is not shown has its values beside it.
  private func settleHidden(_ change: PendingChange) {
    switch change.detail {
    case .create(let detail):
      change.own = detail.own
      // Nothing tells any more what was assigned; a default that travels as assigned loses nothing.
      change.assigned = Set(detail.own.keys)
    case .update(let detail): for field in detail.fields { change.own[field.column] = field.own ?? field.under }
    default: break
    }
  }

  func changeSet(_ save: PendingSave, number: Int64) throws -> ChangeSet {
    ChangeSet(
      id: save.id, number: SaveNumber(UInt64(max(0, number))), stamp: save.stamp, author: save.author,
      schemaVersion: save.schemaVersion, base: save.base, changes: PendingQueue.sent(save).map(Self.change),
      origin: save.origin)
  }

  static func change(_ change: PendingChange) -> Change {
    if let prepared = change.prepared { return prepared }
    switch change.detail {
    case .create:
      return .create(
        Change.Create(
          entity: change.entity.name, id: change.record,
          fields: change.entity.columns.map { column in
            Change.InitialField(
              name: column.property, value: change.own[column.number] ?? column.constantDefault,
              isAssigned: change.assigned.contains(column.number))
          }))
    case .update(let detail):
      var update = Change.Update(
        entity: change.entity.name, id: change.record, incarnation: detail.incarnation ?? .zero, writes: [])
      for field in detail.fields where !field.isConsequence {
        guard let column = change.column(field.column) else { continue }
        if let delta = field.delta {
          update.additions.append(Change.CounterAddition(name: column.property, delta: delta))
          continue
        }
        var write = Change.FieldWrite(
          name: column.property, value: change.own[field.column] ?? field.under, base: field.base ?? .zero)
        if case .reference(let reference) = column.kind, reference.isAcyclic { write.replaced = field.under }
        update.writes.append(write)
      }
      return .update(update)
    case .delete(let detail):
      return .delete(
        Change.Delete(
          entity: change.entity.name, id: change.record, incarnation: detail.incarnation ?? .zero,
          cause: DeleteCause(stamp: change.save.stamp, root: detail.root), survivor: detail.survivor))
    case .link(let detail):
      return .link(Change.LinkChange(link: detail.link, isPresent: detail.isPresent, base: detail.base ?? .zero))
    }
  }

  /// About how many bytes the change set takes on the wire.
  private static func size(_ set: ChangeSet) -> Int {
    func size(_ value: Value) -> Int {
      switch value {
      case .text(let text): text.utf8.count + 3
      case .blob(let bytes): bytes.count + 3
      default: 9
      }
    }
    return set.changes.reduce(64) { sum, change in
      switch change {
      case .create(let create): sum + create.fields.reduce(24) { $0 + size($1.value) + 2 }
      case .update(let update):
        sum + update.writes.reduce(32) { $0 + size($1.value) + 14 } + 12 * update.additions.count
      default: sum + 64
      }
    }
  }
}
