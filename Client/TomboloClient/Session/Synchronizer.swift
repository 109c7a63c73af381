import Dispatch
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
  private let registrar = ObservationRegistrar()
  private let shared: Guarded<Shared>
  private let outcome: @Sendable (Result<SyncReport, TomboloError>) -> Void

  private struct Shared {
    var state = SyncState.idle
    var isRunning = false
    /// Counts starts, so that a loop that was stopped and started again in between ends.
    var generation = 0
    var observation: StoreObservation?
    /// Whether the loop only waits: for others, or for a busy server.
    var isWaiting = false
  }

  /// Prepares to sync a container's store; nothing is sent yet.
  ///
  /// - Parameter isSwitch: whether another server's store may take the place of the one known, though saves are unsent. The
  ///   next sync is refused with `other_epoch` then, until ``reset()`` or ``reupload()`` says what is right.
  /// - Throws: `store_unversioned` with the way out, `history_disabled`, `remote_exists` when the store has another remote
  ///   and saves that were not sent there yet.
  public convenience init(container: ModelContainer, remote: Remote, isSwitch: Bool = false) throws {
    try self.init(
      store: container.store, remote: remote, isSwitch: isSwitch, transport: CurlTransport(),
      sleeper: SemaphoreSleeper())
  }

  /// - Parameter outcome: hears how each sync ended, on the synchronizer's own queue.
  package init(
    store: Store, remote: Remote, isSwitch: Bool = false, transport: any Transport, sleeper: any Sleeper,
    outcome: @escaping @Sendable (Result<SyncReport, TomboloError>) -> Void = { _ in }
  ) throws {
    self.outcome = outcome
    guard store.isVersioned else { throw SyncFailure.unversioned(store.schema.document.name) }
    if try store.replicaState()?.remoteURL != remote.url {
      try store.setRemote(remote.url, tokenFile: nil, isMoved: isSwitch)
    }
    self.store = store
    driver = SyncDriver(
      store: store, token: remote.token, transport: transport, sleeper: sleeper, randomness: store.options.randomness)
    shared = Guarded(Shared())
  }

  deinit { driver.interrupt() }

  // MARK: State

  /// What is going on; observable.
  public var state: SyncState {
    registrar.access(self, keyPath: \.state)
    return shared.withLock { $0.state }
  }

  /// The writes made here that do not stand, newest last. Reads the store.
  ///
  /// - Throws: a ``TomboloError`` when the store cannot be read.
  public var conflicts: [Conflict] {
    get throws {
      let naming = RecordNaming(store)
      return try store.conflicts().map { entry in
        Conflict(
          entry, schema: store.schema.resolved, name: try naming.name(of: entry.record, entity: entry.entity))
      }
    }
  }

  /// Writes the value that was lost again, as a save of now, and takes the conflict from ``conflicts``.
  ///
  /// A record that is gone is made anew with every value of it that was lost; a deletion that was undone is made again.
  ///
  /// - Throws: a ``TomboloError``: `unknown_record` if there is nothing to write the value into, and what a save throws.
  public func restore(_ conflict: Conflict) throws {
    guard let id = RecordID(conflict.id) else {
      throw TomboloError(.unknownRecord, "There is no conflict \(conflict.id).")
    }
    try store.restoreConflict(id)
  }

  private func set(_ state: SyncState) {
    registrar.withMutation(of: self, keyPath: \.state) { shared.withLock { $0.state = state } }
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
    waitSeconds: Int, recovery: SyncEngine.Recovery? = nil, isCancelled: () -> Bool = { false }
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
      set(.idle)
      outcome(.success(report))
      return report
    } catch let error as TomboloError {
      shared.withLock { $0.isWaiting = false }
      set(SyncState(error))
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
      do {
        _ = try syncNow(waitSeconds: Self.pollSeconds, isCancelled: { !self.isCurrent(generation) })
        turn(generation, failures: 0)
      } catch let error as TomboloError where error.code == .cancelled {
        turn(generation, failures: 0)
      } catch let error as TomboloError where !error.isRetryable {
        // Only somebody's action helps: the loop waits long, and looks again.
        turn(generation, failures: failures + 1, after: 60_000)
      } catch {
        let step = min(60_000, 1_000 << min(failures, 6))
        let wait = step / 2 + Int(store.options.randomness.next() % UInt64(step / 2 + 1))
        turn(generation, failures: failures + 1, after: wait)
      }
    }
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
