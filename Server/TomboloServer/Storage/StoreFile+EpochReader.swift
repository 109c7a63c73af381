import TomboloProtocol
import TomboloSQLite

/// What a re-upload asks of the file, and the notes that answer it.
extension StoreFile: EpochReader {
  func epochBases(of record: RecordID, _ field: String) throws -> Set<Stamp>? {
    let query = try connection.cached("SELECT base FROM epoch_write WHERE record = ? AND field = ?")
    query.bind(record, at: 1)
    query.bind(field, at: 2)
    defer { query.reset() }
    var bases: Set<Stamp>?
    while try query.step() {
      let bytes = query.bytes(0)
      var known = bases ?? []
      if !bytes.isEmpty { known.insert(try VerdictCoding.stamp(bytes)) }
      bases = known
    }
    return bases
  }

  func epochAddition(to record: RecordID, _ field: String) throws -> Int64 {
    let query = try connection.cached(
      """
      SELECT delta FROM epoch_addition AS a WHERE record = ? AND field = ? AND (epoch IS NULL OR number > coalesce(
        (SELECT number FROM former_number AS f WHERE f.epoch = a.epoch AND f.replica = a.replica), 0))
      """)
    query.bind(record, at: 1)
    query.bind(field, at: 2)
    defer { query.reset() }
    var sum: Int64 = 0
    while try query.step() { sum = sum &+ query.int64(0) }
    return sum
  }

  func epochAdditions(to record: RecordID, _ field: String) throws -> [EpochAddition] {
    let query = try connection.cached(
      "SELECT replica, number, epoch, delta FROM epoch_addition WHERE record = ? AND field = ?")
    query.bind(record, at: 1)
    query.bind(field, at: 2)
    defer { query.reset() }
    var additions: [EpochAddition] = []
    while try query.step() {
      additions.append(
        EpochAddition(
          record: record, field: field, replica: ReplicaID(UInt64(bitPattern: query.int64(0))),
          number: SaveNumber(UInt64(bitPattern: query.int64(1))),
          epoch: query.isNull(2) ? nil : Epoch(UInt64(bitPattern: query.int64(2))), delta: query.int64(3)))
    }
    return additions
  }

  func counterPosition(of record: RecordID) throws -> FeedPosition {
    let query = try connection.cached("SELECT position FROM epoch_counter WHERE record = ?")
    query.bind(record, at: 1)
    defer { query.reset() }
    return try query.step() ? query.position(0) : formerEpochs.last?.copied ?? .start
  }

  func standing(of origin: ChangeSet.Origin) throws -> OriginStanding {
    guard formerEpochs.contains(where: { $0.isOpen && $0.epoch == origin.epoch }) else { return .unknownEpoch }
    let query = try connection.cached("SELECT 1 FROM former_number WHERE epoch = ? AND replica = ? AND number >= ?")
    query.bind(Int64(bitPattern: origin.epoch.rawValue), at: 1)
    query.bind(Int64(bitPattern: origin.replica.rawValue), at: 2)
    query.bind(Int64(bitPattern: origin.number.rawValue), at: 3)
    defer { query.reset() }
    return try query.step() ? .contained : .missing
  }

  /// Notes what a merge wrote in an epoch after a restore.
  func noteEpoch(_ effects: MergeEffects) throws {
    for write in effects.epochWrites {
      let insert = try connection.cached("INSERT OR IGNORE INTO epoch_write(record, field, base) VALUES(?, ?, ?)")
      insert.bind(write.record, at: 1)
      insert.bind(write.field, at: 2)
      insert.bind(write.base.map(VerdictCoding.bytes) ?? [], at: 3)
      try insert.run()
    }
    for addition in effects.epochAdditions {
      let insert = try connection.cached("INSERT INTO epoch_addition VALUES(?, ?, ?, ?, ?, ?)")
      insert.bind(addition.record, at: 1)
      insert.bind(addition.field, at: 2)
      insert.bind(Int64(bitPattern: addition.replica.rawValue), at: 3)
      insert.bind(Int64(bitPattern: addition.number.rawValue), at: 4)
      if let epoch = addition.epoch {
        insert.bind(Int64(bitPattern: epoch.rawValue), at: 5)
      } else {
        insert.bindNull(at: 5)
      }
      insert.bind(addition.delta, at: 6)
      try insert.run()
    }
    for (record, position) in effects.counterPositions.sorted(by: { $0.key < $1.key }) {
      let insert = try connection.cached("INSERT OR REPLACE INTO epoch_counter(record, position) VALUES(?, ?)")
      insert.bind(record, at: 1)
      insert.bind(position, at: 2)
      try insert.run()
    }
  }
}
