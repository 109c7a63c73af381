/// The integer keys at the head of every CBOR message.
package enum MessageKey {
  package static let kind: UInt64 = 0
  package static let names: UInt64 = 1
  package static let replicas: UInt64 = 2
  package static let stamps: UInt64 = 3
  package static let shapes: UInt64 = 4
  /// The first key of a message's own fields.
  package static let firstField: UInt64 = 10
}

/// What a change or a feed item is; the raw value stands in the message's table of shapes. Numbers are never reused.
package enum ItemKind: UInt64, Hashable, Sendable, CaseIterable {
  case create = 1
  case update = 2
  case delete = 3
  case link = 4
  case unlink = 5
  case partialRecord = 8
  case wholeRecord = 9
  case tombstone = 10
  case linkPresent = 11
  case linkAbsent = 12
  case conflict = 13
}

/// How one field of an item is written; the raw value is kept in the item's shape, so that it costs an item nothing.
package enum FieldMode: Int, Hashable, Sendable, CaseIterable {
  /// A value with the obvious stamp: the save's in a create, the incarnation's elsewhere.
  case usual = 0
  /// A value with the zero stamp.
  case unassigned = 1
  /// A stamp, then a value.
  case stamped = 2
  /// As the three before, followed by the value that was replaced.
  case usualReplacing = 3
  case unassignedReplacing = 4
  case stampedReplacing = 5
  /// A delta of a counter.
  case addition = 6
}

/// Writes one CBOR message: the body first, while it numbers the names, replicas, stamps and shapes that occur in it;
/// the tables are put before the body at the end.
///
/// A *shape* is what many items have in common: their kind, entity, and list of fields. A change of one attribute is then
/// the number of its shape, the record's key without the bytes that it shares with the key before, the number
/// of a stamp, and the value.
package struct MessageWriter {
  package var body: CBORWriter
  private var fieldCount = 0
  private var names = Numbering<String>()
  private var replicas = Numbering<ReplicaID>()
  private var stamps = Numbering<Stamp>()
  private var shapes = Numbering<Shape>()
  /// The shape last used for each kind of item, by its raw value: mostly the next one's too. None is -1.
  private var recentShapes = [Int](repeating: -1, count: 16)
  private var previousRecord = RecordID(high: 0, low: 0)
  private var previousIncarnation = Stamp.zero

  private struct Shape: Hashable {
    var kind: ItemKind
    var name: Int
    /// The number of a name times ``Self/modes`` plus the raw value of a mode.
    var fields: [Int]
  }
  static let modes = 8

  package init() { body = CBORWriter(reservingCapacity: 256) }

  /// Begins a field of the message itself.
  package mutating func field(_ key: UInt64) {
    fieldCount += 1
    body.unsigned(key)
  }

  package mutating func name(_ text: String) { body.unsigned(UInt64(names.number(of: text))) }
  package mutating func replica(_ replica: ReplicaID) { body.unsigned(UInt64(replicas.number(of: replica))) }

  /// A stamp: 0 where it is the one that the place suggests, 1 for zero, else its number in the table plus 2.
  package mutating func stamp(_ stamp: Stamp, suggested: Stamp) {
    if stamp == suggested {
      body.unsigned(0)
    } else if stamp == .zero {
      body.unsigned(1)
    } else {
      body.unsigned(UInt64(stamps.number(of: stamp)) + 2)
    }
  }

  /// The stamp that names a record's life; the suggestion is the one before.
  package mutating func incarnation(_ stamp: Stamp) {
    self.stamp(stamp, suggested: previousIncarnation)
    previousIncarnation = stamp
  }

  /// A record's key, without the leading bytes that it shares with the key before.
  package mutating func record(_ record: RecordID) {
    let high = record.high ^ previousRecord.high
    let low = record.low ^ previousRecord.low
    let shared = high == 0 ? 8 + low.leadingZeroBitCount / 8 : high.leadingZeroBitCount / 8
    body.bytes(of: record, after: shared)
    previousRecord = record
  }

  /// The number of the shape with these fields; made where it is not there yet.
  package mutating func shape(
    _ kind: ItemKind, _ name: String, fieldCount: Int, field: (Int) -> (name: String, mode: FieldMode)
  ) {
    let place = Int(kind.rawValue)
    let recent = recentShapes[place]
    if recent >= 0, matches(shapes.elements[recent], name, fieldCount, field) { return body.unsigned(UInt64(recent)) }
    var shape = Shape(kind: kind, name: names.number(of: name), fields: [])
    shape.fields.reserveCapacity(fieldCount)
    for index in 0..<fieldCount {
      let (name, mode) = field(index)
      shape.fields.append(names.number(of: name) * Self.modes + mode.rawValue)
    }
    let number = shapes.number(of: shape)
    recentShapes[place] = number
    body.unsigned(UInt64(number))
  }

  package mutating func shape(_ kind: ItemKind, _ name: String) {
    shape(kind, name, fieldCount: 0) { _ in ("", .usual) }
  }

  private func matches(
    _ shape: Shape, _ name: String, _ fieldCount: Int, _ field: (Int) -> (name: String, mode: FieldMode)
  ) -> Bool {
    guard shape.fields.count == fieldCount, names.elements[shape.name] == name else { return false }
    for index in 0..<fieldCount {
      let (name, mode) = field(index)
      let code = shape.fields[index]
      guard code & (Self.modes - 1) == mode.rawValue, names.elements[code / Self.modes] == name else { return false }
    }
    return true
  }

  /// The whole message.
  package mutating func finish(_ kind: MessageKind) -> [UInt8] {
    // Shapes and stamps are written first: they number names and replicas of their own.
    let stampTable = self.stampTable()
    var tables = 0
    for isEmpty in [
      names.elements.isEmpty, replicas.elements.isEmpty, stamps.elements.isEmpty, shapes.elements.isEmpty,
    ]
    where !isEmpty { tables += 1 }
    var whole = CBORWriter(reservingCapacity: body.bytes.count + 1024)
    whole.map(count: 1 + tables + fieldCount)
    whole.unsigned(MessageKey.kind)
    whole.unsigned(kind.rawValue)
    if !names.elements.isEmpty {
      whole.unsigned(MessageKey.names)
      whole.array(count: names.elements.count)
      for name in names.elements { whole.text(name) }
    }
    if !replicas.elements.isEmpty {
      whole.unsigned(MessageKey.replicas)
      whole.array(count: replicas.elements.count)
      for replica in replicas.elements { whole.unsigned(replica.rawValue) }
    }
    if !stamps.elements.isEmpty {
      whole.unsigned(MessageKey.stamps)
      whole.raw(stampTable)
    }
    if !shapes.elements.isEmpty {
      whole.unsigned(MessageKey.shapes)
      whole.array(count: shapes.elements.count)
      for shape in shapes.elements {
        whole.array(count: 2 + shape.fields.count)
        whole.unsigned(shape.kind.rawValue)
        whole.unsigned(UInt64(shape.name))
        for field in shape.fields { whole.unsigned(UInt64(field)) }
      }
    }
    whole.raw(body.bytes)
    return whole.bytes
  }

  /// For each stamp: the difference of its clock to the one before, the number of its replica times two, plus one
  /// where the number of its derivation follows.
  private mutating func stampTable() -> [UInt8] {
    var table = CBORWriter()
    table.array(count: stamps.elements.reduce(0) { $0 + ($1.derived == 0 ? 2 : 3) })
    var previous: UInt64 = 0
    for stamp in stamps.elements {
      table.integer(Int64(bitPattern: stamp.clock.rawValue &- previous))
      previous = stamp.clock.rawValue
      let replica = UInt64(replicas.number(of: stamp.replica)) * 2
      if stamp.derived == 0 {
        table.unsigned(replica)
      } else {
        table.unsigned(replica + 1)
        table.unsigned(UInt64(stamp.derived))
      }
    }
    return table.bytes
  }
}

/// Numbers things in the order in which they first occur.
private struct Numbering<Element: Hashable> {
  private(set) var elements: [Element] = []
  private var numbers: [Element: Int] = [:]
  private var last = 0

  mutating func number(of element: Element) -> Int {
    // The same as before, or the one after it: most things come in runs or in rounds.
    if last < elements.count, elements[last] == element { return last }
    if last + 1 < elements.count, elements[last + 1] == element {
      last += 1
      return last
    }
    last = numbers[element] ?? elements.count
    if last == elements.count {
      elements.append(element)
      numbers[element] = last
    }
    return last
  }
}
