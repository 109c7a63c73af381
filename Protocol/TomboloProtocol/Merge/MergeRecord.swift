/// One record as the server holds it: alive or dead, with everything that later merges need.
///
/// Dead records go on merging: their values are kept until the tombstone is collected.
package struct MergeRecord: Hashable, Sendable {
  /// The concrete entity.
  package var entity: String
  package let id: RecordID
  /// The stamp of the save that created this life of the record.
  package var incarnation: Stamp
  /// The (id, incarnation) pairs under which writes reach this life: its own first, then those of the records merged into it.
  package var answersTo: [Incarnation]
  package var life: Life
  /// What it died of, ascending; only a `deleted` record has any.
  package var causes: [DeleteCause]
  /// The stamp of the delete, or of the reference that names a dead parent; zero for a record that never died.
  package var deathStamp: Stamp
  package var fields: [MergeField]
  /// What a pull asks by: where anything of the record last had to be delivered.
  package var position: FeedPosition
  /// Where it last died or came to life.
  package var lifePosition: FeedPosition
  /// Where another record was last merged into this one; a delete that has not seen this does not stand.
  package var mergePosition: FeedPosition

  package struct Incarnation: Hashable, Sendable {
    package var id: RecordID
    package var stamp: Stamp
    package init(id: RecordID, stamp: Stamp) {
      self.id = id
      self.stamp = stamp
    }
  }

  package enum Life: Hashable, Sendable {
    case living
    /// Somebody deleted it, or a record that it hangs on: see ``MergeRecord/causes``.
    case deleted
    /// Dead only because its cascade parent is; a greater reference to a living parent lifts that.
    case orphaned
    /// A unique key was held twice; the survivor and the incarnation that it was merged into.
    case merged(Tombstone.Survivor)
  }

  package init(
    entity: String, id: RecordID, incarnation: Stamp, answersTo: [Incarnation]? = nil, life: Life = .living,
    causes: [DeleteCause] = [], deathStamp: Stamp = .zero, fields: [MergeField],
    position: FeedPosition = .start, lifePosition: FeedPosition = .start, mergePosition: FeedPosition = .start
  ) {
    self.entity = entity
    self.id = id
    self.incarnation = incarnation
    self.answersTo = answersTo ?? [Incarnation(id: id, stamp: incarnation)]
    self.life = life
    self.causes = causes
    self.deathStamp = deathStamp
    self.fields = fields
    self.position = position
    self.lifePosition = lifePosition
    self.mergePosition = mergePosition
  }

  package var isLiving: Bool { life == .living }

  /// The record that this one was merged into.
  package var survivor: RecordID? {
    if case .merged(let survivor) = life { return survivor.id }
    return nil
  }

  /// Whether its tombstone may be forgotten once every live replica has pulled past `position`; an alias never is.
  package func isCollectable(upTo position: FeedPosition) -> Bool {
    (life == .deleted || life == .orphaned) && self.position <= position
  }

  package func answers(to id: RecordID, _ incarnation: Stamp) -> Bool {
    answersTo.contains { $0.id == id && $0.stamp == incarnation }
  }

  /// A field's place; `hint` is where the schema has it, which is nearly always right.
  package func place(of name: String, hint: Int) -> Int? {
    if hint < fields.count, fields[hint].name == name { return hint }
    return fields.firstIndex { $0.name == name }
  }
}

/// An attribute or a to-one reference of a record.
package struct MergeField: Hashable, Sendable {
  package var name: String
  package var value: Value
  package var stamp: Stamp
  /// The feed position: what a pull filters by. Delivering again moves it.
  package var position: FeedPosition
  /// Where it was last written: what a delete "has seen" is asked of this one.
  package var writePosition: FeedPosition
  /// The value that the last write replaced, kept for references declared acyclic.
  package var replaced: Value?
  /// Who wrote the value, where the stamp is another's: `.max` and `.min` keep the greater of two stamps.
  package var source: Stamp?
  /// Where that was written, in the feed: whether a delete has seen the value is asked of this.
  package var sourcePosition: FeedPosition?
  /// The last few additions to a counter, ascending by position, so that each author can be told what he lost.
  package var additions: [Addition] = []

  /// What somebody added to a counter.
  package struct Addition: Hashable, Sendable {
    package var stamp: Stamp
    package var delta: Int64
    package var position: FeedPosition
    package init(stamp: Stamp, delta: Int64, position: FeedPosition) {
      self.stamp = stamp
      self.delta = delta
      self.position = position
    }
  }

  package init(
    name: String, value: Value, stamp: Stamp, position: FeedPosition = .start, writePosition: FeedPosition = .start,
    replaced: Value? = nil
  ) {
    self.name = name
    self.value = value
    self.stamp = stamp
    self.position = position
    self.writePosition = writePosition
    self.replaced = replaced
  }

  static let additionsMax = 8

  /// Remembers an addition. Of more than a few the oldest is put together with the next of the same author.
  package mutating func note(_ addition: Addition) {
    additions.append(addition)
    guard additions.count > Self.additionsMax else { return }
    let oldest = additions.removeFirst()
    if let next = additions.firstIndex(where: { $0.stamp.replica == oldest.stamp.replica }) {
      additions[next].delta &+= oldest.delta
    }
  }
}

/// One pair of a many-to-many relationship, present or absent.
package struct MergeLink: Hashable, Sendable {
  package var key: LinkKey
  package var isPresent: Bool
  package var stamp: Stamp
  package var position: FeedPosition
  package init(key: LinkKey, isPresent: Bool, stamp: Stamp, position: FeedPosition) {
    self.key = key
    self.isPresent = isPresent
    self.stamp = stamp
    self.position = position
  }
  /// What a pull delivers.
  package var state: LinkState { LinkState(link: key, isPresent: isPresent, stamp: stamp) }
}
