import CTomboloSQLite

/// SQLite's extended codes for failed input and output (https://sqlite.org/rescode.html); their macros are expressions
/// that Swift does not import.
enum MemoryFileFailure {
  static let read = SQLITE_IOERR | 1 << 8
  static let shortRead = SQLITE_IOERR | 2 << 8
  static let write = SQLITE_IOERR | 3 << 8
  static let sync = SQLITE_IOERR | 4 << 8
  static let truncate = SQLITE_IOERR | 6 << 8
  static let size = SQLITE_IOERR | 7 << 8
  static let delete = SQLITE_IOERR | 10 << 8
  static let access = SQLITE_IOERR | 13 << 8
  static let lock = SQLITE_IOERR | 15 << 8
  static let sharedMemoryLock = SQLITE_IOERR | 20 << 8
  static let sharedMemoryMap = SQLITE_IOERR | 21 << 8
  static let deleteNoEntry = SQLITE_IOERR | 23 << 8
}
