import TomboloProtocol
import TomboloSQLite

/// The tables that a store keeps beside its records for their sake: full-text indexes and trees. What they hold can be made of the records
/// at any time.
///
/// They are kept in step by triggers. Our own connections have the file's triggers switched off and bring temporary ones
/// with the same bodies, so that every way of writing passes through them; other programs run the file's.
struct CompanionTables {
  let schema: StoreSchema

  /// One table or view, and what fills it.
  struct Companion {
    var name: String
    var isView = false
    var statement: String
    /// Run once after the table was made.
    var filling: [String] = []
  }

  /// Tables' and views' names begin so.
  static let prefixes = ["_tombolo_search", "_tombolo_tree_"]

  init(_ schema: StoreSchema) { self.schema = schema }

  private var roots: [EntityPlan] { schema.entities.filter { $0.lineage.count == 1 } }

  var searches: [SearchPlan] { roots.compactMap { SearchPlan(root: $0, in: schema) } }
  var trees: [TreePlan] { schema.entities.flatMap(\.trees) }

  private var companions: [Companion] { searches.flatMap(\.companions) + trees.map(\.companion) }

  /// The names of all that there has to be.
  var names: [String] { companions.map(\.name) }

  // MARK: Making them

  /// Makes what is missing or has changed, fills it, and drops what nothing asks for; inside the caller's transaction.
  func bring(to connection: Connection) throws {
    let present = try self.present(connection)
    let wanted = companions
    let kept = Set(wanted.filter { present[$0.name] == $0.statement }.map(\.name))
    // A view and its index go together.
    let stale = searches.filter { search in search.companions.contains { !kept.contains($0.name) } }
    let renewed = Set(stale.flatMap { $0.companions.map(\.name) }).union(
      wanted.map(\.name).filter { !kept.contains($0) })
    for name in present.keys.sorted() where renewed.contains(name) || !wanted.contains(where: { $0.name == name }) {
      let isView = present[name]?.hasPrefix("CREATE VIEW") == true
      try connection.execute("DROP \(isView ? "VIEW" : "TABLE") \(name.quotedIdentifier)")
    }
    if !renewed.isEmpty { try numberRecords(connection) }
    for companion in wanted where renewed.contains(companion.name) {
      try connection.execute(companion.statement)
      for statement in companion.filling { try connection.execute(statement) }
    }
    try dropTriggers(connection)
    try takeBackExternals(connection)
  }

  /// Triggers in the file for what is not there any more would make other programs' writes fail.
  private func dropTriggers(_ connection: Connection) throws {
    let wanted = CompanionTriggers(schema: schema).persistentNames
    var surplus: [String] = []
    try connection.eachRow(
      "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND substr(name, 1, 14) = '_tombolo_keep_'"
    ) { row in
      if !wanted.contains(row.string(0)) { surplus.append(row.string(0)) }
    }
    for name in surplus { try connection.execute("DROP TRIGGER \(name.quotedIdentifier)") }
  }

  /// Whether something is missing: a store of an earlier build, or one that was mended by hand.
  func isIncomplete(_ connection: Connection) throws -> Bool {
    if names.isEmpty { return false }
    let present = try self.present(connection)
    return names.contains { present[$0] == nil }
  }

  /// What there is, with the statements that made it; the tables behind a full-text index are not listed.
  private func present(_ connection: Connection) throws -> [String: String] {
    var present: [String: String] = [:]
    try connection.eachRow(
      "SELECT name, sql FROM sqlite_schema WHERE (sql LIKE 'CREATE VIRTUAL TABLE%' OR type = 'view') "
        + "AND substr(name, 1, 9) = '_tombolo_'"
    ) { row in
      let name = row.string(0)
      if Self.prefixes.contains(where: name.hasPrefix) { present[name] = row.string(1) }
    }
    return present
  }

  /// Gives every record of the tables that have companions a number.
  private func numberRecords(_ connection: Connection) throws {
    for root in roots where root.hasCompanions(in: schema) {
      try connection.execute(
        "INSERT OR IGNORE INTO _tombolo_number(record) SELECT _tombolo_id FROM \(root.table.quotedIdentifier) ORDER BY 1"
      )
    }
  }

  /// Values of attributes that are not declared `.externalStorage` any more return to their rows.
  private func takeBackExternals(_ connection: Connection) throws {
    var columns: Set<String> = []
    try connection.eachRow("SELECT DISTINCT property FROM _tombolo_external") { columns.insert($0.string(0)) }
    if columns.isEmpty { return }
    for root in roots {
      let family = schema.entities.filter { $0.table == root.table }
      for column in Set(family.flatMap(\.columns).filter { !$0.isExternal }.map(\.column)).intersection(columns)
        .sorted()
      {
        let table = root.table.quotedIdentifier
        try connection.execute(
          "UPDATE \(table) SET \(column.quotedIdentifier) = \(ExternalValues.value(of: column, in: table)) "
            + "WHERE _tombolo_id IN (SELECT record FROM _tombolo_external WHERE property = \(column.quotedLiteral)); "
            + "DELETE FROM _tombolo_external WHERE property = \(column.quotedLiteral) "
            + "AND record IN (SELECT _tombolo_id FROM \(table))")
      }
    }
  }
}

extension EntityPlan {
  /// Whether the table has a full-text index or a tree.
  func hasCompanions(in schema: StoreSchema) -> Bool {
    SearchPlan(root: self, in: schema) != nil
      || schema.entities.contains { $0.table == table && !$0.trees.isEmpty }
  }
}
