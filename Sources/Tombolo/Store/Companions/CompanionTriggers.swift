import TomboloProtocol
import TomboloSQLite

/// The triggers that keep what lies beside the records in step with them.
struct CompanionTriggers {
  let schema: StoreSchema

  private struct Table {
    let name: String
    let search: SearchPlan?
    let trees: [TreePlan]
    let externals: [String]
    /// The columns of unique keys with text, which may be in another than composed form.
    let keyTexts: [String]

    var hasCompanions: Bool { search != nil || !trees.isEmpty }
  }

  private var tables: [Table] {
    schema.entities.filter { $0.lineage.count == 1 }.map { root in
      let family = schema.entities.filter { $0.table == root.table }
      return Table(
        name: root.table, search: SearchPlan(root: root, in: schema), trees: family.flatMap(\.trees),
        externals: Self.externals(of: root, in: schema), keyTexts: DecomposedTexts.columns(of: root, in: schema))
    }
  }

  /// The columns of a table whose values may lie outside.
  static func externals(of root: EntityPlan, in schema: StoreSchema) -> [String] {
    let family = schema.entities.filter { $0.table == root.table }
    return Set(family.flatMap(\.columns).filter(\.isExternal).map(\.column)).sorted()
  }

  /// Those of our own connections: temporary ones work where the file's are switched off
  /// (https://sqlite.org/c3ref/c_dbconfig_defensive.html, `SQLITE_DBCONFIG_ENABLE_TRIGGER`).
  var temporary: [String] {
    tables.flatMap { table -> [String] in
      guard table.hasCompanions || !table.externals.isEmpty || !table.keyTexts.isEmpty else { return [] }
      var triggers = kept(table, isTemporary: true) + forgettingTexts(table)
      if table.externals.isEmpty { return triggers.map(\.statement) }
      triggers.append(
        trigger(
          table, "move", "INSERT", isTemporary: true,
          table.externals.flatMap { ExternalValues.afterInsert(table.name, $0) }))
      for column in table.externals {
        triggers.append(
          trigger(
            table, "move_\(column)", "UPDATE OF \(column.quotedIdentifier)", isTemporary: true,
            ExternalValues.afterUpdate(table.name, column)))
      }
      triggers.append(
        trigger(
          table, "forget", "DELETE", isTemporary: true, table.externals.map { ExternalValues.forget($0, of: "OLD") }))
      return triggers.map(\.statement)
    }
  }

  /// Those in the file, for other programs. What concerns values outside of rows is done where the write is noted, after that.
  var persistent: [String] {
    inFile.flatMap { ["DROP TRIGGER IF EXISTS \($0.name.quotedIdentifier)", $0.statement] }
  }

  /// The names of those in the file.
  var persistentNames: Set<String> { Set(inFile.map(\.name)) }

  private var inFile: [Trigger] {
    tables.filter(\.hasCompanions).flatMap { kept($0, isTemporary: false) }
  }

  private func forgettingTexts(_ table: Table) -> [Trigger] {
    if table.keyTexts.isEmpty { return [] }
    let deleted = trigger(
      table, "text", "DELETE", isTemporary: true, [DecomposedTexts.forgetting(nil, of: table.name)])
    return [deleted]
      + table.keyTexts.map { column in
        let name = column.quotedIdentifier
        return trigger(
          table, "text_\(column)", "UPDATE OF \(name)", when: "OLD.\(name) IS NOT NEW.\(name)", isTemporary: true,
          [DecomposedTexts.forgetting(column, of: table.name)])
      }
  }

  private struct Trigger {
    let name: String
    let statement: String
  }

  private func kept(_ table: Table, isTemporary: Bool) -> [Trigger] {
    guard table.hasCompanions else { return [] }
    // Not "OR IGNORE": what a trigger does follows the conflict clause of the statement that fired it.
    let number =
      "INSERT INTO _tombolo_number(record) SELECT NEW._tombolo_id "
      + "WHERE NOT EXISTS (SELECT 1 FROM _tombolo_number WHERE record = NEW._tombolo_id);"
    var inserts = [number]
    var deletes: [String] = []
    if let search = table.search {
      inserts.append(search.add("NEW"))
      deletes.append(search.remove)
    }
    for tree in table.trees {
      inserts.append(tree.add("NEW"))
      deletes.append(tree.remove("OLD"))
    }
    deletes.append("DELETE FROM _tombolo_number WHERE record = OLD._tombolo_id;")
    var triggers = [
      trigger(table, "insert", "INSERT", isTemporary: isTemporary, inserts),
      trigger(table, "delete", "DELETE", isTemporary: isTemporary, deletes),
      // Another program may give a record another identity, and other words with it.
      trigger(
        table, "rename", "UPDATE OF _tombolo_id", when: "OLD._tombolo_id <> NEW._tombolo_id", isTemporary: isTemporary,
        deletes.dropLast() + ["UPDATE _tombolo_number SET record = NEW._tombolo_id WHERE record = OLD._tombolo_id;"]
          + inserts.dropFirst()),
    ]
    if let search = table.search {
      triggers.append(
        trigger(
          table, "search", "UPDATE OF \(Self.list(search.watched))",
          when: "OLD._tombolo_id = NEW._tombolo_id AND (\(search.isChanged))", isTemporary: isTemporary,
          [search.remove, search.add("NEW")]))
    }
    for tree in table.trees {
      triggers.append(
        trigger(
          table, "tree_\(tree.watched.joined(separator: "_"))", "UPDATE OF \(Self.list(tree.watched))",
          when: "OLD._tombolo_id = NEW._tombolo_id AND (\(tree.isChanged))", isTemporary: isTemporary,
          [tree.remove("OLD", "NEW"), tree.add("NEW")]))
    }
    return triggers
  }

  private static func list(_ columns: [String]) -> String { columns.map(\.quotedIdentifier).joined(separator: ", ") }

  private func trigger(
    _ table: Table, _ what: String, _ event: String, when condition: String? = nil, isTemporary: Bool, _ body: [String]
  ) -> Trigger {
    let name = "_tombolo_\(isTemporary ? "own" : "keep")_\(table.name)_\(what)"
    let when = condition.map { " WHEN \($0)" } ?? ""
    return Trigger(
      name: name,
      statement: "CREATE \(isTemporary ? "TEMP " : "")TRIGGER \(name.quotedIdentifier) AFTER \(event) "
        + "ON \(table.name.quotedIdentifier)\(when) BEGIN \(body.joined(separator: " ")) END")
  }
}
