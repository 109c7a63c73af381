import CTomboloSQLite
import Foundation

/// The workload on SQLite's C API with SQLite's default pragmas (WAL, `synchronous=NORMAL`): the limit, in the same process.
final class RawStore {
  private var database: OpaquePointer?
  private let path: String

  /// What a raw program makes of a row.
  final class Book {
    let id: (UInt64, UInt64)
    let title: String
    let author: String
    let isFinished: Bool
    let createdAt: Double
    let updatedAt: Double

    init(_ statement: OpaquePointer?) {
      var id: (UInt64, UInt64) = (0, 0)
      if let bytes = sqlite3_column_blob(statement, 0) {
        id = (
          UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
          UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        )
      }
      self.id = id
      title = RawStore.text(statement, 1)
      author = RawStore.text(statement, 2)
      isFinished = sqlite3_column_int(statement, 3) != 0
      createdAt = sqlite3_column_double(statement, 4)
      updatedAt = sqlite3_column_double(statement, 5)
    }
  }

  private static func text(_ statement: OpaquePointer?, _ column: Int32) -> String {
    let start = sqlite3_column_text(statement, column)
    let count = Int(sqlite3_column_bytes(statement, column))
    return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }

  init(path: String) throws {
    self.path = path
    guard sqlite3_open(path, &database) == SQLITE_OK else { throw BenchmarkFailure("cannot open \(path)") }
    try execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;")
    try execute(
      "CREATE TABLE book(id BLOB PRIMARY KEY NOT NULL,title TEXT NOT NULL,author TEXT NOT NULL,isFinished INTEGER NOT NULL,"
        + "createdAt REAL NOT NULL,updatedAt REAL NOT NULL); CREATE INDEX book_created ON book(createdAt);")
  }

  deinit { sqlite3_close(database) }

  func execute(_ sql: String) throws {
    guard sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK else { throw failure() }
  }

  private func failure() -> BenchmarkFailure { BenchmarkFailure(String(cString: sqlite3_errmsg(database))) }

  private func prepare(_ sql: String) throws -> OpaquePointer? {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v3(database, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil) == SQLITE_OK else {
      throw failure()
    }
    return statement
  }

  private func run(_ statement: OpaquePointer?) throws {
    guard sqlite3_step(statement) == SQLITE_DONE else { throw failure() }
    sqlite3_reset(statement)
  }

  private func bind(_ id: (high: UInt64, low: UInt64), _ statement: OpaquePointer?, _ index: Int32) {
    withUnsafeBytes(of: (id.high.bigEndian, id.low.bigEndian)) {
      _ = tombolo_bind_blob(statement, index, $0.baseAddress, 16)
    }
  }

  private func bind(_ text: String, _ statement: OpaquePointer?, _ index: Int32) {
    var text = text
    text.withUTF8 { buffer in
      buffer.withMemoryRebound(to: CChar.self) {
        _ = tombolo_bind_text(statement, index, $0.baseAddress, Int32($0.count))
      }
    }
  }

  // MARK: The workload

  func insert(_ rows: [BenchmarkRow]) throws {
    try execute("BEGIN IMMEDIATE")
    let statement = try prepare("INSERT INTO book VALUES(?,?,?,?,?,?)")
    for row in rows {
      bind(row.id, statement, 1)
      bind(row.title, statement, 2)
      bind(row.author, statement, 3)
      sqlite3_bind_int(statement, 4, row.isFinished ? 1 : 0)
      sqlite3_bind_double(statement, 5, row.createdAt)
      sqlite3_bind_double(statement, 6, row.updatedAt)
      try run(statement)
    }
    sqlite3_finalize(statement)
    try execute("COMMIT")
  }

  private static let columns = "SELECT id,title,author,isFinished,createdAt,updatedAt FROM book"

  func fetchAll() throws -> [Book] {
    let statement = try prepare(Self.columns)
    var books: [Book] = []
    while sqlite3_step(statement) == SQLITE_ROW { books.append(Book(statement)) }
    sqlite3_finalize(statement)
    return books
  }

  func lookUp(_ rows: [BenchmarkRow], _ order: [Int], inOneTransaction: Bool) throws -> Int {
    if inOneTransaction { try execute("BEGIN") }
    let statement = try prepare(Self.columns + " WHERE id=?")
    var found = 0
    for index in order {
      bind(rows[index].id, statement, 1)
      if sqlite3_step(statement) == SQLITE_ROW {
        _ = Book(statement)
        found += 1
      }
      sqlite3_reset(statement)
    }
    sqlite3_finalize(statement)
    if inOneTransaction { try execute("COMMIT") }
    return found
  }

  func filterAndSort(_ rounds: Int) throws -> Int {
    try execute("BEGIN")
    let statement = try prepare(Self.columns + " WHERE isFinished=? AND createdAt>=? ORDER BY createdAt LIMIT 20")
    var generator = SplitMix64(state: 9)
    var found = 0
    for round in 0..<rounds {
      sqlite3_bind_int(statement, 1, Int32(round & 1))
      sqlite3_bind_double(statement, 2, 700_000_000.0 + Double(generator.next() % 99_000_000))
      while sqlite3_step(statement) == SQLITE_ROW {
        _ = Book(statement)
        found += 1
      }
      sqlite3_reset(statement)
    }
    sqlite3_finalize(statement)
    try execute("COMMIT")
    return found
  }

  func update(_ rows: [BenchmarkRow]) throws {
    try execute("BEGIN IMMEDIATE")
    let statement = try prepare("UPDATE book SET isFinished=? WHERE id=?")
    for row in rows {
      sqlite3_bind_int(statement, 1, row.isFinished ? 0 : 1)
      bind(row.id, statement, 2)
      try run(statement)
    }
    sqlite3_finalize(statement)
    try execute("COMMIT")
  }

  func delete(_ rows: [BenchmarkRow]) throws {
    try execute("BEGIN IMMEDIATE")
    let statement = try prepare("DELETE FROM book WHERE id=?")
    for row in rows {
      bind(row.id, statement, 1)
      try run(statement)
    }
    sqlite3_finalize(statement)
    try execute("COMMIT")
  }
}
