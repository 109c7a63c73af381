import TomboloProtocol
import TomboloSQLite

/// A change set that is larger than a request comes in pieces, which are kept until the last one is there.
extension StoreFile {
  private static let staleMilliseconds: UInt64 = 24 * 3_600 * 1_000

  /// Stores a piece; the last one to arrive merges the whole.
  /// - Throws: `malformed_message`, `request_too_large`, `limit_exceeded`.
  func take(_ fragment: PushRequest.Fragment, from replica: ReplicaID, schema: MergeSchema) throws -> PushAnswer {
    // The answer to the last piece was lost: it is given again, and nothing is stored.
    // One that a copy of the replica had sent goes on, since it has to take its number in this one's queue.
    let number = try number(of: fragment.save, from: replica)
    if number > .none, let processed = try processed(fragment.save) {
      return PushAnswer(save: fragment.save, number: number, verdict: processed.answerAgain)
    }
    guard fragment.count > 0, fragment.index < fragment.count else {
      throw TomboloError.malformed("a fragment's index is not below their count")
    }
    try makeRoom(for: fragment)
    try store(fragment, from: replica)
    guard let bytes = try assembled(fragment, from: replica) else {
      return PushAnswer(save: fragment.save, number: .none, verdict: .fragmentStored)
    }
    try drop(fragment.save)
    let changeSet = try ChangeSet(decoding: bytes, as: .cbor)
    guard changeSet.id == fragment.save else {
      throw TomboloError.malformed("the fragments hold another save than they name")
    }
    let answers = try take([changeSet], from: replica, schema: schema)
    return answers.first ?? PushAnswer(save: changeSet.id, number: changeSet.number, verdict: .fragmentStored)
  }

  private func makeRoom(for fragment: PushRequest.Fragment) throws {
    let limits = options.limits
    let delete = try connection.cached("DELETE FROM fragment WHERE stored < ?")
    let now = advanceNow()
    delete.bind(Int64(clamping: now - min(now, Self.staleMilliseconds)), at: 1)
    try delete.run()
    let saves = try number("SELECT count(DISTINCT save) FROM fragment WHERE save <> ?", fragment.save)
    guard saves < limits.fragmentedSavesMax else {
      throw TomboloError.limitExceeded("saves in fragments", limit: limits.fragmentedSavesMax)
    }
    let bytes = try number("SELECT coalesce(sum(length(bytes)), 0) FROM fragment WHERE save = ?", fragment.save)
    guard bytes + fragment.bytes.count <= limits.changeSetBytesMax else {
      throw TomboloError.requestTooLarge(limit: limits.changeSetBytesMax)
    }
  }

  private func store(_ fragment: PushRequest.Fragment, from replica: ReplicaID) throws {
    let insert = try connection.cached(
      "INSERT OR REPLACE INTO fragment(save, number, count, replica, bytes, stored) VALUES(?, ?, ?, ?, ?, ?)")
    insert.bind(fragment.save.record, at: 1)
    insert.bind(Int64(fragment.index), at: 2)
    insert.bind(Int64(fragment.count), at: 3)
    insert.bind(Int64(bitPattern: replica.rawValue), at: 4)
    insert.bind(fragment.bytes, at: 5)
    insert.bind(Int64(clamping: advanceNow()), at: 6)
    try insert.run()
  }

  /// The whole change set's bytes, nil while a piece is missing. Pieces of another cut, or of another replica, do not count.
  private func assembled(_ fragment: PushRequest.Fragment, from replica: ReplicaID) throws -> [UInt8]? {
    let query = try connection.cached(
      "SELECT number, bytes FROM fragment WHERE save = ? AND count = ? AND replica = ? ORDER BY number")
    query.bind(fragment.save.record, at: 1)
    query.bind(Int64(fragment.count), at: 2)
    query.bind(Int64(bitPattern: replica.rawValue), at: 3)
    defer { query.reset() }
    var bytes: [UInt8] = []
    var expected: Int64 = 0
    while try query.step() {
      guard query.int64(0) == expected else { return nil }
      bytes += query.bytes(1)
      expected += 1
    }
    return expected == Int64(fragment.count) ? bytes : nil
  }

  private func drop(_ save: SaveID) throws {
    let delete = try connection.cached("DELETE FROM fragment WHERE save = ?")
    delete.bind(save.record, at: 1)
    try delete.run()
  }

  private func number(_ sql: String, _ save: SaveID) throws -> Int {
    let query = try connection.cached(sql)
    query.bind(save.record, at: 1)
    defer { query.reset() }
    return try query.step() ? Int(query.int64(0)) : 0
  }

  private func number(of save: SaveID, from replica: ReplicaID) throws -> SaveNumber {
    let query = try connection.cached("SELECT number FROM queue WHERE replica = ? AND save = ?")
    query.bind(Int64(bitPattern: replica.rawValue), at: 1)
    query.bind(save.record, at: 2)
    defer { query.reset() }
    return try query.step() ? SaveNumber(UInt64(bitPattern: query.int64(0))) : .none
  }
}
