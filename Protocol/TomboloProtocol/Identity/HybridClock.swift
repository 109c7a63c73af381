/// A hybrid logical clock: above everything its replica has written or received, close to the wall clock otherwise.
///
/// A value type without a clock of its own: the wall clock's reading is handed in, and the owner persists ``last``
/// in the transaction that uses it.
package struct HybridClock: Hashable, Sendable {
  /// The greatest reading given out or received.
  package private(set) var last: ClockReading

  package init(last: ClockReading = .zero) { self.last = last }

  /// A reading above every earlier one; the counter runs over into the milliseconds when it is full.
  ///
  /// - Parameter wall: milliseconds since 1970, corrected by the offset that was measured against the server.
  package mutating func tick(wall: UInt64) -> ClockReading {
    let now = ClockReading(milliseconds: wall)
    last = now > last ? now : ClockReading(rawValue: last.rawValue + 1)
    return last
  }

  /// Takes note of a reading that was received, so that the next tick is above it.
  package mutating func receive(_ reading: ClockReading) {
    if reading > last { last = reading }
  }

  /// The only way back: after the server refused a stamp as too far ahead.
  package mutating func reset(to reading: ClockReading) { last = reading }
}

/// Where the time comes from; the simulation hands in a virtual one.
package protocol WallClock: Sendable {
  /// Milliseconds since 1970.
  func milliseconds() -> UInt64
}

/// Where random bits come from; the simulation hands in a seeded one.
package protocol Randomness: Sendable {
  /// Sixty-four random bits.
  func next() -> UInt64
}

extension Randomness {
  /// A fresh UUID version 7 (RFC 9562) at the given time, without a promise of order within a millisecond.
  package func recordID(milliseconds: UInt64) -> RecordID {
    let random = next()
    return RecordID(
      high: milliseconds << 16 | 0x7000 | (random & 0x0FFF), low: 0x8000_0000_0000_0000 | (next() >> 2))
  }

  /// A fresh identity for a save.
  package func saveID() -> SaveID { SaveID(RecordID(high: next(), low: next())) }
}
