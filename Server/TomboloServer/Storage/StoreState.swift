import TomboloProtocol
import TomboloSQLite

/// The few numbers of a store that every request needs: one row, held in memory beside the file.
struct StoreState: Hashable {
  var epoch: Epoch
  /// The feed's end.
  var position: FeedPosition
  /// The random id of the commit at `position`.
  var commit: UInt64
  /// The greatest clock reading of any stamp that was accepted, in milliseconds.
  var greatestMilliseconds: UInt64
  /// The server's time in milliseconds; it never goes back, whatever the machine's clock does.
  var now: UInt64
  /// Tombstones up to this position are forgotten.
  var collected: FeedPosition
  var checksum: Checksum

  static let tables = """
    CREATE TABLE IF NOT EXISTS state(id INTEGER PRIMARY KEY NOT NULL CHECK(id = 1), epoch INTEGER NOT NULL,
      position INTEGER NOT NULL, commit_id INTEGER NOT NULL, greatest INTEGER NOT NULL, now INTEGER NOT NULL,
      collected INTEGER NOT NULL, checksum_high INTEGER NOT NULL, checksum_low INTEGER NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS commit_id(position INTEGER PRIMARY KEY NOT NULL, id INTEGER NOT NULL) STRICT;
    """

  /// Nil in a new file.
  static func load(from connection: Connection) throws -> StoreState? {
    let query = try connection.cached(
      """
      SELECT epoch, position, commit_id, greatest, now, collected, checksum_high, checksum_low FROM state
      """)
    defer { query.reset() }
    guard try query.step() else { return nil }
    func bits(_ column: Int32) -> UInt64 { UInt64(bitPattern: query.int64(column)) }
    return StoreState(
      epoch: Epoch(bits(0)), position: FeedPosition(bits(1)), commit: bits(2), greatestMilliseconds: bits(3),
      now: bits(4), collected: FeedPosition(bits(5)), checksum: Checksum(high: bits(6), low: bits(7)))
  }

  func save(to connection: Connection) throws {
    let update = try connection.cached("INSERT OR REPLACE INTO state VALUES(1, ?, ?, ?, ?, ?, ?, ?, ?)")
    let numbers = [
      epoch.rawValue, position.rawValue, commit, greatestMilliseconds, now, collected.rawValue, checksum.high,
      checksum.low,
    ]
    for (index, number) in numbers.enumerated() { update.bind(Int64(bitPattern: number), at: Int32(index + 1)) }
    try update.run()
  }
}
