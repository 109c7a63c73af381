import TomboloProtocol
import TomboloSQLite

/// What the store holds, record by record, in the form in which replicas sum it up.
extension StoreFile {
  /// A bucket more is begun below so many records in one answer.
  private static let recordsEnough = 50_000

  /// The sums of the records in some buckets, as far as nothing of them has changed since the cursor.
  ///
  /// Cost: a walk over the ids of all records, and a look at each record in the buckets.
  func compare(_ buckets: [UInt32], at cursor: Cursor) throws -> ComparisonResponse {
    let ids = try records(in: Set(buckets.map(Int.init)))
    var response = ComparisonResponse(position: position)
    for bucket in buckets {
      if response.records.count >= Self.recordsEnough { break }
      response.buckets.append(bucket)
      for id in (ids[Int(bucket)] ?? []).sorted() {
        switch try part(of: id, at: cursor.position) {
        case .changed: response.records.append(.init(id: id, sum: nil))
        case .stands(let sum, isLiving: true): response.records.append(.init(id: id, sum: sum))
        case .stands: continue
        }
      }
    }
    return response
  }

  /// The state of records with their pairs; of those that are unknown, or have changed since the cursor, nothing.
  func states(of ids: [RecordID], at cursor: Cursor) throws -> [FeedItem] {
    guard let schema = registry.merged else { return [] }
    var items: [FeedItem] = []
    for id in ids {
      guard let record = try record(id), case .stands = try part(of: id, at: cursor.position) else { continue }
      items.append(try MergeEngine.item(for: record, since: .start, reader: self, schema: schema))
      items += try links(of: id).filter { $0.key.source == id }.map { .link($0.state) }
    }
    return items
  }

  /// Makes the checksum anew from the rows, in a file that has none of its parts yet.
  func recountChecksum() throws { try recountChecksum(of: 0..<Checksum.bucketCount) }

  /// Makes a part of the checksum anew from the rows: what was damaged behind the server's back is not in the sum that is
  /// kept from change to change, and replicas would not notice that they have something else.
  /// - Returns: the number of buckets that were others.
  @discardableResult
  func recountChecksum(of buckets: Range<Int>) throws -> Int {
    var sums = [Checksum](repeating: Checksum(), count: buckets.count)
    for (bucket, ids) in try records(in: Set(buckets)) {
      for id in ids {
        guard case .stands(let sum, isLiving: true) = try part(of: id, at: state.position) else { continue }
        sums[bucket - buckets.lowerBound].add(sum)
      }
    }
    return try transaction {
      var change = ChecksumChange()
      let before = try self.buckets.sums()
      for bucket in buckets {
        var difference = sums[bucket - buckets.lowerBound]
        difference.subtract(before[bucket])
        change.add(difference, toBucket: bucket)
      }
      self.buckets.add(change)
      state.checksum = try self.buckets.total()
      return change.buckets.count
    }
  }

  /// Cost: a walk over the ids of all records.
  private func records(in buckets: Set<Int>) throws -> [Int: [RecordID]] {
    var ids: [Int: [RecordID]] = [:]
    let query = try connection.cached("SELECT id FROM record INDEXED BY record_position")
    defer { query.reset() }
    while try query.step() {
      guard let id = query.record(0) else { continue }
      let bucket = Checksum.bucket(of: id)
      if buckets.contains(bucket) { ids[bucket, default: []].append(id) }
    }
    return ids
  }

  private enum Part {
    case changed
    case stands(Checksum, isLiving: Bool)
  }

  /// What a record adds to the checksum, its pairs included.
  private func part(of id: RecordID, at position: FeedPosition) throws -> Part {
    guard let schema = registry.merged, let record = try record(id) else { return .changed }
    if record.position > position { return .changed }
    var sum = Checksum()
    let item = try MergeEngine.item(for: record, since: .start, reader: self, schema: schema)
    if case .record(let state) = item { sum.insert(state) }
    for link in try links(of: id) where link.key.source == id {
      if link.position > position { return .changed }
      guard link.isPresent, let target = try self.record(link.key.target) else { continue }
      // A pair comes and goes with the life of its ends, without being delivered again.
      if target.lifePosition > position { return .changed }
      if record.isLiving, target.isLiving { sum.insert(link.key, link.stamp) }
    }
    return .stands(sum, isLiving: record.isLiving)
  }
}
