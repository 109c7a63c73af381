import CTomboloSQLite

/// One SQLite connection and its cache of prepared statements.
///
/// Opened without SQLite's own mutex: whoever owns it serialises its use.
package final class Connection {
  private let handle: OpaquePointer
  private var statements: [String: Statement] = [:]
  private var numbered: [Int: Statement] = [:]
  private var functions: [FunctionBox] = []
  private var authorizer: AuthorizerBox?
  private var tracer: TracerBox?
  package let path: String

  package struct Options: Sendable {
    package var isReadOnly = false
    package var createsFile = true
    /// The file is taken as one that nobody changes: no lock, no log, nothing made beside it.
    package var isImmutable = false
    /// The name of a registered VFS; nil for the system's.
    package var vfs: String?
    /// How long a busy database is waited for.
    package var busyTimeoutMilliseconds: Int32 = 10_000
    package init() {}
  }

  /// - Parameter path: a file's path, or `:memory:`.
  /// - Throws: ``SQLiteError``; the file is not read yet, so a file that is no database fails later, at the first statement.
  package init(path: String, options: Options = Options()) throws {
    var flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    flags |= options.isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE
    if options.createsFile, !options.isReadOnly { flags |= SQLITE_OPEN_CREATE }
    var handle: OpaquePointer?
    if options.isImmutable { flags |= SQLITE_OPEN_URI }
    let name = options.isImmutable ? Self.immutableURI(path) : path
    let code = sqlite3_open_v2(name, &handle, flags, options.vfs)
    guard code == SQLITE_OK, let handle else {
      let message = handle.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(code))
      sqlite3_close_v2(handle)
      throw SQLiteError(code: code, message: message)
    }
    self.handle = handle
    self.path = path
    sqlite3_busy_timeout(handle, options.busyTimeoutMilliseconds)
    // A misspelt column in double quotes must fail instead of turning into a string.
    tombolo_config_switch(handle, SQLITE_DBCONFIG_DQS_DML, 0)
    tombolo_config_switch(handle, SQLITE_DBCONFIG_DQS_DDL, 0)
  }

  deinit {
    statements.removeAll()
    numbered.removeAll()
    sqlite3_close_v2(handle)
  }

  /// https://sqlite.org/uri.html: what is no letter or digit is escaped, so that no character of the path means anything.
  private static func immutableURI(_ path: String) -> String {
    var name = "file:"
    for byte in path.utf8 {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2F, 0x2D, 0x2E, 0x5F:
        name.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let digits = String(byte, radix: 16)
        name += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
      }
    }
    return name + "?immutable=1"
  }

  func error(sql: String? = nil) -> SQLiteError {
    SQLiteError(
      code: sqlite3_extended_errcode(handle), message: String(cString: sqlite3_errmsg(handle)), sql: sql,
      systemError: sqlite3_system_errno(handle))
  }

  // MARK: Statements

  /// Compiles a statement that the caller keeps.
  package func prepare(_ sql: String, persistent: Bool = true) throws -> Statement {
    var statement: OpaquePointer?
    let flags = persistent ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
    let code = sqlite3_prepare_v3(handle, sql, -1, flags, &statement, nil)
    guard code == SQLITE_OK else { throw error(sql: sql) }
    guard let statement else { throw SQLiteError(code: SQLITE_MISUSE, message: "the statement is empty", sql: sql) }
    return Statement(sql, on: self, handle: statement)
  }

  /// A statement from the cache, by its text. It must be reset before it is asked for again: `run()` does so.
  package func cached(_ sql: String) throws -> Statement {
    if let statement = statements[sql], !statement.isBusy { return statement }
    let statement = try prepare(sql)
    if statements.count >= 500 { statements.removeAll(keepingCapacity: true) }
    statements[sql] = statement
    return statement
  }

  /// The same by a number that stands for the text, which is only put together the first time.
  package func numbered(_ number: Int, _ sql: () -> String) throws -> Statement {
    if let statement = numbered[number], !statement.isBusy { return statement }
    let statement = try prepare(sql())
    if numbered.count >= 500 { numbered.removeAll(keepingCapacity: true) }
    numbered[number] = statement
    return statement
  }

  /// Runs one or more statements without parameters.
  package func execute(_ sql: String) throws {
    guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw error(sql: sql) }
  }

  /// Drops the cached statements, as before a change of the tables.
  package func dropStatements() {
    statements.removeAll()
    numbered.removeAll()
  }

  // MARK: Transactions

  package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  /// Runs `body` in a transaction that takes the write lock at once; a deferred one that starts to write later fails
  /// at once with "busy" however long the timeout is.
  package func immediate<Result>(_ body: () throws -> Result) throws -> Result {
    try cached("BEGIN IMMEDIATE").run()
    return try finish(body)
  }

  /// Runs `body` in a transaction that sees one state of the database throughout.
  package func deferred<Result>(_ body: () throws -> Result) throws -> Result {
    try cached("BEGIN DEFERRED").run()
    return try finish(body)
  }

  private func finish<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      let result = try body()
      try cached("COMMIT").run()
      return result
    } catch {
      // SQLite may have rolled back by itself (disk full): then a second ROLLBACK would hide the first error.
      if isInTransaction { try? cached("ROLLBACK").run() }
      throw error
    }
  }

  /// Runs `body` inside a savepoint of the open transaction; an error undoes only what `body` did.
  package func savepoint<Result>(_ body: () throws -> Result) throws -> Result {
    try cached("SAVEPOINT tombolo").run()
    do {
      let result = try body()
      try cached("RELEASE tombolo").run()
      return result
    } catch {
      if isInTransaction {
        try? cached("ROLLBACK TO tombolo").run()
        try? cached("RELEASE tombolo").run()
      }
      throw error
    }
  }

  // MARK: Facts

  /// Rows changed by the last statement.
  package var changes: Int { Int(sqlite3_changes(handle)) }
  package var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(handle) }

  /// Whether any cached statement is in the middle of its rows: a test asserts at teardown that none is.
  package var hasBusyStatement: Bool {
    var statement = sqlite3_next_stmt(handle, nil)
    while let current = statement {
      if sqlite3_stmt_busy(current) != 0 { return true }
      statement = sqlite3_next_stmt(handle, current)
    }
    return false
  }

  /// Stops whatever statement runs, from any thread.
  package func interrupt() { sqlite3_interrupt(handle) }

  /// Switches this connection's triggers on or off (`SQLITE_DBCONFIG_ENABLE_TRIGGER`); other connections keep theirs.
  package func setTriggersEnabled(_ enabled: Bool) {
    tombolo_config_switch(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, enabled ? 1 : 0)
  }

  /// Sets one of SQLite's limits (https://sqlite.org/c3ref/limit.html) and returns the one before; -1 only asks.
  @discardableResult
  package func limit(_ category: Int32, to value: Int32 = -1) -> Int32 { sqlite3_limit(handle, category, value) }

  /// Copies the whole database into a file (https://sqlite.org/backup.html).
  package func backup(to path: String) throws {
    let target = try Connection(path: path)
    guard let backup = sqlite3_backup_init(target.handle, "main", handle, "main") else { throw target.error() }
    let step = sqlite3_backup_step(backup, -1)
    let code = sqlite3_backup_finish(backup)
    guard step == SQLITE_DONE, code == SQLITE_OK else { throw target.error() }
  }

  // MARK: Functions and guards

  /// A value as a function sees or returns it.
  package enum FunctionValue {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])
  }

  private final class FunctionBox {
    let body: ([FunctionValue]) throws -> FunctionValue
    init(_ body: @escaping ([FunctionValue]) throws -> FunctionValue) { self.body = body }
  }

  /// Defines a deterministic SQL function for this connection only; no index, trigger or CHECK may use it.
  package func define(
    _ name: String, arguments: Int32, _ body: @escaping ([FunctionValue]) throws -> FunctionValue
  ) throws {
    let box = FunctionBox(body)
    functions.append(box)
    let code = sqlite3_create_function_v2(
      handle, name, arguments, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY,
      Unmanaged.passUnretained(box).toOpaque(),
      { context, count, values in
        guard let context, let data = sqlite3_user_data(context) else { return }
        let box = Unmanaged<FunctionBox>.fromOpaque(data).takeUnretainedValue()
        var arguments: [FunctionValue] = []
        arguments.reserveCapacity(Int(count))
        for index in 0..<Int(count) { arguments.append(Connection.argument(values?[index])) }
        do {
          Connection.result(try box.body(arguments), in: context)
        } catch {
          sqlite3_result_error(context, "\(error)", -1)
        }
      }, nil, nil, nil)
    guard code == SQLITE_OK else { throw error() }
  }

  private static func argument(_ value: OpaquePointer?) -> FunctionValue {
    guard let value else { return .null }
    switch sqlite3_value_type(value) {
    case SQLITE_INTEGER: return .integer(sqlite3_value_int64(value))
    case SQLITE_FLOAT: return .real(sqlite3_value_double(value))
    case SQLITE_TEXT:
      let text = sqlite3_value_text(value)
      return .text(
        String(decoding: UnsafeBufferPointer(start: text, count: Int(sqlite3_value_bytes(value))), as: UTF8.self))
    case SQLITE_BLOB:
      let bytes = sqlite3_value_blob(value)
      return .blob([UInt8](UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_value_bytes(value)))))
    default: return .null
    }
  }

  private static func result(_ value: FunctionValue, in context: OpaquePointer) {
    switch value {
    case .null: sqlite3_result_null(context)
    case .integer(let value): sqlite3_result_int64(context, value)
    case .real(let value): sqlite3_result_double(context, value)
    case .text(var text):
      text.withUTF8 { buffer in
        guard let base = buffer.baseAddress else {
          tombolo_result_text(context, "", 0)
          return
        }
        base.withMemoryRebound(to: CChar.self, capacity: buffer.count) {
          tombolo_result_text(context, $0, Int32(buffer.count))
        }
      }
    case .blob(let bytes):
      bytes.withUnsafeBytes {
        sqlite3_result_blob64(
          context, $0.baseAddress, UInt64($0.count), unsafeBitCast(-1, to: sqlite3_destructor_type.self))
      }
    }
  }

  private final class TracerBox {
    let note: (String) -> Void
    init(_ note: @escaping (String) -> Void) { self.note = note }
  }

  /// Tells `note` the text of each statement that begins to run, without its bound values: for tests that count them.
  package func setTrace(_ note: @escaping (String) -> Void) {
    let box = TracerBox(note)
    tracer = box
    sqlite3_trace_v2(
      handle, UInt32(SQLITE_TRACE_STMT),
      { _, data, _, text in
        guard let data, let text else { return 0 }
        let sql = String(cString: text.assumingMemoryBound(to: CChar.self))
        Unmanaged<TracerBox>.fromOpaque(data).takeUnretainedValue().note(sql)
        return 0
      }, Unmanaged.passUnretained(box).toOpaque())
  }

  private final class AuthorizerBox {
    let allows: (Int32, String?, String?) -> Bool
    init(_ allows: @escaping (Int32, String?, String?) -> Bool) { self.allows = allows }
  }

  /// Asks `allows` (action code, first and second argument: https://sqlite.org/c3ref/c_alter_table.html) about every
  /// part of a statement when it is compiled; nil ends the guard.
  package func setAuthorizer(_ allows: ((_ action: Int32, _ first: String?, _ second: String?) -> Bool)?) {
    guard let allows else {
      sqlite3_set_authorizer(handle, nil, nil)
      authorizer = nil
      return
    }
    let box = AuthorizerBox(allows)
    authorizer = box
    sqlite3_set_authorizer(
      handle,
      { data, action, first, second, _, _ in
        guard let data else { return SQLITE_DENY }
        let box = Unmanaged<AuthorizerBox>.fromOpaque(data).takeUnretainedValue()
        let isAllowed = box.allows(action, first.map { String(cString: $0) }, second.map { String(cString: $0) })
        return isAllowed ? SQLITE_OK : SQLITE_DENY
      }, Unmanaged.passUnretained(box).toOpaque())
  }
}

extension String {
  /// The name as an SQL identifier: quoted in double quotes, which never turn into a string here.
  package var quotedIdentifier: String {
    guard utf8.contains(UInt8(ascii: "\"")) else { return "\"" + self + "\"" }
    return "\"" + split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
  }
}
