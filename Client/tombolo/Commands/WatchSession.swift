import Dispatch
import Foundation
import Tombolo
import TomboloClient
import TomboloProtocol

/// `sync --watch`: stays in step until it is interrupted.
struct WatchSession {
  private let session: SyncSession
  private let isJSON: Bool

  init(_ session: SyncSession, isJSON: Bool) {
    self.session = session
    self.isJSON = isJSON
  }

  /// Returns after SIGINT or SIGTERM, when the exchange under way has ended.
  func run() throws {
    guard let url = try session.store.replicaState()?.remoteURL else { return }
    let output = session.context.output
    let isJSON = isJSON
    let ended = DispatchSemaphore(value: 0)
    let signals = StopSignals { ended.signal() }
    defer { signals.end() }
    let failure = Guarded<TomboloError?>(nil)
    let lastCode = Guarded<ErrorCode?>(nil)
    let synchronizer = try Synchronizer(
      store: session.store, remote: Remote(url: url, token: session.token),
      transport: session.context.makeTransport(), sleeper: SemaphoreSleeper()
    ) { outcome in
      switch outcome {
      case .success(let report):
        lastCode.withLock { $0 = nil }
        if report.pushed + report.parked + report.pulled > 0 { SyncSession.show(report, isJSON: isJSON, in: output) }
      case .failure(let error) where error.code == .cancelled: break
      case .failure(let error) where error.isRetryable:
        // The same trouble is told once, not with each attempt.
        let isNew = lastCode.withLock { code in
          defer { code = error.code }
          return code != error.code
        }
        if isNew { output.note("\(error.message) Trying again from time to time.") }
      case .failure(let error):
        failure.withLock { $0 = error }
        ended.signal()
      }
    }
    synchronizer.start()
    ended.wait()
    synchronizer.finish()
    if let error = failure.withLock({ $0 }) { throw error }
  }
}
