// What a pull delivers, on the wire.

extension FeedItem: WireMessage {
  package static var kind: MessageKind { .feedItem }

  package func write(to writer: inout MessageWriter) {
    writer.field(MessageKey.firstField)
    writer.feedItem(self)
  }

  package init(from reader: inout MessageReader) throws {
    var found: FeedItem?
    try reader.fields { reader, key in
      guard key == MessageKey.firstField else { return false }
      found = try reader.feedItem()
      return true
    }
    guard let found else { throw reader.missing("the feed's item") }
    self = found
  }
}

extension MessageWriter {
  mutating func feedItem(_ item: FeedItem) {
    switch item {
    case .record(let state): record(state)
    case .tombstone(let tombstone): self.tombstone(tombstone)
    case .link(let state):
      body.array(count: 4)
      shape(state.isPresent ? .linkPresent : .linkAbsent, state.link.relationship)
      record(state.link.source)
      record(state.link.target)
      stamp(state.stamp, suggested: .zero)
    case .conflict(let entry): conflict(entry)
    }
  }

  private mutating func record(_ state: RecordState) {
    let fields = state.fields
    let stamped = fields.reduce(0) { $0 + ($1.mode(in: state.incarnation) == .stamped ? 1 : 0) }
    body.array(count: 3 + fields.count + stamped)
    shape(state.isWhole ? .wholeRecord : .partialRecord, state.entity, fieldCount: fields.count) { index in
      (fields[index].name, fields[index].mode(in: state.incarnation))
    }
    record(state.id)
    incarnation(state.incarnation)
    for field in fields {
      if field.mode(in: state.incarnation) == .stamped { stamp(field.stamp, suggested: .zero) }
      body.value(field.value)
    }
  }

  private mutating func tombstone(_ tombstone: Tombstone) {
    body.array(count: tombstone.survivor == nil ? 5 : 7)
    shape(.tombstone, tombstone.entity)
    record(tombstone.id)
    incarnation(tombstone.incarnation)
    stamp(tombstone.stamp, suggested: tombstone.incarnation)
    body.array(count: 2 * tombstone.causes.count)
    for cause in tombstone.causes {
      stamp(cause.stamp, suggested: tombstone.stamp)
      record(cause.root)
    }
    if let survivor = tombstone.survivor {
      record(survivor.id)
      stamp(survivor.incarnation, suggested: .zero)
    }
  }

  private mutating func conflict(_ entry: ConflictEntry) {
    body.array(count: entry.standing == nil ? 9 : 11)
    shape(.conflict, entry.entity)
    body.bytes(entry.id.bytes)
    replica(entry.replica)
    name(entry.rule.rawValue)
    record(entry.record)
    if let field = entry.field { name(field) } else { body.null() }
    stamp(entry.base, suggested: .zero)
    body.value(entry.lost.value)
    stamp(entry.lost.stamp, suggested: .zero)
    if let standing = entry.standing {
      body.value(standing.value)
      stamp(standing.stamp, suggested: .zero)
    }
  }
}

extension FieldState {
  fileprivate func mode(in incarnation: Stamp) -> FieldMode {
    if stamp == incarnation { return .usual }
    return stamp == .zero ? .unassigned : .stamped
  }
}

extension MessageReader {
  mutating func feedItem() throws -> FeedItem {
    try tuple(3) { reader, count in
      let shape = try reader.shape()
      switch shape.kind {
      case .partialRecord, .wholeRecord: return try reader.recordState(shape)
      case .tombstone: return try reader.tombstone(shape, count: count)
      case .linkPresent, .linkAbsent:
        let source = try reader.record()
        let key = LinkKey(relationship: shape.name, source: source, target: try reader.record())
        let stamp = try reader.stamp(suggested: .zero)
        return (.link(LinkState(link: key, isPresent: shape.kind == .linkPresent, stamp: stamp)), 4)
      case .conflict: return try reader.conflict(shape, count: count)
      default: throw reader.cbor.malformed("a change among the items of a feed")
      }
    }
  }

  private mutating func recordState(_ shape: Shape) throws -> (FeedItem, used: Int) {
    let id = try record()
    let incarnation = try self.incarnation()
    var fields: [FieldState] = []
    fields.reserveCapacity(shape.fields.count)
    var used = 3
    for field in shape.fields {
      let stamp: Stamp
      switch field.mode {
      case .usual: stamp = incarnation
      case .unassigned: stamp = .zero
      case .stamped:
        stamp = try self.stamp(suggested: .zero)
        used += 1
      default: throw cbor.malformed("a record's state with a replaced value or a delta")
      }
      fields.append(FieldState(name: field.name, value: try cbor.value(), stamp: stamp))
      used += 1
    }
    let state = RecordState(
      entity: shape.name, id: id, incarnation: incarnation, fields: fields, isWhole: shape.kind == .wholeRecord)
    return (.record(state), used)
  }

  private mutating func tombstone(_ shape: Shape, count: Int) throws -> (FeedItem, used: Int) {
    let id = try record()
    let incarnation = try self.incarnation()
    let stamp = try self.stamp(suggested: incarnation)
    let causeParts = try cbor.array()
    guard causeParts.isMultiple(of: 2) else { throw cbor.malformed("half a cause") }
    var causes: [DeleteCause] = []
    for _ in 0..<(causeParts / 2) {
      let stamp = try self.stamp(suggested: stamp)
      causes.append(DeleteCause(stamp: stamp, root: try record()))
    }
    var survivor: Tombstone.Survivor?
    if count > 5 {
      let id = try record()
      survivor = .init(id: id, incarnation: try self.stamp(suggested: .zero))
    }
    let tombstone = Tombstone(
      entity: shape.name, id: id, incarnation: incarnation, survivor: survivor, causes: causes, stamp: stamp)
    return (.tombstone(tombstone), count > 5 ? 7 : 5)
  }

  private mutating func conflict(_ shape: Shape, count: Int) throws -> (FeedItem, used: Int) {
    guard let id = RecordID(bytes: try cbor.bytes()) else { throw cbor.malformed("an entry's id has sixteen bytes") }
    let replica = try self.replica()
    let rule = ConflictRule(rawValue: try name())
    let record = try self.record()
    let field = try cbor.null() ? nil : try name()
    let base = try stamp(suggested: .zero)
    let lost = ConflictEntry.FieldVersion(value: try cbor.value(), stamp: try stamp(suggested: .zero))
    var standing: ConflictEntry.FieldVersion?
    if count > 9 { standing = .init(value: try cbor.value(), stamp: try stamp(suggested: .zero)) }
    let entry = ConflictEntry(
      id: id, replica: replica, rule: rule, entity: shape.name, record: record, field: field, base: base,
      lost: lost, standing: standing)
    return (.conflict(entry), count > 9 ? 11 : 9)
  }
}
