import Tombolo
import TomboloProtocol

/// Going on with a server that was restored, replaced or wiped, once somebody has said how.
extension SyncEngine {
  /// What was decided is written down first: a sync that is killed on the way is gone on with by the next one.
  mutating func recover() throws {
    switch options.recovery {
    case .reset: try store.beginReset()
    // A replica that never heard of a server has nothing of an earlier life.
    case .reupload: if try state().epoch != nil || state().cursor != nil { try store.beginReupload() }
    case nil: break
    }
  }

  /// The next part; nil when there is nothing to upload.
  mutating func reuploadRequest() throws -> TransportRequest? {
    guard let part = try store.reuploadPart(itemsMax: limits.recordsMax, bytesMax: limits.bytesMax) else { return nil }
    partInFlight = part
    return requests.reupload(part, from: try introduction())
  }

  mutating func takeReupload(_ response: ReuploadResponse) throws -> SyncInstruction {
    guard let part = partInFlight else { return try take(.push) }
    partInFlight = nil
    let isComplete = try store.take(response, to: part)
    if isComplete || response.parts > part.part {
      succeed()
      idlePushes = 0
      report.uploaded += part.items.count
    } else {
      idlePushes += 1
      guard idlePushes < options.idlePushesMax else {
        throw SyncFailure.stalled("the server loses the parts of a re-upload")
      }
    }
    return try take(isComplete ? .push : .reupload)
  }
}
