import TomboloProtocol

/// The bytes of a detail: deterministic CBOR, maps with small integer keys; what is absent is left out.
extension ChangeDetail {
  /// Nil for a create without explicit values.
  package var encoded: [UInt8]? {
    var writer = CBORWriter(reservingCapacity: 64)
    switch self {
    case .create(let detail):
      if detail.own.isEmpty { return nil }
      Self.write(detail.own, to: &writer)
    case .update(let detail):
      Self.map([(0, detail.incarnation.map { stamp in { Self.write(stamp, to: &$0) } })], to: &writer) { writer in
        writer.array(count: detail.fields.count)
        for field in detail.fields { Self.write(field, to: &writer) }
      }
    case .delete(let detail): Self.write(detail, to: &writer)
    case .link(let detail): Self.write(detail, to: &writer)
    }
    return writer.bytes
  }

  /// - Throws: `corrupt_store`.
  package init(_ kind: ChangeKind, decoding bytes: [UInt8]?) throws {
    do {
      guard let bytes else {
        guard kind == .create else { throw TomboloError.damaged("a change has no detail") }
        self = .create(CreateDetail())
        return
      }
      var reader = CBORReader(bytes)
      switch kind {
      case .create: self = .create(CreateDetail(own: try Self.values(&reader)))
      case .update: self = .update(try Self.update(&reader))
      case .delete: self = .delete(try Self.delete(&reader))
      case .link: self = .link(try Self.link(&reader))
      }
    } catch let error as CBORReader.Malformed {
      throw TomboloError.damaged(error.reason)
    }
  }

  // MARK: Parts

  private typealias Part = (inout CBORWriter) -> Void

  /// Writes the optional parts that are there, under the next key what always is, and behind it what came later.
  private static func map(
    _ parts: [(UInt64, Part?)], to writer: inout CBORWriter, later: Part? = nil, last: Part
  ) {
    writer.map(count: parts.count { $0.1 != nil } + (later == nil ? 1 : 2))
    for case (let key, let part?) in parts {
      writer.unsigned(key)
      part(&writer)
    }
    writer.unsigned(UInt64(parts.count))
    last(&writer)
    guard let later else { return }
    writer.unsigned(UInt64(parts.count + 1))
    later(&writer)
  }

  private static func write(_ stamp: Stamp, to writer: inout CBORWriter) {
    writer.array(count: stamp.isDerived ? 3 : 2)
    writer.unsigned(stamp.clock.rawValue)
    writer.unsigned(stamp.replica.rawValue)
    if stamp.isDerived { writer.unsigned(UInt64(stamp.derived)) }
  }

  private static func write(_ values: [Int: Value], to writer: inout CBORWriter) {
    writer.map(count: values.count)
    for (number, value) in values.sorted(by: { $0.key < $1.key }) {
      writer.unsigned(UInt64(number))
      writer.value(value)
    }
  }

  private static func write(_ field: FieldDetail, to writer: inout CBORWriter) {
    // A base that equals the stamp of what is beneath is not written twice.
    let base = field.base == field.underStamp ? nil : field.base
    writer.map(
      count: 2
        + [base != nil, field.underStamp != nil, field.own != nil, field.delta != nil, field.isConsequence]
        .count { $0 })
    writer.unsigned(0)
    writer.unsigned(UInt64(field.column))
    writer.unsigned(1)
    writer.value(field.under)
    if let stamp = field.underStamp {
      writer.unsigned(2)
      write(stamp, to: &writer)
    }
    if let base {
      writer.unsigned(3)
      write(base, to: &writer)
    }
    if let own = field.own {
      writer.unsigned(4)
      writer.value(own)
    }
    if let delta = field.delta {
      writer.unsigned(5)
      writer.integer(delta)
    }
    if field.isConsequence {
      writer.unsigned(6)
      writer.bool(true)
    }
  }

  private static func write(_ detail: DeleteDetail, to writer: inout CBORWriter) {
    let incarnation: Part? = detail.incarnation.map { stamp in { Self.write(stamp, to: &$0) } }
    let stamps: Part? = detail.stamps.map { bytes in { $0.bytes(bytes) } }
    let links: Part? = detail.links.isEmpty ? nil : { Self.write(detail.links, to: &$0) }
    let hidden: Part? = detail.hidden.isEmpty ? nil : { Self.write(detail.hidden, to: &$0) }
    let survivor: Part? = detail.survivor.map { survivor in
      {
        $0.array(count: 2)
        $0.bytes(survivor.id.bytes)
        Self.write(survivor.incarnation, to: &$0)
      }
    }
    map(
      [(0, { $0.bytes(detail.root.bytes) }), (1, incarnation), (2, stamps), (3, links), (4, hidden)], to: &writer,
      later: survivor
    ) { write(detail.values, to: &$0) }
  }

  private static func write(_ pairs: [Pair], to writer: inout CBORWriter) {
    writer.array(count: pairs.count)
    for pair in pairs {
      writer.array(count: pair.stamp == nil ? 3 : 4)
      writer.text(pair.link.relationship)
      writer.bytes(pair.link.source.bytes)
      writer.bytes(pair.link.target.bytes)
      if let stamp = pair.stamp { writer.bytes(stamp) }
    }
  }

  private static func write(_ hidden: [HiddenReference], to writer: inout CBORWriter) {
    writer.array(count: hidden.count)
    for reference in hidden {
      writer.array(count: reference.stamp == nil ? 2 : 3)
      writer.text(reference.attribute)
      writer.bytes(reference.target.bytes)
      if let stamp = reference.stamp { writer.bytes(stamp) }
    }
  }

  private static func write(_ detail: LinkDetail, to writer: inout CBORWriter) {
    let base: Part? =
      detail.base == detail.underStamp ? nil : detail.base.map { stamp in { Self.write(stamp, to: &$0) } }
    let under: Part? = detail.underStamp.map { stamp in { Self.write(stamp, to: &$0) } }
    map(
      [
        (0, { $0.text(detail.link.relationship) }), (1, { $0.bytes(detail.link.source.bytes) }),
        (2, { $0.bytes(detail.link.target.bytes) }), (3, { $0.bool(detail.isPresent) }), (4, under), (5, base),
      ], to: &writer
    ) { $0.bool(detail.underIsPresent) }
  }

  // MARK: Reading

  /// Calls `body` with each key of a map; a key that `body` does not know is passed over.
  private static func eachKey(
    _ reader: inout CBORReader, _ body: (UInt64, inout CBORReader) throws -> Bool
  ) throws {
    for _ in 0..<(try reader.map()) {
      let key = try reader.unsigned()
      if !(try body(key, &reader)) { try reader.skip() }
    }
  }

  private static func stamp(_ reader: inout CBORReader) throws -> Stamp {
    let count = try reader.array()
    guard count == 2 || count == 3 else { throw reader.malformed("a stamp was expected") }
    let clock = ClockReading(rawValue: try reader.unsigned())
    let replica = ReplicaID(try reader.unsigned())
    return Stamp(
      clock: clock, replica: replica, derived: count == 3 ? UInt32(truncatingIfNeeded: try reader.unsigned()) : 0)
  }

  private static func id(_ reader: inout CBORReader) throws -> RecordID {
    guard let id = RecordID(bytes: try reader.bytes()) else { throw reader.malformed("an identity has sixteen bytes") }
    return id
  }

  private static func values(_ reader: inout CBORReader) throws -> [Int: Value] {
    var values: [Int: Value] = [:]
    for _ in 0..<(try reader.map()) {
      let number = Int(truncatingIfNeeded: try reader.unsigned())
      values[number] = try reader.value()
    }
    return values
  }

  private static func update(_ reader: inout CBORReader) throws -> UpdateDetail {
    var detail = UpdateDetail(incarnation: nil, fields: [])
    try eachKey(&reader) { key, reader in
      switch key {
      case 0: detail.incarnation = try stamp(&reader)
      case 1: for _ in 0..<(try reader.array()) { detail.fields.append(try field(&reader)) }
      default: return false
      }
      return true
    }
    return detail
  }

  private static func field(_ reader: inout CBORReader) throws -> FieldDetail {
    var field = FieldDetail(column: 0, base: nil, under: .null, underStamp: nil)
    try eachKey(&reader) { key, reader in
      switch key {
      case 0: field.column = Int(truncatingIfNeeded: try reader.unsigned())
      case 1: field.under = try reader.value()
      case 2: field.underStamp = try stamp(&reader)
      case 3: field.base = try stamp(&reader)
      case 4: field.own = try reader.value()
      case 5: field.delta = try reader.integer()
      case 6: field.isConsequence = try reader.bool()
      default: return false
      }
      return true
    }
    field.base = field.base ?? field.underStamp
    return field
  }

  private static func delete(_ reader: inout CBORReader) throws -> DeleteDetail {
    var detail = DeleteDetail(
      root: RecordID(high: 0, low: 0), incarnation: nil, values: [:], stamps: nil, links: [])
    try eachKey(&reader) { key, reader in
      switch key {
      case 0: detail.root = try id(&reader)
      case 1: detail.incarnation = try stamp(&reader)
      case 2: detail.stamps = try reader.bytes()
      case 3: for _ in 0..<(try reader.array()) { detail.links.append(try pair(&reader)) }
      case 4: for _ in 0..<(try reader.array()) { detail.hidden.append(try hidden(&reader)) }
      case 5: detail.values = try values(&reader)
      case 6:
        _ = try reader.array()
        let survivor = try id(&reader)
        detail.survivor = Tombstone.Survivor(id: survivor, incarnation: try stamp(&reader))
      default: return false
      }
      return true
    }
    return detail
  }

  private static func pair(_ reader: inout CBORReader) throws -> Pair {
    let count = try reader.array()
    let key = LinkKey(relationship: try reader.text(), source: try id(&reader), target: try id(&reader))
    return Pair(link: key, stamp: count > 3 ? try reader.bytes() : nil)
  }

  private static func hidden(_ reader: inout CBORReader) throws -> HiddenReference {
    let count = try reader.array()
    let attribute = try reader.text()
    return HiddenReference(attribute: attribute, target: try id(&reader), stamp: count > 2 ? try reader.bytes() : nil)
  }

  private static func link(_ reader: inout CBORReader) throws -> LinkDetail {
    let nobody = RecordID(high: 0, low: 0)
    var detail = LinkDetail(
      link: LinkKey(relationship: "", source: nobody, target: nobody), isPresent: false, base: nil,
      underIsPresent: false, underStamp: nil)
    try eachKey(&reader) { key, reader in
      switch key {
      case 0: detail.link.relationship = try reader.text()
      case 1: detail.link.source = try id(&reader)
      case 2: detail.link.target = try id(&reader)
      case 3: detail.isPresent = try reader.bool()
      case 4: detail.underStamp = try stamp(&reader)
      case 5: detail.base = try stamp(&reader)
      case 6: detail.underIsPresent = try reader.bool()
      default: return false
      }
      return true
    }
    detail.base = detail.base ?? detail.underStamp
    return detail
  }
}
