import TomboloProtocol
import TomboloSQLite

/// What was set aside takes effect once the store's schema knows it.
struct AsideAdoption {
  private let connection: Connection
  private let schema: StoreSchema
  private let rows: ReplicaRows
  private let aside: Aside

  init(_ connection: Connection, schema: StoreSchema) throws {
    self.connection = connection
    self.schema = schema
    rows = try ReplicaRows(connection, schema: schema, replicas: ReplicaNumbers(connection))
    aside = Aside(connection)
  }

  func run() throws {
    var appeared: Set<RecordID> = []
    for state in try aside.states() {
      guard let plan = schema.entity(state.entity), let entity = rows.merge.entity(state.entity) else { continue }
      let known = state.fields.filter { field in entity.field(field.name)?.admits(field.value) ?? false }
      let old = try rows.row(plan, state.id)
      // A field waits for its record, which a pending delete may hide, and behind that a pending create.
      let isThere = old.map { $0.stamps.created == state.incarnation } ?? false
      guard try aside.holdsWhole(state.id) || isThere && !known.isEmpty else { continue }
      var image = old.map(rows.image) ?? RecordImage(entity: state.entity, incarnation: state.incarnation, fields: [:])
      for field in known { image.fields[field.name] = FieldMerge.Version(value: field.value, stamp: field.stamp) }
      try rows.write(try rows.project(image, plan, state.id), state.id, replacing: old)
      if old == nil { appeared.insert(state.id) }
      let unknown = state.fields.filter { field in !known.contains { $0.name == field.name } }
      try aside.forget(state.fields.map(\.name), of: state.id)
      try aside.keep(unknown, of: state)
    }
    try show(appeared)
    for link in try aside.links() { try adopt(link) }
  }

  private func adopt(_ state: LinkState) throws {
    let key = state.link
    guard let plan = schema.linkTables.first(where: { $0.link.key == key.relationship }) else { return }
    let stamp = try state.stamp.encoded(rows.replicas)
    let isShown =
      try state.isPresent && rows.isVisible(key.source, as: plan.link.source)
      && rows.isVisible(key.target, as: plan.link.target)
    if isShown {
      try connection.run(
        "INSERT OR REPLACE INTO \(plan.table.quotedIdentifier)(source, target, _tombolo_stamps) VALUES (?1, ?2, ?3)"
      ) {
        key.bind(to: $0)
        $0.bind(stamp, at: 3)
      }
    } else if state.isPresent, try aside.waits(key) {
      return
    } else if !state.isPresent, !state.stamp.isZero {
      try connection.run(
        "INSERT OR REPLACE INTO _tombolo_unlinked(relationship, source, target, stamp) VALUES (?3, ?1, ?2, ?4)"
      ) {
        key.bind(to: $0)
        $0.bind(key.relationship, at: 3)
        $0.bind(stamp, at: 4)
      }
    }
    try aside.forget(key)
  }

  /// References to records that came with the schema.
  private func show(_ records: Set<RecordID>) throws {
    var holders: [RecordID: EntityPlan] = [:]
    for id in records {
      try connection.eachRow("SELECT record, entity FROM _tombolo_hidden WHERE target = ?1", { $0.bind(id, at: 1) }) {
        row in
        if let holder = row.recordID(0), let entity = schema.entity(row.string(1)) { holders[holder] = entity }
      }
    }
    for (id, entity) in holders {
      guard let old = try rows.row(entity, id) else { continue }
      try rows.write(try rows.project(rows.image(old), old.entity, id), id, replacing: old)
    }
  }
}
