import TomboloProtocol
import TomboloSQLite

/// Compares what lies beside the records with the records: full-text indexes, trees, large values. Writes to temporary
/// tables only.
struct CompanionExamination {
  private let connection: Connection
  private let schema: StoreSchema
  /// Of larger tables only the numbers are compared.
  private static let recordsMax = 100_000

  init(_ connection: Connection, schema: StoreSchema) {
    self.connection = connection
    self.schema = schema
  }

  // MARK: Full-text indexes

  func searches() throws -> [Finding] {
    let plans = CompanionTables(schema).searches
    var findings: [Finding] = []
    for plan in plans {
      let records = try count("SELECT count(*) FROM \(plan.table.quotedIdentifier)")
      let numbered = try count("SELECT count(*) FROM \(plan.view.quotedIdentifier)")
      let differing = records > Self.recordsMax ? 0 : try differences(plan)
      guard numbered != records || differing > 0 else { continue }
      let what =
        numbered != records
        ? "knows \(numbered) of \(records) records" : "differs from the records in \(differing) words"
      findings.append(
        Finding(
          .problem, .search, "The full-text index of \(plan.table) \(what): searches miss some or find too many.",
          remedy: "sqlite3 STORE 'DROP TABLE \"\(plan.index)\"', then any command that writes: it is made anew."))
    }
    if findings.isEmpty, !plans.isEmpty {
      findings.append(Finding(.fine, .search, "The full-text indexes have the words of the records."))
    }
    return findings
  }

  /// How many words stand in the index alone, or in the records alone: the records are indexed once more, in memory.
  private func differences(_ plan: SearchPlan) throws -> Int {
    let names = plan.columns.map(\.name.quotedIdentifier).joined(separator: ", ")
    defer {
      for name in ["wanted", "there", "check"] { try? connection.execute("DROP TABLE IF EXISTS temp._tombolo_\(name)") }
    }
    try connection.execute(
      """
      CREATE VIRTUAL TABLE temp._tombolo_check USING fts5(\(names), content='', tokenize='\(SearchPlan.tokenizer)');
      INSERT INTO temp._tombolo_check(rowid, \(names)) SELECT number, \(names) FROM \(plan.view.quotedIdentifier);
      CREATE VIRTUAL TABLE temp._tombolo_wanted USING fts5vocab(temp, '_tombolo_check', 'instance');
      CREATE VIRTUAL TABLE temp._tombolo_there USING fts5vocab(main, \(plan.index.quotedLiteral), 'instance');
      """)
    let (wanted, there) = ("SELECT * FROM temp._tombolo_wanted", "SELECT * FROM temp._tombolo_there")
    return try count("SELECT count(*) FROM (\(wanted) EXCEPT \(there))")
      + count("SELECT count(*) FROM (\(there) EXCEPT \(wanted))")
  }

  // MARK: Trees

  func trees() throws -> [Finding] {
    let plans = CompanionTables(schema).trees
    var findings: [Finding] = []
    for plan in plans {
      let name = plan.name.quotedIdentifier
      let present = plan.columns.map { "t.\($0.column.quotedIdentifier) IS NOT NULL" }.joined(separator: " AND ")
      let inside = plan.columns.indices.map { index in
        let column = "t.\(plan.columns[index].column.quotedIdentifier)"
        return "r.\"\(index)_min\" <= \(column) AND r.\"\(index)_max\" >= \(column)"
      }.joined(separator: " AND ")
      let missing = try count(
        "SELECT count(*) FROM \(plan.table.quotedIdentifier) t LEFT JOIN _tombolo_number n ON n.record = t._tombolo_id "
          + "LEFT JOIN \(name) r ON r.number = n.number WHERE \(present) AND NOT coalesce(\(inside), 0)")
      let surplus = try count(
        "SELECT count(*) FROM \(name) r LEFT JOIN _tombolo_number n ON n.number = r.number "
          + "LEFT JOIN \(plan.table.quotedIdentifier) t ON t._tombolo_id = n.record AND \(present) "
          + "WHERE t._tombolo_id IS NULL")
      guard missing + surplus > 0 else { continue }
      findings.append(
        Finding(
          .problem, .trees,
          "The tree \(plan.name) has \(missing) records in a wrong place or not at all, and \(surplus) too many.",
          remedy: "sqlite3 STORE 'DROP TABLE \"\(plan.name)\"', then any command that writes: it is made anew."))
    }
    if findings.isEmpty, !plans.isEmpty {
      findings.append(Finding(.fine, .trees, "The trees have every record in its place."))
    }
    return findings
  }

  // MARK: Large values

  func externals() throws -> [Finding] {
    var named = "0"
    var hasExternals = false
    for root in schema.entities where root.lineage.count == 1 {
      let columns = CompanionTriggers.externals(of: root, in: schema)
      if columns.isEmpty { continue }
      hasExternals = true
      let parts = columns.map { column in
        "x.property = \(column.quotedLiteral) AND length(t.\(column.quotedIdentifier)) = 0"
      }
      named +=
        " OR EXISTS (SELECT 1 FROM \(root.table.quotedIdentifier) t WHERE t._tombolo_id = x.record "
        + "AND (\(parts.joined(separator: " OR "))))"
    }
    let orphans = try count("SELECT count(*) FROM _tombolo_external x WHERE NOT (\(named))")
    if orphans > 0 {
      return [
        Finding(
          .warning, .external, "\(orphans) values in _tombolo_external belong to no record that looks for them there.",
          remedy:
            "They only take room. Another program wrote past the store's triggers: compare with a backup, then delete them."
        )
      ]
    }
    return hasExternals ? [Finding(.fine, .external, "Every large value belongs to a record.")] : []
  }

  private func count(_ sql: String) throws -> Int { try connection.firstRow(sql) { Int($0.int64(0)) } ?? 0 }
}
