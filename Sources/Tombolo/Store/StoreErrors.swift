package import TomboloProtocol
package import TomboloSQLite

extension TomboloError {
  /// What a failure that SQLite reported means to whoever uses the store at `path`.
  package init(_ error: SQLiteError, path: String) {
    switch error.primaryCode {
    case _ where error.isDiskFull:
      self.init(
        .diskFull, "The disk is full: nothing of this transaction was kept in \(path).",
        remedy: "Make room on the disk and save again.", isRetryable: true)
    case 5, 6:  // SQLITE_BUSY, SQLITE_LOCKED
      self.init(
        .busy, "Another connection holds \(path) for too long.",
        remedy: "Try again, or end the program that has a transaction open on it.", isRetryable: true)
    case _ where error.isCorrupt:
      self.init(
        .corruptStore, "The store at \(path) is damaged: \(error.message).",
        remedy: "Work on a copy: `sqlite3 FILE .recover` saves what is readable; or clone from the server again.")
    case 8:  // SQLITE_READONLY
      self.init(
        .readOnlyStore, "The store at \(path) cannot be written.",
        remedy: "Give yourself the right to write the file and its folder.")
    case 10, 14:  // SQLITE_IOERR, SQLITE_CANTOPEN
      self.init(
        .diskFailure, "The operating system could not read or write \(path): \(error.message).",
        remedy: "Check the disk, the folder's rights, and how many files are open.",
        isRetryable: error.primaryCode == 10)
    case 19 where error.code == 275:  // SQLITE_CONSTRAINT_CHECK
      self.init(
        .wrongType, "A value is not one that its attribute may have: \(error.message).",
        remedy: "Give a value within the range of the attribute's type.")
    case 19 where error.code == 3091:  // SQLITE_CONSTRAINT_DATATYPE
      self.init(
        .wrongType, "A value is not of its column's type: \(error.message).",
        remedy: "Give a value of the attribute's type.")
    case 1 where error.missingTable != nil:  // SQLITE_ERROR
      self.init(
        .corruptStore, "The store at \(path) is damaged: its table \(error.missingTable ?? "") is missing.",
        remedy: "Put a backup back, or clone from the server again; `tombolo doctor` tells what else is wrong.")
    default:
      self.init(.databaseFailure, "SQLite failed on \(path): \(error.message) (\(error.code)).")
    }
  }
}

extension SQLiteError {
  /// The table that a statement was prepared for and that is not there; nil for other errors. Statements come from the
  /// schema inside the store, which has all its tables.
  fileprivate var missingTable: String? {
    let prefix = "no such table: "
    guard message.hasPrefix(prefix) else { return nil }
    return message.dropFirst(prefix.count).split(separator: ".").last.map(String.init)
  }
}

extension Store {
  /// Turns what SQLite reports into errors with a code; every read and save passes through here.
  func translatingErrors<Result>(_ body: () throws -> Result) throws -> Result {
    try location.naming(body)
  }
}

extension Store.Location {
  /// Errors with a code, of which those about damage name the file.
  func naming<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as SQLiteError {
      throw TomboloError(error, path: description)
    } catch var error as TomboloError where error.code == .corruptStore && !error.message.contains(description) {
      error.message = "\(description): \(error.message)"
      throw error
    }
  }
}

extension Store.Location: CustomStringConvertible {
  package var description: String {
    switch self {
    case .file(let path): path
    case .memory(let name): "the store in memory \(name)"
    }
  }
}
