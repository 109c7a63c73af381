package import Tombolo
package import TomboloProtocol

/// What the engine asks of a replica: ``Store`` in production, a scripted one in the engine's tests.
///
/// Every call is one transaction, and synchronous.
package protocol ReplicaStoring: Sendable {
  var document: SchemaDocument { get }
  /// The store's file in the system's own file system; nil for one that no other process can open.
  var sharedPath: String? { get }
  func replicaState() throws -> ReplicaState?
  func cancelOut() throws
  func outbox(recordsMax: Int, bytesMax: Int) throws -> [ChangeSet]
  func markAttempted(upTo number: SaveNumber) throws
  func take(_ response: PushResponse) throws -> PushOutcome
  /// - Parameter body: the page as it came, in CBOR; nil if it came otherwise.
  func take(_ page: Page, body: [UInt8]?) throws -> PullOutcome
  func beginSnapshot() throws
  func takeNewReplicaID(known: [SaveID: Stamp]) throws
  func isReuploading() throws -> Bool
  func beginReupload() throws
  func cancelReupload() throws
  func reuploadPart(itemsMax: Int, bytesMax: Int) throws -> ReuploadPart?
  func take(_ response: ReuploadResponse, to part: ReuploadPart) throws -> Bool
  func beginReset() throws
  func recheck(_ theirs: Checksum?, at cursor: Cursor, isForced: Bool) throws -> PullOutcome.ChecksumComparison?
  func differingBuckets(_ response: ComparisonResponse, at cursor: Cursor) throws -> [UInt32]?
  func differingRecords(_ response: ComparisonResponse, at cursor: Cursor) throws -> [RecordDifference]?
  func repair(_ page: Page, _ differences: [RecordDifference]) throws -> RepairOutcome?
  func beginRepairSnapshot() throws
  func takenNumbers(from first: SaveNumber, upTo end: SaveNumber) throws -> [ChangeSet]
}

extension Store: ReplicaStoring {
  package var document: SchemaDocument { schema.document }
  package var sharedPath: String? {
    guard case .file(let path) = location, options.vfs == nil else { return nil }
    return path
  }
}

extension ReplicaStoring {
  package var sharedPath: String? { nil }
}
