import TomboloProtocol
import TomboloSQLite

/// What the merge asks of the file, inside the transaction of the push.
extension StoreFile: MergeReader {
  func record(_ id: RecordID) throws -> MergeRecord? {
    let query = try connection.cached("SELECT payload FROM record WHERE id = ?")
    query.bind(id, at: 1)
    defer { query.reset() }
    return try query.step() ? try MergeRecord(decoding: query.bytes(0)) : nil
  }

  func aliases(of id: RecordID) throws -> [RecordID] {
    guard presence.aliases else { return [] }
    return try records("SELECT id FROM record WHERE survivor = ? ORDER BY id", id)
  }

  func holders(of id: RecordID) throws -> [RecordID] {
    guard presence.references else { return [] }
    return try records("SELECT holder FROM reference WHERE target = ? ORDER BY holder", id)
  }

  func owners(of key: UniqueKey) throws -> [RecordID] {
    let query = try connection.cached("SELECT holder FROM unique_key WHERE key = ? ORDER BY holder")
    query.bind(key.bytes, at: 1)
    return try collect(query)
  }

  func records(killedBy cause: DeleteCause) throws -> [RecordID] {
    let query = try connection.cached("SELECT record FROM cause WHERE root = ? AND stamp = ? ORDER BY record")
    query.bind(cause.root, at: 1)
    query.bind(VerdictCoding.bytes(cause.stamp), at: 2)
    return try collect(query)
  }

  func link(_ key: LinkKey) throws -> MergeLink? {
    let query = try connection.cached(
      "SELECT \(Self.linkColumns) FROM link WHERE relationship = ? AND source = ? AND target = ?")
    query.bind(key.relationship, at: 1)
    query.bind(key.source, at: 2)
    query.bind(key.target, at: 3)
    defer { query.reset() }
    return try query.step() ? try Self.link(query) : nil
  }

  func links(of id: RecordID) throws -> [MergeLink] {
    let query = try connection.cached(
      """
      SELECT \(Self.linkColumns) FROM link WHERE source = ?1
      UNION SELECT \(Self.linkColumns) FROM link WHERE target = ?1 ORDER BY 1, 2, 3
      """)
    query.bind(id, at: 1)
    defer { query.reset() }
    var links: [MergeLink] = []
    while try query.step() { if let link = try Self.link(query) { links.append(link) } }
    return links
  }

  // MARK: Saves

  func processed(_ save: SaveID) throws -> ProcessedSave? {
    let query = try connection.cached("SELECT id, verdict, stamp FROM save WHERE id = ?")
    query.bind(save.record, at: 1)
    return try processedSave(query)
  }

  func processed(_ number: SaveNumber, of replica: ReplicaID) throws -> ProcessedSave? {
    let query = try connection.cached("SELECT save, verdict, stamp FROM queue WHERE replica = ? AND number = ?")
    query.bind(Int64(bitPattern: replica.rawValue), at: 1)
    query.bind(Int64(bitPattern: number.rawValue), at: 2)
    return try processedSave(query)
  }

  func highestSave(of replica: ReplicaID) throws -> SaveNumber { try self.replica(replica)?.processed ?? .none }

  func isRefused(_ id: RecordID) throws -> Bool {
    guard presence.refusedRecords else { return false }
    let query = try connection.cached("SELECT 1 FROM refused_record WHERE id = ?")
    query.bind(id, at: 1)
    defer { query.reset() }
    return try query.step()
  }

  func refusedBase(_ write: RefusedWrite.Key) throws -> Stamp? {
    guard presence.refusedWrites else { return nil }
    let query = try connection.cached("SELECT base FROM refused_write WHERE record = ? AND field = ? AND stamp = ?")
    query.bind(write.record, at: 1)
    query.bind(write.field, at: 2)
    query.bind(VerdictCoding.bytes(write.stamp), at: 3)
    defer { query.reset() }
    return try query.step() ? try VerdictCoding.stamp(query.bytes(0)) : nil
  }

  // MARK: Rows

  static let linkColumns = "relationship, source, target, present, stamp, position"

  static func link(_ row: Statement) throws -> MergeLink? {
    guard let source = row.record(1), let target = row.record(2) else { return nil }
    return MergeLink(
      key: LinkKey(relationship: row.string(0), source: source, target: target), isPresent: row.int64(3) != 0,
      stamp: try VerdictCoding.stamp(row.bytes(4)), position: row.position(5))
  }

  private func processedSave(_ query: Statement) throws -> ProcessedSave? {
    defer { query.reset() }
    guard try query.step(), let id = SaveID(bytes: query.bytes(0)) else { return nil }
    return ProcessedSave(
      id: id, verdict: try VerdictCoding.verdict(query.bytes(1)), stamp: try VerdictCoding.stamp(query.bytes(2)))
  }

  private func records(_ sql: String, _ id: RecordID) throws -> [RecordID] {
    let query = try connection.cached(sql)
    query.bind(id, at: 1)
    return try collect(query)
  }

  private func collect(_ query: Statement) throws -> [RecordID] {
    defer { query.reset() }
    var result: [RecordID] = []
    while try query.step() { if let id = query.record(0) { result.append(id) } }
    return result
  }
}
