import Foundation
import TomboloProtocol

/// The machine's clock.
struct SystemClock: WallClock {
  func milliseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return UInt64(max(0, time.tv_sec)) * 1_000 + UInt64(max(0, time.tv_nsec)) / 1_000_000
  }
}

/// The kernel's random bits.
struct SystemRandomness: Randomness {
  func next() -> UInt64 {
    var generator = SystemRandomNumberGenerator()
    return generator.next()
  }
}
