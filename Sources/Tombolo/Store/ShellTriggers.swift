import TomboloProtocol
import TomboloSQLite

/// Triggers that note what another program writes, a person in the `sqlite3` shell in the first place.
///
/// Our own connections have triggers switched off. The triggers use built-in SQL only, so that any SQLite can run them. A note
/// names the record and, but for an insert, has the row as it was: each column's number and its value as an SQL
/// literal, the stamps under `s`.
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

  private static func record(
    _ root: EntityPlan, columns: [(key: Int, value: String)], externals: [String]
  ) -> [String] {
    let old = root.hasEntityColumn ? "OLD._tombolo_entity" : root.name.quotedLiteral
    let new = root.hasEntityColumn ? "NEW._tombolo_entity" : root.name.quotedLiteral
    let image = image(columns, externals: externals)
    // After the note, which has the value as it was.
    let updated = externals.map { " " + ExternalValues.afterForeignUpdate($0) }.joined()
    let (renamed, deleted) =
      externals.isEmpty ? ("", "") : (" " + ExternalValues.afterForeignRename, " " + ExternalValues.afterForeignDelete)
    func note(_ entity: String, _ row: String, _ kind: Kind) -> String {
      "INSERT INTO _tombolo_shell(entity, record, kind, image) VALUES "
        + "(\(entity), \(row)._tombolo_id, \(kind.rawValue), \(kind == .insert ? "NULL" : image));"
    }
    return [
      trigger(root.table, "insert", "INSERT", note(new, "NEW", .insert)),
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
    return [
      trigger(plan.table, "insert", "INSERT", note("NEW", .link)),
      trigger(plan.table, "update", "UPDATE", note("OLD", .unlink) + " " + note("NEW", .link)),
      trigger(plan.table, "delete", "DELETE", note("OLD", .unlink)),
    ].flatMap { $0 }
  }

  private static func trigger(
    _ table: String, _ name: String, _ event: String, when condition: String? = nil, _ body: String
  ) -> [String] {
    let trigger = "_tombolo_shell_\(table)_\(name)".quotedIdentifier
    let when = condition.map { " WHEN \($0)" } ?? ""
    return [
      "DROP TRIGGER IF EXISTS \(trigger)",
      "CREATE TRIGGER \(trigger) AFTER \(event) ON \(table.quotedIdentifier)\(when) BEGIN \(body) END",
    ]
  }

  private static func image(_ columns: [(key: Int, value: String)], externals: [String]) -> String {
    concatenation(
      columns.map { number, column in
        let value =
          externals.contains(column) ? ExternalValues.value(of: column, in: "OLD") : "OLD.\(column.quotedIdentifier)"
        return "'\(number):' || quote(\(value)) || ','"
      }
        + ["'s:' || quote(OLD._tombolo_stamps)"])
  }

  /// A balanced tree: SQLite limits how deep an expression may be, and a table may have a thousand columns.
  private static func concatenation(_ parts: [String]) -> String {
    if parts.count <= 2 { return parts.map { "(\($0))" }.joined(separator: " || ") }
    let middle = parts.count / 2
    return "(\(concatenation(Array(parts[..<middle])))) || (\(concatenation(Array(parts[middle...]))))"
  }
}
