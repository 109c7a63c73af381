import Foundation
import Tombolo
import TomboloClient
import TomboloProtocol
import TomboloSQLite

/// The loop A → server → B over loopback: real daemon, real transport, real stores; the raw parts beside it in the same run.
struct SyncBenchmark {
  let count: Int
  /// The folder with `tombolod` and `raw_e2e`.
  let programs: URL

  static let document = SchemaDocument(
    name: "Bench", version: SchemaVersion(1, 0, 0),
    entities: [
      SchemaEntity(
        name: "Book",
        attributes: [
          SchemaAttribute(name: "author", type: .string, defaultValue: .constant(.text(""))),
          SchemaAttribute(name: "createdAt", type: .date, defaultValue: .constant(.real(0))),
          SchemaAttribute(name: "isFinished", type: .bool, defaultValue: .constant(.integer(0))),
          SchemaAttribute(name: "title", type: .string, defaultValue: .constant(.text(""))),
          SchemaAttribute(name: "updatedAt", type: .date, defaultValue: .constant(.real(0))),
        ], indexes: [SchemaIndex(attributes: ["createdAt"])])
    ])

  func run() throws -> [BenchmarkResult] {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "tombolo-bench-\(ProcessInfo.processInfo.processIdentifier)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let raw = try runRaw(in: folder)
    let server = try Server(in: folder, programs: programs)
    defer { server.stop() }

    let a = try replica("a", in: folder, server)
    let ids = try insert(into: a)
    var rows: [BenchmarkResult] = []
    rows.append(
      BenchmarkResult(
        name: "loop", what: "push", milliseconds: try milliseconds { try sync(a, server) }, limit: raw["push"]))
    let b = try replica("b", in: folder, server)
    rows.append(
      BenchmarkResult(
        name: "loop", what: "pull", milliseconds: try milliseconds { try sync(b, server) }, limit: raw["pull"]))
    try update(a, ids)
    rows.append(
      BenchmarkResult(
        name: "loop", what: "push of one field each", milliseconds: try milliseconds { try sync(a, server) },
        limit: raw["push2"]))
    rows.append(
      BenchmarkResult(
        name: "loop", what: "pull of one field each", milliseconds: try milliseconds { try sync(b, server) },
        limit: raw["pull2"]))
    let sums = (try a.checksum(), try b.checksum())
    guard sums.0 == sums.1 else { throw BenchmarkFailure("the replicas differ after the sync") }
    rows.append(try repair(b, server))
    return rows
  }

  private func replica(_ name: String, in folder: URL, _ server: Server) throws -> Store {
    let options = Store.Options(clock: SystemClock(), randomness: SystemRandomness())
    let store = try Store(
      .file(path: folder.appending(path: "\(name).store").path), document: Self.document, options: options)
    try store.setRemote(server.url, tokenFile: nil)
    return store
  }

  private func insert(into store: Store) throws -> [RecordID] {
    guard let book = store.schema.entity("Book") else { throw BenchmarkFailure("no entity Book") }
    var ids: [RecordID] = []
    ids.reserveCapacity(count)
    for start in stride(from: 0, to: count, by: 5000) {
      try store.save { writer in
        for number in start..<min(start + 5000, count) {
          let id = store.makeRecordID()
          let row = try row(number, for: book)
          try writer.insert(book, id, assigned: ColumnSet(upTo: book.columns.count), from: row)
          ids.append(id)
        }
      }
    }
    return ids
  }

  /// The same texts and numbers as the raw program's generator, as far as their sizes go.
  private func row(_ number: Int, for book: EntityPlan) throws -> ValueRow {
    let created = 700_000_000 + Double(number)
    let values: [String: Value] = [
      "title": .text("The Long Road, Vol. \(1_000_000_000 + number)"),
      "author": .text("Author Name \(10_000_000 + number % 5000)"), "isFinished": .integer(Int64(number & 1)),
      "createdAt": .real(created), "updatedAt": .real(created + 1000),
    ]
    return try ValueRow(book, values)
  }

  private func update(_ store: Store, _ ids: [RecordID]) throws {
    guard let book = store.schema.entity("Book"), let title = book.column("title") else {
      throw BenchmarkFailure("no title")
    }
    var changed = ColumnSet()
    changed.insert(title.position)
    for start in stride(from: 0, to: count, by: 5000) {
      try store.save { writer in
        for number in start..<min(start + 5000, count) {
          let row = try ValueRow(book, ["title": .text("A Shorter Road, No. \(1_000_000_000 + number)")])
          try writer.update(book, ids[number], changed: changed, from: row)
        }
      }
    }
  }

  /// Ten records of B are damaged behind its back: a sync that looks at every row finds and mends them.
  private func repair(_ store: Store, _ server: Server) throws -> BenchmarkResult {
    let sum = try store.checksum()
    let chosen = "WHERE \"createdAt\" IN (SELECT \"createdAt\" FROM \"Book\" ORDER BY \"createdAt\" LIMIT"
    try store.write { connection in
      try connection.execute("UPDATE \"Book\" SET \"title\" = 'damaged' \(chosen) 7 OFFSET 3)")
      try connection.execute("DELETE FROM \"Book\" \(chosen) 3)")
    }
    var report = SyncReport()
    let time = try milliseconds { report = try sync(store, server, scansRows: true) }
    guard report.repaired == 10, report.exchanges <= 5, try store.checksum() == sum else {
      throw BenchmarkFailure("ten damaged records: \(report.repaired) mended in \(report.exchanges) round trips")
    }
    return BenchmarkResult(name: "loop", what: "ten damaged records found and mended", milliseconds: time, limit: nil)
  }

  @discardableResult
  private func sync(_ store: Store, _ server: Server, scansRows: Bool = false) throws -> SyncReport {
    let driver = SyncDriver(
      store: store, token: server.token, transport: CurlTransport(), sleeper: SemaphoreSleeper(),
      randomness: SystemRandomness())
    var options = SyncEngine.Options()
    options.scansRows = scansRows
    return try driver.run(options)
  }

  /// The raw program prints a JSON line a phase.
  private func runRaw(in folder: URL) throws -> [String: Double] {
    let program = programs.appending(path: "raw_e2e")
    guard FileManager.default.isExecutableFile(atPath: program.path) else { return [:] }
    let port = "18447"
    let server = Process()
    server.executableURL = program
    server.arguments = ["server", port, folder.appending(path: "raw-s").path]
    try server.run()
    defer {
      server.terminate()
      server.waitUntilExit()
    }
    usleep(300_000)
    let client = Process()
    let output = Pipe()
    client.executableURL = program
    client.arguments = [
      "client", port, folder.appending(path: "raw-a").path, folder.appending(path: "raw-b").path, "5000", "\(count)",
    ]
    client.standardOutput = output
    client.standardError = FileHandle.nullDevice
    try client.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    client.waitUntilExit()
    return try RawInRow.times(in: text)
  }

  /// A daemon of the run's own.
  private final class Server {
    let url: String
    let token: String
    private let process = Process()

    init(in folder: URL, programs: URL) throws {
      let program = programs.appending(path: "tombolod")
      let data = folder.appending(path: "server").path
      let tokenFile = folder.appending(path: "token")
      let create = Process()
      create.executableURL = program
      create.arguments = [
        "token", "create", "--data", data, "--store", "bench", "--role", "owner", "--out", tokenFile.path,
      ]
      create.standardOutput = FileHandle.nullDevice
      try create.run()
      create.waitUntilExit()
      token = try String(contentsOf: tokenFile, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
      let port = folder.appending(path: "port")
      process.executableURL = program
      process.arguments = ["serve", "--data", data, "--listen", "127.0.0.1:0", "--port-file", port.path]
      process.standardOutput = FileHandle.nullDevice
      try process.run()
      var text = ""
      for _ in 0..<2000 where text.isEmpty {
        text = (try? String(contentsOf: port, encoding: .utf8)) ?? ""
        if text.isEmpty { usleep(5000) }
      }
      guard !text.isEmpty else { throw BenchmarkFailure("the daemon did not start") }
      url = "http://127.0.0.1:\(text.trimmingCharacters(in: .whitespacesAndNewlines))/v1/stores/bench"
    }

    func stop() {
      process.terminate()
      process.waitUntilExit()
    }
  }
}

struct BenchmarkFailure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
