import TomboloProtocol
import Foundation
import Glibc

/// SIGINT and SIGTERM as an event, from the moment that this is made: none that comes later is lost.
///
/// The signals are blocked, and a thread takes them as they wait. (A dispatch source asks for the signal to be ignored first, and
/// begins to listen some time later: what comes in between would be gone.)
final class StopSignals: Sendable {
  private let isOver = Guarded(false)
  private static let waitNanoseconds = 100_000_000

  private static var signals: sigset_t {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGINT)
    sigaddset(&signals, SIGTERM)
    return signals
  }

  /// Made before the threads that are to leave the signals alone.
  init(_ stop: @escaping @Sendable () -> Void) {
    var signals = Self.signals
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    let thread = Thread { [isOver] in
      var signals = Self.signals
      var limit = timespec(tv_sec: 0, tv_nsec: Self.waitNanoseconds)
      while !isOver.withLock({ $0 }) {
        guard sigtimedwait(&signals, nil, &limit) > 0 else { continue }
        return stop()
      }
    }
    thread.start()
  }

  /// From here on the signals end the program, as ever.
  func end() {
    isOver.withLock { $0 = true }
    var signals = Self.signals
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
  }
}
