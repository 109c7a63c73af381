package import TomboloProtocol
import TomboloSQLite

/// What a store's file says of its form.
package enum StoreVersion {
  /// The number of the store's format.
  package static let format: Int64 = StoreTables.format
}

/// The statements that make a store's tables.
enum StoreTables {
  /// `PRAGMA application_id`: "Tmbl".
  static let applicationID: Int64 = 0x546D_626C
  /// `PRAGMA user_version`: the number of the store's format.
  static let format: Int64 = 1

  /// The tables of Tombolo's own bookkeeping.
  static let system = [
    "CREATE TABLE _tombolo_meta(key TEXT PRIMARY KEY NOT NULL, value ANY) STRICT, WITHOUT ROWID",
    """
    CREATE TABLE _tombolo_column(entity TEXT NOT NULL, property TEXT NOT NULL, kind INTEGER NOT NULL, name TEXT NOT NULL, \
    number INTEGER NOT NULL, is_composed INTEGER NOT NULL DEFAULT 1, PRIMARY KEY(entity, property)) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX _tombolo_column_uncomposed ON _tombolo_column(entity) WHERE is_composed = 0",
    "CREATE TABLE _tombolo_replica(number INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE) STRICT",
    """
    CREATE TABLE _tombolo_save(number INTEGER PRIMARY KEY, id BLOB NOT NULL, replica BLOB, clock INTEGER, author TEXT, \
    schema_version TEXT, base INTEGER, time INTEGER, state INTEGER NOT NULL, attempted INTEGER NOT NULL DEFAULT 0, \
    verdict BLOB, origin BLOB) STRICT
    """,
    """
    CREATE TABLE _tombolo_change(save INTEGER NOT NULL, position INTEGER NOT NULL, entity INTEGER NOT NULL, \
    record BLOB NOT NULL, kind INTEGER NOT NULL, detail BLOB, PRIMARY KEY(save, position)) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX _tombolo_change_record ON _tombolo_change(record, save) WHERE kind <> 0",
    "CREATE TABLE _tombolo_remote(key TEXT PRIMARY KEY NOT NULL, value ANY) STRICT, WITHOUT ROWID",
    "CREATE TABLE _tombolo_stage(page INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT",
    "CREATE TABLE _tombolo_tombstone(record BLOB PRIMARY KEY NOT NULL, entity TEXT, body BLOB) STRICT, WITHOUT ROWID",
    "CREATE TABLE _tombolo_alias(record BLOB PRIMARY KEY NOT NULL, survivor BLOB NOT NULL, body BLOB) STRICT, WITHOUT ROWID",
    "CREATE INDEX _tombolo_alias_survivor ON _tombolo_alias(survivor)",
    """
    CREATE TABLE _tombolo_unlinked(relationship TEXT NOT NULL, source BLOB NOT NULL, target BLOB NOT NULL, stamp BLOB, \
    PRIMARY KEY(relationship, source, target)) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE _tombolo_hidden(record BLOB NOT NULL, entity TEXT NOT NULL, attribute TEXT NOT NULL, target BLOB NOT NULL, \
    stamp BLOB, PRIMARY KEY(record, attribute)) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX _tombolo_hidden_target ON _tombolo_hidden(target)",
    """
    CREATE TABLE _tombolo_aside(record BLOB NOT NULL, entity TEXT NOT NULL, attribute TEXT NOT NULL DEFAULT '', body BLOB, \
    PRIMARY KEY(record, attribute)) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE _tombolo_conflict(id BLOB PRIMARY KEY NOT NULL, position INTEGER, time INTEGER, body BLOB) \
    STRICT, WITHOUT ROWID
    """,
    "CREATE TABLE _tombolo_parked(save INTEGER PRIMARY KEY, code TEXT NOT NULL, message TEXT NOT NULL, body BLOB) STRICT",
    """
    CREATE TABLE _tombolo_incident(incident INTEGER NOT NULL, record BLOB NOT NULL, time INTEGER NOT NULL, entity TEXT, \
    kind TEXT NOT NULL, PRIMARY KEY(incident, record)) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE _tombolo_shell(number INTEGER PRIMARY KEY, entity TEXT NOT NULL, record BLOB NOT NULL, \
    kind INTEGER NOT NULL, image TEXT) STRICT
    """,
  ]

  /// Those of them that a store of this format may lack, if an earlier build made it: they are made when it is opened to be
  /// written.
  static let later = [
    "CREATE INDEX _tombolo_save_state ON _tombolo_save(state)",
    """
    CREATE TABLE _tombolo_external(record BLOB NOT NULL, property TEXT NOT NULL, body BLOB NOT NULL, \
    PRIMARY KEY(record, property)) STRICT
    """,
    "CREATE TABLE _tombolo_number(number INTEGER PRIMARY KEY, record BLOB NOT NULL UNIQUE) STRICT",
    """
    CREATE TABLE _tombolo_lost(record BLOB PRIMARY KEY NOT NULL, entity TEXT NOT NULL, body BLOB NOT NULL) \
    STRICT, WITHOUT ROWID
    """,
    "CREATE TABLE _tombolo_pull(number INTEGER PRIMARY KEY, time INTEGER NOT NULL) STRICT",
    """
    CREATE TABLE _tombolo_decomposed(tab TEXT NOT NULL, name TEXT NOT NULL, composed TEXT NOT NULL, \
    record BLOB NOT NULL, PRIMARY KEY(tab, name, composed, record)) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX _tombolo_decomposed_record ON _tombolo_decomposed(record)",
    """
    CREATE TABLE _tombolo_pulled(pull INTEGER NOT NULL, part INTEGER NOT NULL, body BLOB NOT NULL, \
    PRIMARY KEY(pull, part)) STRICT
    """,
    """
    CREATE TABLE _tombolo_cancelled(save INTEGER NOT NULL, position INTEGER NOT NULL, entity INTEGER NOT NULL, \
    record BLOB NOT NULL, kind INTEGER NOT NULL, detail BLOB, PRIMARY KEY(save, position)) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE _tombolo_withheld(entry BLOB NOT NULL, save INTEGER NOT NULL, position INTEGER, time INTEGER, body BLOB, \
    PRIMARY KEY(entry, save)) STRICT, WITHOUT ROWID
    """,
  ]

  /// The name of the table or index that a statement makes: `CREATE TABLE name(…`, `CREATE INDEX name ON …`.
  static func name(in statement: String) -> String? {
    let words = statement.split(separator: " ", maxSplits: 3)
    return words.count > 2 ? String(words[2].prefix { $0 != "(" }) : nil
  }

  /// Everything that the schema needs and `present` does not have.
  /// - Parameter present: the tables, and per table the columns, as folded names.
  static func statements(for schema: StoreSchema, present: [String: Set<String>] = [:]) -> [String] {
    var statements: [String] = []
    for root in schema.entities where root.lineage.count == 1 {
      let family = family(of: root, in: schema)
      var columns: [(entity: EntityPlan, column: ColumnPlan)] = []
      for member in family {
        columns += member.columns.filter { $0.declaringEntity == member.name }.map { (member, $0) }
      }
      if let existing = present[StoreLayout.folded(root.table)] {
        statements += additions(to: root, columns: columns, existing: existing)
      } else {
        statements.append(table(root, columns: columns))
      }
      statements += indexes(of: family)
    }
    for link in schema.linkTables where present[StoreLayout.folded(link.table)] == nil {
      let table = link.table.quotedIdentifier
      statements.append(
        "CREATE TABLE \(table)(source BLOB NOT NULL CHECK (length(source) = 16), "
          + "target BLOB NOT NULL CHECK (length(target) = 16), _tombolo_stamps BLOB, PRIMARY KEY(source, target)) STRICT"
      )
      statements.append("CREATE INDEX \(indexName(link).quotedIdentifier) ON \(table)(target)")
    }
    return statements + ShellTriggers.statements(for: schema)
  }

  private static func table(_ root: EntityPlan, columns: [(entity: EntityPlan, column: ColumnPlan)]) -> String {
    var parts = [
      "_tombolo_id BLOB PRIMARY KEY NOT NULL DEFAULT (randomblob(16)) CHECK(length(_tombolo_id) = 16)"
    ]
    if root.hasEntityColumn { parts.append("_tombolo_entity TEXT NOT NULL DEFAULT \(root.name.quotedLiteral)") }
    parts += columns.map { definition($0.column, isShared: $0.entity.lineage.count > 1) }
    parts.append("_tombolo_stamps BLOB")
    return "CREATE TABLE \(root.table.quotedIdentifier)(\(parts.joined(separator: ", "))) STRICT"
  }

  private static func additions(
    to root: EntityPlan, columns: [(entity: EntityPlan, column: ColumnPlan)], existing: Set<String>
  ) -> [String] {
    let table = root.table.quotedIdentifier
    var statements: [String] = []
    if root.hasEntityColumn, !existing.contains("_tombolo_entity") {
      statements.append(
        "ALTER TABLE \(table) ADD COLUMN _tombolo_entity TEXT NOT NULL DEFAULT \(root.name.quotedLiteral)")
    }
    for (entity, column) in columns where !existing.contains(StoreLayout.folded(column.column)) {
      let isShared = entity.lineage.count > 1 || column.constantDefault.isNull
      statements.append("ALTER TABLE \(table) ADD COLUMN \(definition(column, isShared: isShared))")
    }
    return statements
  }

  /// Columns of subclasses are NULL in the rows of others, and a reference may be hidden; the writer checks those itself.
  private static func definition(_ column: ColumnPlan, isShared: Bool) -> String {
    var text = "\(column.column.quotedIdentifier) \(column.storageType)"
    if case .attribute(let attribute) = column.kind {
      if !attribute.isOptional, !isShared { text += " NOT NULL" }
      if !isShared, !column.constantDefault.isNull { text += " DEFAULT \(column.constantDefault.literal)" }
    }
    return text + check(column)
  }

  /// What a person in the `sqlite3` shell could write that no replica could take: refused there and then, by built-in
  /// SQL alone. NULL passes each of them.
  static func check(_ column: ColumnPlan) -> String {
    let name = column.column.quotedIdentifier
    guard case .attribute(let attribute) = column.kind else { return " CHECK (length(\(name)) = 16)" }
    switch attribute.type {
    case .bool: return " CHECK (\(name) IN (0, 1))"
    case .int8: return " CHECK (\(name) BETWEEN \(Int8.min) AND \(Int8.max))"
    case .int16: return " CHECK (\(name) BETWEEN \(Int16.min) AND \(Int16.max))"
    case .int32: return " CHECK (\(name) BETWEEN \(Int32.min) AND \(Int32.max))"
    case .uint8: return " CHECK (\(name) BETWEEN 0 AND \(UInt8.max))"
    case .uint16: return " CHECK (\(name) BETWEEN 0 AND \(UInt16.max))"
    case .uint32: return " CHECK (\(name) BETWEEN 0 AND \(UInt32.max))"
    case .uint64: return " CHECK (\(name) >= 0)"
    case .uuid: return " CHECK (length(\(name)) = 16)"
    // Before SQLite 3.42, json_valid(NULL) is 0 and not NULL.
    case .codable: return " CHECK (\(name) IS NULL OR json_valid(\(name)))"
    case .int64, .float, .double, .decimal, .string, .date, .data, .url: return ""
    }
  }

  /// The names of all indexes that the schema asks for.
  static func indexNames(for schema: StoreSchema) -> [String] {
    schema.entities.filter { $0.lineage.count == 1 }.flatMap { indexLists(of: family(of: $0, in: schema)).map(\.name) }
      + schema.linkTables.map(indexName)
  }

  private static func family(of root: EntityPlan, in schema: StoreSchema) -> [EntityPlan] {
    schema.entities.filter { $0.table == root.table }.sorted { $0.lineage.count < $1.lineage.count }
  }

  private static func indexName(_ link: LinkPlan) -> String { "_tombolo_\(link.table)_target" }

  private static func indexLists(of family: [EntityPlan]) -> [(name: String, columns: [String])] {
    guard let root = family.first else { return [] }
    var lists: [[String]] = root.hasEntityColumn ? [["_tombolo_entity"]] : []
    for member in family {
      for column in member.columns where column.declaringEntity == member.name {
        if case .reference = column.kind { lists.append([column.column]) }
      }
      for key in member.uniqueKeys where key.declaringEntity == member.name {
        lists.append(key.columns.map { member.columns[$0].column })
      }
      for order in member.orders where order.declaringEntity == member.name {
        lists.append([member.columns[order.reference].column, member.columns[order.key].column])
      }
      lists += member.indexes
    }
    var seen: Set<[String]> = []
    return lists.filter { !$0.isEmpty && seen.insert($0).inserted }.map {
      ("_tombolo_\(root.table)_\($0.joined(separator: "_"))", $0)
    }
  }

  private static func indexes(of family: [EntityPlan]) -> [String] {
    guard let root = family.first else { return [] }
    return indexLists(of: family).map { name, columns in
      let list = columns.map(\.quotedIdentifier).joined(separator: ", ")
      return "CREATE INDEX IF NOT EXISTS \(name.quotedIdentifier) ON \(root.table.quotedIdentifier)(\(list))"
    }
  }
}

extension ColumnPlan {
  /// The type in a STRICT table.
  package var storageType: String {
    switch kind {
    case .reference: "BLOB"
    case .attribute(let attribute):
      switch attribute.type {
      case .bool, .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64: "INTEGER"
      case .float, .double, .date: "REAL"
      case .decimal, .string, .url, .codable: "TEXT"
      case .uuid, .data: "BLOB"
      }
    }
  }

  /// The declared constant default; null where there is none.
  package var constantDefault: Value {
    guard case .attribute(let attribute) = kind, case .constant(let value)? = attribute.defaultValue else {
      return .null
    }
    // A default of 1 for a double is written as an integer in a document.
    if storageType == "REAL", case .integer(let integer) = value { return .real(Double(integer)) }
    return value
  }
}

extension String {
  /// The text as an SQL literal.
  package var quotedLiteral: String {
    "'" + split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
  }
}

extension Value {
  /// The value as an SQL literal.
  package var literal: String {
    switch self {
    case .null: "NULL"
    case .integer(let value): value == .min ? "(-9223372036854775807 - 1)" : "\(value)"
    case .real(let value): value.isInfinite ? (value < 0 ? "-9e999" : "9e999") : "\(value)"
    case .text(let text): text.quotedLiteral
    case .blob(let bytes):
      "x'" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "'"
    }
  }
}
