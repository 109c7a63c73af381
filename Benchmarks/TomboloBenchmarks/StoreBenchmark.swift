import Foundation
import SwiftData

@Model final class Book {
  #Index<Book>([\.createdAt])
  var title: String
  var author: String
  var isFinished: Bool
  var createdAt: Date
  var updatedAt: Date

  init(_ row: BenchmarkRow) {
    title = row.title
    author = row.author
    isFinished = row.isFinished
    createdAt = Date(timeIntervalSinceReferenceDate: row.createdAt)
    updatedAt = Date(timeIntervalSinceReferenceDate: row.updatedAt)
  }
}

/// W1 to W8 through the model layer, beside the same work on SQLite's C API, in the same process.
struct StoreBenchmark {
  let count: Int
  /// The folder with `raw_inrow`.
  let programs: URL

  func run() throws -> [BenchmarkResult] {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "tombolo-store-bench-\(ProcessInfo.processInfo.processIdentifier)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let rows = BenchmarkRow.generate(count)
    let order = BenchmarkRow.permutation(count)
    let raw = try RawStore(path: folder.appending(path: "raw.db").path)
    let models = try Models(folder.appending(path: "models.store"), recordsHistory: false)
    let recorded = try Models(folder.appending(path: "recorded.store"), recordsHistory: true)

    var results: [BenchmarkResult] = []
    func measure(_ name: String, _ what: String, raw rawBody: () throws -> Void, models body: () throws -> Void) throws
    {
      let limit = try milliseconds(rawBody)
      results.append(BenchmarkResult(name: name, what: what, value: try milliseconds(body), limit: limit))
    }

    try measure("W1", "insert", raw: { try raw.insert(rows) }, models: { try models.insert(rows) })
    let inRow = try RawInRow.run(count, in: folder, programs: programs)
    let recordedInsert = try milliseconds { try recorded.insert(rows) }
    try measure(
      "W2", "fetch all", raw: { try require(raw.fetchAll().count, count) },
      models: { try require(models.fetchAll(), count) })
    try measure(
      "W3", "look up by identity", raw: { try require(raw.lookUp(rows, order, inOneTransaction: false), count) },
      models: { try require(models.lookUp(order), count) })
    try measure(
      "W4t", "filter and sort, 20 rows",
      raw: { try require(raw.filterAndSort(count / 10), count * 2) },
      models: { try require(models.filterAndSort(count / 10), count * 2) })
    let updated = try models.holdAll()
    try measure("W5", "update one field", raw: { try raw.update(rows) }, models: { try updated.update() })
    let deleted = try models.holdAll()
    try measure("W6", "delete", raw: { try raw.delete(rows) }, models: { try deleted.delete() })
    func record(_ name: String, _ what: String, _ milliseconds: Double) {
      results.append(BenchmarkResult(name: name, what: what, value: milliseconds, limit: inRow[name]))
    }
    record("W7", "insert, recorded", recordedInsert)
    let changed = try recorded.holdAll()
    record("W7u", "update one field, recorded", try milliseconds { try changed.update() })
    let applied = try ApplyBenchmark(rows, in: folder)
    let inserts = applied.inserts()
    record("W8", "apply inserts", try milliseconds { try applied.take(inserts) })
    let changes = (applied.changes(at: 2), applied.changes(at: 3))
    record("W8c", "apply one-field changes", try milliseconds { try applied.take(changes.0) })
    record("W8i", "apply the same again", try milliseconds { try applied.take(changes.1) })
    try applied.require((count + 1) / 2)
    return results
  }

  private func require(_ found: Int, _ expected: Int) throws {
    guard found == expected else { throw BenchmarkFailure("\(found) rows instead of \(expected)") }
  }

  /// The same through `@Model` classes; a fresh context for each part, so that none finds its objects made already.
  private final class Models {
    private let container: ModelContainer
    private var identifiers: [PersistentIdentifier] = []

    init(_ url: URL, recordsHistory: Bool) throws {
      container = try ModelContainer(
        for: Schema([Book.self], version: Schema.Version(1, 0, 0)),
        configurations: ModelConfiguration(url: url, recordsHistory: recordsHistory))
    }

    func insert(_ rows: [BenchmarkRow]) throws {
      let context = ModelContext(container)
      var books: [Book] = []
      books.reserveCapacity(rows.count)
      for row in rows {
        let book = Book(row)
        context.insert(book)
        books.append(book)
      }
      try context.save()
      identifiers = books.map(\.persistentModelID)
    }

    func fetchAll() throws -> Int { try ModelContext(container).fetch(FetchDescriptor<Book>()).count }

    func lookUp(_ order: [Int]) throws -> Int {
      let context = ModelContext(container)
      var found = 0
      for index in order where try context.existingModel(for: identifiers[index]) as Book? != nil { found += 1 }
      return found
    }

    func filterAndSort(_ rounds: Int) throws -> Int {
      var generator = SplitMix64(state: 9)
      var found = 0
      // A context keeps what it fetched only as long as somebody holds it: each round makes its objects anew.
      let context = ModelContext(container)
      for round in 0..<rounds {
        let isFinished = round & 1 == 1
        let from = Date(timeIntervalSinceReferenceDate: 700_000_000.0 + Double(generator.next() % 99_000_000))
        var descriptor = FetchDescriptor<Book>(
          predicate: #Predicate { $0.isFinished == isFinished && $0.createdAt >= from },
          sortBy: [SortDescriptor(\.createdAt)])
        descriptor.fetchLimit = 20
        found += try context.fetch(descriptor).count
      }
      return found
    }

    func holdAll() throws -> Held { try Held(ModelContext(container)) }
  }

  /// All objects, fetched and at hand, as the raw program has its rows.
  private final class Held {
    private let context: ModelContext
    private let books: [Book]

    init(_ context: ModelContext) throws {
      self.context = context
      books = try context.fetch(FetchDescriptor<Book>())
    }

    func update() throws {
      for book in books { book.isFinished.toggle() }
      try context.save()
    }

    func delete() throws {
      for book in books { context.delete(book) }
      try context.save()
    }
  }
}
