/// What happened outside of the engine.
package enum SyncEvent: Sendable {
  case start
  case response(TransportResponse)
  case transportFailed(TransportFailure)
  /// The time that ``SyncInstruction/wait(milliseconds:)`` asked for is over.
  case timer
}

/// What the engine wants done next; exactly one event answers each.
package enum SyncInstruction: Sendable {
  case send(TransportRequest)
  case wait(milliseconds: UInt64)
  case finished(SyncReport)
}

/// Where a sync is, for whoever watches it.
package struct SyncProgress: Hashable, Sendable {
  package enum Phase: String, Hashable, Sendable { case preparing, pushing, pulling }
  package var phase: Phase = .preparing
  /// Saves that the server has answered.
  package var pushed = 0
  /// Items of pages that were taken.
  package var pulled = 0
  /// Failures in a row; 0 while all is well.
  package var failures = 0
  package init() {}
}
