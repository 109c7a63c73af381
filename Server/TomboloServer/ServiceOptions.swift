package import TomboloProtocol

/// What a ``Service`` is told from outside: where time and random bits come from, where files live, how much it takes.
package struct ServiceOptions: Sendable {
  package var clock: any WallClock
  package var randomness: any Randomness
  package var limits: ServiceLimits
  /// The name of a registered SQLite VFS; nil for the system's. With one, no directory is made.
  package var vfs: String?
  /// The simulation switches rules off here, to see that it notices; a server never does.
  package var mergeRules = MergeRules()
  /// Takes a line about each fault that no client is told the reason of. No token and no value is ever in it.
  package var log: @Sendable (String) -> Void = { _ in }

  package init(
    clock: any WallClock, randomness: any Randomness, limits: ServiceLimits = ServiceLimits(), vfs: String? = nil
  ) {
    self.clock = clock
    self.randomness = randomness
    self.limits = limits
    self.vfs = vfs
  }
}

/// Every bound that the server keeps; each is named in the error of whoever passes it.
package struct ServiceLimits: Sendable, Hashable {
  /// Bytes of a request's body, compressed or not.
  package var requestBytesMax = 8 << 20
  /// Changes in one push.
  package var pushRecordsMax = 5_000
  /// Bytes of one change set, put together from its fragments.
  package var changeSetBytesMax = 256 << 20
  /// Bytes of one record's values.
  package var recordBytesMax = RecordSize.usualBytesMax
  /// Items in one page.
  package var pageItemsMax = 5_000
  /// Bytes of the values in one page; a page ends at the first position that passes it.
  package var pageBytesMax = 4 << 20
  /// Seconds that a pull may wait.
  package var waitSecondsMax = 55
  package var storesMax = 1_000
  package var schemaBytesMax = 1 << 20
  /// Schema versions that one store may register.
  package var schemaVersionsMax = 1_000
  /// Change sets that wait for their other fragments, in one store.
  package var fragmentedSavesMax = 64
  /// Tokens of one store, revoked ones included.
  package var tokensMax = 10_000
  /// Replicas that only polled are noted in memory, up to this many a store.
  package var notesMax = 1_000
  /// How far ahead of the server's clock a stamp may be.
  package var clockAheadMillisecondsMax: UInt64 = 5 * 60 * 1_000
  /// How long tombstones are kept, and a silent replica counts as alive.
  package var historyMilliseconds: UInt64 = 90 * 24 * 3_600 * 1_000
  /// How long the ids of saves are kept, by which one that comes again is known: longer than any backup is old.
  package var saveHistoryMilliseconds: UInt64 = 400 * 24 * 3_600 * 1_000
  /// Verdicts on a replica's last saves that are kept by their numbers, however old: more than it ever sends before it
  /// pulls.
  package var verdictsMin = 5_000
  /// Bodies below this are never compressed.
  package var compressionBytesMin = 512

  package init() {}

  /// The limit of a record where replicas have to be told it.
  var unusualRecordBytesMax: Int? { recordBytesMax == RecordSize.usualBytesMax ? nil : recordBytesMax }
}
