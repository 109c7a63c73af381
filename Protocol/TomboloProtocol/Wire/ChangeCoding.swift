// A change set on the wire: a map in a push, a fragment, and a store's own records of its saves.

extension ChangeSet: WireMessage {
  package static var kind: MessageKind { .changeSet }

  package func write(to writer: inout MessageWriter) {
    writer.field(MessageKey.firstField)
    writer.changeSet(self)
  }

  package init(from reader: inout MessageReader) throws {
    var found: ChangeSet?
    try reader.fields { reader, key in
      guard key == MessageKey.firstField else { return false }
      found = try reader.changeSet()
      return true
    }
    guard let found else { throw reader.missing("the change set") }
    self = found
  }
}

/// The keys of a change set's map.
private enum ChangeSetKey {
  static let id: UInt64 = 0
  static let number: UInt64 = 1
  static let stamp: UInt64 = 2
  static let author: UInt64 = 3
  static let schemaVersion: UInt64 = 4
  static let base: UInt64 = 5
  static let changes: UInt64 = 6
  static let origin: UInt64 = 7
}

extension MessageWriter {
  mutating func changeSet(_ set: ChangeSet) {
    body.map(count: 6 + (set.author == nil ? 0 : 1) + (set.origin == nil ? 0 : 1))
    body.unsigned(ChangeSetKey.id)
    body.bytes(set.id.bytes)
    body.unsigned(ChangeSetKey.number)
    body.unsigned(set.number.rawValue)
    body.unsigned(ChangeSetKey.stamp)
    stamp(set.stamp, suggested: .zero)
    if let author = set.author {
      body.unsigned(ChangeSetKey.author)
      body.text(author)
    }
    body.unsigned(ChangeSetKey.schemaVersion)
    schemaVersion(set.schemaVersion)
    body.unsigned(ChangeSetKey.base)
    body.unsigned(set.base.rawValue)
    body.unsigned(ChangeSetKey.changes)
    body.array(count: set.changes.count)
    for change in set.changes { self.change(change, of: set.stamp) }
    if let origin = set.origin {
      body.unsigned(ChangeSetKey.origin)
      body.array(count: 3)
      replica(origin.replica)
      body.unsigned(origin.number.rawValue)
      body.unsigned(origin.epoch.rawValue)
    }
  }

  mutating func schemaVersion(_ version: SchemaVersion) {
    body.array(count: 3)
    for part in [version.major, version.minor, version.patch] { body.unsigned(UInt64(max(part, 0))) }
  }

  private mutating func change(_ change: Change, of save: Stamp) {
    switch change {
    case .create(let create): self.create(create)
    case .update(let update): self.update(update)
    case .delete(let delete): self.delete(delete, of: save)
    case .link(let change):
      body.array(count: 4)
      shape(change.isPresent ? .link : .unlink, change.link.relationship)
      record(change.link.source)
      record(change.link.target)
      stamp(change.base, suggested: .zero)
    }
  }

  private mutating func create(_ create: Change.Create) {
    let fields = create.fields
    body.array(count: 2 + fields.count)
    shape(.create, create.entity, fieldCount: fields.count) { index in
      (fields[index].name, fields[index].isAssigned ? .usual : .unassigned)
    }
    record(create.id)
    for field in fields { body.value(field.value) }
  }

  private mutating func update(_ update: Change.Update) {
    let writes = update.writes
    let additions = update.additions
    let incarnation = update.incarnation
    var count = 3 + writes.count + additions.count
    for write in writes {
      let mode = write.mode(in: incarnation)
      count += (mode.hasStamp ? 1 : 0) + (mode.hasReplaced ? 1 : 0)
    }
    body.array(count: count)
    shape(.update, update.entity, fieldCount: writes.count + additions.count) { index in
      index < writes.count
        ? (writes[index].name, writes[index].mode(in: incarnation))
        : (additions[index - writes.count].name, .addition)
    }
    record(update.id)
    self.incarnation(incarnation)
    for write in writes {
      if write.mode(in: incarnation).hasStamp { stamp(write.base, suggested: .zero) }
      body.value(write.value)
      if let replaced = write.replaced { body.value(replaced) }
    }
    for addition in additions { body.integer(addition.delta) }
  }

  private mutating func delete(_ delete: Change.Delete, of save: Stamp) {
    let isRoot = delete.cause == DeleteCause(stamp: save, root: delete.id)
    body.array(count: delete.survivor != nil ? 7 : isRoot ? 3 : 5)
    shape(.delete, delete.entity)
    record(delete.id)
    incarnation(delete.incarnation)
    if !isRoot || delete.survivor != nil {
      stamp(delete.cause.stamp, suggested: save)
      record(delete.cause.root)
    }
    if let survivor = delete.survivor {
      record(survivor.id)
      incarnation(survivor.incarnation)
    }
  }
}

extension Change.FieldWrite {
  fileprivate func mode(in incarnation: Stamp) -> FieldMode {
    if base == incarnation { return replaced == nil ? .usual : .usualReplacing }
    if base == .zero { return replaced == nil ? .unassigned : .unassignedReplacing }
    return replaced == nil ? .stamped : .stampedReplacing
  }
}

extension FieldMode {
  var hasStamp: Bool { self == .stamped || self == .stampedReplacing }
  var hasReplaced: Bool { self == .usualReplacing || self == .unassignedReplacing || self == .stampedReplacing }
  var isUnassigned: Bool { self == .unassigned || self == .unassignedReplacing }
}

extension MessageReader {
  mutating func changeSet() throws -> ChangeSet {
    var id: SaveID?
    var number: SaveNumber?
    var stamp: Stamp?
    var author: String?
    var schemaVersion: SchemaVersion?
    var base: FeedPosition?
    var changes: [Change]?
    var origin: ChangeSet.Origin?
    try map { reader, key in
      switch key {
      case ChangeSetKey.id: id = try reader.save()
      case ChangeSetKey.number: number = SaveNumber(try reader.cbor.unsigned())
      case ChangeSetKey.stamp: stamp = try reader.stamp(suggested: .zero)
      case ChangeSetKey.author: author = try reader.cbor.text()
      case ChangeSetKey.schemaVersion: schemaVersion = try reader.schemaVersion()
      case ChangeSetKey.base: base = FeedPosition(try reader.cbor.unsigned())
      case ChangeSetKey.changes:
        guard let stamp else { throw reader.missing("the change set's stamp") }
        changes = try reader.list { try $0.change(of: stamp) }
      case ChangeSetKey.origin:
        origin = try reader.tuple(3) { reader, _ in
          let replica = try reader.replica()
          let number = SaveNumber(try reader.cbor.unsigned())
          return (ChangeSet.Origin(replica: replica, number: number, epoch: Epoch(try reader.cbor.unsigned())), 3)
        }
      default: return false
      }
      return true
    }
    guard let id, let number, let stamp, let schemaVersion, let base, let changes else {
      throw missing("a part of the change set")
    }
    return ChangeSet(
      id: id, number: number, stamp: stamp, author: author, schemaVersion: schemaVersion, base: base,
      changes: changes, origin: origin)
  }

  mutating func save() throws -> SaveID {
    guard let save = SaveID(bytes: try cbor.bytes()) else { throw cbor.malformed("a save's id has sixteen bytes") }
    return save
  }

  mutating func schemaVersion() throws -> SchemaVersion {
    try tuple(3) { reader, _ in
      (SchemaVersion(try reader.integer(Int.self), try reader.integer(Int.self), try reader.integer(Int.self)), 3)
    }
  }

  private mutating func change(of save: Stamp) throws -> Change {
    // A create of an entity without fields has two elements.
    try tuple(2) { reader, count in
      let shape = try reader.shape()
      switch shape.kind {
      case .create: return try reader.create(shape)
      case .update: return try reader.update(shape)
      case .delete:
        let id = try reader.record()
        let incarnation = try reader.incarnation()
        var delete = Change.Delete(
          entity: shape.name, id: id, incarnation: incarnation, cause: DeleteCause(stamp: save, root: id))
        if count > 3 {
          let stamp = try reader.stamp(suggested: save)
          delete.cause = DeleteCause(stamp: stamp, root: try reader.record())
        }
        if count > 6 {
          let survivor = try reader.record()
          delete.survivor = Tombstone.Survivor(id: survivor, incarnation: try reader.incarnation())
        }
        return (.delete(delete), count > 6 ? 7 : count > 3 ? 5 : 3)
      case .link, .unlink:
        let source = try reader.record()
        let key = LinkKey(relationship: shape.name, source: source, target: try reader.record())
        let base = try reader.stamp(suggested: .zero)
        return (.link(.init(link: key, isPresent: shape.kind == .link, base: base)), 4)
      default: throw reader.cbor.malformed("an item of a feed among changes")
      }
    }
  }

  private mutating func create(_ shape: Shape) throws -> (Change, used: Int) {
    let id = try record()
    var fields: [Change.InitialField] = []
    fields.reserveCapacity(shape.fields.count)
    for field in shape.fields {
      guard field.mode == .usual || field.mode == .unassigned else { throw cbor.malformed("a create with a base") }
      fields.append(.init(name: field.name, value: try cbor.value(), isAssigned: field.mode == .usual))
    }
    return (.create(.init(entity: shape.name, id: id, fields: fields)), 2 + fields.count)
  }

  private mutating func update(_ shape: Shape) throws -> (Change, used: Int) {
    let id = try record()
    let incarnation = try self.incarnation()
    var writes: [Change.FieldWrite] = []
    var additions: [Change.CounterAddition] = []
    var used = 3
    for field in shape.fields {
      used += 1
      if field.mode == .addition {
        additions.append(.init(name: field.name, delta: try cbor.integer()))
        continue
      }
      guard additions.isEmpty else { throw cbor.malformed("a write after a counter's delta") }
      var base = field.mode.isUnassigned ? Stamp.zero : incarnation
      if field.mode.hasStamp {
        base = try stamp(suggested: .zero)
        used += 1
      }
      let value = try cbor.value()
      var replaced: Value?
      if field.mode.hasReplaced {
        replaced = try cbor.value()
        used += 1
      }
      writes.append(.init(name: field.name, value: value, base: base, replaced: replaced))
    }
    return (
      .update(.init(entity: shape.name, id: id, incarnation: incarnation, writes: writes, additions: additions)), used
    )
  }
}
