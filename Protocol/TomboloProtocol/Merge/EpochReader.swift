/// What a re-upload asks of the server's state besides what every merge asks.
package protocol EpochReader: MergeReader {
  /// The stamps that writes of this epoch replaced in a field; nil if it was not written in this epoch.
  func epochBases(of record: RecordID, _ field: String) throws -> Set<Stamp>?
  /// The sum of what this epoch added to a counter, less what the greatest old position so far has in it.
  func epochAddition(to record: RecordID, _ field: String) throws -> Int64
  /// Everything that this epoch added to a counter, what an old position has in it included.
  func epochAdditions(to record: RecordID, _ field: String) throws -> [EpochAddition]
  /// The old position that the record's counters were last taken from; that of the server's own copy at first.
  func counterPosition(of record: RecordID) throws -> FeedPosition
}

/// A write of a field in an epoch that began with a restore.
package struct EpochWrite: Hashable, Sendable {
  package var record: RecordID
  package var field: String
  /// The stamp of the value that it replaced; nil for the first value of a record.
  package var base: Stamp?
  package init(record: RecordID, field: String, base: Stamp?) {
    self.record = record
    self.field = field
    self.base = base
  }
}

/// A delta of a counter in such an epoch.
package struct EpochAddition: Hashable, Sendable {
  package var record: RecordID
  package var field: String
  /// Where the save stood: in this epoch's queue, or in that of `epoch`.
  package var replica: ReplicaID
  package var number: SaveNumber
  package var epoch: Epoch?
  package var delta: Int64
  package init(
    record: RecordID, field: String, replica: ReplicaID, number: SaveNumber, epoch: Epoch?, delta: Int64
  ) {
    self.record = record
    self.field = field
    self.replica = replica
    self.number = number
    self.epoch = epoch
    self.delta = delta
  }
}
