package import TomboloProtocol

/// The watchdog: notices a server that can be reached while the queue does not get shorter.
///
/// "Connected" with a full queue is the failure that nobody sees. Each attempt to sync is told here with the first save that
/// waits afterwards; one that stays the same over several attempts and some time is a standstill.
package struct ProgressWatch: Hashable, Sendable {
  /// How often, and how long at least, the same save has to be the first one.
  package var attemptsMax = 3
  package var millisecondsMax: UInt64 = 60_000

  private var first: SaveNumber?
  private var since: UInt64 = 0
  private var attempts = 0

  package init() {}

  /// Takes note of an attempt.
  ///
  /// - Parameters:
  ///   - first: the first save that still waits; nil where none does.
  ///   - isReachable: whether the server answered at all. Who is offline makes no progress and does not stand still.
  ///   - now: milliseconds since 1970.
  /// - Returns: whether the sync stands still.
  package mutating func note(first: SaveNumber?, isReachable: Bool, now: UInt64) -> Bool {
    guard let first, isReachable, first == self.first else {
      self.first = isReachable ? first : nil
      since = now
      attempts = first == nil || !isReachable ? 0 : 1
      return false
    }
    attempts += 1
    return attempts >= attemptsMax && now >= since + millisecondsMax
  }
}
