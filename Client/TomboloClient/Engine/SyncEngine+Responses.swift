import Tombolo
import TomboloProtocol

/// Responses: what each status and error code leads to.
extension SyncEngine {
  mutating func take(_ response: TransportResponse) throws -> SyncInstruction {
    guard (200...299).contains(response.status) else { return try refuse(response) }
    do {
      switch step {
      case .register:
        isRegistered = true
        succeed()
        return try take(store.isReuploading() ? .reupload : .push)
      case .createStore:
        hasCreatedStore = true
        succeed()
        return try take(.register)
      case .push, .fragment:
        return try takePush(try PushResponse(decoding: response.body, as: try format(of: response)))
      case .fillGap:
        _ = try PushResponse(decoding: response.body, as: try format(of: response))
        succeed()
        return try take(.push)
      case .askKnown:
        let known = try KnownResponse(decoding: response.body, as: try format(of: response))
        try store.takeNewReplicaID(
          known: Dictionary(known.saves.map { ($0.save, $0.stamp) }, uniquingKeysWith: { first, _ in first }))
        succeed()
        return try take(.push)
      case .reupload:
        return try takeReupload(try ReuploadResponse(decoding: response.body, as: try format(of: response)))
      case .pull:
        let format = try format(of: response)
        let page = try Page(decoding: response.body, as: format)
        return try takePage(page, body: format == .cbor ? response.body : nil)
      case .compare(let buckets):
        return try takeComparison(
          try ComparisonResponse(decoding: response.body, as: try format(of: response)), of: buckets)
      case .fetch(let differences):
        return try takeStates(try Page(decoding: response.body, as: try format(of: response)), of: differences)
      }
    } catch let error as TomboloError where error.code == .malformedMessage || error.code == .unexpectedResponse {
      // Bytes cut or changed on the way look like this; a server that always answers so is given up soon.
      return try retry(after: nil) ?? { () throws -> SyncInstruction in throw SyncFailure.unreadable(error) }()
    }
  }

  private mutating func takePage(_ page: Page, body: [UInt8]?) throws -> SyncInstruction {
    let outcome = try store.take(page, body: body)
    report.pulled += page.items.count
    progress.pulled += page.items.count
    switch outcome {
    case .staged:
      succeed()
      return try take(.pull)
    case .applied(let records, let conflicts, let checksum):
      succeed()
      report.applied += records
      report.conflicts += conflicts
      report.checksum = SyncReport.Comparison(checksum)
      standing = Standing(cursor: page.cursor, checksum: page.checksum)
      if isRenewing {
        report.repaired += records
        isRenewing = false
      }
      rounds += 1
      let hasMore = refusal == nil ? try !store.outbox(recordsMax: 1, bytesMax: 1).isEmpty : false
      return hasMore && rounds < options.roundsMax ? try take(.push) : try conclude()
    case .epochChanged:
      throw SyncFailure.epochChanged
    case .copied:
      return try changeIdentity()
    }
  }

  /// The encoding that an answer says it has.
  private func format(of response: TransportResponse) throws -> WireFormat {
    guard let format = response.headers["content-type"].flatMap({ WireFormat(mediaType: $0) }) else {
      throw SyncFailure.notTombolo
    }
    return format
  }

  // MARK: Refusals

  private mutating func refuse(_ response: TransportResponse) throws -> SyncInstruction {
    let error = SyncFailure.error(in: response)
    if isComparing, error.code != .unauthorized, error.code != .otherEpoch, !error.isRetryable {
      // An older server cannot narrow a difference down, or has gone on: what was exchanged stands, and the report says
      // that there is a difference.
      return try finish()
    }
    switch error.code {
    case .unknownStore:
      guard !hasCreatedStore else { throw error }
      // The store that this replica spoke with is gone: nobody has said yet that it may be made again.
      guard try state().epoch == nil || store.isReuploading() else { throw SyncFailure.epochChanged }
      return try take(.createStore)
    case .unknownSchema:
      // A server that was put back to a backup in between has forgotten it again.
      guard !isRegistered || !hasRegisteredAgain else { throw error }
      hasRegisteredAgain = isRegistered
      return try take(.register)
    case .requestTooLarge, .recordTooLarge:
      switch step {
      case .push, .fragment: return try shrink(because: error)
      case .reupload where limits.recordsMax > 1:
        limits.halveBatch(sent: bytesInFlight)
        return try take(.reupload)
      default: throw error
      }
    case .cursorExpired:
      guard step == .pull, !hasBegunSnapshot else { throw error }
      hasBegunSnapshot = true
      try store.beginSnapshot()
      return try take(.pull)
    case .copiedReplica:
      return try changeIdentity()
    case .reuploadNeedless:
      try store.cancelReupload()
      throw error
    case .otherEpoch:
      throw SyncFailure.epochChanged
    case .unauthorized:
      throw SyncFailure.unauthorized
    case .forbidden:
      return try forbidden(error)
    default:
      break
    }
    switch response.status {
    case 408, 425, 429, 500, 502, 503, 504:
      return try retry(after: retryAfter(response)) ?? { () throws -> SyncInstruction in throw error }()
    default:
      throw error
    }
  }

  private var isComparing: Bool {
    switch step {
    case .compare, .fetch: true
    default: false
    }
  }

  private mutating func forbidden(_ error: TomboloError) throws -> SyncInstruction {
    switch step {
    case .createStore:
      throw SyncFailure.mayNotCreate(requests.address.store)
    case .register where !isRegistered:
      // A reader may not register, and need not: the pull says whether its version is known.
      isRegistered = true
      return try take(store.isReuploading() ? .reupload : .push)
    case .push, .fragment, .fillGap, .askKnown:
      // What others wrote is still worth having.
      refusal = SyncFailure.mayNotPush(error)
      return try take(.pull)
    default:
      throw error
    }
  }

  /// Seconds in `Retry-After`, as milliseconds; its other form, a date, is answered like none.
  private func retryAfter(_ response: TransportResponse) -> UInt64? {
    guard let text = response.headers["retry-after"], let seconds = UInt64(text.filter { $0 != " " }) else {
      return nil
    }
    let (milliseconds, isTooLarge) = seconds.multipliedReportingOverflow(by: 1_000)
    return isTooLarge ? UInt64.max / 2 : milliseconds
  }
}
