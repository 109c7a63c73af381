/// What a pull delivers: the present state of whatever changed after the cursor.
package enum FeedItem: Hashable, Sendable {
  case record(RecordState)
  case tombstone(Tombstone)
  case link(LinkState)
  case conflict(ConflictEntry)
}

/// A living record; only the fields that changed since the cursor's base.
package struct RecordState: Hashable, Sendable {
  package var entity: String
  package var id: RecordID
  package var incarnation: Stamp
  package var fields: [FieldState]
  /// Whether `fields` is all of it, so that it may stand for a record the replica does not have.
  package var isWhole: Bool
  package init(entity: String, id: RecordID, incarnation: Stamp, fields: [FieldState], isWhole: Bool) {
    self.entity = entity
    self.id = id
    self.incarnation = incarnation
    self.fields = fields
    self.isWhole = isWhole
  }
}

package struct FieldState: Hashable, Sendable {
  package var name: String
  package var value: Value
  package var stamp: Stamp
  package init(name: String, value: Value, stamp: Stamp) {
    self.name = name
    self.value = value
    self.stamp = stamp
  }
}

/// A record that is dead, or that was merged into another.
package struct Tombstone: Hashable, Sendable {
  package var entity: String
  package var id: RecordID
  package var incarnation: Stamp
  /// The record that this one was merged into, and that record's incarnation.
  package var survivor: Survivor?
  /// What it died of; empty when it is dead only because its cascade parent is.
  package var causes: [DeleteCause]
  /// The stamp of the delete, or of the reference that names a dead parent.
  package var stamp: Stamp

  package struct Survivor: Hashable, Sendable {
    package var id: RecordID
    package var incarnation: Stamp
    package init(id: RecordID, incarnation: Stamp) {
      self.id = id
      self.incarnation = incarnation
    }
  }

  package init(
    entity: String, id: RecordID, incarnation: Stamp, survivor: Survivor? = nil, causes: [DeleteCause], stamp: Stamp
  ) {
    self.entity = entity
    self.id = id
    self.incarnation = incarnation
    self.survivor = survivor
    self.causes = causes
    self.stamp = stamp
  }
}

package struct LinkState: Hashable, Sendable {
  package var link: LinkKey
  package var isPresent: Bool
  package var stamp: Stamp
  package init(link: LinkKey, isPresent: Bool, stamp: Stamp) {
    self.link = link
    self.isPresent = isPresent
    self.stamp = stamp
  }
}

/// A write that somebody made and that does not stand.
package struct ConflictEntry: Hashable, Sendable {
  /// Names the entry, the same on the server and on the replica.
  package var id: RecordID
  /// The author's replica, to which the entry is addressed.
  package var replica: ReplicaID
  package var rule: ConflictRule
  package var entity: String
  package var record: RecordID
  /// Nil where the whole record is concerned.
  package var field: String?
  /// The stamp of the value that the author saw when he wrote.
  package var base: Stamp
  package var lost: FieldVersion
  /// Absent where nothing stands in its place (a deleted record).
  package var standing: FieldVersion?

  package struct FieldVersion: Hashable, Sendable {
    package var value: Value
    package var stamp: Stamp
    package init(value: Value, stamp: Stamp) {
      self.value = value
      self.stamp = stamp
    }
  }

  package init(
    id: RecordID, replica: ReplicaID, rule: ConflictRule, entity: String, record: RecordID, field: String?,
    base: Stamp, lost: FieldVersion, standing: FieldVersion?
  ) {
    self.id = id
    self.replica = replica
    self.rule = rule
    self.entity = entity
    self.record = record
    self.field = field
    self.base = base
    self.lost = lost
    self.standing = standing
  }
}

/// Why a write does not stand. The raw values are stable: scripts and the wire use them.
package struct ConflictRule: RawRepresentable, Hashable, Sendable {
  package let rawValue: String
  package init(rawValue: String) { self.rawValue = rawValue }

  /// Two people wrote the field without having seen each other; the later stamp stands.
  package static let laterEdit = ConflictRule(rawValue: "later_edit")
  /// The policy `.max` or `.min` kept the other value.
  package static let extremum = ConflictRule(rawValue: "extremum")
  /// The policy `.firstWriter` kept the earlier value.
  package static let firstWriter = ConflictRule(rawValue: "first_writer")
  /// The record had been deleted by somebody who had not seen the edit.
  package static let recordDeleted = ConflictRule(rawValue: "record_deleted")
  /// The server does not know the record, or knows a later incarnation of it.
  package static let recordGone = ConflictRule(rawValue: "record_gone")
  /// A record with the same identity was created again.
  package static let overwrittenIncarnation = ConflictRule(rawValue: "overwritten_incarnation")
  /// The cascade parent that the record hangs on is deleted.
  package static let parentDeleted = ConflictRule(rawValue: "parent_deleted")
  /// The record that a reference names is deleted.
  package static let targetDeleted = ConflictRule(rawValue: "target_deleted")
  /// A delete does not stand: a living child refers to the record and the rule is `deny`.
  package static let deny = ConflictRule(rawValue: "deny")
  /// A delete does not stand: the model is declared `editWins` and somebody had edited the record.
  package static let editWins = ConflictRule(rawValue: "edit_wins")
  /// A delete does not stand: it had not seen that the record was merged with another.
  package static let mergeUnseen = ConflictRule(rawValue: "merge_unseen")
  /// Two records with one unique value became one.
  package static let uniqueMerge = ConflictRule(rawValue: "unique_merge")
  /// Another record claimed the partner of a one-to-one relationship later.
  package static let oneToOne = ConflictRule(rawValue: "one_to_one")
  /// A move closed a cycle in a tree declared acyclic.
  package static let cycle = ConflictRule(rawValue: "cycle")
  /// A value uploaded after a server restore met a write of the new epoch.
  package static let reupload = ConflictRule(rawValue: "reupload")
  /// The replica's row differed from the server's although everything was exchanged; the server's value was taken.
  package static let repaired = ConflictRule(rawValue: "repaired")
}
