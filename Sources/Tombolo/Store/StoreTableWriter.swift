import TomboloProtocol
import TomboloSQLite

/// Makes a store's tables what a schema says, and writes the schema down; inside the caller's transaction.
struct StoreTableWriter {
  let connection: Connection
  let options: Store.Options

  func apply(_ schema: StoreSchema, layout: StoreLayout, isNew: Bool) throws {
    let present = isNew ? [:] : try presentColumns()
    for statement in StoreTables.statements(for: schema, present: present) { try connection.execute(statement) }
    for (key, place) in layout.added {
      try connection.run(
        "INSERT INTO _tombolo_column(entity, property, kind, name, number) VALUES (?1, ?2, ?3, ?4, ?5)"
      ) {
        $0.bind(key.entity, at: 1)
        $0.bind(key.property, at: 2)
        $0.bind(place.kind.rawValue, at: 3)
        $0.bind(place.name, at: 4)
        $0.bind(place.number, at: 5)
      }
    }
    if !isNew {
      for (key, place) in layout.added where place.kind == .column { try fill(key, in: schema) }
      try dropIndexes(notIn: schema)
    }
    try CompanionTables(schema).bring(to: connection)
    let meta = StoreMeta(connection)
    try meta.set(.document, to: .text(String(decoding: schema.document.canonicalJSON, as: UTF8.self)))
    try meta.set(.version, to: schema.document.version.map { .text($0.description) } ?? .null)
    try meta.set(.fingerprint, to: .blob(schema.document.fingerprint.bytes))
    connection.dropStatements()
  }

  private func presentColumns() throws -> [String: Set<String>] {
    var present: [String: Set<String>] = [:]
    try connection.eachRow(
      "SELECT m.name, c.name FROM sqlite_schema m JOIN pragma_table_xinfo(m.name) c WHERE m.type = 'table'"
    ) { row in
      present[StoreLayout.folded(row.string(0)), default: []].insert(StoreLayout.folded(row.string(1)))
    }
    return present
  }

  /// Gives the rows that were there before the value that a new column starts with.
  private func fill(_ key: StoreLayout.Key, in schema: StoreSchema) throws {
    guard let entity = schema.entity(key.entity), let column = entity.column(key.property),
      case .attribute(let attribute) = column.kind, let start = attribute.defaultValue
    else { return }
    let table = entity.table.quotedIdentifier
    let name = column.column.quotedIdentifier
    var scope = "WHERE \(name) IS NULL"
    if entity.hasEntityColumn {
      scope += " AND _tombolo_entity IN (\(entity.concreteNames.map(\.quotedLiteral).joined(separator: ", ")))"
    }
    switch start {
    case .constant:
      let value = column.constantDefault
      if value.isNull { return }
      try connection.run("UPDATE \(table) SET \(name) = ?1 \(scope)") { $0.bind(value, at: 1) }
    case .generatedNow:
      // Seconds between 1970 and 2001.
      let now = (Double(options.clock.milliseconds()) - 978_307_200_000) / 1000
      try connection.run("UPDATE \(table) SET \(name) = ?1 \(scope)") { $0.bind(now, at: 1) }
    case .generatedUUID:
      var rows: [Int64] = []
      try connection.eachRow("SELECT rowid FROM \(table) \(scope)") { rows.append($0.int64(0)) }
      for row in rows {
        let high = options.randomness.next() & ~0xF000 | 0x4000
        let low = options.randomness.next() >> 2 | 1 << 63
        try connection.run("UPDATE \(table) SET \(name) = ?1 WHERE rowid = ?2") {
          $0.bind(high: high, low: low, at: 1)
          $0.bind(row, at: 2)
        }
      }
    }
  }

  private func dropIndexes(notIn schema: StoreSchema) throws {
    let wanted = Set(StoreTables.indexNames(for: schema))
    var surplus: [String] = []
    try connection.eachRow(
      "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL "
        + "AND substr(name, 1, 9) = '_tombolo_' AND substr(tbl_name, 1, 9) <> '_tombolo_'"
    ) { row in
      if !wanted.contains(row.string(0)) { surplus.append(row.string(0)) }
    }
    for name in surplus { try connection.execute("DROP INDEX \(name.quotedIdentifier)") }
  }
}
