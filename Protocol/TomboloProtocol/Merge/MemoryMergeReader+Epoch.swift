/// Restores and re-uploads in memory, as a server does them in its file.
extension MemoryMergeReader: EpochReader {
  /// What earlier epochs left, and what this one has written since.
  package struct EpochBook: Sendable {
    /// The epoch that ended last; nil while there was no restore.
    package var former: Epoch?
    /// The feed's end in the copy that was restored.
    package var copied = FeedPosition.start
    /// The greatest old position uploaded so far, and the processed numbers there.
    package var greatest = FeedPosition.start
    package var numbers: [ReplicaID: SaveNumber] = [:]
    package var bases: [RecordID: [String: Set<Stamp>]] = [:]
    package var additions: [EpochAddition] = []
    package var counters: [RecordID: FeedPosition] = [:]
    package init() {}
  }

  /// The state is a copy that was restored: a new epoch begins, with positions from `head` on.
  package mutating func beginEpoch(after former: Epoch, head: FeedPosition) {
    var book = EpochBook()
    book.former = former
    book.copied = self.head
    book.greatest = self.head
    book.numbers = numbers.compactMapValues { $0.keys.max() }
    epochBook = book
    numbers = [:]
    self.head = head
  }

  /// Takes a whole re-upload.
  /// - Returns: the entries of the conflict log.
  package mutating func upload(
    _ items: [FeedItem], from replica: ReplicaID, oldPosition: FeedPosition, vector: [ReplicaID: SaveNumber],
    name: RecordID, context: MergeContext
  ) throws -> [ConflictEntry] {
    if oldPosition > epochBook.greatest {
      epochBook.greatest = oldPosition
      epochBook.numbers = vector
    }
    head = head.next
    var merge = ReuploadMerge(from: replica, oldPosition: oldPosition, at: head, name: name, context: context)
    var entries: [ConflictEntry] = []
    for phase in ReuploadMerge.Phase.allCases {
      let effects = try merge.take(phase, items, into: self)
      apply(effects)
      entries += effects.conflicts
    }
    let touched = records.values.filter { $0.position == head }.map(\.id).sorted()
    let effects = try merge.settle(touched, into: self)
    apply(effects)
    return entries + effects.conflicts
  }

  /// Notes what this epoch wrote.
  mutating func note(_ effects: MergeEffects) {
    for write in effects.epochWrites {
      epochBook.bases[write.record, default: [:]][write.field, default: []].formUnion(write.base.map { [$0] } ?? [])
    }
    epochBook.additions += effects.epochAdditions
    epochBook.counters.merge(effects.counterPositions) { _, new in new }
  }

  package func epochBases(of record: RecordID, _ field: String) -> Set<Stamp>? { epochBook.bases[record]?[field] }

  package func epochAddition(to record: RecordID, _ field: String) -> Int64 {
    epochAdditions(to: record, field).reduce(0) { sum, addition in
      let isNew = addition.epoch == nil || addition.number > epochBook.numbers[addition.replica, default: .none]
      return isNew ? sum &+ addition.delta : sum
    }
  }

  package func epochAdditions(to record: RecordID, _ field: String) -> [EpochAddition] {
    epochBook.additions.filter { $0.record == record && $0.field == field }
  }

  package func counterPosition(of record: RecordID) -> FeedPosition {
    epochBook.counters[record] ?? epochBook.copied
  }

  package func standing(of origin: ChangeSet.Origin) -> OriginStanding {
    guard origin.epoch == epochBook.former else { return .unknownEpoch }
    return origin.number <= epochBook.numbers[origin.replica, default: .none] ? .contained : .missing
  }
}
