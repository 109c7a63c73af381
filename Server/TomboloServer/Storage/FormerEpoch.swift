import TomboloProtocol
import TomboloSQLite

/// A life of the store that ended with a restore, or that a replica told of: what re-uploads are judged by.
struct FormerEpoch: Hashable {
  var epoch: Epoch
  /// The feed's end in the copy that this life went on from.
  var copied: FeedPosition
  /// The greatest old position that a replica has uploaded from.
  var greatest: FeedPosition
  /// Milliseconds since 1970.
  var ended: UInt64
  /// Whether replicas may still upload what they have of it: while history is kept.
  var isOpen: Bool

  static let tables = """
    CREATE TABLE IF NOT EXISTS former_epoch(number INTEGER PRIMARY KEY, epoch INTEGER NOT NULL UNIQUE,
      copied INTEGER NOT NULL, greatest INTEGER NOT NULL, ended INTEGER NOT NULL, open INTEGER NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS former_number(epoch INTEGER NOT NULL, replica INTEGER NOT NULL, number INTEGER NOT NULL,
      PRIMARY KEY(epoch, replica)) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS epoch_write(record BLOB NOT NULL, field TEXT NOT NULL, base BLOB NOT NULL,
      PRIMARY KEY(record, field, base)) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS epoch_addition(record BLOB NOT NULL, field TEXT NOT NULL, replica INTEGER NOT NULL,
      number INTEGER NOT NULL, epoch INTEGER, delta INTEGER NOT NULL) STRICT;
    CREATE INDEX IF NOT EXISTS epoch_addition_record ON epoch_addition(record, field);
    CREATE TABLE IF NOT EXISTS epoch_counter(record BLOB PRIMARY KEY NOT NULL, position INTEGER NOT NULL)
      STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS upload(session BLOB PRIMARY KEY NOT NULL, replica INTEGER NOT NULL,
      parts INTEGER NOT NULL, complete INTEGER NOT NULL, stored INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS upload_part(session BLOB NOT NULL, part INTEGER NOT NULL, body BLOB NOT NULL,
      PRIMARY KEY(session, part)) STRICT;
    """

  static func load(from connection: Connection) throws -> [FormerEpoch] {
    let query = try connection.cached("SELECT epoch, copied, greatest, ended, open FROM former_epoch ORDER BY number")
    defer { query.reset() }
    var epochs: [FormerEpoch] = []
    while try query.step() {
      epochs.append(
        FormerEpoch(
          epoch: Epoch(UInt64(bitPattern: query.int64(0))), copied: query.position(1), greatest: query.position(2),
          ended: UInt64(bitPattern: query.int64(3)), isOpen: query.int64(4) != 0))
    }
    return epochs
  }
}

/// Lives of a store.
extension StoreFile {
  /// Positions that one life of a store has room for: the next one's begin above all of them, so that every position of
  /// an earlier life, also those that no copy knows of any more, is below every one of the present.
  private static let positionsOfEpoch: UInt64 = 1 << 40

  /// Begins a new life: the file is a copy from before its last changes, or replicas know of changes that it does not
  /// have. Numbers of saves begin anew; what they had come to is kept, since a re-upload tells what it contains.
  func beginEpoch() throws {
    try transaction {
      let ended = state.epoch
      try add(FormerEpoch(epoch: ended, copied: position, greatest: position, ended: advanceNow(), isOpen: true))
      let keep = try connection.cached(
        "INSERT OR REPLACE INTO former_number SELECT ?, id, processed FROM replica WHERE processed > 0")
      keep.bind(Int64(bitPattern: ended.rawValue), at: 1)
      try keep.run()
      for sql in [
        "DELETE FROM queue", "UPDATE replica SET processed = 0, highest = 0", "DELETE FROM epoch_write",
        "DELETE FROM epoch_addition", "DELETE FROM epoch_counter", "DELETE FROM upload", "DELETE FROM upload_part",
        "DELETE FROM fragment",
      ] { try connection.cached(sql).run() }
      state.epoch = Epoch(options.randomness.next())
      try jump(above: position)
    }
  }

  /// Moves the feed's end above every position that a life that came to `position` may have had.
  func jump(above position: FeedPosition) throws {
    let (next, isOver) = (position.rawValue / Self.positionsOfEpoch + 1)
      .multipliedReportingOverflow(by: Self.positionsOfEpoch)
    guard !isOver, next <= UInt64(Int64.max) / 2 else {
      throw TomboloError.limitExceeded("lives of one store", limit: Int(UInt64(Int64.max) / 2 / Self.positionsOfEpoch))
    }
    state.position = FeedPosition(next - 1)
    try advancePosition()
  }

  /// What is known of an earlier life; one that this store never had is one that was wiped or replaced.
  func formerEpoch(_ epoch: Epoch, position: FeedPosition) throws -> FormerEpoch {
    if let known = formerEpochs.first(where: { $0.epoch == epoch }) { return known }
    let told = FormerEpoch(epoch: epoch, copied: .start, greatest: .start, ended: advanceNow(), isOpen: true)
    try add(told)
    if self.position <= position { try jump(above: position) }
    return told
  }

  private func add(_ former: FormerEpoch) throws {
    let insert = try connection.cached(
      "INSERT INTO former_epoch(epoch, copied, greatest, ended, open) VALUES(?, ?, ?, ?, 1)")
    insert.bind(Int64(bitPattern: former.epoch.rawValue), at: 1)
    insert.bind(former.copied, at: 2)
    insert.bind(former.greatest, at: 3)
    insert.bind(Int64(bitPattern: former.ended), at: 4)
    try insert.run()
    formerEpochs.append(former)
  }

  /// Takes the numbers that a re-upload brings, if its position is the greatest so far.
  func take(_ vector: [ReplicaID: SaveNumber], at old: FeedPosition, of epoch: Epoch) throws {
    guard let place = formerEpochs.firstIndex(where: { $0.epoch == epoch }), old > formerEpochs[place].greatest else {
      return
    }
    formerEpochs[place].greatest = old
    let name = Int64(bitPattern: epoch.rawValue)
    let update = try connection.cached("UPDATE former_epoch SET greatest = ? WHERE epoch = ?")
    update.bind(old, at: 1)
    update.bind(name, at: 2)
    try update.run()
    let delete = try connection.cached("DELETE FROM former_number WHERE epoch = ?")
    delete.bind(name, at: 1)
    try delete.run()
    let insert = try connection.cached("INSERT INTO former_number(epoch, replica, number) VALUES(?, ?, ?)")
    for (replica, number) in vector.sorted(by: { $0.key < $1.key }) {
      insert.bind(name, at: 1)
      insert.bind(Int64(bitPattern: replica.rawValue), at: 2)
      insert.bind(Int64(bitPattern: number.rawValue), at: 3)
      try insert.run()
    }
  }

  /// Ends the time for re-uploads of lives that ended before `since`, milliseconds since 1970.
  func closeEpochs(endedBefore since: UInt64) throws {
    var hasClosed = false
    for place in formerEpochs.indices where formerEpochs[place].isOpen && formerEpochs[place].ended < since {
      formerEpochs[place].isOpen = false
      hasClosed = true
      let name = Int64(bitPattern: formerEpochs[place].epoch.rawValue)
      for sql in ["UPDATE former_epoch SET open = 0 WHERE epoch = ?", "DELETE FROM former_number WHERE epoch = ?"] {
        let statement = try connection.cached(sql)
        statement.bind(name, at: 1)
        try statement.run()
      }
    }
    guard hasClosed, !formerEpochs.contains(where: \.isOpen) else { return }
    for table in ["epoch_write", "epoch_addition", "epoch_counter", "upload", "upload_part"] {
      try connection.cached("DELETE FROM \(table)").run()
    }
  }
}
