import TomboloProtocol
import TomboloSQLite

/// What a store knows of one replica.
struct ReplicaRow: Hashable {
  var id: ReplicaID
  /// The name of the token that it last used.
  var tokenName: String
  var schema: String
  /// The highest save number that it says it has given out.
  var highest: SaveNumber
  /// The highest save number that was processed.
  var processed: SaveNumber
  /// The base of its last complete pull, as its cursor said; nil before that.
  var base: FeedPosition?
  /// The least base of its unsent and parked saves.
  var holds: FeedPosition?
  /// Milliseconds since 1970.
  var seen: UInt64
}

/// What a request says of its replica, before it is written.
struct ReplicaNote: Hashable {
  var tokenName: String
  var schema: String
  var highest: SaveNumber
  var base: FeedPosition?
  var holds: FeedPosition?
  var seen: UInt64
}

extension StoreFile {
  private static let columns = "id, token, schema, highest, processed, base, holds, seen"

  func replica(_ id: ReplicaID) throws -> ReplicaRow? {
    let query = try connection.cached("SELECT \(Self.columns) FROM replica WHERE id = ?")
    query.bind(Int64(bitPattern: id.rawValue), at: 1)
    defer { query.reset() }
    return try query.step() ? Self.replicaRow(query) : nil
  }

  func replicas() throws -> [ReplicaRow] {
    let query = try connection.cached("SELECT \(Self.columns) FROM replica ORDER BY seen DESC, id")
    defer { query.reset() }
    var rows: [ReplicaRow] = []
    while try query.step() { rows.append(Self.replicaRow(query)) }
    return rows
  }

  /// Takes note of who spoke; written with the next commit, since a poll alone must not cost one.
  ///
  /// A note that a crash loses does no harm: the row then names an older base, and collection waits longer.
  func note(_ introduction: Introduction, base: FeedPosition?, token: TokenRecord) {
    let known = notes[introduction.replica]
    notes[introduction.replica] = ReplicaNote(
      tokenName: token.name, schema: introduction.schemaVersion.description, highest: introduction.highestSave,
      base: base ?? known?.base, holds: introduction.holds, seen: max(state.now, options.clock.milliseconds()))
  }

  /// Writes the notes, inside a transaction.
  func writeNotes() throws {
    guard !notes.isEmpty else { return }
    for (replica, note) in notes.sorted(by: { $0.key < $1.key }) { try write(note, of: replica) }
  }

  /// A replica that was never seen gets its row at once: what it pushes is counted there.
  func makeRow(for replica: ReplicaID) throws {
    if let note = notes[replica] { try write(note, of: replica) }
  }

  private func write(_ note: ReplicaNote, of replica: ReplicaID) throws {
    let insert = try connection.cached(
      """
      INSERT INTO replica(id, token, schema, highest, processed, base, holds, seen) VALUES(?, ?, ?, ?, 0, ?, ?, ?)
      ON CONFLICT(id) DO UPDATE SET token = excluded.token, schema = excluded.schema, highest = excluded.highest,
        base = coalesce(excluded.base, base), holds = excluded.holds, seen = excluded.seen
      """)
    insert.bind(Int64(bitPattern: replica.rawValue), at: 1)
    insert.bind(note.tokenName, at: 2)
    insert.bind(note.schema, at: 3)
    insert.bind(Int64(bitPattern: note.highest.rawValue), at: 4)
    insert.bind(note.base, at: 5)
    insert.bind(note.holds, at: 6)
    insert.bind(Int64(bitPattern: note.seen), at: 7)
    try insert.run()
  }

  /// A replica seen before this time (milliseconds since 1970) is no longer waited for.
  var liveSince: UInt64 {
    let now = max(state.now, options.clock.milliseconds())
    return now - min(now, options.limits.historyMilliseconds)
  }

  private static func replicaRow(_ row: Statement) -> ReplicaRow {
    func bits(_ column: Int32) -> UInt64 { UInt64(bitPattern: row.int64(column)) }
    return ReplicaRow(
      id: ReplicaID(bits(0)), tokenName: row.string(1), schema: row.string(2), highest: SaveNumber(bits(3)),
      processed: SaveNumber(bits(4)), base: row.isNull(5) ? nil : FeedPosition(bits(5)),
      holds: row.isNull(6) ? nil : FeedPosition(bits(6)), seen: bits(7))
  }
}

extension Statement {
  func bind(_ position: FeedPosition?, at index: Int32) {
    if let position { bind(Int64(bitPattern: position.rawValue), at: index) } else { bindNull(at: index) }
  }
  func bind(_ record: RecordID, at index: Int32) { bind(high: record.high, low: record.low, at: index) }
  func record(_ column: Int32) -> RecordID? { halves(column).map { RecordID(high: $0.high, low: $0.low) } }
  func position(_ column: Int32) -> FeedPosition { FeedPosition(UInt64(bitPattern: int64(column))) }
}
