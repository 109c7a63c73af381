import Foundation
import TomboloProtocol

/// The system's wall clock.
package struct SystemClock: WallClock {
  package init() {}

  package func milliseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return UInt64(max(0, time.tv_sec)) * 1000 + UInt64(time.tv_nsec) / 1_000_000
  }
}

/// The system's random bits, fetched some hundred at a time: a call for each would cost more than an insert.
package final class SystemRandomness: Randomness {
  private let buffer = Guarded<[UInt64]>([])

  package init() {}

  package func next() -> UInt64 {
    buffer.withLock { buffer in
      if buffer.isEmpty {
        var generator = SystemRandomNumberGenerator()
        buffer = (0..<256).map { _ in generator.next() }
      }
      return buffer.removeLast()
    }
  }
}
