import TomboloProtocol
import TomboloSQLite

/// Compares what the file has with what the schema needs: tables, columns, checks, indexes, triggers.
struct TableExamination {
  private let connection: Connection
  private let schema: StoreSchema
  /// The statement that made each table, index and trigger, by name.
  private let present: [String: String]

  init(_ connection: Connection, schema: StoreSchema) throws {
    self.connection = connection
    self.schema = schema
    var present: [String: String] = [:]
    try connection.eachRow("SELECT name, coalesce(sql, '') FROM sqlite_schema") { present[$0.string(0)] = $0.string(1) }
    self.present = present
  }

  func findings() throws -> [Finding] {
    var findings = tables()
    if findings.isEmpty {
      findings.append(Finding(.fine, .tables, "Tables, columns, checks and indexes are those of the schema."))
    }
    return findings + triggers() + (try shellWrites())
  }

  private static let remedy = "Copy the file, then clone from the server again, or make a new store and import."

  private func tables() -> [Finding] {
    var findings: [Finding] = []
    for statement in StoreTables.system + StoreTables.later {
      guard let name = StoreTables.name(in: statement), present[name] == nil else { continue }
      findings.append(Finding(.problem, .tables, "The system table or index \(name) is missing.", remedy: Self.remedy))
    }
    for entity in schema.entities {
      guard let sql = present[entity.table] else {
        findings.append(Finding(.problem, .tables, "The table \(entity.table) is missing.", remedy: Self.remedy))
        continue
      }
      for column in entity.columns where column.declaringEntity == entity.name {
        guard sql.contains(column.column.quotedIdentifier) else {
          findings.append(
            Finding(
              .problem, .tables, "The table \(entity.table) lacks the column \(column.column).", remedy: Self.remedy))
          continue
        }
        let check = StoreTables.check(column)
        if !check.isEmpty, !sql.contains(check) {
          findings.append(
            Finding(
              .warning, .tables,
              "\(entity.name).\(column.property) has no check: another program may write what no server takes.",
              remedy:
                "Nothing is wrong so far. A store made by this version has the checks: clone, or export and import."))
        }
      }
    }
    for link in schema.linkTables where present[link.table] == nil {
      findings.append(Finding(.problem, .tables, "The table of pairs \(link.table) is missing.", remedy: Self.remedy))
    }
    for name in CompanionTables(schema).names where present[name] == nil {
      findings.append(
        Finding(
          .problem, .tables, "The search index or tree \(name) is missing.",
          remedy: "Open the store once for writing, as any command that changes something does: it is made again."))
    }
    let missing = StoreTables.indexNames(for: schema).filter { present[$0] == nil }
    if !missing.isEmpty {
      findings.append(
        Finding(
          .warning, .tables, "Indexes are missing: \(missing.joined(separator: ", ")).",
          remedy: "Queries and syncs are slow without them. The next schema version makes them again; so does a clone.")
      )
    }
    return findings
  }

  private func triggers() -> [Finding] {
    let made = Set(present.values)
    var missing: [String] = []
    for statement in ShellTriggers.statements(for: schema) where statement.hasPrefix("CREATE TRIGGER ") {
      // SQLite keeps the text of the statement as it was given.
      if made.contains(statement) { continue }
      missing.append(String(statement.dropFirst("CREATE TRIGGER ".count).prefix { $0 != " " }))
    }
    if missing.isEmpty {
      return [Finding(.fine, .triggers, "Writes of other programs are noticed.")]
    }
    return [
      Finding(
        .problem, .triggers,
        "\(missing.count) triggers are missing or changed: \(missing.prefix(3).joined(separator: ", "))\(missing.count > 3 ? ", …" : "").",
        remedy:
          "What the sqlite3 shell writes to those tables is not sent. Write with 'tombolo set' until you have cloned anew."
      )
    ]
  }

  private func shellWrites() throws -> [Finding] {
    let count = try connection.firstRow("SELECT count(*) FROM _tombolo_shell") { Int($0.int64(0)) } ?? 0
    guard count > 0 else { return [] }
    return [
      Finding(
        .notice, .shellWrites, "\(count) writes of other programs are not in a save so far.",
        remedy: "The next save or sync takes them in.")
    ]
  }
}
