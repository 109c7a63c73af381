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
    // First which saves come into question by their numbers of changes, then those whole.
    var last: Int64?
    var records = 0
    try connection.eachRow(
      "SELECT number, (SELECT count(*) FROM _tombolo_change WHERE save = number) FROM _tombolo_save WHERE state = 1 "
        + "ORDER BY number LIMIT 1000"
    ) { row in
      let (sum, isOver) = records.addingReportingOverflow(Int(row.int64(1)))
      guard last == nil || !isOver && sum <= recordsMax && records >= 0 else {
        records = .max
        return
      }
      records = sum
      last = row.int64(0)
    }
    guard let last else { return [] }
    let queue = try PendingQueue(connection, schema: schema, wholeUpTo: last)
    let writing = queue.saves.filter { $0.state == .unsent && $0.number <= last }
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

  /// Takes every touched record back in memory, so that each change knows what it wrote.
  func settleValues(of saves: [PendingSave], in queue: PendingQueue) throws {
    var done: Set<RecordID> = []
    for save in saves {
      for change in save.changes {
        if case .link = change.detail { continue }
        let id = try rows.resolve(change.record)
        guard done.insert(id).inserted else { continue }
        let chain = try rows.namesakes(of: id).flatMap { queue.byRecord[$0] ?? [] }.inOrder(\.number)
        let shown = try rows.row(change.entity, id).map(rows.image)
        _ = try RecordOverlay(id: id, rows: rows).unwind(shown, chain, covered: nil)
        for change in chain where !change.wasLaid { settleHidden(change) }
      }
    }
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
          cause: DeleteCause(stamp: change.save.stamp, root: detail.root)))
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
