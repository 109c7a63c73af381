import CTomboloSQLite

/// A failure that SQLite reported: result code, message, and the statement's text. Bound values are never in it.
package struct SQLiteError: Error, CustomStringConvertible, Sendable {
  /// The extended result code (https://sqlite.org/rescode.html).
  package let code: Int32
  package let message: String
  package let sql: String?

  package init(code: Int32, message: String, sql: String? = nil) {
    self.code = code
    self.message = message
    self.sql = sql
  }

  package var primaryCode: Int32 { code & 0xFF }
  package var isBusy: Bool { primaryCode == SQLITE_BUSY || primaryCode == SQLITE_LOCKED }
  package var isDiskFull: Bool { primaryCode == SQLITE_FULL }
  package var isCorrupt: Bool { primaryCode == SQLITE_CORRUPT || primaryCode == SQLITE_NOTADB }
  package var isConstraint: Bool { primaryCode == SQLITE_CONSTRAINT }
  package var isInterrupted: Bool { primaryCode == SQLITE_INTERRUPT }

  package var description: String {
    sql.map { "SQLite error \(code): \(message) in \($0)" } ?? "SQLite error \(code): \(message)"
  }
}
