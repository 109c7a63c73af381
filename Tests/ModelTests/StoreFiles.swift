import SwiftData
import Tombolo
import TomboloSQLite

/// A folder of its own for a test's store file.
struct StoreFile {
  let url: URL
  var configuration: ModelConfiguration { ModelConfiguration(url: url) }

  static func run<Result>(_ body: (StoreFile) throws -> Result) throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tombolo-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(StoreFile(url: folder.appendingPathComponent("a.store")))
  }

  /// Changes the file as another program or a fault does, past the table's own checks.
  func execute(_ sql: String) throws {
    let connection = try Connection(path: url.path)
    try connection.execute("PRAGMA ignore_check_constraints = 1")
    try connection.execute(sql)
  }

  /// The bytes of every file of the store.
  func bytes() throws -> [String: Data] {
    let folder = url.deletingLastPathComponent()
    var bytes: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      bytes[name] = try Data(contentsOf: folder.appendingPathComponent(name))
    }
    return bytes
  }
}

/// What the store has recorded.
struct StoreCounts {
  private let store: Store
  init(_ container: ModelContainer) { store = container.store }

  private func count(_ table: String) throws -> Int64 {
    try store.read { try $0.firstRow("SELECT count(*) FROM \(table)") { $0.int64(0) } } ?? -1
  }
  func saves() throws -> Int64 { try count("_tombolo_save") }
  func changes() throws -> Int64 { try count("_tombolo_change") }
}
