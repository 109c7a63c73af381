package import TomboloProtocol
import TomboloSQLite

/// Everything of a replica that a sync depends on, as it was at one moment. Nothing is written.
package struct StoreCapture: Sendable {
  /// A save that no pull has confirmed.
  package struct Pending: Sendable {
    package var changeSet: ChangeSet
    /// Whether the server has answered; else it is unsent.
    package var isAnswered: Bool
  }

  /// What complete pulls brought: records with all stamps, tombstones, pairs.
  package private(set) var confirmed: [FeedItem] = []
  /// The rows and pairs that readers see. A pair has no stamp here.
  package private(set) var shown: [FeedItem] = []
  /// Whether there were more records and pairs than the limit; then neither list holds anything.
  package private(set) var isTooLarge = false
  /// In order.
  package private(set) var pending: [Pending] = []
  package private(set) var parked: [ParkedSave] = []
  package private(set) var conflicts: [ConflictEntry] = []
  /// The newest saves that were made here, the newest first.
  package private(set) var saves: [SaveSummary] = []
  package private(set) var state: ReplicaState?
  package private(set) var checksum: Checksum
  package private(set) var clockOffset: Int64 = 0
  /// Pages of a pull that was broken off.
  package private(set) var stagedPages = 0
  package private(set) var sqliteVersion = ""

  /// - Parameters:
  ///   - itemsMax: records, tombstones and pairs that are taken.
  ///   - savesMax: saves whose numbers and times are taken.
  package init(of store: Store, itemsMax: Int, savesMax: Int) throws {
    state = try store.replicaState()
    saves = try store.saveLog(limit: savesMax)
    checksum = try store.checksum()
    try store.read { connection in
      sqliteVersion = try connection.firstRow("SELECT sqlite_version()") { $0.string(0) } ?? ""
      conflicts = try Store.conflicts(connection)
      guard state != nil else { return }
      let exchange = try ReplicaTransaction(connection, store: store)
      clockOffset = try exchange.meta.integer(.clockOffset) ?? 0
      stagedPages = Int(clamping: try PageStage(connection).count)
      parked = try Store.parked(connection).map(\.save)
      pending = try Outbox(connection, schema: store.schema).unconfirmed()
      (confirmed, isTooLarge) = try Self.confirmed(exchange, itemsMax: itemsMax)
      if !isTooLarge { shown = try Self.shown(exchange) }
    }
  }

  private static let pieceBytes = 1 << 20

  private static func confirmed(_ exchange: ReplicaTransaction, itemsMax: Int) throws -> ([FeedItem], Bool) {
    var items: [FeedItem] = []
    var place: ConfirmedWalk.Place? = ConfirmedWalk.Place()
    let walk = ConfirmedWalk(exchange)
    while let start = place {
      let piece = try walk.next(from: start, itemsMax: 500, bytesMax: pieceBytes)
      items += piece.items
      if items.count > itemsMax { return ([], true) }
      place = piece.place
    }
    return (items, false)
  }

  private static func shown(_ exchange: ReplicaTransaction) throws -> [FeedItem] {
    var items: [FeedItem] = []
    for root in exchange.schema.entities where root.lineage.count == 1 {
      var ids: [RecordID] = []
      try exchange.connection.eachRow(
        "SELECT _tombolo_id FROM \(root.table.quotedIdentifier) ORDER BY 1"
      ) { row in if let id = row.recordID(0) { ids.append(id) } }
      for id in ids {
        guard let row = try exchange.rows.row(root, id) else { continue }
        let fields = zip(row.entity.columns, row.values).map { column, value in
          FieldState(name: column.property, value: value, stamp: row.stamps.stamp(of: column.number))
        }
        items.append(
          .record(
            RecordState(
              entity: row.entity.name, id: id, incarnation: row.stamps.created,
              fields: fields.sorted { $0.name.isBytewiseLess(than: $1.name) }, isWhole: true)))
      }
    }
    for plan in exchange.schema.linkTables {
      try exchange.connection.eachRow(
        "SELECT source, target FROM \(plan.table.quotedIdentifier) ORDER BY source, target"
      ) { row in
        guard let source = row.recordID(0), let target = row.recordID(1) else { return }
        let key = LinkKey(relationship: plan.link.key, source: source, target: target)
        items.append(.link(LinkState(link: key, isPresent: true, stamp: .zero)))
      }
    }
    return items
  }
}

extension Outbox {
  /// Every save that no pull has confirmed, those that the server has answered first, with the values that each wrote.
  fileprivate func unconfirmed() throws -> [StoreCapture.Pending] {
    let offset = try RemoteBook(connection).numberOffset
    let queue = try PendingQueue(connection, schema: schema)
    let saves = queue.saves.filter { $0.state == .unsent || $0.state == .answered }
    try settleValues(of: saves, in: queue)
    return try saves.map { save in
      StoreCapture.Pending(
        changeSet: try changeSet(save, number: save.number - offset), isAnswered: save.state == .answered)
    }
  }
}
