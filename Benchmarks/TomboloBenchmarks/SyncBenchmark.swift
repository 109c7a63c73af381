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
    let server = try BenchmarkServer(in: folder, programs: programs)
    defer { server.stop() }

    let a = try replica("a", in: folder, server)
    let ids = try insert(into: a)
    var rows: [BenchmarkResult] = []
    func measure(_ what: String, _ store: Store, _ phase: String) throws {
      PeakMemory.reset(PeakMemory.own)
      PeakMemory.reset(server.processIdentifier)
      let duration = try milliseconds { try sync(store, server) }
      rows.append(BenchmarkResult(name: "loop", what: what, value: duration, limit: raw[phase]?.milliseconds))
      rows.append(
        BenchmarkResult(
          name: "", what: "peak of the client", value: PeakMemory.megabytes(of: PeakMemory.own),
          limit: raw[phase]?.peak, unit: "MB"))
      rows.append(
        BenchmarkResult(
          name: "", what: "peak of the server", value: PeakMemory.megabytes(of: server.processIdentifier),
          limit: nil, unit: "MB"))
    }
    try measure("push", a, "push")
    let b = try replica("b", in: folder, server)
    try measure("pull", b, "pull")
    try update(a, ids)
    try measure("push of one field each", a, "push2")
    try measure("pull of one field each", b, "pull2")
    let sums = (try a.checksum(), try b.checksum())
    guard sums.0 == sums.1 else { throw BenchmarkFailure("the replicas differ after the sync") }
    rows.append(try repair(b, server))
    return rows
  }

  func replica(_ name: String, in folder: URL, _ server: BenchmarkServer) throws -> Store {
    let options = Store.Options(clock: SystemClock(), randomness: SystemRandomness())
    let store = try Store(
      .file(path: folder.appending(path: "\(name).store").path), document: Self.document, options: options)
    try store.setRemote(server.url, tokenFile: nil)
    return store
  }

  func insert(into store: Store) throws -> [RecordID] {
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
  private func repair(_ store: Store, _ server: BenchmarkServer) throws -> BenchmarkResult {
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
    return BenchmarkResult(name: "loop", what: "ten damaged records found and mended", value: time, limit: nil)
  }

  @discardableResult
  func sync(_ store: Store, _ server: BenchmarkServer, scansRows: Bool = false) throws -> SyncReport {
    let driver = SyncDriver(
      store: store, token: server.token, transport: CurlTransport(), sleeper: SemaphoreSleeper(),
      randomness: SystemRandomness())
    var options = SyncEngine.Options()
    options.scansRows = scansRows
    return try driver.run(options)
  }

  private struct RawPhase {
    let milliseconds: Double
    /// Of the client with both its replicas, in megabytes.
    let peak: Double
  }

  /// The raw program prints a JSON line a phase.
  private func runRaw(in folder: URL) throws -> [String: RawPhase] {
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
    var result: [String: RawPhase] = [:]
    for line in text.split(separator: "\n") {
      guard let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
        let name = object["w"] as? String, let seconds = object["sec"] as? Double
      else { continue }
      let kilobytes = (object["hwm_kb"] as? Double) ?? .nan
      result[name] = RawPhase(milliseconds: seconds * 1000, peak: kilobytes / 1024)
    }
    return result
  }
}
