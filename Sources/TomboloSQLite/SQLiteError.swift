import CTomboloSQLite
import Foundation

/// A failure that SQLite reported: result code, message, and the statement's text. Bound values are never in it.
package struct SQLiteError: Error, CustomStringConvertible, Sendable {
  /// The extended result code (https://sqlite.org/rescode.html).
  package let code: Int32
  package let message: String
  package let sql: String?
  /// The operating system's `errno` behind a failure to read or write; 0 where there is none.
  package let systemError: Int32

  package init(code: Int32, message: String, sql: String? = nil, systemError: Int32 = 0) {
    self.code = code
    self.message = message
    self.sql = sql
    self.systemError = systemError
  }

  package var primaryCode: Int32 { code & 0xFF }
  package var isBusy: Bool { primaryCode == SQLITE_BUSY || primaryCode == SQLITE_LOCKED }
  /// SQLite says "full" when the database cannot grow, and "I/O error" when its log or its shared memory cannot.
  package var isDiskFull: Bool {
    primaryCode == SQLITE_FULL || (primaryCode == SQLITE_IOERR && (systemError == ENOSPC || systemError == EDQUOT))
  }
  package var isCorrupt: Bool { primaryCode == SQLITE_CORRUPT || primaryCode == SQLITE_NOTADB }
  /// The file, or one beside it, could not be opened as it had to be.
  package var isRefusedPlace: Bool { primaryCode == SQLITE_READONLY || primaryCode == SQLITE_CANTOPEN }
  package var isConstraint: Bool { primaryCode == SQLITE_CONSTRAINT }
  package var isInterrupted: Bool { primaryCode == SQLITE_INTERRUPT }

  package var description: String {
    sql.map { "SQLite error \(code): \(message) in \($0)" } ?? "SQLite error \(code): \(message)"
  }
}
