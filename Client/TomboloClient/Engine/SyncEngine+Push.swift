import Tombolo
import TomboloProtocol

/// Pushing: batches, fragments, and what the answers ask for.
extension SyncEngine {
  /// The next batch, marked as attempted; nil when nothing is unsent.
  mutating func pushRequest() throws -> TransportRequest? {
    guard refusal == nil else { return nil }
    var sets = try store.outbox(recordsMax: limits.recordsMax, bytesMax: limits.bytesMax)
    guard let next = sets.first?.number, try mayPush(next) else { return nil }
    let introduction = try introduction()
    var body = PushRequest(introduction: introduction, changeSets: sets).encoded(as: .cbor)
    while sets.count > 1, body.count > limits.bodyBytesMax {
      sets = Array(sets.prefix(sets.count / 2))
      body = PushRequest(introduction: introduction, changeSets: sets).encoded(as: .cbor)
    }
    guard let first = sets.first, let last = sets.last else { return nil }
    if sets.count == 1, body.count > limits.bodyBytesMax || first.changes.count > options.limits.recordsMax {
      return try beginFragments(of: first)
    }
    try store.markAttempted(upTo: last.number)
    changeSetsInFlight = sets
    return requests.push(body, from: introduction, at: try state().cursor)
  }

  /// Whether a save is one that was there when the pushing began. Others may save faster than the queue is sent: what comes
  /// after that is let through a few times, and else waits for the next sync.
  private mutating func mayPush(_ next: SaveNumber) throws -> Bool {
    if let target = pushTarget, next <= target { return true }
    guard refills <= options.roundsMax else { return false }
    refills += 1
    pushTarget = try state().highestSave
    return true
  }

  private var pieceCount: UInt32 {
    UInt32(clamping: (fragmentBytes.count + limits.pieceBytesMax - 1) / limits.pieceBytesMax)
  }

  /// The first piece of a change set. Its bytes are kept until the last one: a save in the outbox does not change but by
  /// the answer to a push.
  private mutating func beginFragments(of set: ChangeSet) throws -> TransportRequest {
    try store.markAttempted(upTo: set.number)
    changeSetsInFlight = [set]
    fragmentBytes = set.encoded(as: .cbor)
    let run = FragmentRun(save: set.id, index: 0, count: pieceCount)
    step = .fragment(run)
    return try fragmentRequest(run)
  }

  func fragmentRequest(_ run: FragmentRun) throws -> TransportRequest {
    let start = min(fragmentBytes.count, Int(run.index) * limits.pieceBytesMax)
    let piece = Array(fragmentBytes[start..<min(fragmentBytes.count, start + limits.pieceBytesMax)])
    let introduction = try introduction()
    let fragment = PushRequest.Fragment(save: run.save, index: run.index, count: run.count, bytes: piece)
    let body = PushRequest(introduction: introduction, changeSets: [], fragment: fragment).encoded(as: .cbor)
    return requests.push(body, from: introduction, at: try state().cursor)
  }

  /// Takes the answer to a push or to a fragment.
  mutating func takePush(_ response: PushResponse) throws -> SyncInstruction {
    if case .fragment(let run) = step, response.answers.contains(where: { $0.verdict == .fragmentStored }) {
      succeed()
      // The server waits for pieces that it was given: it dropped them, so the run begins again, a few times.
      guard run.index + 1 < run.count else { return try idle("the server lost pieces of a large save") }
      return try take(.fragment(FragmentRun(save: run.save, index: run.index + 1, count: run.count)))
    }
    let outcome = try store.take(response)
    switch outcome {
    case .settled(let accepted, let parked):
      report.pushed += accepted
      report.parked += parked
      progress.pushed += accepted + parked
      if accepted + parked > 0 {
        succeed()
        idlePushes = 0
        return try take(.push)
      }
      return try idle("the server answered none of the saves")
    case .restamped:
      return try idle("the server refuses the clock of every save")
    case .copied:
      return try changeIdentity()
    case .gap(let expected):
      return try fill(from: expected)
    case .epochChanged:
      throw SyncFailure.epochChanged
    }
  }

  /// A push that settled nothing: allowed a few times, then the sync says that it stands still.
  private mutating func idle(_ reason: String) throws -> SyncInstruction {
    idlePushes += 1
    guard idlePushes < options.idlePushesMax else { throw SyncFailure.stalled(reason) }
    return try take(.push)
  }

  // MARK: Too large

  /// After `request_too_large`: fewer change sets, then pieces, then smaller pieces, then the save is parked.
  mutating func shrink(because error: TomboloError) throws -> SyncInstruction {
    if case .fragment(let run) = step {
      guard limits.halvePiece(), pieceCount <= BatchLimits.piecesMax else { return try park(run.save, because: error) }
      return try take(.fragment(FragmentRun(save: run.save, index: 0, count: pieceCount)))
    }
    limits.halveBatch(sent: bytesInFlight)
    guard changeSetsInFlight.count <= 1, let set = changeSetsInFlight.first else { return try take(.push) }
    let request = try beginFragments(of: set)
    return departed(request)
  }

  /// Puts the save aside as if the server had refused it: it can never pass, and those behind it can.
  mutating func park(_ save: SaveID, because error: TomboloError) throws -> SyncInstruction {
    guard let set = changeSetsInFlight.first(where: { $0.id == save }), let epoch = try state().epoch else {
      throw error
    }
    let answer = PushAnswer(save: save, number: set.number, verdict: .refused(code: error.code, message: error.message))
    _ = try store.take(PushResponse(epoch: epoch, serverTime: 0, answers: [answer]))
    report.parked += 1
    progress.pushed += 1
    return try take(.push)
  }

  // MARK: Gaps and copies

  /// The server waits for another number than the first unsent one.
  private mutating func fill(from expected: SaveNumber) throws -> SyncInstruction {
    guard let first = try store.outbox(recordsMax: 1, bytesMax: 1).first else { return try take(.pull) }
    // The server took saves that this file does not know of: it was restored from an older copy.
    guard expected < first.number else { return try changeIdentity() }
    let parked = try store.takenNumbers(from: expected, upTo: first.number)
    // Saves that were parked here never reached the server; their numbers are filled, so that the queue goes on.
    guard parked.count == Int(clamping: first.number.rawValue - expected.rawValue) else {
      throw SyncFailure.epochChanged
    }
    guard idlePushes < options.idlePushesMax else {
      throw SyncFailure.stalled("the server asks for saves it was given")
    }
    idlePushes += 1
    return try take(
      .fillGap(
        parked.map { ParkedNumber(number: $0.number, placeholder: $0) }))
  }

  mutating func fillRequest(_ parked: [ParkedNumber]) throws -> TransportRequest {
    let introduction = try introduction()
    let body = PushRequest(introduction: introduction, changeSets: parked.map(\.placeholder)).encoded(as: .cbor)
    return requests.push(body, from: introduction, at: try state().cursor)
  }

  /// Another copy of this file pushes, or the file is an older copy of itself: ask what the server has, take a new id.
  mutating func changeIdentity() throws -> SyncInstruction {
    identityChanges += 1
    guard identityChanges <= 2 else {
      throw SyncFailure.stalled("the server knows every new identity of this replica already")
    }
    let saves = try store.outbox(recordsMax: Int.max, bytesMax: Int.max).map(\.id)
    return try take(.askKnown(saves))
  }
}
