import Synchronization
import TomboloProtocol

/// The one time of a run: it moves when the event loop says so, or when SQLite waits.
package final class VirtualTime: Sendable {
  private let microseconds: Atomic<UInt64>

  package init(milliseconds: UInt64) { microseconds = Atomic(milliseconds * 1000) }

  /// Milliseconds since 1970.
  package var milliseconds: UInt64 { microseconds.load(ordering: .relaxed) / 1000 }

  /// Time never goes back: an event whose moment has passed happens now.
  package func advance(toMilliseconds target: UInt64) {
    if target * 1000 > microseconds.load(ordering: .relaxed) { microseconds.store(target * 1000, ordering: .relaxed) }
  }

  package func advance(byMicroseconds count: UInt32) { microseconds.add(UInt64(count), ordering: .relaxed) }
}

/// One machine's wall clock: the virtual time and an error, which may change in the middle of a run.
package final class SkewedClock: WallClock {
  private let time: VirtualTime
  private let skew: Atomic<Int64>
  /// Milliseconds from one reading to the next: a coarse clock makes replicas meet in one reading.
  private let step: UInt64

  package init(_ time: VirtualTime, skewMilliseconds: Int64, stepMilliseconds: UInt64 = 1) {
    self.time = time
    step = max(1, stepMilliseconds)
    skew = Atomic(skewMilliseconds)
  }

  package func milliseconds() -> UInt64 {
    let exact = UInt64(max(0, Int64(time.milliseconds) + skew.load(ordering: .relaxed)))
    return exact / step * step
  }

  package func setSkew(milliseconds: Int64) { skew.store(milliseconds, ordering: .relaxed) }
}

/// One machine's random bits.
package final class SeededRandomness: Randomness {
  private let generator: Guarded<SeededGenerator>

  package init(_ generator: SeededGenerator) { self.generator = Guarded(generator) }

  package func next() -> UInt64 { generator.withLock { $0.next() } }
}
