package import Tombolo
import TomboloProtocol
import TomboloSQLite

/// Runs a person's SQL expression where it can do no harm: on a connection of its own that only reads, under SQLite's
/// authorizer (https://sqlite.org/c3ref/set_authorizer.html), which is asked about every table, column and function.
package struct GuardedQuery {
  private let connection: Connection
  private let guardian: ReadGuard

  /// - Throws: what a file that cannot be read throws.
  package init(path: String, schema: StoreSchema) throws {
    var options = Connection.Options()
    options.isReadOnly = true
    options.isImmutable = ReadOnlyPlace(path).isImmutable
    do {
      connection = try Connection(path: path, options: options)
      try connection.execute("PRAGMA temp_store = memory")
      for view in Self.views(of: schema) { try connection.execute(view) }
      try connection.execute("PRAGMA query_only = 1; PRAGMA trusted_schema = 0")
    } catch let error as SQLiteError {
      throw TomboloError(error, path: path)
    }
    for (category, value) in ReadGuard.limits { connection.limit(category, to: value) }
    guardian = ReadGuard(schema: schema)
  }

  /// For each table of which large values lie outside of its rows, a view that has them inside and stands in its place: an
  /// expression sees the values themselves.
  private static func views(of schema: StoreSchema) -> [String] {
    let families = Dictionary(grouping: schema.entities, by: \.table)
    return families.sorted { $0.key < $1.key }.compactMap { table, entities in
      guard entities.contains(where: { $0.columns.contains(where: \.isExternal) }) else { return nil }
      var columns = ["_tombolo_id"] + (entities.contains(where: \.hasEntityColumn) ? ["_tombolo_entity"] : [])
      var known: Set<String> = []
      for column in entities.flatMap(\.declaredColumns) where known.insert(column.column).inserted {
        columns.append("\(column.value(in: "record")) AS \(column.column.quotedIdentifier)")
      }
      let name = table.quotedIdentifier
      return "CREATE TEMP VIEW \(name) AS SELECT \(columns.joined(separator: ", ")) FROM main.\(name) AS record"
    }
  }

  /// - Parameters:
  ///   - head: `SELECT … FROM …`, ours.
  ///   - condition: the person's expression.
  ///   - fixed: a condition of ours.
  ///   - suffix: ordering and limit, ours.
  /// - Throws: `invalid_query`.
  package func prepare(_ head: String, condition: String?, fixed: String?, suffix: String) throws -> GuardedStatement {
    var terms: [String] = []
    if let condition {
      try WhereExpression.validate(condition)
      // On lines of its own; the parentheses keep an OR inside of it from reaching past the fixed condition.
      terms.append("(\n\(condition)\n)")
    }
    if let fixed { terms.append(fixed) }
    let sql = head + (terms.isEmpty ? "" : " WHERE " + terms.joined(separator: " AND ")) + suffix
    let refusal = Refusal()
    connection.setAuthorizer { [guardian] action, first, second in
      let reason = guardian.refusal(action, first, second)
      if let reason, refusal.reason == nil { refusal.reason = reason }
      return reason == nil
    }
    do {
      let statement = try connection.prepare(sql, persistent: false)
      return GuardedStatement(statement, on: connection)
    } catch let error as SQLiteError where error.isCorrupt {
      throw TomboloError(error, path: connection.path)
    } catch let error as SQLiteError {
      throw TomboloError(
        .invalidQuery, "The expression is refused: \(refusal.reason ?? error.message).",
        remedy: "Give one SQL expression over the entity's columns, as \"city = 'Oslo'\".")
    }
  }

  private final class Refusal { var reason: String? }
}

/// The rows of a guarded query.
package struct GuardedStatement {
  private let statement: Statement
  private let connection: Connection
  private let malformed = Count()

  private final class Count { var rows = 0 }

  init(_ statement: Statement, on connection: Connection) {
    self.statement = statement
    self.connection = connection
  }

  /// - Throws: `invalid_query` for an expression that fails while it runs; after the last row `corrupt_store`, if there were
  ///   rows whose identifier is none.
  package func next() throws -> RecordRow? {
    do {
      while try statement.step() {
        if let row = RecordRow(statement) { return row }
        malformed.rows += 1
      }
    } catch let error as SQLiteError where error.isCorrupt {
      throw TomboloError(error, path: connection.path)
    } catch let error as SQLiteError {
      throw TomboloError(
        .invalidQuery, "The expression failed: \(error.message).", remedy: "Check what it calls and compares.")
    }
    guard malformed.rows == 0 else {
      throw TomboloError(
        .corruptStore, "\(malformed.rows) rows have an identifier that is none: it must be 16 bytes.",
        remedy: "Another program wrote them; find them with 'length(_tombolo_id) <> 16' in sqlite3, and delete them.")
    }
    return nil
  }
}

/// What a guarded query may touch.
struct ReadGuard: Sendable {
  /// Tables by lower-case name, as SQLite compares them.
  private let tables: Set<String>
  private let columns: Set<String>

  /// Limits of SQLite (https://sqlite.org/c3ref/c_limit_attached.html): bytes of a value, of a statement, depth of an
  /// expression, attached databases.
  static let limits: [(Int32, Int32)] = [(0, 64 << 20), (1, 1 << 20), (3, 200), (7, 0)]

  /// Action codes (https://sqlite.org/c3ref/c_alter_table.html).
  private enum Action {
    static let read: Int32 = 20
    static let select: Int32 = 21
    static let function: Int32 = 31
  }

  private static let functions: Set<String> = [
    "abs", "avg", "ceil", "ceiling", "coalesce", "count", "date", "datetime", "floor", "format", "glob", "group_concat",
    "hex", "ifnull", "iif", "instr", "json", "json_array_length", "json_extract", "json_type", "json_valid", "->",
    "->>",
    "julianday", "length", "like", "likely", "lower", "ltrim", "max", "min", "mod", "nullif", "pow", "power", "printf",
    "quote", "replace", "round", "rtrim", "sign", "sqrt", "strftime", "substr", "substring", "sum", "time", "total",
    "trim", "trunc", "typeof", "unhex", "unicode", "unixepoch", "unlikely", "upper",
  ]

  init(schema: StoreSchema) {
    var tables: Set<String> = []
    var columns: Set<String> = ["_tombolo_id", "_tombolo_entity", "rowid", "source", "target", ""]
    for entity in schema.entities {
      tables.insert(entity.table.lowercased())
      for column in entity.declaredColumns { columns.insert(column.column.lowercased()) }
      for link in entity.links { tables.insert(link.table.lowercased()) }
    }
    if schema.entities.contains(where: { $0.columns.contains(where: \.isExternal) }) {
      // Where large values lie.
      tables.insert("_tombolo_external")
      columns.formUnion(["record", "property", "body"])
    }
    self.tables = tables
    self.columns = columns
  }

  /// Why something is not allowed; nil when it is.
  func refusal(_ action: Int32, _ first: String?, _ second: String?) -> String? {
    switch action {
    case Action.select: return nil
    case Action.read:
      guard let table = first?.lowercased(), tables.contains(table) else {
        return "it reads \(first ?? "something") which is no table of records"
      }
      guard let column = second?.lowercased(), columns.contains(column) else {
        return "it reads \(second ?? "a column") which is no attribute"
      }
      return nil
    case Action.function:
      guard let name = second?.lowercased(), Self.functions.contains(name) else {
        return "it calls the function \(second ?? "") which is not among those that are allowed"
      }
      return nil
    default:
      return "it does more than read records"
    }
  }
}
