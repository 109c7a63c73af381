/// The row payload of the server's record table. Stamps are numbered once a record: nearly every field has the create's.
extension MergeRecord {
  private static let format: UInt64 = 1

  package func encoded() -> [UInt8] {
    var stamps = StampTable()
    var body = CBORWriter(reservingCapacity: 64 + fields.count * 24)
    body.text(entity)
    body.bytes(id.bytes)
    body.unsigned(stamps.number(of: incarnation))
    body.array(count: answersTo.count * 2)
    for pair in answersTo {
      body.bytes(pair.id == id ? [] : pair.id.bytes)
      body.unsigned(stamps.number(of: pair.stamp))
    }
    switch life {
    case .living: body.unsigned(0)
    case .deleted: body.unsigned(1)
    case .orphaned: body.unsigned(2)
    case .merged(let survivor):
      body.array(count: 2)
      body.bytes(survivor.id.bytes)
      body.unsigned(stamps.number(of: survivor.incarnation))
    }
    body.array(count: causes.count * 2)
    for cause in causes {
      body.bytes(cause.root == id ? [] : cause.root.bytes)
      body.unsigned(stamps.number(of: cause.stamp))
    }
    body.unsigned(stamps.number(of: deathStamp))
    body.unsigned(position.rawValue)
    body.unsigned(lifePosition.rawValue)
    body.unsigned(mergePosition.rawValue)
    body.array(count: fields.count)
    for field in fields { field.write(to: &body, stamps: &stamps) }

    var whole = CBORWriter(reservingCapacity: body.bytes.count + 32)
    whole.unsigned(Self.format)
    stamps.write(to: &whole)
    whole.raw(body.bytes)
    return whole.bytes
  }

  /// - Throws: ``CBORReader/Malformed``.
  package init(decoding bytes: [UInt8]) throws {
    var reader = CBORReader(bytes)
    guard try reader.unsigned() == Self.format else { throw reader.malformed("a record in an unknown format") }
    let stamps = try StampTable(from: &reader)
    entity = try reader.text()
    id = try reader.recordID()
    incarnation = try stamps.stamp(from: &reader)
    answersTo = []
    for _ in 0..<(try reader.array() / 2) {
      let pair = try reader.recordID(emptyFor: id)
      answersTo.append(Incarnation(id: pair, stamp: try stamps.stamp(from: &reader)))
    }
    if try reader.peek() == .array {
      _ = try reader.array()
      let survivor = try reader.recordID()
      life = .merged(Tombstone.Survivor(id: survivor, incarnation: try stamps.stamp(from: &reader)))
    } else {
      switch try reader.unsigned() {
      case 0: life = .living
      case 1: life = .deleted
      case 2: life = .orphaned
      default: throw reader.malformed("an unknown state of life")
      }
    }
    causes = []
    for _ in 0..<(try reader.array() / 2) {
      let root = try reader.recordID(emptyFor: id)
      causes.append(DeleteCause(stamp: try stamps.stamp(from: &reader), root: root))
    }
    deathStamp = try stamps.stamp(from: &reader)
    position = FeedPosition(try reader.unsigned())
    lifePosition = FeedPosition(try reader.unsigned())
    mergePosition = FeedPosition(try reader.unsigned())
    fields = []
    let count = try reader.array()
    fields.reserveCapacity(count)
    for _ in 0..<count { fields.append(try MergeField(from: &reader, stamps: stamps)) }
  }
}

extension MergeField {
  /// Name, value, stamp, positions; the replaced value, or what only some policies keep, where there is any.
  fileprivate func write(to writer: inout CBORWriter, stamps: inout StampTable) {
    let hasMore = source != nil || !additions.isEmpty
    let moreCount = 8 + additions.count * 3 + (sourcePosition == nil ? 0 : 1)
    writer.array(count: hasMore ? moreCount : replaced == nil ? 5 : 6)
    writer.text(name)
    writer.value(value)
    writer.unsigned(stamps.number(of: stamp))
    writer.unsigned(position.rawValue)
    writer.unsigned(writePosition.rawValue)
    if hasMore {
      writer.value(replaced ?? .null)
      writer.unsigned(replaced == nil ? 0 : 1)
      writer.unsigned(source.map { stamps.number(of: $0) + 1 } ?? 0)
      for addition in additions {
        writer.unsigned(stamps.number(of: addition.stamp))
        writer.integer(addition.delta)
        writer.unsigned(addition.position.rawValue)
      }
      if let sourcePosition { writer.unsigned(sourcePosition.rawValue) }
    } else if let replaced {
      writer.value(replaced)
    }
  }

  fileprivate init(from reader: inout CBORReader, stamps: StampTable) throws {
    let count = try reader.array()
    guard count >= 5 else { throw reader.malformed("a field without its positions") }
    name = try reader.text()
    value = try reader.value()
    stamp = try stamps.stamp(from: &reader)
    position = FeedPosition(try reader.unsigned())
    writePosition = FeedPosition(try reader.unsigned())
    replaced = count > 5 ? try reader.value() : nil
    guard count > 7 else { return }
    if try reader.unsigned() == 0 { replaced = nil }
    let number = try reader.unsigned()
    if number > 0 { source = try stamps.stamp(number - 1, of: reader) }
    for _ in 0..<(count - 8) / 3 {
      let stamp = try stamps.stamp(from: &reader)
      let delta = try reader.integer()
      additions.append(Addition(stamp: stamp, delta: delta, position: FeedPosition(try reader.unsigned())))
    }
    // Records that an earlier build wrote end here.
    if (count - 8) % 3 == 1 { sourcePosition = FeedPosition(try reader.unsigned()) }
  }
}

/// The stamps of one record, numbered in the order of their first use.
private struct StampTable {
  private var stamps: [Stamp] = []

  init() {}

  mutating func number(of stamp: Stamp) -> UInt64 {
    if let index = stamps.firstIndex(of: stamp) { return UInt64(index) }
    stamps.append(stamp)
    return UInt64(stamps.count - 1)
  }

  func write(to writer: inout CBORWriter) {
    writer.array(count: stamps.count * 3)
    for stamp in stamps {
      writer.unsigned(stamp.clock.rawValue)
      writer.unsigned(stamp.replica.rawValue)
      writer.unsigned(UInt64(stamp.derived))
    }
  }

  init(from reader: inout CBORReader) throws {
    for _ in 0..<(try reader.array() / 3) {
      let clock = ClockReading(rawValue: try reader.unsigned())
      let replica = ReplicaID(try reader.unsigned())
      guard let derived = UInt32(exactly: try reader.unsigned()) else {
        throw reader.malformed("a stamp too far derived")
      }
      stamps.append(Stamp(clock: clock, replica: replica, derived: derived))
    }
  }

  func stamp(from reader: inout CBORReader) throws -> Stamp { try stamp(try reader.unsigned(), of: reader) }

  func stamp(_ number: UInt64, of reader: CBORReader) throws -> Stamp {
    guard number < UInt64(stamps.count) else { throw reader.malformed("a stamp that is not in the table") }
    return stamps[Int(number)]
  }
}

extension CBORReader {
  fileprivate mutating func recordID(emptyFor own: RecordID? = nil) throws -> RecordID {
    let bytes = try self.bytes()
    if let own, bytes.isEmpty { return own }
    guard let id = RecordID(bytes: bytes) else { throw malformed("sixteen bytes were expected") }
    return id
  }
}
