package import TomboloProtocol
import TomboloSQLite

/// `DIR/tombolod.sqlite`: tokens, and the names of the stores.
///
/// Whoever owns it serialises its use. The daemon and `tombolod token` open it side by side: SQLite's own lock lets
/// one of them write at a time.
package final class ControlStore {
  private let connection: Connection
  private static let formatVersion = 1

  /// Opens or makes the file.
  /// - Throws: `data_directory_unusable`, or SQLite's error.
  package init(directory: String, vfs: String? = nil) throws {
    try DataDirectory.make(directory, vfs: vfs)
    connection = try DataDirectory.open(Self.path(in: directory), vfs: vfs)
    try connection.execute(
      """
      CREATE TABLE IF NOT EXISTS token(hash BLOB PRIMARY KEY NOT NULL, id TEXT NOT NULL, store TEXT NOT NULL,
        role TEXT NOT NULL, name TEXT NOT NULL, created INTEGER NOT NULL, revoked INTEGER) STRICT, WITHOUT ROWID;
      CREATE INDEX IF NOT EXISTS token_store ON token(store, id);
      CREATE TABLE IF NOT EXISTS store(name TEXT PRIMARY KEY NOT NULL, created INTEGER NOT NULL) STRICT, WITHOUT ROWID;
      PRAGMA user_version = \(Self.formatVersion);
      """)
  }

  /// The file's place in a data directory.
  package static func path(in directory: String) -> String { "\(directory)/tombolod.sqlite" }

  // MARK: Tokens

  /// Makes a token and returns its secret, which is never shown again: only its hash is kept.
  package func createToken(
    store: String, role: Role, name: String, randomness: any Randomness, clock: any WallClock, limit: Int
  ) throws -> (secret: String, record: TokenRecord) {
    try StoreName.validate(store)
    return try connection.immediate {
      guard try tokenCount(store: store) < limit else {
        throw TomboloError.limitExceeded("tokens a store", limit: limit)
      }
      let secret = "tombolo_" + (0..<4).map { _ in Self.hexadecimal(randomness.next()) }.joined()
      let hash = Blake2b.hash256(secret.utf8)
      let record = TokenRecord(
        id: Self.identifier(hash), store: store, role: role, name: name, created: clock.milliseconds(), revoked: nil)
      let insert = try connection.cached(
        "INSERT INTO token(hash, id, store, role, name, created) VALUES(?, ?, ?, ?, ?, ?)")
      insert.bind(hash, at: 1)
      insert.bind(record.id, at: 2)
      insert.bind(store, at: 3)
      insert.bind(role.rawValue, at: 4)
      insert.bind(name, at: 5)
      insert.bind(Int64(clamping: record.created), at: 6)
      try insert.run()
      return (secret, record)
    }
  }

  /// The valid token with this secret. Looked up by its hash, so the time that it takes says nothing about a secret.
  func token(secret: some StringProtocol) throws -> TokenRecord? {
    let query = try connection.cached(
      "SELECT id, store, role, name, created, revoked FROM token WHERE hash = ? AND revoked IS NULL")
    query.bind(Blake2b.hash256(secret.utf8), at: 1)
    defer { query.reset() }
    return try query.step() ? Self.record(query) : nil
  }

  /// The oldest first; nil for all stores.
  package func tokens(store: String?) throws -> [TokenRecord] {
    let query = try connection.cached(
      """
      SELECT id, store, role, name, created, revoked FROM token WHERE ?1 IS NULL OR store = ?1
      ORDER BY store, created, id
      """)
    if let store { query.bind(store, at: 1) } else { query.bindNull(at: 1) }
    defer { query.reset() }
    var result: [TokenRecord] = []
    while try query.step() { if let record = Self.record(query) { result.append(record) } }
    return result
  }

  /// Ends a token's validity, from the next request on.
  /// - Returns: false if there is no such token, or it was revoked before.
  package func revokeToken(id: String, store: String?, clock: any WallClock) throws -> Bool {
    let update = try connection.cached(
      "UPDATE token SET revoked = ?1 WHERE id = ?2 AND revoked IS NULL AND (?3 IS NULL OR store = ?3)")
    update.bind(Int64(clamping: clock.milliseconds()), at: 1)
    update.bind(id, at: 2)
    if let store { update.bind(store, at: 3) } else { update.bindNull(at: 3) }
    try update.run()
    return connection.changes > 0
  }

  private func tokenCount(store: String) throws -> Int {
    let query = try connection.cached("SELECT count(*) FROM token WHERE store = ?")
    query.bind(store, at: 1)
    defer { query.reset() }
    return try query.step() ? Int(query.int64(0)) : 0
  }

  private static func record(_ row: Statement) -> TokenRecord? {
    guard let role = Role(rawValue: row.string(2)) else { return nil }
    return TokenRecord(
      id: row.string(0), store: row.string(1), role: role, name: row.string(3),
      created: UInt64(clamping: row.int64(4)), revoked: row.isNull(5) ? nil : UInt64(clamping: row.int64(5)))
  }

  private static func identifier(_ hash: [UInt8]) -> String {
    hexadecimal(hash.prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
  }

  private static func hexadecimal(_ value: UInt64) -> String { ReplicaID(value).description }

  // MARK: Stores

  func hasStore(_ name: String) throws -> Bool {
    let query = try connection.cached("SELECT 1 FROM store WHERE name = ?")
    query.bind(name, at: 1)
    defer { query.reset() }
    return try query.step()
  }

  func storeNames() throws -> [String] {
    let query = try connection.cached("SELECT name FROM store ORDER BY name")
    defer { query.reset() }
    var names: [String] = []
    while try query.step() { names.append(query.string(0)) }
    return names
  }

  func addStore(_ name: String, created: UInt64) throws {
    let insert = try connection.cached("INSERT OR IGNORE INTO store(name, created) VALUES(?, ?)")
    insert.bind(name, at: 1)
    insert.bind(Int64(clamping: created), at: 2)
    try insert.run()
  }

  /// Asserted by tests at teardown.
  package var isIdle: Bool { !connection.hasBusyStatement && !connection.isInTransaction }
}
