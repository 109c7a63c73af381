import TomboloProtocol
import TomboloSQLite

/// Mends the rows of records that differ from the server's: what it sent is pulled into them like any page's items.
final class ReplicaRepair {
  private let exchange: ReplicaTransaction
  private let saving: StoreWriter
  private let watch = RepairWatch()
  private let schema: StoreSchema
  private let connection: Connection

  init(_ exchange: ReplicaTransaction, _ saving: StoreWriter) {
    self.exchange = exchange
    self.saving = saving
    schema = exchange.schema
    connection = exchange.connection
    exchange.watch = watch
  }

  var summary: CommitSummary? { exchange.summary }

  func run(_ page: Page, _ differences: [RecordDifference]) throws -> RepairOutcome {
    var states: [RecordID: FeedItem] = [:]
    var pulled: [LinkKey: LinkState] = [:]
    for item in page.items {
      switch item {
      case .record(let state): states[state.id] = item
      case .tombstone(let tombstone): states[tombstone.id] = item
      case .link(let state): pulled[state.link] = state
      case .conflict: break
      }
    }
    var mended: [RepairIncident.Record] = []
    var works: [ReplicaTransaction.RecordWork] = []
    for difference in differences {
      let item = states[difference.id]
      // The server has changed it since, or it came to be meanwhile: a pull brings it.
      if item == nil, difference.kind != .extra { continue }
      let (work, entity) = try work(for: difference.id, item)
      if let work { works.append(work) }
      for key in try pairs(of: difference.id) where pulled[key] == nil {
        pulled[key] = LinkState(link: key, isPresent: false, stamp: .zero)
      }
      mended.append(
        RepairIncident.Record(id: difference.id, entity: entity, kind: RepairIncident.Kind(difference.kind)))
    }
    try exchange.relay(works)
    try exchange.relayOpen()
    try exchange.settleReferences()
    try exchange.apply(pulled, isSnapshot: false)
    try exchange.writeQueue()
    if !mended.isEmpty { try Incidents(connection).add(mended, time: exchange.wall) }
    var outcome = RepairOutcome(records: mended.count)
    try settleFields(page, &outcome)
    try settleLinks(page, &outcome)
    return outcome
  }

  // MARK: Rows

  private func work(for id: RecordID, _ item: FeedItem?) throws -> (ReplicaTransaction.RecordWork?, entity: String?) {
    try exchange.removeFromSum(asideOf: id)
    try exchange.aside.removeFields(of: id)
    switch item {
    case .record(let state):
      let root = schema.entity(state.entity)?.table
      _ = try standing(id, keeping: root)
      return (try exchange.work(for: state), state.entity)
    case .tombstone(let tombstone):
      let entity = try standing(id, keeping: nil) ?? schema.entity(tombstone.entity)
      return (
        entity.map { ReplicaTransaction.RecordWork(id: id, entity: $0, pulled: .tombstone(tombstone)) },
        tombstone.entity
      )
    case .link, .conflict, nil:
      let entity = try standing(id, keeping: nil)
      return (entity.map { ReplicaTransaction.RecordWork(id: id, entity: $0, pulled: .absent) }, entity?.name)
    }
  }

  /// Makes what stands under an identity readable: one row at most, of an entity that there is, with stamps that can be read.
  ///
  /// - Parameter table: the one that the record belongs to; nil for the first that has it.
  /// - Returns: the entity of the row.
  private func standing(_ id: RecordID, keeping table: String?) throws -> EntityPlan? {
    var found: EntityPlan?
    for root in schema.entities where root.lineage.count == 1 {
      let name = root.table.quotedIdentifier
      let stamps = try connection.firstRow(
        "SELECT _tombolo_stamps FROM \(name) WHERE _tombolo_id = ?1", { $0.bind(id, at: 1) },
        { $0.isNull(0) ? [] : $0.bytes(0) })
      guard let stamps else { continue }
      guard let entity = try exchange.rows.concrete(root, id) else {
        try connection.run("DELETE FROM \(name) WHERE _tombolo_id = ?1") { $0.bind(id, at: 1) }
        continue
      }
      if !stamps.isEmpty, (try? RowStamps(stamps, exchange.replicas)) == nil {
        try connection.run("UPDATE \(name) SET _tombolo_stamps = NULL WHERE _tombolo_id = ?1") { $0.bind(id, at: 1) }
      }
      guard found == nil, table == nil || table == root.table else {
        if let row = try exchange.rows.row(entity, id) { watch.note(id, exchange.rows.image(row), nil) }
        try exchange.rows.remove(entity, id)
        exchange.noteChange(id, from: entity, to: nil)
        continue
      }
      found = entity
    }
    return found
  }

  private func pairs(of id: RecordID) throws -> [LinkKey] {
    var keys: [LinkKey] = []
    for plan in schema.linkTables {
      try connection.eachRow(
        "SELECT target FROM \(plan.table.quotedIdentifier) WHERE source = ?1", { $0.bind(id, at: 1) }
      ) { row in
        guard let target = row.recordID(0) else { return }
        keys.append(LinkKey(relationship: plan.link.key, source: id, target: target))
      }
    }
    return keys
  }

  // MARK: What was replaced

  /// A stamp that somebody's write can have: damaged ones are hardly ever below all that was received.
  private func isPlausible(_ stamp: Stamp) throws -> Bool {
    try !stamp.isZero && !stamp.isDerived && stamp.clock <= exchange.book.greatest
  }

  private func settleFields(_ page: Page, _ outcome: inout RepairOutcome) throws {
    for field in watch.fields {
      guard let plan = schema.entity(field.entity), let column = plan.column(field.name) else { continue }
      let isLater = field.isSameLife && field.lost.stamp > (field.standing?.stamp ?? .zero)
      if isLater, field.standing != nil, try isPlausible(field.lost.stamp), try rewrite(field, plan) {
        outcome.rewritten += 1
        continue
      }
      let isNews = field.lost.value != field.standing?.value && !field.lost.stamp.isDerived
      guard isNews, !field.lost.stamp.isZero || field.lost.value != column.constantDefault else { continue }
      try keep(
        field.entity, field.record, field.name, lost: field.lost, standing: field.standing, at: page.cursor.position)
      outcome.replaced += 1
    }
  }

  /// Saves a value again that the server has lost.
  /// - Returns: false, if it cannot be saved any more.
  private func rewrite(_ field: RepairWatch.Field, _ plan: EntityPlan) throws -> Bool {
    guard let entity = try saving.concreteEntity(of: plan, field.record) else { return false }
    do {
      try ChangeReplay(writer: saving, schema: schema).put(
        [field.name: field.lost.value], in: entity, field.record, isNew: false)
      return true
    } catch let error as TomboloError where error.code == .unknownRecord {
      return false
    }
  }

  private func settleLinks(_ page: Page, _ outcome: inout RepairOutcome) throws {
    for (lost, standing) in watch.links {
      guard let plan = schema.linkTables.first(where: { $0.link.key == lost.link.relationship }) else { continue }
      let (source, target) = (lost.link.source, lost.link.target)
      if lost.stamp > standing.stamp, !standing.stamp.isZero, try isPlausible(lost.stamp),
        try exchange.rows.isVisible(source, as: plan.link.source),
        try exchange.rows.isVisible(target, as: plan.link.target)
      {
        if lost.isPresent { try saving.link(plan, source, target) } else { try saving.unlink(plan, source, target) }
        outcome.rewritten += 1
      } else if lost.isPresent, !standing.isPresent {
        try keep(
          plan.link.source, source, plan.property, lost: .init(value: Value(reference: target), stamp: lost.stamp),
          standing: nil, at: page.cursor.position)
        outcome.replaced += 1
      }
    }
  }

  private func keep(
    _ entity: String, _ record: RecordID, _ field: String, lost: FieldMerge.Version, standing: FieldMerge.Version?,
    at position: FeedPosition
  ) throws {
    let random = exchange.store.options.randomness
    let entry = ConflictEntry(
      id: RecordID(high: random.next(), low: random.next()), replica: try exchange.meta.replica, rule: .repaired,
      entity: entity, record: record, field: field, base: .zero, lost: lost, standing: standing)
    try Store.keep(entry, position: position, time: exchange.wall, connection)
  }
}
