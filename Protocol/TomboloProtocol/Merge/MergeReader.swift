/// What a merge asks of the server's state. Synchronous: everything is read inside the caller's transaction.
///
/// A merge asks only for what its change set touches, and each record once.
package protocol MergeReader {
  /// A record, dead ones and aliases included; nil for one never heard of or collected.
  func record(_ id: RecordID) throws -> MergeRecord?
  /// The records that were merged into exactly this one (their `survivor` is `id`).
  func aliases(of id: RecordID) throws -> [RecordID]
  /// The records, dead ones included, that hold this very id in one of their reference fields.
  func holders(of id: RecordID) throws -> [RecordID]
  /// The living records with this unique key: see ``MergeEffects/ChangedRecord/uniqueKeys``.
  func owners(of key: UniqueKey) throws -> [RecordID]
  /// The records with this cause among their ``MergeRecord/causes``.
  func records(killedBy cause: DeleteCause) throws -> [RecordID]
  /// One pair; nil if it was never linked.
  func link(_ key: LinkKey) throws -> MergeLink?
  /// Every pair, present or absent, with this record at either end.
  func links(of id: RecordID) throws -> [MergeLink]

  /// How a save was answered, whoever sent it and under whatever number; nil for one never processed.
  func processed(_ save: SaveID) throws -> ProcessedSave?
  /// The save that was processed under this number of this replica.
  func processed(_ number: SaveNumber, of replica: ReplicaID) throws -> ProcessedSave?
  /// The highest number processed for the replica; ``SaveNumber/none`` for an unknown one.
  func highestSave(of replica: ReplicaID) throws -> SaveNumber
  /// Whether the create of this id was refused: see ``MergeEffects/refusedRecords``.
  func isRefused(_ id: RecordID) throws -> Bool
  /// The base of a write in a refused save: see ``MergeEffects/refusedWrites``.
  func refusedBase(_ write: RefusedWrite.Key) throws -> Stamp?
  /// What is known of a save that stood in the queue of an earlier epoch.
  func standing(of origin: ChangeSet.Origin) throws -> OriginStanding
}

/// Whether a save of an earlier epoch is contained in what survived that epoch, or was uploaded.
package enum OriginStanding: Hashable, Sendable {
  /// No earlier epoch of this store is called so.
  case unknownEpoch
  case missing
  case contained
}

extension MergeReader {
  package func standing(of origin: ChangeSet.Origin) throws -> OriginStanding { .unknownEpoch }
}

/// What the server remembers of a save: under (replica, number) and under the save's id.
package struct ProcessedSave: Hashable, Sendable {
  package var id: SaveID
  /// `accepted`, `known` or `refused`.
  package var verdict: PushAnswer.Verdict
  /// The stamp under which it was processed.
  package var stamp: Stamp
  package init(id: SaveID, verdict: PushAnswer.Verdict, stamp: Stamp) {
    self.id = id
    self.verdict = verdict
    self.stamp = stamp
  }

  /// The answer to the same save when it comes again under another stamp or number.
  package var answerAgain: PushAnswer.Verdict {
    if case .refused = verdict { return verdict }
    if case .known = verdict { return verdict }
    return .known(stamp: stamp)
  }
}

/// A write of a refused save: a base that names it counts as that write's own base.
package struct RefusedWrite: Hashable, Sendable {
  package struct Key: Hashable, Sendable {
    package var record: RecordID
    package var field: String
    package var stamp: Stamp
    package init(record: RecordID, field: String, stamp: Stamp) {
      self.record = record
      self.field = field
      self.stamp = stamp
    }
  }
  package var key: Key
  package var base: Stamp
  package init(key: Key, base: Stamp) {
    self.key = key
    self.base = base
  }
}

/// The values of a unique constraint in one record, in a form that is equal exactly where the values are.
package struct UniqueKey: Hashable, Comparable, Sendable {
  /// Names the constraint as well as the values; composed and decomposed text are one.
  package let bytes: [UInt8]
  package init(bytes: [UInt8]) { self.bytes = bytes }
  package static func < (a: UniqueKey, b: UniqueKey) -> Bool { a.bytes.lexicographicallyPrecedes(b.bytes) }
}
