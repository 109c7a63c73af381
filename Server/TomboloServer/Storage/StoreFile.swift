import TomboloProtocol
import TomboloSQLite

/// `DIR/stores/NAME.sqlite`: everything that a server knows of one store, in generic tables, so that a new schema
/// version changes no table.
///
/// Whoever owns it serialises its use. ``state`` is what the open transaction has made of it; a transaction that is
/// undone takes it back with it.
final class StoreFile {
  let name: String
  let connection: Connection
  let options: ServiceOptions
  var state: StoreState
  /// The registered schema versions, read once.
  var registry: SchemaRegistry
  /// The parts of `state.checksum`.
  let buckets: BucketSums
  /// Replicas that spoke since the last commit.
  var notes: [ReplicaID: ReplicaNote] = [:]
  /// The lives that the store had before a restore, the last one last.
  var formerEpochs: [FormerEpoch]
  var presence: StorePresence

  private static let formatVersion: Int64 = 1

  /// Opens or makes the file.
  init(name: String, directory: String, options: ServiceOptions) throws {
    self.name = name
    self.options = options
    connection = try DataDirectory.open("\(directory)/stores/\(name).sqlite", vfs: options.vfs)
    let connection = connection
    state = try connection.immediate {
      try Self.checkFormat(connection)
      try connection.execute(
        StoreState.tables + SchemaRegistry.tables + BucketSums.table + FormerEpoch.tables + Self.tables)
      if let state = try StoreState.load(from: connection) { return state }
      let state = StoreState(
        epoch: Epoch(options.randomness.next()), position: .start, commit: 0, greatestMilliseconds: 0,
        now: options.clock.milliseconds(), collected: .start, checksum: Checksum())
      try state.save(to: connection)
      return state
    }
    registry = try SchemaRegistry.load(from: connection)
    formerEpochs = try FormerEpoch.load(from: connection)
    presence = try StorePresence(connection)
    buckets = BucketSums(connection)
    if try buckets.total() != state.checksum { try recountChecksum() }
  }

  private static let tables = """
    CREATE TABLE IF NOT EXISTS record(id BLOB PRIMARY KEY NOT NULL, position INTEGER NOT NULL,
      collectable INTEGER NOT NULL, survivor BLOB, payload BLOB NOT NULL) STRICT, WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS record_position ON record(position);
    CREATE INDEX IF NOT EXISTS record_collectable ON record(position) WHERE collectable = 1;
    CREATE INDEX IF NOT EXISTS record_survivor ON record(survivor) WHERE survivor IS NOT NULL;
    CREATE TABLE IF NOT EXISTS reference(holder BLOB NOT NULL, target BLOB NOT NULL,
      PRIMARY KEY(holder, target)) STRICT, WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS reference_target ON reference(target);
    CREATE TABLE IF NOT EXISTS unique_key(holder BLOB NOT NULL, key BLOB NOT NULL,
      PRIMARY KEY(holder, key)) STRICT, WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS unique_key_key ON unique_key(key);
    CREATE TABLE IF NOT EXISTS cause(root BLOB NOT NULL, stamp BLOB NOT NULL, record BLOB NOT NULL,
      PRIMARY KEY(root, stamp, record)) STRICT, WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS cause_record ON cause(record);
    CREATE TABLE IF NOT EXISTS link(relationship TEXT NOT NULL, source BLOB NOT NULL, target BLOB NOT NULL,
      present INTEGER NOT NULL, stamp BLOB NOT NULL, position INTEGER NOT NULL,
      PRIMARY KEY(relationship, source, target)) STRICT, WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS link_source ON link(source);
    CREATE INDEX IF NOT EXISTS link_target ON link(target);
    CREATE INDEX IF NOT EXISTS link_position ON link(position);
    CREATE TABLE IF NOT EXISTS save(id BLOB PRIMARY KEY NOT NULL, verdict BLOB NOT NULL, stamp BLOB NOT NULL)
      STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS queue(replica INTEGER NOT NULL, number INTEGER NOT NULL, save BLOB NOT NULL,
      notable INTEGER NOT NULL, verdict BLOB NOT NULL, stamp BLOB NOT NULL,
      PRIMARY KEY(replica, number)) STRICT, WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS queue_notable ON queue(replica, number) WHERE notable = 1;
    CREATE TABLE IF NOT EXISTS refused_record(id BLOB PRIMARY KEY NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS refused_write(record BLOB NOT NULL, field TEXT NOT NULL, stamp BLOB NOT NULL,
      base BLOB NOT NULL, PRIMARY KEY(record, field, stamp)) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS replica(id INTEGER PRIMARY KEY NOT NULL, token TEXT NOT NULL, schema TEXT NOT NULL,
      highest INTEGER NOT NULL, processed INTEGER NOT NULL, base INTEGER, holds INTEGER,
      seen INTEGER NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS conflict(id BLOB PRIMARY KEY NOT NULL, replica INTEGER NOT NULL,
      position INTEGER NOT NULL, body BLOB NOT NULL) STRICT, WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS conflict_replica ON conflict(replica, position);
    CREATE TABLE IF NOT EXISTS fragment(save BLOB NOT NULL, number INTEGER NOT NULL, count INTEGER NOT NULL,
      replica INTEGER NOT NULL, bytes BLOB NOT NULL, stored INTEGER NOT NULL, PRIMARY KEY(save, number)) STRICT;
    PRAGMA user_version = \(formatVersion);
    """

  private static func checkFormat(_ connection: Connection) throws {
    let query = try connection.cached("PRAGMA user_version")
    defer { query.reset() }
    guard try query.step(), query.int64(0) <= formatVersion else {
      throw TomboloError(
        .newerStore, "The store's file was written by a newer tombolod.", remedy: "Start the version that wrote it.")
    }
  }

  var position: FeedPosition { state.position }
  var isInTransaction: Bool { connection.isInTransaction }
  var isIdle: Bool { !connection.hasBusyStatement && !connection.isInTransaction }

  // MARK: Transactions

  /// Runs `body` durably: in a transaction of its own, or in a savepoint of the group's. What fails leaves no trace.
  func transaction<Result>(_ body: () throws -> Result) throws -> Result {
    let before = (state, registry, formerEpochs)
    let mark = buckets.mark
    do {
      guard !connection.isInTransaction else { return try connection.savepoint(body) }
      return try commit(body, since: before.0)
    } catch {
      (state, registry, formerEpochs) = before
      buckets.goBack(to: mark)
      throw error
    }
  }

  /// One commit around several ``transaction(_:)`` calls: durable for all of them, or for none.
  func grouped<Result>(_ body: () throws -> Result) throws -> Result {
    let before = (state, registry, formerEpochs)
    do {
      return try commit(body, since: before.0)
    } catch {
      // The group may have ended half way (a full disk): what the file says is what counts.
      (state, registry, formerEpochs) = before
      buckets.forget()
      if let stored = try StoreState.load(from: connection) { state = stored }
      registry = try SchemaRegistry.load(from: connection)
      throw error
    }
  }

  private func commit<Result>(_ body: () throws -> Result, since before: StoreState) throws -> Result {
    let result = try connection.immediate {
      let result = try body()
      try writeNotes()
      try buckets.save()
      if state != before { try state.save(to: connection) }
      return result
    }
    notes.removeAll(keepingCapacity: true)
    buckets.settle()
    return result
  }

  // MARK: Time and positions

  /// The server's time, which never goes back.
  func advanceNow() -> UInt64 {
    state.now = max(state.now, options.clock.milliseconds())
    return state.now
  }

  /// Begins the next position of the feed, with a random id that tells this history from every other.
  func advancePosition() throws {
    state.position = state.position.next
    state.commit = options.randomness.next()
    let insert = try connection.cached("INSERT INTO commit_id(position, id) VALUES(?, ?)")
    insert.bind(Int64(bitPattern: state.position.rawValue), at: 1)
    insert.bind(Int64(bitPattern: state.commit), at: 2)
    try insert.run()
  }

  /// The id of the commit at a position; 0 at the feed's start, nil where the feed never was.
  func commitID(at position: FeedPosition) throws -> UInt64? {
    if position == .start { return 0 }
    let query = try connection.cached("SELECT id FROM commit_id WHERE position = ?")
    query.bind(Int64(bitPattern: position.rawValue), at: 1)
    defer { query.reset() }
    return try query.step() ? UInt64(bitPattern: query.int64(0)) : nil
  }
}
