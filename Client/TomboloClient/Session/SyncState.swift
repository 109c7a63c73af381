public import TomboloProtocol

/// Where a ``Synchronizer`` stands.
public enum SyncState: Hashable, Sendable {
  /// Nothing is under way. Whether something is unsent, ``SyncReport`` and `tombolo status` say.
  case idle
  /// An exchange is under way.
  case syncing(Progress)
  /// The server cannot be reached; the next attempt comes by itself after ``Synchronizer/start()``.
  case offline
  /// The server was busy, or something failed: the next attempt is at this time, in milliseconds since 1970.
  case waiting(until: UInt64)
  /// The server can be reached, and the queue does not get shorter.
  case stalled(TomboloError)
  /// Only somebody's action helps: the error's remedy says which.
  case refused(TomboloError)

  /// How far a sync has got.
  public struct Progress: Hashable, Sendable {
    /// Whether changes are being sent; otherwise they are being received.
    public var isPushing: Bool
    /// Saves that the server has answered.
    public var pushed: Int
    /// Records and links received.
    public var pulled: Int
  }
}

extension SyncState {
  init(_ notice: SyncDriver.Notice, now: UInt64) {
    switch notice {
    case .progress(let progress):
      self = .syncing(
        Progress(isPushing: progress.phase == .pushing, pushed: progress.pushed, pulled: progress.pulled))
    case .waiting(let milliseconds, let progress):
      self = milliseconds == 0 && progress.failures == 0 ? .idle : .waiting(until: now + milliseconds)
    }
  }

  package init(_ error: TomboloError) {
    switch error.code {
    case .serverUnreachable, .serverTimeout: self = .offline
    case .cancelled: self = .idle
    case .syncStalled: self = .stalled(error)
    default: self = error.isRetryable ? .stalled(error) : .refused(error)
    }
  }
}
