public import TomboloProtocol

/// Where a ``Synchronizer`` stands.
public enum SyncState: Hashable, Sendable {
  /// Nothing is under way. Whether something is unsent, ``SyncReport`` and `tombolo status` say.
  case idle
  /// An exchange is under way.
  case syncing(Progress)
  /// The server cannot be reached; the next attempt comes by itself after ``Synchronizer/start()``.
  case offline
  /// The server was busy, or something failed: the next attempt comes by itself at this time, in milliseconds since 1970.
  case waiting(until: UInt64)
  /// The server can be reached, and the queue does not get shorter, or nothing tries again by itself. The error says what
  /// was seen; while the synchronizer runs, it goes on trying.
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

  /// - Parameters:
  ///   - next: when the next attempt comes by itself; nil where none does.
  ///   - isStandstill: whether the queue has not got shorter for several attempts.
  package init(_ error: TomboloError, next: UInt64? = nil, isStandstill: Bool = false) {
    switch error.code {
    case .serverUnreachable, .serverTimeout: self = .offline
    case .cancelled: self = .idle
    case .syncStalled: self = .stalled(error)
    default:
      if !error.isRetryable {
        self = .refused(error)
      } else if let next, !isStandstill {
        self = .waiting(until: next)
      } else {
        self = .stalled(error)
      }
    }
  }

  /// Whether the error says that no server answered.
  static func isOffline(_ error: TomboloError) -> Bool {
    error.code == .serverUnreachable || error.code == .serverTimeout
  }
}
