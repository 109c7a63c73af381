/// A reading of a hybrid logical clock: 48 bits of milliseconds since 1970, 16 bits of counter.
///
/// Source: S. Kulkarni and others, "Logical Physical Clocks and Consistent Snapshots in Globally Distributed Databases", 2014.
package struct ClockReading: Hashable, Comparable, Sendable {
  package let rawValue: UInt64
  package init(rawValue: UInt64) { self.rawValue = rawValue }
  package init(milliseconds: UInt64, counter: UInt16 = 0) { rawValue = milliseconds << 16 | UInt64(counter) }
  /// Milliseconds since 1970.
  package var milliseconds: UInt64 { rawValue >> 16 }
  package var counter: UInt16 { UInt16(truncatingIfNeeded: rawValue) }
  package static func < (a: ClockReading, b: ClockReading) -> Bool { a.rawValue < b.rawValue }
  package static let zero = ClockReading(rawValue: 0)
}

/// When and by whom a value was written: totally ordered, unique to a save.
///
/// Compared by clock, then replica, then ``derived``: a consequence stands just above the write that it overrides and
/// below every other write.
package struct Stamp: Hashable, Comparable, Sendable {
  package let clock: ClockReading
  package let replica: ReplicaID
  /// 0 for what somebody wrote; one more for a consequence than for the write that it overrides.
  package let derived: UInt32

  package init(clock: ClockReading, replica: ReplicaID, derived: UInt32 = 0) {
    self.clock = clock
    self.replica = replica
    self.derived = derived
  }

  package static func < (a: Stamp, b: Stamp) -> Bool {
    if a.clock != b.clock { return a.clock < b.clock }
    if a.replica != b.replica { return a.replica < b.replica }
    return a.derived < b.derived
  }

  /// The stamp of what nobody assigned: below everything, never a conflict.
  package static let zero = Stamp(clock: .zero, replica: ReplicaID(0))
  package var isZero: Bool { clock == .zero && replica.rawValue == 0 }
  package var isDerived: Bool { derived > 0 }

  /// The stamp of a consequence of this write.
  package var consequence: Stamp { Stamp(clock: clock, replica: replica, derived: derived + 1) }
  /// The stamp of the write itself, without the mark of a consequence.
  package var written: Stamp { derived == 0 ? self : Stamp(clock: clock, replica: replica) }
  /// Whether both name the same save's write; what was derived from it counts as the same.
  package func isSameWrite(as other: Stamp) -> Bool { clock == other.clock && replica == other.replica }
}
