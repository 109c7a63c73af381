import TomboloProtocol
import TomboloSQLite

/// Edits of different saves that cancel out, and of which therefore nothing is sent: a field set and set back, a record
/// created and deleted, a pair linked and parted.
///
/// Source of the rule: merge.md, "Exactly once". Only where no save in question was ever attempted, since the server may
/// know a save whose answer was lost; and only where nothing else was pulled beneath the edits. In doubt, all is sent.
extension Store {
  /// Drops what cancels out from the unsent saves. The saves keep their numbers, and may be left without a change; history
  /// keeps what they did.
  package func cancelOut() throws {
    guard try read(CancelledEdits.mayExist) else { return }
    try write { connection in
      var edits = CancelledEdits(try ReplicaTransaction(connection, store: self))
      try edits.drop()
    }
  }
}

private struct CancelledEdits {
  let exchange: ReplicaTransaction
  private var fields: [(change: PendingChange, column: Int)] = []
  private var wholes: [PendingChange] = []

  init(_ exchange: ReplicaTransaction) { self.exchange = exchange }

  private static let waiting =
    "FROM _tombolo_save s JOIN _tombolo_change c ON c.save = s.number WHERE s.state = 1 AND s.attempted = 0"

  /// A quick look: whether two unsent saves touched one record.
  static func mayExist(_ connection: Connection) throws -> Bool {
    let sql =
      "SELECT 1 FROM (SELECT c.record \(waiting) AND c.kind <> 0 GROUP BY c.record HAVING count(*) > 1) UNION ALL "
      + "SELECT 1 \(waiting) AND c.kind = 2 LIMIT 1"
    return try connection.firstRow(sql) { _ in true } ?? false
  }

  mutating func drop() throws {
    let queue = exchange.queue
    let outbox = try Outbox(exchange.connection, schema: exchange.schema, rows: exchange.rows)
    try outbox.settleValues(of: queue.saves.filter { $0.state == .unsent }, in: queue)
    for id in queue.records { try find(id, queue.changes(of: id).inOrder(\.number)) }
    for changes in queue.byLink.values { findLinks(changes.inOrder(\.number)) }
    if fields.isEmpty, wholes.isEmpty { return }
    // Laid anew without them, the rows show what they showed before, with the stamps of then.
    for (change, column) in fields {
      guard let name = change.column(column)?.property else { continue }
      change.save.now.fallenFields[change.position, default: []].insert(name)
      exchange.open(change)
    }
    for change in wholes {
      change.save.now.fallen.insert(change.position)
      exchange.open(change)
    }
    try exchange.relayOpen()
    try exchange.settleReferences()
    try exchange.relayLinks([:])
    try forget()
  }

  // MARK: What cancels out

  private static func isFree(_ change: PendingChange) -> Bool {
    let save = change.save
    return save.state == .unsent && !save.isAttempted && save.before == PendingSave.Laying()
  }

  private mutating func find(_ id: RecordID, _ chain: [PendingChange]) throws {
    guard chain.count > 1, chain.allSatisfy(Self.isFree), try exchange.rows.namesakes(of: id) == [id] else { return }
    if case .create = chain[0].detail {
      if try isCreatedInVain(id, chain) { wholes += chain }
      return
    }
    var writes: [Int: [PendingChange]] = [:]
    for change in chain {
      guard case .update(let detail) = change.detail else { return }
      for field in detail.fields { writes[field.column, default: []].append(change) }
    }
    for (column, changes) in writes where changes.count > 1 && Self.cancelsOut(column, changes) {
      fields += changes.map { ($0, column) }
    }
  }

  private static func cancelsOut(_ number: Int, _ changes: [PendingChange]) -> Bool {
    guard let first = changes.first, let last = changes.last, let column = first.column(number) else { return false }
    if case .attribute(let attribute) = column.kind, attribute.merge != .lastWriter { return false }
    let details = changes.compactMap { change -> ChangeDetail.FieldDetail? in
      guard case .update(let update) = change.detail else { return nil }
      return update.fields.first { $0.column == number }
    }
    guard details.count == changes.count, let before = details.first, let base = before.base,
      details.allSatisfy({ !$0.isConsequence && $0.delta == nil })
    else { return false }
    return before.underStamp == base && last.own[number] == before.under
  }

  /// A record that was created and deleted, and that nothing else names.
  private func isCreatedInVain(_ id: RecordID, _ chain: [PendingChange]) throws -> Bool {
    guard let last = chain.last, case .delete(let delete) = last.detail, delete.root == id, delete.links.isEmpty,
      delete.hidden.isEmpty, try exchange.aside.confirmed(id) == nil,
      chain.dropFirst().dropLast().allSatisfy({ if case .update = $0.detail { true } else { false } })
    else { return false }
    let isNamed = exchange.queue.saves.contains { save in
      save.changes.contains { change in
        switch change.detail {
        case .create, .update: change.record != id && change.own.values.contains { $0.reference == id }
        case .delete(let other): change.record != id && other.root == id
        case .link(let other): other.link.source == id || other.link.target == id
        }
      }
    }
    return !isNamed
  }

  private mutating func findLinks(_ chain: [PendingChange]) {
    guard chain.count > 1, chain.allSatisfy(Self.isFree) else { return }
    let details = chain.compactMap { change -> ChangeDetail.LinkDetail? in
      if case .link(let detail) = change.detail { detail } else { nil }
    }
    guard details.count == chain.count, let first = details.first, let last = details.last, let base = first.base,
      first.underStamp == base, last.isPresent == first.underIsPresent
    else { return }
    wholes += chain
  }

  // MARK: Forgetting

  /// What nobody is sent was done all the same: history goes on to tell it as it was recorded.
  private func remember() throws {
    for change in wholes + fields.map(\.change) {
      // A change that was shortened before is kept as it was at first.
      try exchange.connection.run(
        "INSERT OR IGNORE INTO _tombolo_cancelled(save, position, entity, record, kind, detail) "
          + "SELECT save, position, entity, record, kind, detail FROM _tombolo_change WHERE save = ?1 AND position = ?2"
      ) {
        $0.bind(change.save.number, at: 1)
        $0.bind(change.position, at: 2)
      }
    }
  }

  private func forget() throws {
    try remember()
    for (change, column) in fields {
      guard case .update(var update) = change.detail else { continue }
      update.fields.removeAll { $0.column == column }
      change.rewrite(.update(update))
    }
    for save in exchange.queue.saves where Self.isTouched(save) { save.now = PendingSave.Laying() }
    try exchange.writeQueue()
    var gone = wholes
    for (change, _) in fields {
      if case .update(let update) = change.detail, update.fields.isEmpty { gone.append(change) }
    }
    for change in gone {
      try exchange.connection.run("DELETE FROM _tombolo_change WHERE save = ?1 AND position = ?2") {
        $0.bind(change.save.number, at: 1)
        $0.bind(change.position, at: 2)
      }
    }
  }

  private static func isTouched(_ save: PendingSave) -> Bool {
    save.before == PendingSave.Laying() && (!save.now.fallen.isEmpty || !save.now.fallenFields.isEmpty)
  }
}
