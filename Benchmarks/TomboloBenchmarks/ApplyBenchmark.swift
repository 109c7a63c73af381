import Foundation
import SwiftData
import Tombolo
import TomboloProtocol
import TomboloSQLite

/// W8, W8c and W8i: what a pull brings, taken into a replica that holds nothing unsent.
///
/// A server sends what won; so of W8c's changes every second one says what the row shows already.
struct ApplyBenchmark {
  let rows: [BenchmarkRow]
  private let store: Store
  private let replica = ReplicaID(77)

  /// Only versioned stores have a remote.
  private enum Release: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Book.self] }
  }

  init(_ rows: [BenchmarkRow], in folder: URL) throws {
    self.rows = rows
    var options = Store.Options(clock: SystemClock(), randomness: SystemRandomness())
    options.recordsHistory = true
    let schema = Schema(versionedSchema: Release.self)
    store = try Store(
      .file(path: folder.appending(path: "applied.store").path), document: schema.document, options: options)
    try store.setRemote("http://127.0.0.1:1/v1/stores/bench", tokenFile: nil)
  }

  private func stamp(_ clock: UInt64) -> Stamp { Stamp(clock: ClockReading(rawValue: clock << 16), replica: replica) }

  func inserts() -> Page {
    let created = stamp(1_000)
    return page(
      at: 1,
      rows.map { row in
        let fields: [(String, TomboloProtocol.Value)] = [
          ("author", .text(row.author)), ("createdAt", .real(row.createdAt)),
          ("isFinished", .integer(row.isFinished ? 1 : 0)), ("title", .text(row.title)),
          ("updatedAt", .real(row.updatedAt)),
        ]
        return .record(
          RecordState(
            entity: "Book", id: RecordID(high: row.id.high, low: row.id.low), incarnation: created,
            fields: fields.map { FieldState(name: $0.0, value: $0.1, stamp: created) }, isWhole: true))
      })
  }

  func changes(at position: UInt64) -> Page {
    let (created, changed) = (stamp(1_000), stamp(2_000))
    return page(
      at: position,
      rows.enumerated().map { index, row in
        let isNews = index % 2 == 0
        let title = isNews ? "A Remote Road, No. \(10_000_000_000 + index)" : row.title
        return .record(
          RecordState(
            entity: "Book", id: RecordID(high: row.id.high, low: row.id.low), incarnation: created,
            fields: [FieldState(name: "title", value: .text(title), stamp: isNews ? changed : created)],
            isWhole: false))
      })
  }

  private func page(at position: UInt64, _ items: [FeedItem]) -> Page {
    let position = FeedPosition(position)
    return Page(
      cursor: Cursor(epoch: Epoch(1), base: position, position: position, start: position, commit: 7), items: items,
      hasMore: false, processed: SaveNumber(0), answers: [], vector: [:], checksum: nil, serverTime: 2_000)
  }

  func take(_ page: Page) throws {
    guard case .epochChanged = try store.take(page) else { return }
    throw BenchmarkFailure("the page was not applied")
  }

  /// The titles that changes brought.
  func require(_ expected: Int) throws {
    let found = try store.read { connection in
      try connection.firstRow("SELECT count(*) FROM Book WHERE title LIKE 'A Remote%'") { Int($0.int64(0)) } ?? 0
    }
    guard found == expected else { throw BenchmarkFailure("\(found) changed rows instead of \(expected)") }
  }
}
