package import TomboloProtocol
import TomboloSQLite

/// Whether the rows are what the server has, and which are not. What changed since the last complete pull, or is not sent
/// yet, cannot be compared.
extension Store {
  /// Sums up all rows and compares, if it is time to: the sum that a pull compares is kept from change to change, and
  /// does not notice a row that was damaged behind the library's back.
  ///
  /// It is time after a second for each thousand records, at least a minute and at most a day: so it takes a small part of
  /// one per cent of the time. Nothing is locked meanwhile.
  ///
  /// - Returns: nil, if it is not time yet.
  package func recheck(_ theirs: Checksum?, at cursor: Cursor, isForced: Bool) throws
    -> PullOutcome.ChecksumComparison?
  {
    guard let theirs else { return nil }
    let now = options.clock.milliseconds()
    guard try isForced || isScanDue(now) else { return nil }
    let scanned = try comparing(at: cursor) { scan -> (links: Checksum, records: (sum: Checksum, count: Int)) in
      (try scan.linkSum(), try scan.recordSum())
    }
    guard let scanned else { return .notCompared }
    var sum = scanned.records.sum
    sum.add(scanned.links)
    try write { connection in
      let book = RemoteBook(connection)
      try book.set(.scanned, to: now)
      try book.set(.scannedRecords, to: .integer(Int64(scanned.records.count)))
      if sum == theirs, try book.cursor == cursor {
        try book.set(scanned.records.sum)
        try book.set(links: scanned.links)
      }
    }
    return sum == theirs ? .equal : .different
  }

  private func isScanDue(_ now: UInt64) throws -> Bool {
    let (last, records) = try read { connection in
      let book = RemoteBook(connection)
      return (try book.integer(.scanned), try book.integer(.scannedRecords) ?? 0)
    }
    guard let last else {
      // What has just been pulled for the first time need not be doubted.
      try write { try RemoteBook($0).set(.scanned, to: now) }
      return false
    }
    let pause = min(max(60_000, UInt64(max(0, records))), 24 * 3_600 * 1_000)
    return now >= UInt64(bitPattern: last).addingReportingOverflow(pause).partialValue
  }

  /// The buckets of which the server's sums are others than the rows'; nil, if nothing can be compared now.
  package func differingBuckets(_ response: ComparisonResponse, at cursor: Cursor) throws -> [UInt32]? {
    try comparing(at: cursor) { scan in
      zip(response.sums, try scan.buckets()).enumerated().compactMap { bucket, sums in
        sums.0 == sums.1 ? nil : UInt32(bucket)
      }
    }
  }

  /// The records in the answered buckets that differ; nil, if nothing can be compared now.
  package func differingRecords(_ response: ComparisonResponse, at cursor: Cursor) throws -> [RecordDifference]? {
    try comparing(at: cursor) { scan in
      var own = try scan.records(in: Set(response.buckets.map(Int.init)))
      var differences: [RecordDifference] = []
      for part in response.records {
        let mine = own.removeValue(forKey: part.id)
        guard let theirs = part.sum, mine != theirs else { continue }
        differences.append(RecordDifference(id: part.id, kind: mine == nil ? .missing : .changed))
      }
      differences += own.keys.map { RecordDifference(id: $0, kind: .extra) }
      return differences.sorted { $0.id < $1.id }
    }
  }

  private func comparing<Result>(at cursor: Cursor, _ body: (ChecksumScan) throws -> Result) throws -> Result? {
    try read { connection in
      let book = RemoteBook(connection)
      guard try book.cursor == cursor, try book.walk == nil, try !Self.isPending(connection) else { return nil }
      return try body(ChecksumScan(connection, schema: schema))
    }
  }

  /// Whether the rows show something that no complete pull has confirmed.
  private static func isPending(_ connection: Connection) throws -> Bool {
    let query =
      "SELECT 1 FROM _tombolo_save WHERE state IN (1, 2) AND \(Outbox.hasChanges) UNION ALL "
      + "SELECT 1 FROM _tombolo_shell LIMIT 1"
    return try connection.firstRow(query) { _ in true } ?? false
  }

  // MARK: The repair

  /// Takes the server's state of records that differ, in one transaction and by the way that every pull goes; unsent work
  /// stays laid over it.
  ///
  /// By stamps: where this replica's value is later than the server's, and is one that can be, the server has lost it:
  /// it is saved again. Else the server's value is taken, and an entry among the conflicts keeps the other.
  ///
  /// - Returns: nil, if the replica has pulled since the comparison.
  package func repair(_ page: Page, _ differences: [RecordDifference]) throws -> RepairOutcome? {
    var summary: CommitSummary?
    let outcome = try write(author: "repair") { connection, saving -> RepairOutcome? in
      let book = RemoteBook(connection)
      guard try book.cursor == page.cursor, try book.walk == nil else { return nil }
      let exchange = try ReplicaTransaction(connection, store: self)
      let repair = ReplicaRepair(exchange, saving)
      let outcome = try repair.run(page, differences)
      try exchange.keepHistory()
      summary = repair.summary
      return outcome
    }
    if let summary { announce(summary) }
    return outcome
  }

  /// Begins to fetch everything anew, because too much differs to name it.
  package func beginRepairSnapshot() throws {
    try write { try Incidents($0).add([], time: options.clock.milliseconds()) }
    try beginSnapshot()
  }

  /// The repairs, the newest first.
  package func incidents() throws -> [RepairIncident] { try read { try Incidents($0).all() } }

  /// A record's entity, for one that is here or that the page brings; nil otherwise.
  package func entity(of id: RecordID, in page: Page) throws -> String? {
    for item in page.items {
      switch item {
      case .record(let state) where state.id == id: return state.entity
      case .tombstone(let tombstone) where tombstone.id == id: return tombstone.entity
      default: continue
      }
    }
    return try read { connection in
      let rows = try ReplicaRows(connection, schema: schema, replicas: ReplicaNumbers(connection))
      for root in schema.entities where root.lineage.count == 1 {
        if let entity = try rows.concrete(root, id) { return entity.name }
      }
      return nil
    }
  }
}
