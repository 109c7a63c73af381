package import TomboloProtocol

/// The stamps of one row, as `_tombolo_stamps` holds them.
///
/// Bytes: the creating save's clock (8, big endian) and replica number (varint), then a varint with the number of columns
/// that the table had then, times two, plus one if a bitmap of the columns that nobody assigned follows; then, for
/// each column written later, a varint with its number times two, plus one for a consequence, the clock (8), the replica
/// number (varint), and for a consequence its mark (varint). A row as it was created takes ten bytes.
package struct RowStamps: Hashable, Sendable {
  /// The creating save's: it names the record's incarnation.
  package var created: Stamp
  /// How many columns the table had: a column that was added later was assigned by nobody.
  package var columnCount: Int
  /// By column number.
  private var unassigned: [UInt8]
  private var later: [(number: Int, stamp: Stamp)]

  /// - Parameter columnCount: the numbers of the table's columns are below it.
  package init(created: Stamp, columnCount: Int) {
    self.created = created
    self.columnCount = columnCount
    unassigned = []
    later = []
  }

  package static func == (a: RowStamps, b: RowStamps) -> Bool {
    a.created == b.created && a.columnCount == b.columnCount
      && (0..<a.columnCount).allSatisfy { a.isUnassigned($0) == b.isUnassigned($0) }
      && a.later.elementsEqual(b.later) { $0.number == $1.number && $0.stamp == $1.stamp }
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(created) }

  /// The stamp of the column with this number; zero where nobody assigned it.
  package func stamp(of number: Int) -> Stamp {
    if let entry = later.first(where: { $0.number == number }) { return entry.stamp }
    return number >= columnCount || isUnassigned(number) ? .zero : created
  }

  package mutating func set(_ stamp: Stamp, of number: Int) {
    later.removeAll { $0.number == number }
    let isKnown = number < columnCount
    if isKnown { mark(number, unassigned: stamp.isZero) }
    if stamp.isZero || isKnown && stamp == created { return }
    later.insert((number, stamp), at: later.firstIndex { $0.number > number } ?? later.count)
  }

  private func isUnassigned(_ number: Int) -> Bool {
    number / 8 < unassigned.count && unassigned[number / 8] >> UInt8(number % 8) & 1 == 1
  }

  private mutating func mark(_ number: Int, unassigned isUnassigned: Bool) {
    if isUnassigned {
      while unassigned.count <= number / 8 { unassigned.append(0) }
      unassigned[number / 8] |= 1 << UInt8(number % 8)
    } else if number / 8 < unassigned.count {
      unassigned[number / 8] &= ~(1 << UInt8(number % 8))
    }
  }

  /// Gives every stamp another name, as after a restamp.
  package mutating func rename(_ name: (Stamp) -> Stamp) {
    created = name(created)
    later = later.map { ($0.number, name($0.stamp)) }
  }

  // MARK: Bytes

  package func encoded(_ replicas: ReplicaNumbers) throws -> [UInt8] {
    var writer = StampWriter()
    writer.clock(created.clock)
    writer.varint(UInt64(try replicas.number(of: created.replica)))
    let hasBitmap = unassigned.contains { $0 != 0 }
    writer.varint(UInt64(columnCount) << 1 | (hasBitmap ? 1 : 0))
    if hasBitmap {
      for index in 0..<(columnCount + 7) / 8 { writer.bytes.append(index < unassigned.count ? unassigned[index] : 0) }
    }
    for (number, stamp) in later {
      writer.varint(UInt64(number) << 1 | (stamp.isDerived ? 1 : 0))
      writer.clock(stamp.clock)
      writer.varint(UInt64(try replicas.number(of: stamp.replica)))
      if stamp.isDerived { writer.varint(UInt64(stamp.derived)) }
    }
    return writer.bytes
  }

  package init(_ bytes: [UInt8], _ replicas: ReplicaNumbers) throws {
    var reader = StampReader(bytes)
    let clock = try reader.clock()
    created = Stamp(clock: clock, replica: try replicas.replica(Int(truncatingIfNeeded: try reader.varint())))
    let shape = try reader.varint()
    // A table has at most 32 767 columns.
    guard shape < 1 << 17 else { throw TomboloError.damaged("a row's stamps name too many columns") }
    columnCount = Int(shape >> 1)
    unassigned = shape & 1 == 1 ? try reader.take((columnCount + 7) / 8) : []
    later = []
    while !reader.isAtEnd {
      let head = try reader.varint()
      let clock = try reader.clock()
      let replica = try replicas.replica(Int(truncatingIfNeeded: try reader.varint()))
      let derived = head & 1 == 1 ? UInt32(truncatingIfNeeded: try reader.varint()) : 0
      later.append((Int(truncatingIfNeeded: head >> 1), Stamp(clock: clock, replica: replica, derived: derived)))
    }
  }
}

extension Stamp {
  /// One stamp alone, as links and hidden references hold it: clock, replica number, and the mark of a consequence if any.
  package func encoded(_ replicas: ReplicaNumbers) throws -> [UInt8] {
    var writer = StampWriter()
    writer.clock(clock)
    writer.varint(UInt64(isZero ? 0 : try replicas.number(of: replica)))
    if isDerived { writer.varint(UInt64(derived)) }
    return writer.bytes
  }

  package init(_ bytes: [UInt8], _ replicas: ReplicaNumbers) throws {
    var reader = StampReader(bytes)
    let clock = try reader.clock()
    let number = Int(truncatingIfNeeded: try reader.varint())
    let derived = reader.isAtEnd ? 0 : UInt32(truncatingIfNeeded: try reader.varint())
    self.init(clock: clock, replica: number == 0 ? ReplicaID(0) : try replicas.replica(number), derived: derived)
  }
}

private struct StampWriter {
  var bytes: [UInt8] = []

  mutating func clock(_ clock: ClockReading) {
    withUnsafeBytes(of: clock.rawValue.bigEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func varint(_ value: UInt64) {
    var value = value
    // Ends: each turn takes seven bits off.
    while value >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: value) | 0x80)
      value >>= 7
    }
    bytes.append(UInt8(value))
  }
}

private struct StampReader {
  private let bytes: [UInt8]
  private var offset = 0
  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var isAtEnd: Bool { offset >= bytes.count }

  mutating func clock() throws -> ClockReading {
    ClockReading(rawValue: try take(8).reduce(0) { $0 << 8 | UInt64($1) })
  }

  mutating func varint() throws -> UInt64 {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 64, by: 7) {
      guard offset < bytes.count else { break }
      let byte = bytes[offset]
      offset += 1
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return value }
    }
    throw TomboloError.damaged("a row's stamps break off")
  }

  mutating func take(_ count: Int) throws -> [UInt8] {
    guard bytes.count - offset >= count else { throw TomboloError.damaged("a row's stamps break off") }
    defer { offset += count }
    return Array(bytes[offset..<offset + count])
  }
}
