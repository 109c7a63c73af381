import Tombolo
import TomboloProtocol

/// The end of a sync: is everything equal? Where it is not, the difference is narrowed down and mended, once.
///
/// Buckets, records, their state: three requests, whatever the size of the store. A server that has moved on meanwhile
/// leaves out what it has changed since the cursor: where that leaves a difference, what changed is pulled, and everything is
/// compared once more.
extension SyncEngine {
  private static let comparisonsMax = 3

  /// Where the last complete pull ended, and what the server's content summed up to there.
  struct Standing: Hashable, Sendable {
    var cursor: Cursor
    var checksum: Checksum?
  }

  /// After the last page of the last pull.
  mutating func conclude() throws -> SyncInstruction {
    guard let standing else { return try finish() }
    if report.checksum == .equal,
      let again = try store.recheck(standing.checksum, at: standing.cursor, isForced: options.scansRows)
    {
      report.checksum = SyncReport.Comparison(again)
    }
    guard report.checksum == .different, comparisons == 0 || hasServerMovedOn else { return try finish() }
    guard comparisons < Self.comparisonsMax else {
      // Nobody can say of a server that changes all the time; the next sync asks again.
      report.checksum = .notCompared
      return try finish()
    }
    comparisons += 1
    hasServerMovedOn = false
    return try take(.compare([]))
  }

  func comparisonRequest(_ buckets: [UInt32]) throws -> TransportRequest {
    requests.compare(ComparisonRequest(cursor: try compared().cursor, buckets: buckets))
  }

  func fetchRequest(_ differences: [RecordDifference]) throws -> TransportRequest {
    requests.compareRecords(ComparisonRequest(cursor: try compared().cursor, records: differences.map(\.id)))
  }

  private func compared() throws -> Standing {
    guard let standing else { throw SyncFailure.stalled("there is nothing to compare") }
    return standing
  }

  mutating func takeComparison(_ response: ComparisonResponse, of buckets: [UInt32]) throws -> SyncInstruction {
    succeed()
    let cursor = try compared().cursor
    if response.position > cursor.position { hasServerMovedOn = true }
    guard buckets.isEmpty else {
      guard let differences = try store.differingRecords(response, at: cursor) else { return try endUncompared() }
      if differences.isEmpty { return try endComparison() }
      guard differences.count <= ComparisonRequest.recordsMax else { return try fetchEverything() }
      return try take(.fetch(differences))
    }
    guard let differing = try store.differingBuckets(response, at: cursor) else { return try endUncompared() }
    if differing.isEmpty { return try endComparison() }
    guard differing.count <= ComparisonRequest.bucketsMax else { return try fetchEverything() }
    return try take(.compare(differing))
  }

  mutating func takeStates(_ page: Page, of differences: [RecordDifference]) throws -> SyncInstruction {
    succeed()
    guard let outcome = try store.repair(page, differences) else { return try endUncompared() }
    report.repaired += outcome.records
    report.conflicts += outcome.replaced
    // What this replica had later than the server is unsent now.
    if outcome.rewritten > 0, refusal == nil { return try take(.push) }
    let standing = try compared()
    if let again = try store.recheck(standing.checksum, at: standing.cursor, isForced: true) {
      report.checksum = SyncReport.Comparison(again)
    }
    return try endComparison()
  }

  /// What is left of a difference may be what the server changed meanwhile.
  private mutating func endComparison() throws -> SyncInstruction {
    guard report.checksum == .different, hasServerMovedOn else { return try finish() }
    return try take(.pull)
  }

  /// Somebody else has saved or pulled here since the comparison began.
  private mutating func endUncompared() throws -> SyncInstruction {
    report.checksum = .notCompared
    return try finish()
  }

  /// So much differs that a snapshot is the shorter way.
  private mutating func fetchEverything() throws -> SyncInstruction {
    guard !hasBegunSnapshot else { return try finish() }
    hasBegunSnapshot = true
    isRenewing = true
    try store.beginRepairSnapshot()
    return try take(.pull)
  }
}
