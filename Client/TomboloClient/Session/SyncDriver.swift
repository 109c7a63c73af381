package import TomboloProtocol

/// Runs engines on a real transport and a real clock, blocking: one sync at a time.
package final class SyncDriver: Sendable {
  private let store: any ReplicaStoring
  private let transport: any Transport
  private let sleeper: any Sleeper
  private let randomness: any Randomness
  private let token: String
  private let control = Guarded(Control())

  private struct Control {
    var isRunning = false
    var isInterrupted = false
  }

  package init(
    store: any ReplicaStoring, token: String, transport: any Transport, sleeper: any Sleeper,
    randomness: any Randomness
  ) {
    self.store = store
    self.token = token
    self.transport = transport
    self.sleeper = sleeper
    self.randomness = randomness
  }

  /// What a watcher hears between two steps.
  package enum Notice: Sendable {
    case progress(SyncProgress)
    case waiting(milliseconds: UInt64, SyncProgress)

    var isPull: Bool {
      if case .progress(let progress) = self { progress.phase == .pulling } else { false }
    }

    var isWait: Bool {
      if case .waiting = self { true } else { false }
    }
  }

  /// One whole sync.
  ///
  /// - Parameter isCancelled: asked before each request, for whoever has no sync under way to interrupt yet.
  /// - Parameter waitsForLease: whether to wait while another process syncs the same file; otherwise that is an error.
  /// - Throws: ``TomboloError``; `cancelled` after ``interrupt()``, `sync_under_way`.
  package func run(
    _ options: SyncEngine.Options = SyncEngine.Options(), waitsForLease: Bool = false,
    notice: (Notice) -> Void = { _ in }, isCancelled: () -> Bool = { false }
  ) throws -> SyncReport {
    control.withLock { control in
      // What was interrupted before this sync began is over.
      transport.clearInterruption()
      sleeper.clearWake()
      control = Control(isRunning: true)
    }
    defer { control.withLock { $0.isRunning = false } }
    let lease = try lease(waits: waitsForLease)
    defer { withExtendedLifetime(lease) {} }
    var engine = try SyncEngine(store: store, token: token, randomness: randomness, options: options)
    var instruction = try engine.handle(.start)
    while true {
      switch instruction {
      case .finished(let report):
        return report
      case .wait(let milliseconds):
        notice(.waiting(milliseconds: milliseconds, engine.progress))
        let isOver = milliseconds == 0 ? true : sleeper.sleep(milliseconds: milliseconds)
        guard isOver else { throw SyncFailure.stopped }
        instruction = try engine.handle(.timer)
      case .send(let request):
        guard !isCancelled(), !control.withLock({ $0.isInterrupted }) else { throw SyncFailure.stopped }
        notice(.progress(engine.progress))
        instruction = try engine.handle(perform(request))
      }
    }
  }

  /// Nil for a store that no other process can open.
  private func lease(waits: Bool) throws -> SyncLease? {
    guard let path = store.sharedPath.map(SyncLease.path) else { return nil }
    // Ends: when the other sync does, or when this one is interrupted.
    while true {
      if let lease = try SyncLease.take(at: path) { return lease }
      guard waits else { throw SyncFailure.underWay }
      guard sleeper.sleep(milliseconds: Self.leaseMilliseconds), !control.withLock({ $0.isInterrupted }) else {
        throw SyncFailure.stopped
      }
    }
  }

  /// Between two looks whether another process's sync is over.
  private static let leaseMilliseconds: UInt64 = 200

  private func perform(_ request: TransportRequest) throws -> SyncEvent {
    do {
      return .response(try transport.perform(request))
    } catch let failure as TransportFailure {
      return .transportFailed(failure)
    }
  }

  /// Ends the sync under way, if there is one, from any thread; the store can go on at once.
  package func interrupt() {
    control.withLock { control in
      guard control.isRunning else { return }
      control.isInterrupted = true
      transport.interrupt()
      sleeper.wake()
    }
  }
}
