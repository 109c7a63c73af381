package import TomboloProtocol
import TomboloSQLite

extension Store {
  /// Who made the saves that these stamps name.
  package func origins(of stamps: Set<Stamp>) throws -> [Stamp: RecordFacts.Origin] {
    try read { try SaveOrigins($0).origins(of: stamps) }
  }
}

/// Finds the save behind a stamp.
struct SaveOrigins {
  private let connection: Connection
  private let own: Set<ReplicaID>
  private let offset: Int64

  init(_ connection: Connection) throws {
    self.connection = connection
    let book = RemoteBook(connection)
    own = Set(try book.formerReplicas + [try StoreMeta(connection).replica])
    offset = try book.numberOffset
  }

  func origins(of stamps: Set<Stamp>) throws -> [Stamp: RecordFacts.Origin] {
    var origins: [Stamp: RecordFacts.Origin] = [:]
    for stamp in stamps where !stamp.isZero { origins[stamp] = try origin(of: stamp) }
    return origins
  }

  private func origin(of stamp: Stamp) throws -> RecordFacts.Origin {
    var origin = RecordFacts.Origin(replica: stamp.replica, isOwn: own.contains(stamp.replica))
    guard origin.isOwn else { return origin }
    try connection.eachRow(
      "SELECT number, author, state FROM _tombolo_save WHERE clock = ?1 AND replica = ?2 LIMIT 1",
      {
        $0.bind(Int64(bitPattern: stamp.clock.rawValue), at: 1)
        $0.bind(stamp.replica.bytes, at: 2)
      }
    ) { row in
      let isLocal = row.int64(2) == Int64(SaveState.local.rawValue)
      origin.save = SaveNumber(UInt64(max(0, isLocal ? row.int64(0) : row.int64(0) - offset)))
      origin.author = row.isNull(1) ? nil : row.string(1)
    }
    return origin
  }
}
