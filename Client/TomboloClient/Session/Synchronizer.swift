import Dispatch
public import Foundation
public import Observation
public import Tombolo
package import TomboloProtocol

/// Keeps a store in step with a server.
///
/// ```swift
/// let synchronizer = try Synchronizer(container: container, remote: Remote(url: url, token: token))
/// let report = try await synchronizer.sync()
/// synchronizer.start()
/// ```
///
/// All blocking work is done on a queue of its own; the methods may be called from anywhere.
public final class Synchronizer: Observable, Sendable {
  /// Milliseconds between two looks for saves of other processes while a long poll is open.
  static let watchMilliseconds = 500
  /// Seconds that the server may hold a pull open.
  static let pollSeconds = 25

  let store: Store
  let driver: SyncDriver
  private let queue = DispatchQueue(label: "tombolo.sync")
  let registrar = ObservationRegistrar()
  let shared: Guarded<Shared>
  private let outcome: @Sendable (Result<SyncReport, TomboloError>) -> Void

  struct Shared {
    var state = SyncState.idle
    var watch = ProgressWatch()
    var lastSent: UInt64?
    var lastReceived: UInt64?
    /// Counts what changed the lists of conflicts and of refused saves.
    var revision = 0
    var isRunning = false
    /// Counts starts, so that a loop that was stopped and started again in between ends.
    var generation = 0
    var observation: StoreObservation?
    /// Whether the loop only waits: for others, or for a busy server.
    var isWaiting = false
  }

  /// Prepares to sync a container's store; nothing is sent yet.
  ///
  /// Each store of a container has a remote, and so a synchronizer, of its own.
  ///
  /// - Parameter configuration: the name of the configuration whose store it is; nil where the container has only one.
  /// - Parameter isSwitch: whether another server's store may take the place of the one known, though saves are unsent. The
  ///   next sync is refused with `other_epoch` then, until ``reset()`` or ``reupload()`` says what is right.
  /// - Throws: `store_unversioned` with the way out, `history_disabled`, `remote_exists` when the store has another remote
  ///   and saves that were not sent there yet; `ambiguous` where the container has several stores and none is named.
  public convenience init(
    container: ModelContainer, remote: Remote, configuration: String? = nil, isSwitch: Bool = false
  ) throws {
    try self.init(
      store: try container.store(of: configuration), remote: remote, isSwitch: isSwitch, transport: CurlTransport(),
      sleeper: SemaphoreSleeper())
  }

  /// - Parameter outcome: hears how each sync ended, on the synchronizer's own queue.
  package init(
    store: Store, remote: Remote, isSwitch: Bool = false, transport: any Transport, sleeper: any Sleeper,
    outcome: @escaping @Sendable (Result<SyncReport, TomboloError>) -> Void = { _ in }
  ) throws {
    self.outcome = outcome
    guard store.isVersioned else { throw SyncFailure.unversioned(store.schema.document.name) }
    let known = try store.replicaState()
    let tokenFile = remote.tokenFile?.path
    if known?.remoteURL != remote.url || tokenFile != nil && known?.tokenFile != tokenFile {
      // A server may move to another address while something is unsent; another store may not take its place.
      let isMoved = try known.map { try RemoteAddress($0.remoteURL).store == RemoteAddress(remote.url).store } ?? false
      try store.setRemote(remote.url, tokenFile: tokenFile, isMoved: isSwitch || isMoved)
    }
    self.store = store
    driver = SyncDriver(
      store: store, token: remote.token, transport: transport, sleeper: sleeper, randomness: store.options.randomness)
    var shared = Shared()
    let state = try store.replicaState()
    shared.lastSent = state?.lastPush
    shared.lastReceived = state?.lastPull
    self.shared = Guarded(shared)
  }

  deinit { driver.interrupt() }

  // MARK: State

  /// What is going on; observable.
  public var state: SyncState {
    registrar.access(self, keyPath: \.state)
    return shared.withLock { $0.state }
  }

  /// When the server last answered what was sent; nil where it never did. Observable.
  public var lastSent: Date? {
    registrar.access(self, keyPath: \.lastSent)
    return shared.withLock { $0.lastSent }.map(Self.date)
  }

  /// When everything that the server had was last received; nil where it never was. Observable.
  public var lastReceived: Date? {
    registrar.access(self, keyPath: \.lastReceived)
    return shared.withLock { $0.lastReceived }.map(Self.date)
  }

  private static func date(_ milliseconds: UInt64) -> Date {
    Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
  }

  private func set(_ state: SyncState) {
    registrar.withMutation(of: self, keyPath: \.state) { shared.withLock { $0.state = state } }
  }

  /// Takes over what the store says of the last exchanges, and asks the watchdog.
  ///
  /// - Returns: whether the sync stands still.
  private func noteAttempt(_ error: TomboloError?) -> Bool {
    let state = try? store.replicaState()
    let first = (try? store.firstUnsent()) ?? nil
    let now = store.options.clock.milliseconds()
    let isReachable = error.map { !SyncState.isOffline($0) } ?? true
    let known = shared.withLock { ($0.lastSent, $0.lastReceived) }
    if let sent = state?.lastPush, sent != known.0 {
      registrar.withMutation(of: self, keyPath: \.lastSent) { shared.withLock { $0.lastSent = sent } }
    }
    if let received = state?.lastPull, received != known.1 {
      registrar.withMutation(of: self, keyPath: \.lastReceived) { shared.withLock { $0.lastReceived = received } }
    }
    if error?.code == .cancelled { return false }
    return shared.withLock { $0.watch.note(first: first, isReachable: isReachable, now: now) }
  }

  // MARK: Syncing

  /// Sends what is unsent and receives what is new, once.
  ///
  /// - Throws: a ``TomboloError``; its remedy says what to do, and nothing is lost in any case.
  @discardableResult
  public func sync() async throws -> SyncReport {
    // A long poll of the running loop would keep this waiting.
    interruptPoll()
    return try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result { try self.syncNow(waitSeconds: 0) }) }
    }
  }

  /// Gives a server that was restored, replaced or wiped what this replica has, then syncs: the way on after `other_epoch`
  /// where the server has less than its replicas.
  ///
  /// Everybody's records, deletions and links are uploaded, not only this replica's; what others have uploaded or written
  /// since is merged with them. Each replica uploads for itself. One that is stopped half way is gone on with by the next
  /// ``sync()``.
  ///
  /// - Throws: a ``TomboloError``: `reupload_needless` where the server has lost nothing.
  @discardableResult
  public func reupload() async throws -> SyncReport { try await recover(.reupload) }

  /// Takes what the server has, then syncs: the other way on after `other_epoch`. Records that the server does not have
  /// disappear here, but for what is unsent, which is kept and sent.
  ///
  /// - Throws: a ``TomboloError``, as ``sync()`` does.
  @discardableResult
  public func reset() async throws -> SyncReport { try await recover(.reset) }

  private func recover(_ recovery: SyncEngine.Recovery) async throws -> SyncReport {
    interruptPoll()
    return try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result { try self.syncNow(waitSeconds: 0, recovery: recovery) }) }
    }
  }

  private func syncNow(
    waitSeconds: Int, recovery: SyncEngine.Recovery? = nil, isCancelled: () -> Bool = { false },
    nextAttempt: (TomboloError) -> UInt64? = { _ in nil }
  ) throws -> SyncReport {
    var options = SyncEngine.Options()
    options.waitSeconds = waitSeconds
    options.recovery = recovery
    do {
      let report = try driver.run(
        options,
        notice: { notice in
          let isPoll = waitSeconds > 0 && notice.isPull
          shared.withLock { $0.isWaiting = waitSeconds > 0 && (isPoll || notice.isWait) }
          // A long poll that waits for others is no work that somebody would want to see.
          set(isPoll ? .idle : SyncState(notice, now: store.options.clock.milliseconds()))
        }, isCancelled: isCancelled)
      shared.withLock { $0.isWaiting = false }
      if report.conflicts + report.parked > 0 { noteChanges() }
      set(noteAttempt(nil) ? .stalled(SyncFailure.stalled("the first save of the queue stays where it is")) : .idle)
      outcome(.success(report))
      return report
    } catch let error as TomboloError {
      shared.withLock { $0.isWaiting = false }
      set(SyncState(error, next: nextAttempt(error), isStandstill: noteAttempt(error)))
      outcome(.failure(error))
      throw error
    }
  }

  // MARK: The loop

  /// Keeps in step until ``stop()``: what others write arrives when it is written, and what is saved here is sent at once.
  /// Calling it again does nothing.
  public func start() {
    let generation: Int? = shared.withLock { shared in
      guard !shared.isRunning else { return nil }
      shared.isRunning = true
      shared.generation += 1
      shared.observation = store.observe { [weak self] summary in
        if !summary.isRemote { self?.interruptPoll() }
      }
      return shared.generation
    }
    guard let generation else { return }
    turn(generation, failures: 0)
    watchOtherProcesses(generation)
  }

  /// Ends the loop and the exchange under way; the store can go on at once.
  public func stop() {
    shared.withLock { shared in
      shared.isRunning = false
      shared.observation = nil
    }
    driver.interrupt()
    set(.idle)
  }

  /// Ends the loop, and returns when its last exchange is over.
  package func finish() {
    stop()
    queue.sync {}
  }

  private func isCurrent(_ generation: Int) -> Bool {
    shared.withLock { $0.isRunning && $0.generation == generation }
  }

  private func turn(_ generation: Int, failures: Int, after milliseconds: Int = 0) {
    queue.asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { [weak self] in
      guard let self, isCurrent(generation) else { return }
      var pause = 60_000
      do {
        _ = try syncNow(
          waitSeconds: Self.pollSeconds, isCancelled: { !self.isCurrent(generation) },
          nextAttempt: { error in
            pause = self.pause(after: error, failures: failures)
            return self.store.options.clock.milliseconds() + UInt64(pause)
          })
        turn(generation, failures: 0)
      } catch let error as TomboloError where error.code == .cancelled {
        turn(generation, failures: 0)
      } catch {
        turn(generation, failures: failures + 1, after: pause)
      }
    }
  }

  /// Milliseconds before the loop tries again.
  private func pause(after error: TomboloError, failures: Int) -> Int {
    // Only somebody's action helps: the loop waits long, and looks again.
    guard error.isRetryable else { return 60_000 }
    let step = min(60_000, 1_000 << min(failures, 6))
    return step / 2 + Int(store.options.randomness.next() % UInt64(step / 2 + 1))
  }

  /// Another process's commit shows in SQLite's `data_version`; then the long poll makes way for a push.
  private func watchOtherProcesses(_ generation: Int) {
    let last = Guarded<Int64?>(nil)
    let timer = DispatchSource.makeTimerSource(queue: .global())
    timer.schedule(deadline: .now(), repeating: .milliseconds(Self.watchMilliseconds))
    timer.setEventHandler { [weak self] in
      guard let self, isCurrent(generation) else { return timer.cancel() }
      guard let version = try? store.dataVersion() else { return }
      let isNew = last.withLock { last in
        defer { last = version }
        return last != nil && last != version
      }
      guard isNew, let unsent = try? store.replicaState()?.unsent, unsent > 0 else { return }
      interruptPoll()
    }
    timer.activate()
  }

  private func interruptPoll() {
    if shared.withLock({ $0.isWaiting }) { driver.interrupt() }
  }
}
