/// What one `save()` did: the unit of atomicity, of sending, and of exactly-once.
package struct ChangeSet: Hashable, Sendable {
  /// Never changes, whatever else does.
  package var id: SaveID
  /// The place in the replica's queue.
  package var number: SaveNumber
  /// One stamp for the whole save; its replica is the author's.
  package var stamp: Stamp
  /// `ModelContext.author`, if one was set.
  package var author: String?
  /// The schema version that the save was made with.
  package var schemaVersion: SchemaVersion
  /// The cursor base of the replica when the save was made: what a delete in it has seen.
  package var base: FeedPosition
  package var changes: [Change]
  /// After a server restore: where the save stood in the queue of an earlier epoch.
  package var origin: Origin?

  package struct Origin: Hashable, Sendable {
    package var replica: ReplicaID
    package var number: SaveNumber
    package var epoch: Epoch
    package init(replica: ReplicaID, number: SaveNumber, epoch: Epoch) {
      self.replica = replica
      self.number = number
      self.epoch = epoch
    }
  }

  package init(
    id: SaveID, number: SaveNumber, stamp: Stamp, author: String? = nil, schemaVersion: SchemaVersion,
    base: FeedPosition, changes: [Change], origin: Origin? = nil
  ) {
    self.id = id
    self.number = number
    self.stamp = stamp
    self.author = author
    self.schemaVersion = schemaVersion
    self.base = base
    self.changes = changes
    self.origin = origin
  }
}

/// One record's or one link's part in a save, in the order in which it happened.
package enum Change: Hashable, Sendable {
  case create(Create)
  case update(Update)
  case delete(Delete)
  case link(LinkChange)

  /// A new record. Its incarnation is the save's stamp.
  package struct Create: Hashable, Sendable {
    package var entity: String
    package var id: RecordID
    /// Every attribute and to-one reference that the writer's schema knows.
    package var fields: [InitialField]
    package init(entity: String, id: RecordID, fields: [InitialField]) {
      self.entity = entity
      self.id = id
      self.fields = fields
    }
  }

  package struct InitialField: Hashable, Sendable {
    package var name: String
    package var value: Value
    /// False: nobody assigned it, it has the zero stamp.
    package var isAssigned: Bool
    package init(name: String, value: Value, isAssigned: Bool) {
      self.name = name
      self.value = value
      self.isAssigned = isAssigned
    }
  }

  /// Fields written in a record that existed before.
  package struct Update: Hashable, Sendable {
    package var entity: String
    package var id: RecordID
    /// The life of the record that the writer saw: the stamp of its create.
    package var incarnation: Stamp
    package var writes: [FieldWrite]
    /// Changes of counters, which merge by addition.
    package var additions: [CounterAddition]
    package init(
      entity: String, id: RecordID, incarnation: Stamp, writes: [FieldWrite], additions: [CounterAddition] = []
    ) {
      self.entity = entity
      self.id = id
      self.incarnation = incarnation
      self.writes = writes
      self.additions = additions
    }
  }

  package struct FieldWrite: Hashable, Sendable {
    package var name: String
    package var value: Value
    /// The stamp of the value that this one replaced; it decides only what is reported as a conflict.
    package var base: Stamp
    /// The replaced value: carried for references declared acyclic, so that a move can be undone.
    package var replaced: Value?
    package init(name: String, value: Value, base: Stamp, replaced: Value? = nil) {
      self.name = name
      self.value = value
      self.base = base
      self.replaced = replaced
    }
  }

  package struct CounterAddition: Hashable, Sendable {
    package var name: String
    package var delta: Int64
    package init(name: String, delta: Int64) {
      self.name = name
      self.delta = delta
    }
  }

  package struct Delete: Hashable, Sendable {
    package var entity: String
    package var id: RecordID
    package var incarnation: Stamp
    /// The root of the cascade that killed it; its own for a record that somebody deleted.
    package var cause: DeleteCause
    /// The record that it became one with, where the save united the two by a unique value: nobody meant to lose it.
    package var survivor: Tombstone.Survivor?
    package init(
      entity: String, id: RecordID, incarnation: Stamp, cause: DeleteCause, survivor: Tombstone.Survivor? = nil
    ) {
      self.entity = entity
      self.id = id
      self.incarnation = incarnation
      self.cause = cause
      self.survivor = survivor
    }
  }

  /// A many-to-many link, present or absent.
  package struct LinkChange: Hashable, Sendable {
    package var link: LinkKey
    package var isPresent: Bool
    package var base: Stamp
    package init(link: LinkKey, isPresent: Bool, base: Stamp) {
      self.link = link
      self.isPresent = isPresent
      self.base = base
    }
  }
}

/// The root of a cascade: the save's stamp and the record that was deleted in it.
package struct DeleteCause: Hashable, Comparable, Sendable {
  package var stamp: Stamp
  package var root: RecordID
  package init(stamp: Stamp, root: RecordID) {
    self.stamp = stamp
    self.root = root
  }
  package static func < (a: DeleteCause, b: DeleteCause) -> Bool {
    a.stamp == b.stamp ? a.root < b.root : a.stamp < b.stamp
  }
}

/// Names a pair in a many-to-many relationship by the side that owns its table: the smaller of the two (entity, name) pairs.
package struct LinkKey: Hashable, Sendable {
  /// The owning entity and relationship, as `Note.tags`.
  package var relationship: String
  package var source: RecordID
  package var target: RecordID
  package init(relationship: String, source: RecordID, target: RecordID) {
    self.relationship = relationship
    self.source = source
    self.target = target
  }
}
