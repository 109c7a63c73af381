package import TomboloProtocol

/// Everything that a replica knows about one identity: what it shows, whence, and what keeps it from showing more.
package struct RecordFacts: Sendable {
  /// As it was asked for.
  package let id: RecordID
  /// The identities that stand for it in turn after unique merges; empty for one that was never merged away.
  package var mergedInto: [RecordID] = []
  /// The identities that were merged into it.
  package var aliases: [RecordID] = []
  /// The record's own entity; nil where no part of the replica says which.
  package var entity: String?
  /// Whether readers see a record with the identity, or with the one that stands for it.
  package var isShown = false
  /// The save that created this life of the record.
  package var incarnation: Stamp?
  package var fields: [Field] = []
  /// Where it stands in the ordered lists that it is a member of.
  package var places: [Place] = []
  package var pairs: [Pair] = []
  package var pending: [PendingPart] = []
  package var parked: [ParkedSave] = []
  package var conflicts: [ConflictEntry] = []
  package var aside: [FieldState] = []
  /// Whether all of it is set aside, since the schema does not have its entity.
  package var isWhollyAside = false
  package var tombstone: Tombstone?
  package var origins: [Stamp: Origin] = [:]
  package var hasRemote = false
  package var hasPulled = false

  package init(id: RecordID) { self.id = id }

  /// The identity under which the record lives, if it does.
  package var standing: RecordID { mergedInto.last ?? id }

  /// Whether the replica has never heard of the identity.
  package var isUnknown: Bool {
    !isShown && mergedInto.isEmpty && pending.isEmpty && parked.isEmpty && conflicts.isEmpty && aside.isEmpty
      && !isWhollyAside && tombstone == nil
  }

  package struct Field: Sendable {
    package var name: String
    /// As readers see it.
    package var value: Value
    package var stamp: Stamp
    /// What complete pulls brought, where a save that is not confirmed lies over it; nil where nothing does.
    package var confirmed: FieldMerge.Version?
    /// Whether a save that is not confirmed wrote what is shown.
    package var isPending = false
    /// The reference that is kept while another, or none, is shown: its target is dead, or was merged away.
    package var kept: FieldMerge.Version?
  }

  /// The place of the record in an ordered to-many.
  package struct Place: Sendable {
    /// The owner's class and relationship, as `Folder.notes`.
    package var list: String
    package var owner: RecordID
    /// From 1.
    package var number: Int
    /// How many members the list has.
    package var count: Int
    /// Whether somebody gave it a place: those without come first, as they came here.
    package var isGiven: Bool
    package var stamp: Stamp
    /// Whether a save that is not confirmed gave it.
    package var isPending: Bool
  }

  /// One pair of a many-to-many relationship with the record at an end.
  package struct Pair: Sendable {
    /// The owning entity and relationship, as `Note.tags`.
    package var relationship: String
    package var other: RecordID
    package var isPresent: Bool
    package var stamp: Stamp
  }

  /// A change of the record in a save that no complete pull has passed.
  package struct PendingPart: Sendable {
    package var save: SaveNumber
    package var state: SaveSummary.State
    package var kind: ChangeKind
    package var stamp: Stamp
    /// The attributes and references that it wrote.
    package var properties: [String]
    /// Those of them that the server's answer names as fallen; all of them for a change that fell whole.
    package var fallen: [String]
    package var fellWhole: Bool
    /// Whether the save is not shown: it hangs on a refused one.
    package var isHidden: Bool
    /// For a delete: the record that somebody deleted, of which it is a consequence.
    package var root: RecordID?
  }

  /// Who made the save that a stamp names.
  package struct Origin: Sendable {
    package var replica: ReplicaID
    /// Whether it is this replica, under its present id or an earlier one.
    package var isOwn: Bool
    /// The save's number here, where it was made here.
    package var save: SaveNumber?
    package var author: String?
  }
}
