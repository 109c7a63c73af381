import Foundation
import Testing
import TomboloSQLite

@Suite("Connection and statement")
struct ConnectionTests {
  private let connection: Connection

  init() throws { connection = try Connection(path: ":memory:") }

  @Test("An immutable file of the WAL kind is read without a file beside it, whatever characters its path has")
  func immutable() throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "tombolo ?immutable#\(UInt64.random(in: 0...9_999_999))%41")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appending(path: "ä b&c=d.store").path
    do {
      let writing = try Connection(path: path)
      try writing.execute("PRAGMA journal_mode = wal; CREATE TABLE t(a); INSERT INTO t VALUES (7)")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 1)
    var options = Connection.Options()
    options.isReadOnly = true
    options.isImmutable = true
    let reading = try Connection(path: path, options: options)
    #expect(try reading.prepare("SELECT a FROM t").step())
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 1)
    #expect(throws: SQLiteError.self) { try reading.execute("INSERT INTO t VALUES (8)") }
  }

  @Test("An empty blob and an empty text are not NULL")
  func emptyIsNotNull() throws {
    let statement = try connection.prepare("SELECT ?1, ?2, ?3, ?4")
    statement.bind([UInt8](), at: 1)
    statement.bind("", at: 2)
    statement.bindNull(at: 3)
    statement.bind(UnsafeRawBufferPointer(start: nil, count: 0), at: 4)
    #expect(try statement.step())
    #expect(statement.storageClass(0) == .blob)
    #expect(statement.bytes(0).isEmpty)
    #expect(statement.storageClass(1) == .text)
    #expect(statement.string(1).isEmpty)
    #expect(statement.isNull(2))
    #expect(statement.storageClass(3) == .blob)
    statement.reset()
  }

  @Test("Values come back as they were bound", arguments: ["é", "e\u{301}", "a\u{0}b", "🏖", "'; DROP TABLE x"])
  func textRoundTrip(_ text: String) throws {
    let statement = try connection.prepare("SELECT ?1")
    statement.bind(text, at: 1)
    #expect(try statement.step())
    #expect(Array(statement.string(0).utf8) == Array(text.utf8))
    statement.reset()
  }

  @Test("Sixteen bytes go in and out as two big-endian halves")
  func halves() throws {
    let statement = try connection.prepare("SELECT ?1, hex(?1), x'00', NULL")
    statement.bind(high: 0x0102_0304_0506_0708, low: 0xFFFE_FDFC_FBFA_F9F8, at: 1)
    #expect(try statement.step())
    #expect(statement.string(1) == "0102030405060708FFFEFDFCFBFAF9F8")
    #expect(statement.halves(0)?.high == 0x0102_0304_0506_0708)
    #expect(statement.halves(0)?.low == 0xFFFE_FDFC_FBFA_F9F8)
    #expect(statement.halves(2) == nil)
    #expect(statement.halves(3) == nil)
    statement.reset()
  }

  @Test("An error names code, message and statement, and never a bound value")
  func errorHasNoValues() throws {
    try connection.execute("CREATE TABLE a(x TEXT NOT NULL UNIQUE) STRICT")
    let statement = try connection.prepare("INSERT INTO a VALUES(?1)")
    statement.bind("secret-value", at: 1)
    try statement.run()
    let error = #expect(throws: SQLiteError.self) { try statement.run() }
    #expect(error?.isConstraint == true)
    #expect(error?.description.contains("secret-value") == false)
    #expect(error?.description.contains("INSERT INTO a VALUES(?1)") == true)
    #expect(error?.description.contains("a.x") == true)
    #expect(!connection.hasBusyStatement)
  }

  @Test(
    "A misspelt column in double quotes fails instead of being a string",
    arguments: [
      "SELECT \"nmae\" FROM a", "INSERT INTO a VALUES(\"text\")", "CREATE INDEX i ON a(\"nmae\")",
      "UPDATE a SET name = \"other\"",
    ])
  func doubleQuotes(_ sql: String) throws {
    try connection.execute("CREATE TABLE a(name TEXT)")
    #expect(throws: SQLiteError.self) { try connection.execute(sql) }
  }

  @Test("Identifiers are quoted whatever is in them", arguments: ["select", "a b", "a\"b", "é", "a'b", "\"\""])
  func quotedIdentifier(_ name: String) throws {
    try connection.execute("CREATE TABLE \(name.quotedIdentifier)(\(name.quotedIdentifier) TEXT)")
    #expect(try connection.text("SELECT name FROM sqlite_schema") == name)
  }

  @Test("A savepoint undoes its own part only, and an error in a transaction undoes all")
  func savepoints() throws {
    struct Stop: Error {}
    try connection.execute("CREATE TABLE a(x)")
    try connection.immediate {
      try connection.execute("INSERT INTO a VALUES(1)")
      #expect(throws: Stop.self) {
        try connection.savepoint {
          try connection.execute("INSERT INTO a VALUES(2)")
          throw Stop()
        }
      }
      try connection.savepoint { try connection.execute("INSERT INTO a VALUES(3)") }
    }
    #expect(try connection.text("SELECT group_concat(x) FROM a") == "1,3")
    #expect(throws: Stop.self) {
      try connection.immediate {
        try connection.execute("DELETE FROM a")
        throw Stop()
      }
    }
    #expect(try connection.integer("SELECT count(*) FROM a") == 2)
    #expect(!connection.isInTransaction)
  }

  @Test("A cached statement is lent once at a time")
  func cachedStatements() throws {
    try connection.execute("CREATE TABLE a(x); INSERT INTO a VALUES(1), (2)")
    let outer = try connection.cached("SELECT x FROM a")
    #expect(try outer.step())
    let inner = try connection.cached("SELECT x FROM a")
    #expect(outer !== inner)
    #expect(try inner.step())
    inner.reset()
    outer.reset()
    #expect(!connection.hasBusyStatement)
    #expect(try connection.cached("SELECT x FROM a") === inner)
  }

  @Test("An empty statement and a damaged file are errors with a code")
  func errors() throws {
    #expect(throws: SQLiteError.self) { try connection.prepare("  -- nothing") }
    let disk = try TestDisk()
    disk.system.restore(["main.db": Array("this is no database, whatever its name says............".utf8)])
    let error = #expect(throws: SQLiteError.self) { try disk.connect().integer("SELECT count(*) FROM sqlite_schema") }
    #expect(error?.isCorrupt == true)
  }

  @Test("A function gets and gives every kind of value, and its error is the statement's")
  func functions() throws {
    struct Refusal: Error, CustomStringConvertible { var description: String { "not today" } }
    try connection.define("same", arguments: 1) { $0[0] }
    try connection.define("refuse", arguments: 0) { _ in throw Refusal() }
    #expect(
      try connection.text("SELECT typeof(same(NULL)) || typeof(same(1)) || typeof(same(1.5))") == "nullintegerreal")
    #expect(try connection.text("SELECT typeof(same('')) || typeof(same(x'')) || same('é')") == "textblobé")
    let error = #expect(throws: SQLiteError.self) { try connection.integer("SELECT refuse()") }
    #expect(error?.message == "not today")
  }

  @Test("An authorizer stops a statement when it is compiled, and lets it through once it is gone")
  func authorizer() throws {
    try connection.execute("CREATE TABLE a(x)")
    connection.setAuthorizer { _, first, _ in first != "a" }
    #expect(throws: SQLiteError.self) { try connection.prepare("SELECT x FROM a") }
    #expect(try connection.integer("SELECT 4") == 4)
    connection.setAuthorizer(nil)
    #expect(try connection.integer("SELECT count(x) FROM a") == 0)
  }

  @Test("Triggers can be switched off for one connection")
  func triggers() throws {
    let disk = try TestDisk()
    let quiet = try disk.connect()
    try quiet.execute(
      "CREATE TABLE a(x); CREATE TABLE log(x); CREATE TRIGGER t AFTER INSERT ON a BEGIN INSERT INTO log VALUES(new.x); END"
    )
    quiet.setTriggersEnabled(false)
    try quiet.execute("INSERT INTO a VALUES(1)")
    try disk.connect().execute("INSERT INTO a VALUES(2)")
    #expect(try quiet.text("SELECT group_concat(x) FROM log") == "2")
  }
}
