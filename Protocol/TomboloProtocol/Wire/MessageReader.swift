/// Reads one CBOR message: the tables at its head, then its fields.
package struct MessageReader {
  package var cbor: CBORReader
  private var fieldsLeft: Int
  private var previousKey = MessageKey.kind
  private var names: [String] = []
  private var replicas: [ReplicaID] = []
  private var stamps: [Stamp] = []
  private var shapes: [Shape] = []
  private var previousRecord = RecordID(high: 0, low: 0)
  private var previousIncarnation = Stamp.zero

  /// What an item's first number stands for.
  package struct Shape: Sendable {
    package let kind: ItemKind
    package let name: String
    package let fields: [Field]
    package struct Field: Sendable {
      package let name: String
      package let mode: FieldMode
    }
  }

  /// Elements that are made room for ahead of their reading, so that a lying count costs nothing.
  private static let reservationMax = 4096

  /// - Throws: for input that does not begin as a message, and for a message of another kind.
  package init(_ bytes: [UInt8], expecting kind: MessageKind) throws {
    cbor = CBORReader(bytes)
    fieldsLeft = try cbor.map() - 1
    guard fieldsLeft >= 0, try cbor.unsigned() == MessageKey.kind else {
      throw cbor.malformed("a message begins with its kind")
    }
    let found = try cbor.unsigned()
    guard found == kind.rawValue else {
      guard let other = MessageKind(rawValue: found) else {
        throw TomboloError(
          .unknownMessageKind, "The message is of kind \(found), which this version does not know.",
          remedy: "Update Tombolo on this side.")
      }
      throw cbor.malformed("\(kind.name.withArticle) was expected, this is \(other.name.withArticle)")
    }
  }

  /// Reads the message's fields in order; `read` returns false for a key that it does not know.
  package mutating func fields(_ read: (inout MessageReader, UInt64) throws -> Bool) throws {
    while fieldsLeft > 0 {
      fieldsLeft -= 1
      let key = try ascendingKey(after: previousKey)
      previousKey = key
      switch key {
      case MessageKey.names: try readNames()
      case MessageKey.replicas: try readReplicas()
      case MessageKey.stamps: try readStamps()
      case MessageKey.shapes: try readShapes()
      default: if try !read(&self, key) { try cbor.skip() }
      }
    }
    guard cbor.isAtEnd else { throw cbor.malformed("something follows the message") }
  }

  /// Reads a map inside the message.
  package mutating func map(_ read: (inout MessageReader, UInt64) throws -> Bool) throws {
    let count = try cbor.map()
    var previous: UInt64?
    for _ in 0..<count {
      let key = try ascendingKey(after: previous)
      previous = key
      if try !read(&self, key) { try cbor.skip() }
    }
  }

  /// Reads an array of things that each take at least one byte.
  package mutating func list<Element>(_ read: (inout MessageReader) throws -> Element) throws -> [Element] {
    let count = try cbor.array()
    var elements: [Element] = []
    elements.reserveCapacity(min(count, Self.reservationMax))
    for _ in 0..<count { elements.append(try read(&self)) }
    return elements
  }

  /// Reads an array with at least `minimum` elements; those that `read` leaves over are passed over.
  package mutating func tuple<Result>(
    _ minimum: Int, _ read: (inout MessageReader, _ count: Int) throws -> (Result, used: Int)
  ) throws -> Result {
    let count = try cbor.array()
    guard count >= minimum else { throw cbor.malformed("an array of \(count) elements is too short") }
    let (result, used) = try read(&self, count)
    guard used <= count else { throw cbor.malformed("an array of \(count) elements is too short") }
    for _ in used..<count { try cbor.skip() }
    return result
  }

  package mutating func name() throws -> String {
    let number = try cbor.unsigned()
    guard number < UInt64(names.count) else { throw cbor.malformed("a name that is not in the table") }
    return names[Int(number)]
  }

  package mutating func replica() throws -> ReplicaID { try replica(number: try cbor.unsigned()) }

  private func replica(number: UInt64) throws -> ReplicaID {
    guard number < UInt64(replicas.count) else { throw cbor.malformed("a replica that is not in the table") }
    return replicas[Int(number)]
  }

  package mutating func stamp(suggested: Stamp) throws -> Stamp {
    let code = try cbor.unsigned()
    switch code {
    case 0: return suggested
    case 1: return .zero
    default:
      guard code - 2 < UInt64(stamps.count) else { throw cbor.malformed("a stamp that is not in the table") }
      return stamps[Int(code - 2)]
    }
  }

  package mutating func incarnation() throws -> Stamp {
    previousIncarnation = try stamp(suggested: previousIncarnation)
    return previousIncarnation
  }

  package mutating func record() throws -> RecordID {
    let record = try cbor.record(sharedWith: previousRecord)
    previousRecord = record
    return record
  }

  package mutating func shape() throws -> Shape {
    let number = try cbor.unsigned()
    guard number < UInt64(shapes.count) else { throw cbor.malformed("a shape that is not in the table") }
    return shapes[Int(number)]
  }

  package mutating func integer<Integer: FixedWidthInteger>(_ type: Integer.Type) throws -> Integer {
    guard let value = Integer(exactly: try cbor.unsigned()) else { throw cbor.malformed("a number that is too large") }
    return value
  }

  package func missing(_ name: String) -> CBORReader.Malformed { cbor.malformed("\(name) is missing") }

  private mutating func ascendingKey(after previous: UInt64?) throws -> UInt64 {
    let key = try cbor.unsigned()
    if let previous, key <= previous { throw cbor.malformed("keys that do not ascend") }
    return key
  }

  private mutating func readNames() throws { names = try list { try $0.cbor.text() } }
  private mutating func readReplicas() throws { replicas = try list { ReplicaID(try $0.cbor.unsigned()) } }

  private mutating func readStamps() throws {
    var left = try cbor.array()
    stamps.reserveCapacity(min(left / 2, Self.reservationMax))
    var clock: UInt64 = 0
    while left > 0 {
      clock &+= UInt64(bitPattern: try cbor.integer())
      guard left > 1 else { throw cbor.malformed("half a stamp") }
      let code = try cbor.unsigned()
      left -= 2
      var derived: UInt32 = 0
      if code & 1 == 1 {
        guard left > 0 else { throw cbor.malformed("half a stamp") }
        derived = try integer(UInt32.self)
        left -= 1
      }
      stamps.append(
        Stamp(clock: ClockReading(rawValue: clock), replica: try replica(number: code / 2), derived: derived))
    }
  }

  private mutating func readShapes() throws {
    shapes = try list { reader in
      let count = try reader.cbor.array()
      guard count >= 2 else { throw reader.cbor.malformed("a shape that is too short") }
      let number = try reader.cbor.unsigned()
      guard let kind = ItemKind(rawValue: number) else {
        throw TomboloError(
          .unknownMessageKind, "The message has an item of kind \(number), which this version does not know.",
          remedy: "Update Tombolo on this side.")
      }
      let name = try reader.name()
      var fields: [Shape.Field] = []
      fields.reserveCapacity(min(count - 2, Self.reservationMax))
      for _ in 0..<(count - 2) { fields.append(try reader.shapeField()) }
      return Shape(kind: kind, name: name, fields: fields)
    }
  }

  private mutating func shapeField() throws -> Shape.Field {
    let code = try cbor.unsigned()
    guard let mode = FieldMode(rawValue: Int(code & UInt64(MessageWriter.modes - 1))) else {
      throw cbor.malformed("a field's mode that is not known")
    }
    let number = code / UInt64(MessageWriter.modes)
    guard number < UInt64(names.count) else { throw cbor.malformed("a name that is not in the table") }
    return Shape.Field(name: names[Int(number)], mode: mode)
  }
}
