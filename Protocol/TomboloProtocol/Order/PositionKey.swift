/// Where a member stands in an ordered to-many: compared byte by byte, so that SQLite, merge and every replica agree.
///
/// A key is a path of steps, each (number, replica, count). Who inserts where nothing of its own is at hand opens a *run*:
/// a step with a number between those of its neighbours and with its own name. What follows it only counts the run up, what
/// goes before it counts the run down. So nobody else's key falls into a run: blocks that two replicas insert at one place
/// lie side by side, and appending or prepending keeps keys at one step of ten to twelve bytes.
///
/// Between any two keys there is a third (a path can always go one step deeper), and keys made by different replicas differ,
/// since each ends in a step of its maker. Keys are pure: no clock, no chance.
///
/// As bytes: number and count as ``append(_:to:)`` writes them, around the eight bytes of the replica's id.
package struct PositionKey: Hashable, Sendable {
  package struct Step: Hashable, Comparable, Sendable {
    package var number: Int64
    package var replica: ReplicaID
    package var count: Int64

    package static func < (a: Step, b: Step) -> Bool {
      (a.number, a.replica.rawValue, a.count) < (b.number, b.replica.rawValue, b.count)
    }
  }

  /// Never empty.
  package let steps: [Step]

  /// Longer keys are replaced by short ones when their list is next arranged: see ``PositionArrangement``.
  package static let lengthMax = 512

  /// A key between two neighbours, either of which may be absent: the end of the list.
  ///
  /// - Returns: a key above `low` and below `high`; nil where there is no room since they are not in that order.
  package init?(after low: PositionKey?, before high: PositionKey?, by replica: ReplicaID) {
    if let low, let high, !(low < high) { return nil }
    let floor = low?.steps ?? []
    guard
      let steps = Self.counted(floor.last, after: floor, before: high, by: replica, up: true)
        ?? high.flatMap({ Self.counted($0.steps.last, after: floor, before: $0, by: replica, up: false) })
        ?? Self.opened(after: floor, before: high?.steps, by: replica)
    else { return nil }
    self.steps = steps
  }

  init(steps: [Step]) { self.steps = steps }

  /// The neighbour's run goes on, if it is the replica's own and there is room.
  private static func counted(
    _ last: Step?, after low: [Step], before high: PositionKey?, by replica: ReplicaID, up: Bool
  ) -> [Step]? {
    guard var last, last.replica == replica, last.count < .max, last.count > .min else { return nil }
    last.count += up ? 1 : -1
    let key = PositionKey(steps: (up ? low : high?.steps ?? []).dropLast() + [last])
    if up { return high.map { key < $0 } ?? true ? key.steps : nil }
    return low.isEmpty || PositionKey(steps: low) < key ? key.steps : nil
  }

  /// A new run, as few steps deep as there is room.
  private static func opened(after low: [Step], before high: [Step]?, by replica: ReplicaID) -> [Step]? {
    let run = Step(number: 0, replica: replica, count: 0)
    guard let high else {
      guard var first = low.first else { return [run] }
      guard first.number < .max else { return low + [run] }
      first = Step(number: first.number + 1, replica: replica, count: 0)
      return [first]
    }
    let shared = zip(low, high).prefix { $0 == $1 }.count
    if shared == low.count {
      let next = high[shared]
      guard next.number > .min else { return nil }
      return low + [Step(number: next.number - 1, replica: replica, count: 0)]
    }
    // Just after the step that parts them, unless that reaches the other side, or a run that is there already.
    for level in shared..<low.count where low[level].number < .max {
      let step = Step(number: low[level].number + 1, replica: replica, count: 0)
      if level == shared, !(step < high[level]) || (step.number, replica) == (high[level].number, high[level].replica) {
        continue
      }
      return low[..<level] + [step]
    }
    // Whoever goes before a key of its own keeps close to that: others who come below the one before stay in front.
    let number = high.last?.replica == replica ? nearHigh : 0
    return low + [Step(number: number, replica: replica, count: 0)]
  }

  /// Behind whatever others open at the same place.
  private static let nearHigh: Int64 = 1 << 16
}

extension PositionKey: Comparable {
  package static func < (a: PositionKey, b: PositionKey) -> Bool { a.steps.lexicographicallyPrecedes(b.steps) }
}

extension PositionKey {
  /// The form in which rows and the wire have it: comparing bytes is comparing keys.
  package var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(steps.count * 12)
    for step in steps {
      Self.append(step.number, to: &bytes)
      Self.append(step.replica.rawValue, 8, to: &bytes)
      Self.append(step.count, to: &bytes)
    }
    return bytes
  }

  /// Returns nil for what ``bytes`` never makes: nobody keeps a person in the `sqlite3` shell from writing it.
  package init?(bytes: [UInt8]) {
    var place = 0
    var steps: [Step] = []
    while place < bytes.count {
      guard let number = Self.integer(in: bytes, at: &place), place + 8 <= bytes.count else { return nil }
      var replica: UInt64 = 0
      for byte in bytes[place..<place + 8] { replica = replica << 8 | UInt64(byte) }
      place += 8
      guard let count = Self.integer(in: bytes, at: &place) else { return nil }
      steps.append(Step(number: number, replica: ReplicaID(replica), count: count))
    }
    if steps.isEmpty { return nil }
    self.init(steps: steps)
  }

  /// Writes a whole number so that the order of bytes is the order of numbers: -64 to 63 are one byte around 0x80; others
  /// have a first byte that says sign and length (0xC1 to 0xC8, 0x3F to 0x38), and then one to eight bytes, big endian.
  private static func append(_ number: Int64, to bytes: inout [UInt8]) {
    if (-64..<64).contains(number) { return bytes.append(UInt8(0x80 + number)) }
    let length = length(of: number)
    bytes.append(UInt8(number < 0 ? 0x40 - length : 0xC0 + length))
    append(UInt64(bitPattern: number), length, to: &bytes)
  }

  private static func append(_ pattern: UInt64, _ length: Int, to bytes: inout [UInt8]) {
    for index in (0..<length).reversed() { bytes.append(UInt8(truncatingIfNeeded: pattern >> UInt64(index * 8))) }
  }

  private static func length(of number: Int64) -> Int {
    (64 - UInt64(bitPattern: number < 0 ? ~number : number).leadingZeroBitCount + 7) / 8
  }

  /// Reads one, in its only form.
  private static func integer(in bytes: [UInt8], at place: inout Int) -> Int64? {
    guard place < bytes.count else { return nil }
    let first = Int(bytes[place])
    place += 1
    if (0x40..<0xC0).contains(first) { return Int64(first - 0x80) }
    let length = first < 0x40 ? 0x40 - first : first - 0xC0
    guard (1...8).contains(length), place + length <= bytes.count else { return nil }
    // What is above the bytes is the sign.
    var pattern: UInt64 = first < 0x40 ? .max : 0
    for byte in bytes[place..<place + length] { pattern = pattern << 8 | UInt64(byte) }
    place += length
    let number = Int64(bitPattern: pattern)
    let isShortest = !(-64..<64).contains(number) && Self.length(of: number) == length
    return isShortest && (number < 0) == (first < 0x40) ? number : nil
  }
}
