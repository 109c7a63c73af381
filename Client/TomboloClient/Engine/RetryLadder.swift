/// Exponential backoff with full jitter, and the server's own wish before it.
///
/// Source: M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015: a wait drawn evenly from zero to
/// the step keeps clients that failed together from coming back together.
package struct RetryLadder: Hashable, Sendable {
  package var baseMilliseconds: UInt64 = 250
  package var capMilliseconds: UInt64 = 30_000
  /// The longest `Retry-After` that is waited for inside one sync.
  package var retryAfterMillisecondsMax: UInt64 = 120_000
  /// Failures in a row after which a sync gives up.
  package var failuresMax = 6
  package private(set) var failures = 0

  package init() {}

  package mutating func succeed() { failures = 0 }

  /// The milliseconds to wait before the next attempt; nil when it is time to give up.
  ///
  /// - Parameters:
  ///   - retryAfter: what the server asked for, in milliseconds; the jitter comes on top, so that nobody comes early.
  ///   - random: sixty-four random bits.
  package mutating func fail(retryAfter: UInt64?, random: UInt64) -> UInt64? {
    failures += 1
    guard failures < failuresMax else { return nil }
    let doublings = min(failures - 1, 20)
    let step = min(capMilliseconds, baseMilliseconds << UInt64(doublings))
    guard let retryAfter else { return random % (step + 1) }
    guard retryAfter <= retryAfterMillisecondsMax else { return nil }
    return retryAfter + random % (baseMilliseconds + 1)
  }
}
