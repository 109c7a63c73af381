import Foundation
import TomboloProtocol
import TomboloSQLite

/// The folder with a server's files: how it is made and how a database in it is opened.
enum DataDirectory {
  private static let cacheKilobytesMax = 32 << 10
  /// Sixteen megabytes of WAL: a checkpoint writes a page once for all commits since the last.
  private static let checkpointPages = 4_000

  /// Makes the folder and its `stores` folder, readable by this user only. A VFS has no folders.
  static func make(_ directory: String, vfs: String?) throws {
    guard vfs == nil else { return }
    do {
      try FileManager.default.createDirectory(
        atPath: directory + "/stores", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw TomboloError.dataDirectoryUnusable(directory)
    }
  }

  /// Opens a database in WAL mode; a commit is on disk before it returns (`synchronous=FULL`).
  static func open(_ path: String, vfs: String?) throws -> Connection {
    var options = Connection.Options()
    options.vfs = vfs
    let connection = try Connection(path: path, options: options)
    try connection.execute("PRAGMA journal_mode = WAL")
    try connection.execute("PRAGMA synchronous = FULL")
    // Keys are random, so a small cache thrashes; it grows only as far as a store's pages are used.
    try connection.execute("PRAGMA cache_size = -\(cacheKilobytesMax)")
    try connection.execute("PRAGMA wal_autocheckpoint = \(checkpointPages)")
    return connection
  }
}
