import TomboloProtocol

/// Makes record identities: UUID version 7 (RFC 9562, section 5.7), each above the one before within this generator.
///
/// The twelve bits beside the milliseconds are a counter (method 1 of section 6.2) that starts at a random place in its
/// lower half; when it is full, the milliseconds run ahead of the clock.
final class RecordIDGenerator: Sendable {
  private struct State {
    var milliseconds: UInt64 = 0
    var counter: UInt64 = 0
  }

  private let clock: any WallClock
  private let randomness: any Randomness
  private let state = Guarded(State())

  init(clock: any WallClock, randomness: any Randomness) {
    self.clock = clock
    self.randomness = randomness
  }

  func next() -> RecordID {
    let now = clock.milliseconds() & 0xFFFF_FFFF_FFFF
    let random = randomness.next()
    return state.withLock { state in
      if now > state.milliseconds {
        state.milliseconds = now
        state.counter = random >> 53 & 0x7FF
      } else {
        state.counter += 1
        if state.counter > 0xFFF {
          state.milliseconds += 1
          state.counter = random >> 53 & 0x7FF
        }
      }
      // The low half is what hash tables of record ids use, so it stays random.
      return RecordID(
        high: state.milliseconds << 16 | 0x7000 | state.counter,
        low: 0x8000_0000_0000_0000 | random & 0x3FFF_FFFF_FFFF_FFFF)
    }
  }
}
