import TomboloProtocol
import TomboloSQLite

/// The confirmed state of a replica, piece by piece: what complete pulls brought, without the replica's own saves.
///
/// The walk goes through the tables in a fixed order of their keys, so that a place in it is all that has to be kept
/// between two pieces. What people save meanwhile does not change what is confirmed.
struct ConfirmedWalk {
  /// Where a piece ended: a table, and the last key in it.
  struct Place: Hashable, Sendable {
    var stage = 0
    var after: [UInt8] = []
  }

  private let exchange: ReplicaTransaction
  private let roots: [EntityPlan]
  private static let keysMax = 500

  init(_ exchange: ReplicaTransaction) {
    self.exchange = exchange
    roots = exchange.schema.entities.filter { $0.lineage.count == 1 }
  }

  private var links: [LinkPlan] { exchange.schema.linkTables }
  private var stageCount: Int { roots.count + links.count + 5 }

  /// The next items; the place after them, nil at the end.
  func next(from start: Place, itemsMax: Int, bytesMax: Int) throws -> (items: [FeedItem], place: Place?) {
    var items: [FeedItem] = []
    var bytes = 0
    var place = start
    while place.stage < stageCount {
      let (found, last) = try stage(place, limit: max(1, min(Self.keysMax, itemsMax - items.count)))
      items += found
      bytes += found.reduce(0) { $0 + $1.weight }
      place = last.map { Place(stage: place.stage, after: $0) } ?? Place(stage: place.stage + 1)
      if place.stage < stageCount, items.count >= itemsMax || bytes >= bytesMax { return (items, place) }
    }
    return (items, nil)
  }

  /// - Returns: the last key that was looked at, nil at the stage's end.
  private func stage(_ place: Place, limit: Int) throws -> (items: [FeedItem], last: [UInt8]?) {
    var stage = place.stage
    if stage < roots.count { return try rows(of: roots[stage], after: place.after, limit: limit) }
    stage -= roots.count
    if stage < links.count { return try pairs(of: links[stage], after: place.after, limit: limit) }
    switch stage - links.count {
    case 0: return try listed(try deletedHere(), after: place.after, limit: limit)
    case 1: return try asideRecords(after: place.after, limit: limit)
    case 2: return try tombstones(after: place.after, limit: limit)
    case 3: return try partedPairs(after: place.after, limit: limit)
    default: return try otherPairs(after: place.after, limit: limit)
    }
  }

  // MARK: Records

  private func rows(of root: EntityPlan, after: [UInt8], limit: Int) throws -> ([FeedItem], [UInt8]?) {
    var ids: [RecordID] = []
    try exchange.connection.eachRow(
      "SELECT _tombolo_id FROM \(root.table.quotedIdentifier) WHERE _tombolo_id > ?1 ORDER BY 1 LIMIT ?2",
      {
        $0.bind(after, at: 1)
        $0.bind(limit, at: 2)
      }
    ) { row in if let id = row.recordID(0) { ids.append(id) } }
    let items = try ids.compactMap { try confirmed($0, root) }
    return (items, ids.count < limit ? nil : ids.last?.bytes)
  }

  /// Records that only the image in a pending deletion still has.
  private func deletedHere() throws -> [(RecordID, EntityPlan)] {
    try exchange.queue.records.compactMap { id in
      guard let entity = exchange.queue.changes(of: id).first?.entity, try exchange.rows.row(entity, id) == nil else {
        return nil
      }
      return (id, entity)
    }
  }

  private func listed(
    _ records: [(id: RecordID, entity: EntityPlan)], after: [UInt8], limit: Int
  ) throws -> ([FeedItem], [UInt8]?) {
    let start = RecordID(bytes: after)
    let part = records.filter { record in start.map { record.id > $0 } ?? true }.prefix(limit)
    let items = try part.compactMap { try confirmed($0.id, $0.entity) }
    return (items, part.count < limit ? nil : part.last?.id.bytes)
  }

  private func confirmed(_ id: RecordID, _ entity: EntityPlan) throws -> FeedItem? {
    let rows = exchange.rows
    guard try rows.resolve(id) == id else { return nil }
    let row = try rows.row(entity, id)
    let chain = try rows.namesakes(of: id).flatMap { exchange.queue.changes(of: $0) }.inOrder(\.number)
    let image = try RecordOverlay(id: id, rows: rows).unwind(
      row.map(rows.image), chain, covered: exchange.aside.isEmpty ? nil : exchange.aside.confirmed(id))
    guard let image, !image.incarnation.isZero else { return nil }
    var fields = image.fields.sorted { $0.key < $1.key }.map {
      FieldState(name: $0.key, value: $0.value.value, stamp: $0.value.stamp)
    }
    if try !exchange.aside.isEmpty {
      fields += try exchange.aside.fields(of: id).filter { image.fields[$0.name] == nil }
    }
    return .record(
      RecordState(
        entity: image.entity, id: id, incarnation: image.incarnation, fields: fields, isWhole: true))
  }

  /// Records of entities that the schema does not have.
  private func asideRecords(after: [UInt8], limit: Int) throws -> ([FeedItem], [UInt8]?) {
    let start = RecordID(bytes: after)
    let whole = try exchange.aside.states().filter { state in
      try (start.map { state.id > $0 } ?? true) && exchange.aside.holdsWhole(state.id)
    }.prefix(limit)
    return (whole.map(FeedItem.record), whole.count < limit ? nil : whole.last?.id.bytes)
  }

  private func tombstones(after: [UInt8], limit: Int) throws -> ([FeedItem], [UInt8]?) {
    var items: [FeedItem] = []
    var last: [UInt8]?
    try exchange.connection.eachRow(
      "SELECT record, body FROM _tombolo_tombstone WHERE record > ?1 ORDER BY 1 LIMIT ?2",
      {
        $0.bind(after, at: 1)
        $0.bind(limit, at: 2)
      }
    ) { row in
      items.append(try FeedItem(decoding: row.bytes(1), as: .cbor))
      last = row.bytes(0)
    }
    return (items, items.count < limit ? nil : last)
  }

  // MARK: Pairs

  private func pairs(of plan: LinkPlan, after: [UInt8], limit: Int) throws -> ([FeedItem], [UInt8]?) {
    try pairs(
      "SELECT source, target, \(plan.link.key.quotedLiteral) FROM \(plan.table.quotedIdentifier) "
        + "WHERE (source, target) > (?1, ?2) ORDER BY source, target LIMIT ?3", after: after, limit: limit)
  }

  /// Pairs that were parted: without them an older copy would link them again.
  private func partedPairs(after: [UInt8], limit: Int) throws -> ([FeedItem], [UInt8]?) {
    try pairs(
      "SELECT source, target, relationship FROM _tombolo_unlinked WHERE (source, target, relationship) > (?1, ?2, ?4) "
        + "ORDER BY source, target, relationship LIMIT ?3", after: after, limit: limit)
  }

  private func pairs(_ sql: String, after: [UInt8], limit: Int) throws -> ([FeedItem], [UInt8]?) {
    var keys: [LinkKey] = []
    try exchange.connection.eachRow(
      sql,
      {
        $0.bind(Array(after.prefix(16)), at: 1)
        $0.bind(Array(after.dropFirst(16).prefix(16)), at: 2)
        $0.bind(limit, at: 3)
        if sql.contains("?4") { $0.bind(String(decoding: after.dropFirst(32), as: UTF8.self), at: 4) }
      }
    ) { row in
      guard let source = row.recordID(0), let target = row.recordID(1) else { return }
      keys.append(LinkKey(relationship: row.string(2), source: source, target: target))
    }
    let items = try keys.compactMap { try exchange.confirmedLink($0).map(FeedItem.link) }
    let last = keys.last.map { $0.source.bytes + $0.target.bytes + Array($0.relationship.utf8) }
    return (items, keys.count < limit ? nil : last)
  }

  /// Pairs that pending changes touch, and those that the schema does not know; those that stand in a table as well come
  /// twice, which does no harm.
  private func otherPairs(after: [UInt8], limit: Int) throws -> ([FeedItem], [UInt8]?) {
    let start =
      after.isEmpty
      ? nil
      : LinkKey(
        relationship: String(decoding: after.dropFirst(32), as: UTF8.self),
        source: RecordID(bytes: after.prefix(16)) ?? RecordID(high: 0, low: 0),
        target: RecordID(bytes: after.dropFirst(16).prefix(16)) ?? RecordID(high: 0, low: 0))
    var states: [LinkKey: LinkState] = [:]
    for state in try exchange.aside.links() { states[state.link] = state }
    for key in exchange.queue.byLink.keys { states[key] = try exchange.confirmedLink(key) ?? states[key] }
    let keys = states.keys.filter { key in start.map { key > $0 } ?? true }.sorted().prefix(limit)
    let items = keys.compactMap { states[$0] }.map(FeedItem.link)
    let last = keys.last.map { $0.source.bytes + $0.target.bytes + Array($0.relationship.utf8) }
    return (items, keys.count < limit ? nil : last)
  }
}

extension FeedItem {
  /// About how many bytes the item takes on the wire.
  fileprivate var weight: Int {
    guard case .record(let state) = self else { return 64 }
    return state.fields.reduce(32) { sum, field in
      switch field.value {
      case .text(let text): sum + text.utf8.count + 12
      case .blob(let bytes): sum + bytes.count + 12
      default: sum + 18
      }
    }
  }
}
