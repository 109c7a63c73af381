import Tombolo
import TomboloProtocol

/// The end of a sync: is everything equal? Where it is not, the difference is narrowed down and mended, once.
///
/// Buckets, records, their state: three requests, whatever the size of the store. A server that has moved on meanwhile
/// leaves out what it has changed since the cursor.
extension SyncEngine {
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
    guard report.checksum == .different, !hasCompared else { return try finish() }
    hasCompared = true
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
    guard buckets.isEmpty else {
      guard let differences = try store.differingRecords(response, at: cursor), !differences.isEmpty else {
        return try finish()
      }
      guard differences.count <= ComparisonRequest.recordsMax else { return try fetchEverything() }
      return try take(.fetch(differences))
    }
    guard let differing = try store.differingBuckets(response, at: cursor), !differing.isEmpty else {
      return try finish()
    }
    guard differing.count <= ComparisonRequest.bucketsMax else { return try fetchEverything() }
    return try take(.compare(differing))
  }

  mutating func takeStates(_ page: Page, of differences: [RecordDifference]) throws -> SyncInstruction {
    succeed()
    guard let outcome = try store.repair(page, differences) else { return try finish() }
    report.repaired += outcome.records
    report.conflicts += outcome.replaced
    // What this replica had later than the server is unsent now.
    if outcome.rewritten > 0, refusal == nil { return try take(.push) }
    let standing = try compared()
    if let again = try store.recheck(standing.checksum, at: standing.cursor, isForced: true) {
      report.checksum = SyncReport.Comparison(again)
    }
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
