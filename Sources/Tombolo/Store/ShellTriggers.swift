import TomboloProtocol
import TomboloSQLite

/// Triggers that note what another program writes, a person in the `sqlite3` shell in the first place.
///
/// Our own connections have triggers switched off. The triggers use built-in SQL only, so that any SQLite can run them. A note
/// names the record and, but for an insert, has the row as it was: each column's number and its value as an SQL
/// literal, the stamps under `s`.
///
/// A row that `INSERT OR REPLACE` takes the place of fires no delete trigger (https://sqlite.org/lang_conflict.html), so an
/// insert over a row that is there notes that row first, as if it were updated.
enum ShellTriggers {
  /// `_tombolo_shell.kind`.
  enum Kind: Int {
    case insert = 0
    case update = 1
    case delete = 2
    case link = 3
    case unlink = 4
  }

  static func statements(for schema: StoreSchema) -> [String] {
    var statements: [String] = []
    for root in schema.entities where root.lineage.count == 1 {
      let family = schema.entities.filter { $0.table == root.table }
      var columns: [Int: String] = [:]
      for member in family {
        for column in member.columns { columns[column.number] = column.column }
      }
      let externals = CompanionTriggers.externals(of: root, in: schema)
      statements += record(root, columns: columns.sorted { $0.key < $1.key }, externals: externals)
    }
    return statements + CompanionTriggers(schema: schema).persistent + schema.linkTables.flatMap(link)
  }

  /// Whether a build that did not know of replaced rows made the triggers.
  static func areOfEarlierBuild(_ connection: Connection, _ schema: StoreSchema) throws -> Bool {
    let made = try connection.firstRow(
      "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger' AND name GLOB '_tombolo_shell_*_replace'"
    ) { Int($0.int64(0)) }
    return made ?? 0 < Set(schema.entities.map(\.table)).count + schema.linkTables.count
  }

  private static func name(_ table: String, _ name: String) -> String { "_tombolo_shell_\(table)_\(name)" }

  private static func record(
    _ root: EntityPlan, columns: [(key: Int, value: String)], externals: [String]
  ) -> [String] {
    let old = root.hasEntityColumn ? "OLD._tombolo_entity" : root.name.quotedLiteral
    let new = root.hasEntityColumn ? "NEW._tombolo_entity" : root.name.quotedLiteral
    let image = image(columns, of: "OLD", externals: externals)
    // After the note, which has the value as it was.
    let updated = externals.map { " " + ExternalValues.afterForeignUpdate($0) }.joined()
    let (renamed, deleted) =
      externals.isEmpty ? ("", "") : (" " + ExternalValues.afterForeignRename, " " + ExternalValues.afterForeignDelete)
    func note(_ entity: String, _ row: String, _ kind: Kind) -> String {
      "INSERT INTO _tombolo_shell(entity, record, kind, image) VALUES "
        + "(\(entity), \(row)._tombolo_id, \(kind.rawValue), \(kind == .insert ? "NULL" : image));"
    }
    let replaced =
      "INSERT INTO _tombolo_shell(entity, record, kind, image) SELECT "
      + "\(root.hasEntityColumn ? "was._tombolo_entity" : root.name.quotedLiteral), was._tombolo_id, "
      + "\(Kind.update.rawValue), \(self.image(columns, of: "was", externals: externals)) "
      + "FROM \(root.table.quotedIdentifier) AS was WHERE was._tombolo_id = NEW._tombolo_id;"
    let inserted = externals.isEmpty ? "" : " " + ExternalValues.afterForeignInsert
    return [
      trigger(root.table, "replace", "INSERT", isBefore: true, replaced),
      trigger(root.table, "insert", "INSERT", note(new, "NEW", .insert) + inserted),
      trigger(
        root.table, "update", "UPDATE", when: "OLD._tombolo_id = NEW._tombolo_id", note(old, "OLD", .update) + updated),
      trigger(
        root.table, "rename", "UPDATE", when: "OLD._tombolo_id <> NEW._tombolo_id",
        note(old, "OLD", .delete) + " " + note(new, "NEW", .insert) + renamed),
      trigger(root.table, "delete", "DELETE", note(old, "OLD", .delete) + deleted),
    ].flatMap { $0 }
  }

  private static func link(_ plan: LinkPlan) -> [String] {
    let key = plan.link.key.quotedLiteral
    func note(_ row: String, _ kind: Kind) -> String {
      "INSERT INTO _tombolo_shell(entity, record, kind, image) VALUES (\(key), \(row).source, \(kind.rawValue), "
        + "'0:' || quote(\(row).target) || ',s:' || quote(\(row)._tombolo_stamps));"
    }
    let replaced =
      "INSERT INTO _tombolo_shell(entity, record, kind, image) SELECT \(key), was.source, \(Kind.unlink.rawValue), "
      + "'0:' || quote(was.target) || ',s:' || quote(was._tombolo_stamps) FROM \(plan.table.quotedIdentifier) AS was "
      + "WHERE was.source = NEW.source AND was.target = NEW.target;"
    return [
      trigger(plan.table, "replace", "INSERT", isBefore: true, replaced),
      trigger(plan.table, "insert", "INSERT", note("NEW", .link)),
      trigger(plan.table, "update", "UPDATE", note("OLD", .unlink) + " " + note("NEW", .link)),
      trigger(plan.table, "delete", "DELETE", note("OLD", .unlink)),
    ].flatMap { $0 }
  }

  private static func trigger(
    _ table: String, _ name: String, _ event: String, isBefore: Bool = false, when condition: String? = nil,
    _ body: String
  ) -> [String] {
    let trigger = self.name(table, name).quotedIdentifier
    let when = condition.map { " WHEN \($0)" } ?? ""
    return [
      "DROP TRIGGER IF EXISTS \(trigger)",
      "CREATE TRIGGER \(trigger) \(isBefore ? "BEFORE" : "AFTER") \(event) ON \(table.quotedIdentifier)\(when) "
        + "BEGIN \(body) END",
    ]
  }

  private static func image(
    _ columns: [(key: Int, value: String)], of row: String, externals: [String]
  ) -> String {
    concatenation(
      columns.map { number, column in
        let value =
          externals.contains(column) ? ExternalValues.value(of: column, in: row) : "\(row).\(column.quotedIdentifier)"
        return "'\(number):' || quote(\(value)) || ','"
      }
        + ["'s:' || quote(\(row)._tombolo_stamps)"])
  }

  /// A balanced tree: SQLite limits how deep an expression may be, and a table may have a thousand columns.
  private static func concatenation(_ parts: [String]) -> String {
    if parts.count <= 2 { return parts.map { "(\($0))" }.joined(separator: " || ") }
    let middle = parts.count / 2
    return "(\(concatenation(Array(parts[..<middle])))) || (\(concatenation(Array(parts[middle...]))))"
  }
}
