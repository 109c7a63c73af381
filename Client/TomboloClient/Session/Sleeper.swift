import Dispatch

/// Waits; the simulation and tests hand in one whose time is virtual.
package protocol Sleeper: Sendable {
  /// - Returns: false when ``wake()`` ended the wait early.
  func sleep(milliseconds: UInt64) -> Bool
  /// Ends the wait under way, or the next one, from any thread.
  func wake()
  /// Forgets a wake-up that came when nobody waited.
  func clearWake()
}

extension Sleeper {
  package func clearWake() {}
}

/// Waits on a semaphore, so that another thread can end the wait.
package final class SemaphoreSleeper: Sleeper {
  private let semaphore = DispatchSemaphore(value: 0)

  package init() {}

  package func sleep(milliseconds: UInt64) -> Bool {
    let bounded = Int(min(milliseconds, 24 * 3_600 * 1_000))
    return semaphore.wait(timeout: .now() + .milliseconds(bounded)) == .timedOut
  }

  package func wake() { semaphore.signal() }

  package func clearWake() {
    while semaphore.wait(timeout: .now()) == .success {}
  }
}
