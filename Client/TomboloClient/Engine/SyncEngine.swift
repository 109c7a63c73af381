import Tombolo
package import TomboloProtocol

/// One sync of a replica, without any input or output of its own: events in, instructions out.
///
/// ```
/// start ─▶ (first contact or unknown schema: register ─▶ create the store ─▶ register)
///       ─▶ push until the outbox is empty ─▶ pull until the last page ─▶ push again if something became unsent
///       ─▶ (checksums differ: sums of buckets ─▶ sums of records ─▶ the records that differ)
/// ```
///
/// Everything durable is the store's: an engine is thrown away after its sync, whether it finished, threw or was killed.
/// The same request is made anew from the store for each attempt, so an edit made meanwhile travels with the retry.
package struct SyncEngine: Sendable {
  package struct Options: Sendable {
    package var limits = BatchLimits()
    package var ladder = RetryLadder()
    /// Seconds for which the last pull waits for something new; 0 for none.
    package var waitSeconds = 0
    /// Times that a sync goes back from pulling to pushing.
    package var roundsMax = 8
    /// Pushes in a row that settle nothing.
    package var idlePushesMax = 4
    /// How to go on with a server that is another one than before; nil stops there.
    package var recovery: Recovery?
    /// Sums up all rows at the end, whether or not it is time for that.
    package var scansRows = false
    package init() {}
  }

  /// What somebody decided for a server that was restored, replaced or wiped.
  package enum Recovery: Hashable, Sendable {
    /// Gives the server what this replica has.
    case reupload
    /// Takes what the server has; what is unsent is kept and sent.
    case reset
  }

  enum Step: Hashable, Sendable {
    case register
    case createStore
    case push
    case fragment(FragmentRun)
    /// Numbers of saves that were parked here before the server saw them.
    case fillGap([ParkedNumber])
    case askKnown([SaveID])
    /// One part after another of what the replica has of an earlier epoch.
    case reupload
    case pull
    /// The sums of all buckets, or of the records in some.
    case compare([UInt32])
    /// The state of records that differ.
    case fetch([RecordDifference])
  }

  /// A change set too large for a request, cut into pieces.
  struct FragmentRun: Hashable, Sendable {
    var save: SaveID
    var index: UInt32
    var count: UInt32
  }

  struct ParkedNumber: Hashable, Sendable {
    var number: SaveNumber
    var placeholder: ChangeSet
  }

  let store: any ReplicaStoring
  let options: Options
  let requests: RequestMaker
  let randomness: any Randomness
  var limits: BatchLimits
  var ladder: RetryLadder
  var step = Step.push
  var isInFlight = false
  /// The encoded bytes of the request that is on its way.
  var bytesInFlight = 0
  var changeSetsInFlight: [ChangeSet] = []
  var partInFlight: ReuploadPart?
  /// The encoding of the change set that goes in pieces.
  var fragmentBytes: [UInt8] = []
  /// The last save that is pushed before it is looked again whether there are later ones, and how often that was done.
  var pushTarget: SaveNumber?
  var refills = 0
  var rounds = 0
  var idlePushes = 0
  var isRegistered = false
  var hasRegisteredAgain = false
  var hasCreatedStore = false
  var hasBegunSnapshot = false
  var identityChanges = 0
  var standing: Standing?
  /// How often this sync has compared, and whether the server had moved on beyond the cursor the last time.
  var comparisons = 0
  var hasServerMovedOn = false
  /// Everything is fetched anew because too much differs.
  var isRenewing = false
  /// A refusal to push that does not keep the replica from pulling: a reader's token.
  var refusal: TomboloError?
  var report = SyncReport()
  package internal(set) var progress = SyncProgress()

  /// - Throws: `store_unversioned` and `no_remote`, before anything is sent; `remote_invalid`.
  package init(
    store: any ReplicaStoring, token: String, randomness: any Randomness, options: Options = Options()
  ) throws {
    guard store.document.version != nil else { throw SyncFailure.unversioned(store.document.name) }
    guard let state = try store.replicaState() else { throw SyncFailure.noRemote }
    self.store = store
    self.options = options
    self.randomness = randomness
    requests = RequestMaker(address: try RemoteAddress(state.remoteURL), token: token)
    limits = options.limits
    ladder = options.ladder
  }

  /// Takes an event and says what to do next.
  ///
  /// - Throws: ``TomboloError`` when the sync is over without success; the store is able to go on.
  package mutating func handle(_ event: SyncEvent) throws -> SyncInstruction {
    switch event {
    case .start:
      try store.cancelOut()
      try recover()
      // A replica that never spoke with the server registers first: the refusal of a schema comes before any data.
      return try take(try state().epoch == nil || store.isReuploading() ? .register : .push)
    case .timer:
      guard !isInFlight else { return .wait(milliseconds: 0) }
      return try send()
    case .transportFailed(let failure):
      guard isInFlight else { throw SyncFailure.transport(failure, at: requests.address.server) }
      isInFlight = false
      guard failure.isRetryable else { throw SyncFailure.transport(failure, at: requests.address.server) }
      let instruction = try retry(after: nil)
      if ladder.failures > 1, failure.mayBeOfSize { askForLess() }
      return try instruction
        ?? { () throws -> SyncInstruction in throw SyncFailure.transport(failure, at: requests.address.server) }()
    case .response(let response):
      // An answer nobody waits for is a duplicate of one that was taken.
      guard isInFlight else { return .wait(milliseconds: 0) }
      isInFlight = false
      report.exchanges += 1
      return try take(response)
    }
  }

  // MARK: Steps

  func state() throws -> ReplicaState {
    guard let state = try store.replicaState() else { throw SyncFailure.noRemote }
    return state
  }

  func introduction() throws -> Introduction {
    guard let version = store.document.version else { throw SyncFailure.unversioned(store.document.name) }
    let state = try state()
    return Introduction(
      replica: state.replica, schemaVersion: version, highestSave: state.highestSave, holds: state.holds,
      epoch: state.epoch)
  }

  mutating func take(_ next: Step) throws -> SyncInstruction {
    step = next
    return try send()
  }

  mutating func send() throws -> SyncInstruction {
    let request: TransportRequest
    switch step {
    case .register:
      progress.phase = .preparing
      guard let version = store.document.version else { throw SyncFailure.unversioned(store.document.name) }
      request = requests.registerSchema(store.document, version: version)
    case .createStore:
      request = requests.createStore()
    case .push:
      progress.phase = .pushing
      guard let push = try pushRequest() else { return try take(.pull) }
      request = push
    case .fragment(let run):
      request = try fragmentRequest(run)
    case .fillGap(let parked):
      request = try fillRequest(parked)
    case .askKnown(let saves):
      request = requests.known(saves, from: try introduction())
    case .reupload:
      progress.phase = .pushing
      guard let upload = try reuploadRequest() else { return try take(.push) }
      request = upload
    case .pull:
      progress.phase = .pulling
      request = try pullRequest()
    case .compare(let buckets):
      request = try comparisonRequest(buckets)
    case .fetch(let differences):
      request = try fetchRequest(differences)
    }
    return departed(request)
  }

  mutating func departed(_ request: TransportRequest) -> SyncInstruction {
    isInFlight = true
    bytesInFlight = request.body.count
    return .send(request)
  }

  private func pullRequest() throws -> TransportRequest {
    let state = try state()
    return requests.pull(
      PullRequest(
        introduction: try introduction(), cursor: state.cursor, limit: limits.pageItemsMax,
        wait: state.cursor == nil ? 0 : options.waitSeconds), former: state.formerReplicas)
  }

  // MARK: Retries

  /// A wait before the same step is sent again; nil when the ladder's end is reached.
  mutating func retry(after milliseconds: UInt64?) throws -> SyncInstruction? {
    guard let wait = ladder.fail(retryAfter: milliseconds, random: randomness.next()) else { return nil }
    progress.failures = ladder.failures
    report.retries += 1
    return .wait(milliseconds: wait)
  }

  /// After an exchange broke off again: what the line cannot carry whole would be tried for ever.
  private mutating func askForLess() {
    switch step {
    case .push, .reupload: limits.halveBatch(sent: bytesInFlight)
    case .pull: limits.halvePage()
    default: break
    }
  }

  mutating func succeed() {
    ladder.succeed()
    progress.failures = 0
  }

  mutating func finish() throws -> SyncInstruction {
    if let refusal { throw refusal }
    return .finished(report)
  }
}
