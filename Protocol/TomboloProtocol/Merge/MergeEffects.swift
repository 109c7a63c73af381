/// What one change set did: the caller answers with the verdict and writes the rest in the same transaction.
package struct MergeEffects: Hashable, Sendable {
  package var verdict: PushAnswer.Verdict
  /// To be remembered under (replica, number) and, unless the id is there already, under the save's id;
  /// nil for skew, gap, copied and for a number that was processed before.
  package var processed: ProcessedSave?
  /// Whether the position was used: the head of the feed moves to it. False: none of the lists below but
  /// the refused ones has anything in it.
  package var usesPosition: Bool
  /// Ascending by id.
  package var records: [ChangedRecord]
  package var links: [MergeLink]
  /// In the order in which they came up; each takes the change set's position.
  package var conflicts: [ConflictEntry]
  /// Creates that were refused: an id here stays refused while no record has it.
  package var refusedRecords: [RecordID]
  package var refusedWrites: [RefusedWrite]
  /// The greatest clock reading accepted so far, in milliseconds; to be kept beside the head.
  package var greatestMilliseconds: UInt64
  /// Writes and additions of this epoch: what a re-upload may still meet. Empty unless ``MergeContext/tracksEpoch``.
  package var epochWrites: [EpochWrite] = []
  package var epochAdditions: [EpochAddition] = []
  /// The old positions that counters were taken from, by record: from a re-upload alone.
  package var counterPositions: [RecordID: FeedPosition] = [:]
  /// What the change set adds to the store's checksum, and takes away.
  package var checksumChange: ChecksumChange

  /// A record as it is now, with the rows of the caller's indexes that belong to it: all of them replace the old ones.
  package struct ChangedRecord: Hashable, Sendable {
    package var record: MergeRecord
    /// Empty for a dead record.
    package var uniqueKeys: [UniqueKey]
    /// Every id that a reference field holds, dead records' included; without repetition.
    package var references: [RecordID]
    /// Whether the state had no such record before: then it has no rows of the indexes either.
    package var isNew = false
    /// Whether the rows of an index may be others than before; where not, they need not be replaced.
    package var changesReferences = true
    package var changesKeys = true
    package var changesCauses = true
    package init(record: MergeRecord, uniqueKeys: [UniqueKey], references: [RecordID]) {
      self.record = record
      self.uniqueKeys = uniqueKeys
      self.references = references
    }
  }

  package init(verdict: PushAnswer.Verdict, processed: ProcessedSave? = nil, greatestMilliseconds: UInt64) {
    self.verdict = verdict
    self.processed = processed
    usesPosition = false
    records = []
    links = []
    conflicts = []
    refusedRecords = []
    refusedWrites = []
    self.greatestMilliseconds = greatestMilliseconds
    checksumChange = ChecksumChange()
  }
}

/// What a merge needs besides the change set and the state.
package struct MergeContext: Sendable {
  package var schema: MergeSchema
  package var rules: MergeRules
  /// Milliseconds since 1970; the caller never lets it go back.
  package var now: UInt64
  /// The greatest clock reading accepted so far, in milliseconds.
  package var greatestMilliseconds: UInt64
  /// How far a stamp may be ahead of the server's time, in milliseconds.
  package var aheadMillisecondsMax: UInt64
  /// Whether the store is in an epoch after a restore, so that replicas may still upload what an earlier one had.
  package var tracksEpoch = false

  package init(
    schema: MergeSchema, rules: MergeRules = MergeRules(), now: UInt64, greatestMilliseconds: UInt64,
    aheadMillisecondsMax: UInt64 = 300_000
  ) {
    self.schema = schema
    self.rules = rules
    self.now = now
    self.greatestMilliseconds = greatestMilliseconds
    self.aheadMillisecondsMax = aheadMillisecondsMax
  }
}
