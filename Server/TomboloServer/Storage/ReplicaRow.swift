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

  func write(_ row: ReplicaRow) throws {
    let insert = try connection.cached(
      "INSERT OR REPLACE INTO replica(\(Self.columns)) VALUES(?, ?, ?, ?, ?, ?, ?, ?)")
    insert.bind(Int64(bitPattern: row.id.rawValue), at: 1)
    insert.bind(row.tokenName, at: 2)
    insert.bind(row.schema, at: 3)
    insert.bind(Int64(bitPattern: row.highest.rawValue), at: 4)
    insert.bind(Int64(bitPattern: row.processed.rawValue), at: 5)
    insert.bind(row.base, at: 6)
    insert.bind(row.holds, at: 7)
    insert.bind(Int64(bitPattern: row.seen), at: 8)
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
