import TomboloProtocol
import TomboloSQLite

/// Whether what the replica keeps beside its rows belongs together and can be read.
struct BookkeepingExamination {
  static var checks: [(FindingCode, (Self) throws -> [Finding])] {
    [
      (.stamps, { try $0.stamps() }), (.aliases, { try $0.aliases() }), (.queue, { try $0.queue() }),
      (.cursor, { try $0.cursor() }), (.bodies, { try $0.bodies() }), (.checksum, { try $0.checksum() }),
      (.unsent, { try $0.unsent() }), (.clock, { try $0.clock() }),
    ]
  }

  private static let remedy = "Copy the file, then clone from the server again; 'tombolo log' lists what was not sent."
  private static let hourMilliseconds: UInt64 = 3_600_000
  /// As far as a stamp may be ahead of a server.
  private static let driftMillisecondsMax: Int64 = 300_000

  private let connection: Connection
  private let schema: StoreSchema
  private let wall: UInt64
  private let meta: StoreMeta
  private let book: RemoteBook
  private let replicas: ReplicaNumbers

  init(_ connection: Connection, schema: StoreSchema, wall: UInt64) throws {
    self.connection = connection
    self.schema = schema
    self.wall = wall
    meta = StoreMeta(connection)
    book = RemoteBook(connection)
    replicas = ReplicaNumbers(connection)
  }

  private func count(_ sql: String) throws -> Int { try connection.firstRow(sql) { Int($0.int64(0)) } ?? 0 }

  // MARK: Rows

  private func stamps() throws -> [Finding] {
    guard try meta.hasRemote else { return [] }
    var unreadable: (count: Int, example: String) = (0, "")
    var bare = 0
    for root in schema.entities where root.lineage.count == 1 {
      try connection.eachRow("SELECT _tombolo_stamps, lower(hex(_tombolo_id)) FROM \(root.table.quotedIdentifier)") {
        row in
        if row.isNull(0) {
          bare += 1
        } else if (try? RowStamps(row.bytes(0), replicas)) == nil {
          unreadable = (unreadable.count + 1, "\(root.name) \(row.string(1))")
        }
      }
    }
    var findings: [Finding] = []
    if unreadable.count > 0 {
      findings.append(
        Finding(
          .problem, .stamps,
          "The stamps of \(unreadable.count) rows cannot be read, as those of \(unreadable.example).",
          remedy: Self.remedy))
    }
    let noted = try count("SELECT count(DISTINCT record) FROM _tombolo_shell WHERE kind = 0")
    if bare > noted {
      findings.append(
        Finding(
          .problem, .stamps,
          "\(bare - noted) rows have no stamps: they came to be where no trigger saw it, and are not sent.",
          remedy: "Write a value of each with 'tombolo set', or delete them and add them again."))
    }
    return findings.isEmpty ? [Finding(.fine, .stamps, "Each row says who wrote it and when.")] : findings
  }

  private func aliases() throws -> [Finding] {
    var next: [RecordID: RecordID] = [:]
    try connection.eachRow("SELECT record, survivor FROM _tombolo_alias") { row in
      if let record = row.recordID(0), let survivor = row.recordID(1) { next[record] = survivor }
    }
    var living = 0
    for root in schema.entities where root.lineage.count == 1 {
      living += try count(
        "SELECT count(*) FROM _tombolo_alias WHERE record IN (SELECT _tombolo_id FROM \(root.table.quotedIdentifier))")
    }
    var circular = 0
    for start in next.keys {
      var (id, steps) = (start, 0)
      while let survivor = next[id], steps <= next.count { (id, steps) = (survivor, steps + 1) }
      if steps > next.count { circular += 1 }
    }
    var findings: [Finding] = []
    if circular > 0 {
      findings.append(Finding(.problem, .aliases, "\(circular) aliases lead in a circle.", remedy: Self.remedy))
    }
    if living > 0 {
      findings.append(
        Finding(
          .problem, .aliases, "\(living) records are shown although they were merged into others.", remedy: Self.remedy)
      )
    }
    return findings
  }

  // MARK: Saves

  private func queue() throws -> [Finding] {
    var findings: [Finding] = []
    let highest = Int64(clamping: try meta.highestSave.rawValue)
    let newest = try connection.firstRow("SELECT coalesce(max(number), 0) FROM _tombolo_save") { $0.int64(0) } ?? 0
    if newest > highest {
      findings.append(
        Finding(
          .problem, .queue, "The newest save is \(newest), and the store takes \(highest) for the highest number.",
          remedy: Self.remedy))
    }
    let gaps = try count(
      "SELECT count(*) FROM _tombolo_save AS save WHERE state = 1 AND number < \(newest) AND NOT EXISTS "
        + "(SELECT 1 FROM _tombolo_save WHERE number = save.number + 1)")
    if gaps > 0 {
      findings.append(
        Finding(
          .problem, .queue, "The numbers of unsent saves have \(gaps) gaps, at which a server stops.",
          remedy: Self.remedy))
    }
    let orphans = try count(
      "SELECT count(DISTINCT save) FROM _tombolo_change WHERE save NOT IN (SELECT number FROM _tombolo_save)")
    if orphans > 0 {
      findings.append(
        Finding(.problem, .queue, "Changes of \(orphans) saves are there without their saves.", remedy: Self.remedy))
    }
    // Reads every unconfirmed change with what it covers, and makes the change sets as a push would.
    let sets = try Outbox(connection, schema: schema).changeSets(recordsMax: .max, bytesMax: .max)
    let base = sets.first(where: { set in !set.stamp.isZero && Self.isBelowItsBases(set) })
    if let base {
      findings.append(
        Finding(
          .warning, .queue, "Save \(base.number.rawValue) is older than something that it replaced.",
          remedy: "Sync: the server asks for a new stamp, which the replica gives by itself."))
    }
    return findings.isEmpty ? [Finding(.fine, .queue, "The queue of saves is whole.")] : findings
  }

  private static func isBelowItsBases(_ set: ChangeSet) -> Bool {
    set.changes.contains { change in
      guard case .update(let update) = change else { return false }
      return update.writes.contains { $0.base.clock > set.stamp.clock }
    }
  }

  private func unsent() throws -> [Finding] {
    guard try book.text(.url) != nil else { return [] }
    var findings: [Finding] = []
    let parked = try count("SELECT count(*) FROM _tombolo_parked")
    if parked > 0 {
      findings.append(
        Finding(
          .warning, .parked, "The server refused \(parked) saves; what they wrote is not shown.",
          remedy: "'tombolo parked STORE' says why, and mends, retries or discards them."))
    }
    let aside = try count("SELECT count(DISTINCT record) FROM _tombolo_aside WHERE attribute NOT LIKE '#%'")
    if aside > 0 {
      findings.append(
        Finding(
          .notice, .aside, "\(aside) records have parts that this schema does not know; they are kept.",
          remedy: "They show once the program is upgraded to the schema that has them."))
    }
    let oldest = try connection.firstRow(
      "SELECT count(*), coalesce(min(time), 0) FROM _tombolo_save WHERE state = 1 AND \(Outbox.hasChanges)"
    ) { (Int($0.int64(0)), UInt64(max(0, $0.int64(1)))) }
    let (unsent, time) = oldest ?? (0, 0)
    if unsent == 0 {
      findings.append(Finding(.fine, .unsent, "Everything is sent."))
    } else {
      let hours = wall > time ? (wall - time) / Self.hourMilliseconds : 0
      findings.append(
        Finding(
          hours >= 24 ? .warning : .notice, .unsent,
          "\(unsent) \(unsent == 1 ? "save is" : "saves are") not sent, the oldest for \(hours == 0 ? "less than an hour" : "\(hours) hours").",
          remedy: "tombolo sync STORE sends them."))
    }
    return findings
  }

  // MARK: Pulls

  private func cursor() throws -> [Finding] {
    var findings: [Finding] = []
    let cursor = try book.cursor
    if let cursor, Int64(clamping: cursor.base.rawValue) != (try meta.integer(.base) ?? 0) {
      findings.append(
        Finding(
          .problem, .cursor, "The cursor and what saves take for seen are at different places.", remedy: Self.remedy))
    }
    if let cursor, let epoch = try book.epoch, epoch != cursor.epoch {
      findings.append(
        Finding(
          .problem, .cursor, "The cursor is of another epoch than the one that was last spoken with.",
          remedy: Self.remedy))
    }
    let staged = try PageStage(connection).count
    if staged > 0 {
      findings.append(
        Finding(
          .notice, .cursor, "\(staged) pages of a pull that was broken off are kept.",
          remedy: "The next sync goes on with it."))
    }
    if let cursor, findings.isEmpty {
      findings.append(Finding(.fine, .cursor, "Everything up to position \(cursor.position.rawValue) is received."))
    }
    return findings
  }

  /// A store that an earlier build made lacks some until it is opened to be written.
  private func has(_ table: String) throws -> Bool {
    try connection.firstRow("SELECT 1 FROM sqlite_schema WHERE name = ?1", { $0.bind(table, at: 1) }) { _ in true }
      ?? false
  }

  /// Decodes everything that is kept as bytes.
  private func bodies() throws -> [Finding] {
    var unreadable: [String] = []
    for table in ["_tombolo_conflict", "_tombolo_withheld", "_tombolo_tombstone", "_tombolo_aside"] {
      guard try has(table) else { continue }
      var count = 0
      try connection.eachRow("SELECT body FROM \(table)") { row in
        if (try? FeedItem(decoding: row.bytes(0), as: .cbor)) == nil { count += 1 }
      }
      if count > 0 { unreadable.append("\(count) of \(table)") }
    }
    var parked = 0
    try connection.eachRow("SELECT body FROM _tombolo_parked") { row in
      if (try? ChangeSet(decoding: row.bytes(0), as: .cbor)) == nil { parked += 1 }
    }
    if parked > 0 { unreadable.append("\(parked) of _tombolo_parked") }
    if unreadable.isEmpty { return [] }
    return [
      Finding(.problem, .bodies, "Entries cannot be read: \(unreadable.joined(separator: ", ")).", remedy: Self.remedy)
    ]
  }

  private func checksum() throws -> [Finding] {
    let isPending = try count(
      "SELECT count(*) FROM _tombolo_save WHERE state IN (1, 2) AND \(Outbox.hasChanges)")
    guard try book.cursor != nil, isPending == 0, try count("SELECT count(*) FROM _tombolo_shell") == 0 else {
      return []
    }
    let scan = ChecksumScan(connection, schema: schema)
    var kept = try book.checksum
    kept.add(try book.linkChecksum ?? scan.linkSum())
    if kept == (try scan.sum()) { return [Finding(.fine, .checksum, "The rows are those that syncs have written.")] }
    return [
      Finding(
        .warning, .checksum, "The rows are not those that syncs have written: something changed them from outside.",
        remedy: "'tombolo sync STORE', then 'tombolo verify STORE': it says whether the server has the same.")
    ]
  }

  // MARK: Time

  private func clock() throws -> [Finding] {
    let ahead = Int64(clamping: try meta.clock.last.milliseconds) - Int64(clamping: wall)
    let offset = try meta.integer(.clockOffset) ?? 0
    if abs(offset) > Self.driftMillisecondsMax {
      return [
        Finding(
          .warning, .clock,
          "This machine's clock is \(abs(offset) / 1_000) s \(offset > 0 ? "behind" : "ahead of") the server's.",
          remedy: "Set it. Until then the replica corrects it by what it measured.")
      ]
    }
    if ahead - offset > Self.driftMillisecondsMax {
      return [
        Finding(
          .warning, .clock, "The store has seen stamps \((ahead - offset) / 1_000) s ahead of this machine's clock.",
          remedy:
            "Set the clock; if it is right, another replica's was wrong, and edits made now count as later than its.")
      ]
    }
    return [Finding(.fine, .clock, "The clock is in step with what was received.")]
  }
}
