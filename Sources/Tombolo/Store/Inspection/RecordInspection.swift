package import TomboloProtocol
import TomboloSQLite

extension Store {
  /// What this replica knows about an identity. Cost: a look at every unconfirmed save.
  package func facts(about id: RecordID) throws -> RecordFacts {
    try read { connection in try RecordInspection(connection, schema: schema).facts(about: id) }
  }

  /// The identities within a range that the replica has ever heard of: shown, deleted, merged away, set aside, or in a save.
  package func knownIdentities(from low: RecordID, through high: RecordID, limit: Int) throws -> [RecordID] {
    let tables =
      schema.entities.filter { $0.lineage.count == 1 }.map {
        "SELECT _tombolo_id AS id FROM \($0.table.quotedIdentifier)"
      }
      + ["_tombolo_tombstone", "_tombolo_alias", "_tombolo_aside", "_tombolo_change"].map {
        "SELECT record AS id FROM \($0)"
      }
    return try read { connection in
      var found: Set<RecordID> = []
      for table in tables {
        try connection.eachRow(
          "SELECT DISTINCT id FROM (\(table)) WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT ?3",
          {
            $0.bind(low, at: 1)
            $0.bind(high, at: 2)
            $0.bind(limit, at: 3)
          }
        ) { row in if let id = row.recordID(0) { found.insert(id) } }
      }
      return Array(found.sorted().prefix(limit))
    }
  }
}

/// Looks one identity up in every place of the store that may have something of it.
struct RecordInspection {
  private static let pairsMax = 1_000

  private let connection: Connection
  private let schema: StoreSchema
  private let rows: ReplicaRows
  private let aside: Aside
  private let queue: PendingQueue
  private let book: RemoteBook
  private let meta: StoreMeta

  init(_ connection: Connection, schema: StoreSchema) throws {
    self.connection = connection
    self.schema = schema
    rows = try ReplicaRows(connection, schema: schema, replicas: ReplicaNumbers(connection))
    aside = Aside(connection)
    queue = try PendingQueue(connection, schema: schema)
    book = RemoteBook(connection)
    meta = StoreMeta(connection)
  }

  func facts(about id: RecordID) throws -> RecordFacts {
    var facts = RecordFacts(id: id)
    facts.hasRemote = try book.text(.url) != nil
    facts.hasPulled = try book.cursor != nil
    var home = id
    // Ends: an identity that comes twice is where the walk stops.
    while let next = try survivor(of: home), next != id, !facts.mergedInto.contains(next) {
      facts.mergedInto.append(next)
      home = next
    }
    let names = try rows.namesakes(of: home)
    facts.aliases = Array(names.dropFirst())
    let chain = names.flatMap { queue.changes(of: $0) }.inOrder(\.number)
    try describeRow(of: home, chain, &facts)
    facts.pending = try chain.map(part)
    facts.pairs = try pairs(of: home)
    facts.parked = try parked(naming: Set(names + [id]))
    facts.conflicts = try conflicts(about: Set(names + [id]))
    try describeAside(home, &facts)
    facts.tombstone = try tombstone(of: id) ?? tombstone(of: home)
    facts.entity =
      facts.entity ?? chain.last?.entity.name ?? facts.tombstone?.entity ?? facts.conflicts.last?.entity
    try describeOrigins(&facts)
    return facts
  }

  private func survivor(of id: RecordID) throws -> RecordID? {
    try connection.firstRow(
      "SELECT survivor FROM _tombolo_alias WHERE record = ?1", { $0.bind(id, at: 1) }, { $0.recordID(0) }) ?? nil
  }

  // MARK: The row

  private func describeRow(of id: RecordID, _ chain: [PendingChange], _ facts: inout RecordFacts) throws {
    var found: ReplicaRows.Row?
    for root in schema.entities where root.lineage.count == 1 && found == nil { found = try rows.row(root, id) }
    let overlay = RecordOverlay(id: id, rows: rows)
    let confirmed = try overlay.unwind(found.map(rows.image), chain, covered: try aside.confirmed(id))
    guard let row = found else { return }
    facts.isShown = true
    facts.entity = row.entity.name
    facts.incarnation = row.stamps.created
    for (column, value) in zip(row.entity.columns, row.values) where !column.isPosition {
      var field = RecordFacts.Field(name: column.property, value: value, stamp: row.stamps.stamp(of: column.number))
      if let kept = row.hidden[column.property], kept.stamp.consequence == field.stamp { field.kept = kept }
      let beneath = confirmed?.fields[column.property]
      let shown = field.kept?.stamp ?? field.stamp
      field.isPending = !chain.isEmpty && !shown.isZero && beneath?.stamp != shown
      if field.isPending { field.confirmed = beneath }
      facts.fields.append(field)
    }
    for order in row.entity.orders {
      guard var place = try place(order, row, id) else { continue }
      let name = row.entity.columns[order.key].property
      place.isPending = !chain.isEmpty && !place.stamp.isZero && confirmed?.fields[name]?.stamp != place.stamp
      facts.places.append(place)
    }
  }

  /// Where a row stands in the list of the owner that it shows.
  private func place(_ order: OrderPlan, _ row: ReplicaRows.Row, _ id: RecordID) throws -> RecordFacts.Place? {
    let (key, column) = (row.entity.columns[order.key], row.entity.columns[order.reference])
    guard case .reference(let reference) = column.kind, let owner = row.values[order.reference].reference,
      let side = schema.entity(reference.destination)?.farSides.first(where: {
        $0.column == column.column && $0.positionColumn == key.column
      })
    else { return nil }
    let found = try connection.firstRow(
      "SELECT number, count FROM (SELECT t0._tombolo_id AS id, row_number() OVER (ORDER BY \(side.order(in: "t0"))) "
        + "AS number, count(*) OVER () AS count FROM \(side.table.quotedIdentifier) AS t0 "
        + "WHERE t0.\(side.column.quotedIdentifier) = ?1) WHERE id = ?2",
      {
        $0.bind(owner, at: 1)
        $0.bind(id, at: 2)
      }, { (number: Int($0.int64(0)), count: Int($0.int64(1))) })
    guard let found else { return nil }
    return RecordFacts.Place(
      list: "\(reference.destination).\(side.property)", owner: owner, number: found.number, count: found.count,
      isGiven: !row.values[order.key].isNull, stamp: row.stamps.stamp(of: key.number), isPending: false)
  }

  private func part(_ change: PendingChange) throws -> RecordFacts.PendingPart {
    var properties: [String] = []
    var root: RecordID?
    switch change.detail {
    case .create: properties = change.entity.columns.filter { change.assigned.contains($0.number) }.map(\.property)
    case .update(let detail): properties = detail.fields.compactMap { change.column($0.column)?.property }
    case .delete(let detail): root = detail.root
    case .link: break
    }
    properties = properties.map { schema.resolved.title(of: $0, in: change.entity.name) }
    return RecordFacts.PendingPart(
      save: try number(change.save.number, change.save.state), state: SaveSummary.State(change.save.state),
      kind: change.detail.kind, stamp: change.save.stamp, properties: properties,
      fallen: (change.save.now.fallenFields[change.position] ?? []).sorted(),
      fellWhole: change.save.now.fallen.contains(change.position), isHidden: change.save.now.isHidden, root: root)
  }

  private func number(_ local: Int64, _ state: SaveState) throws -> SaveNumber {
    SaveNumber(UInt64(max(0, state == .local ? local : local - (try book.numberOffset))))
  }

  // MARK: Pairs

  private func pairs(of id: RecordID) throws -> [RecordFacts.Pair] {
    var pairs: [RecordFacts.Pair] = []
    for plan in schema.linkTables {
      let key = plan.link.key
      let sources = [
        ("SELECT source, target, _tombolo_stamps FROM \(plan.table.quotedIdentifier) WHERE", true),
        (
          "SELECT source, target, stamp FROM _tombolo_unlinked WHERE relationship = \(key.quotedLiteral) AND", false
        ),
      ]
      for (head, isPresent) in sources {
        try connection.eachRow(
          "\(head) (source = ?1 OR target = ?1) ORDER BY source, target LIMIT \(Self.pairsMax)", { $0.bind(id, at: 1) }
        ) { row in
          guard let source = row.recordID(0), let target = row.recordID(1) else { return }
          let stamp = row.isNull(2) ? Stamp.zero : try Stamp(row.bytes(2), rows.replicas)
          pairs.append(
            RecordFacts.Pair(
              relationship: key, other: source == id ? target : source, isPresent: isPresent, stamp: stamp))
        }
      }
    }
    return pairs
  }

  // MARK: What is kept beside the rows

  private func describeAside(_ id: RecordID, _ facts: inout RecordFacts) throws {
    for (name, state) in try aside.states(of: id).sorted(by: { $0.key < $1.key }) where !name.hasPrefix("#") {
      facts.aside += state.fields
      if name.isEmpty {
        facts.isWhollyAside = true
        facts.entity = facts.entity ?? state.entity
      }
    }
  }

  private func tombstone(of id: RecordID) throws -> Tombstone? {
    let bytes = try connection.firstRow(
      "SELECT body FROM _tombolo_tombstone WHERE record = ?1", { $0.bind(id, at: 1) }, { $0.bytes(0) })
    guard let bytes, case .tombstone(let tombstone) = try FeedItem(decoding: bytes, as: .cbor) else { return nil }
    return tombstone
  }

  private func parked(naming ids: Set<RecordID>) throws -> [ParkedSave] {
    try Store.parked(connection).map(\.save).filter { save in save.changeSet.changes.contains { $0.names(anyOf: ids) } }
  }

  private func conflicts(about ids: Set<RecordID>) throws -> [ConflictEntry] {
    try Store.conflicts(connection).filter { ids.contains($0.record) }
  }

  // MARK: Whence

  private func describeOrigins(_ facts: inout RecordFacts) throws {
    var stamps: Set<Stamp> = []
    if let incarnation = facts.incarnation { stamps.insert(incarnation) }
    for field in facts.fields {
      stamps.formUnion([field.stamp, field.kept?.stamp, field.confirmed?.stamp].compactMap(\.self))
    }
    stamps.formUnion(
      facts.places.map(\.stamp) + facts.pairs.map(\.stamp) + facts.aside.map(\.stamp) + facts.pending.map(\.stamp))
    for entry in facts.conflicts {
      stamps.formUnion([entry.lost.stamp, entry.base, entry.standing?.stamp].compactMap(\.self))
    }
    if let tombstone = facts.tombstone { stamps.formUnion(tombstone.causes.map(\.stamp) + [tombstone.stamp]) }
    facts.origins = try SaveOrigins(connection).origins(of: stamps)
  }
}
