import Foundation
import Synchronization
import TomboloSQLite

/// A connection with the lock under which alone it is used.
///
/// The lock may be taken again by the thread that has it: a store in memory reads and writes through one connection.
final class ConnectionOwner: @unchecked Sendable {
  // Guarded by `lock`: `connection` and `statements` are only handed out by `withConnection`.
  private let connection: Connection
  private let statements: WriterStatements
  private let lock = NSRecursiveLock()

  init(_ connection: Connection) {
    self.connection = connection
    statements = WriterStatements(connection)
  }

  func withConnection<Result>(_ body: (Connection, WriterStatements) throws -> Result) rethrows -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(connection, statements)
  }
}

/// Connections that only read, opened as they are needed and kept for the next reader.
final class ReaderPool: @unchecked Sendable {
  // Guarded by `lock`: `idle`. A connection taken out of it belongs to the one reader that took it.
  private var idle: [Connection] = []
  private let lock = NSLock()
  private let open: @Sendable () throws -> Connection
  private static let idleMax = 4

  init(open: @escaping @Sendable () throws -> Connection) { self.open = open }

  func withConnection<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    lock.lock()
    let kept = idle.popLast()
    lock.unlock()
    let connection = try kept ?? open()
    defer {
      lock.lock()
      if idle.count < Self.idleMax { idle.append(connection) }
      lock.unlock()
    }
    return try body(connection)
  }

  /// Closes those that nobody uses.
  func close() {
    lock.lock()
    defer { lock.unlock() }
    idle.removeAll()
  }

  /// Runs `body` on each connection that nobody uses.
  func forEachIdle(_ body: (Connection) throws -> Void) rethrows {
    lock.lock()
    defer { lock.unlock() }
    try idle.forEach(body)
  }
}
