import TomboloProtocol
import TomboloSQLite

/// The parts of a store's checksum, one a bucket, so that a difference can be narrowed down without a look at every record.
///
/// Changes gather in a list, of which a savepoint that is undone cuts off its own; a commit writes the buckets touched.
final class BucketSums {
  static let table = """
    CREATE TABLE IF NOT EXISTS checksum_bucket(number INTEGER PRIMARY KEY NOT NULL, high INTEGER NOT NULL,
      low INTEGER NOT NULL) STRICT;
    """

  private let connection: Connection
  /// As the file has them; nil until they are needed, and after a commit that failed.
  private var stored: [Checksum]?
  private var changes: [(bucket: Int, sum: Checksum)] = []
  /// Whether `stored` has what no commit has made durable yet.
  private var isAhead = false

  init(_ connection: Connection) { self.connection = connection }

  /// What has gathered so far.
  var mark: Int { changes.count }

  func goBack(to mark: Int) {
    if isAhead { return forget() }
    changes.removeLast(max(0, changes.count - mark))
  }

  func forget() {
    changes = []
    stored = nil
    isAhead = false
  }

  /// What was saved is durable.
  func settle() { isAhead = false }

  func add(_ change: ChecksumChange) {
    for (bucket, sum) in change.buckets { changes.append((bucket, sum)) }
  }

  /// The sums with everything that has gathered.
  func sums() throws -> [Checksum] {
    var sums = try load()
    for change in changes { sums[change.bucket].add(change.sum) }
    return sums
  }

  func total() throws -> Checksum {
    try sums().reduce(into: Checksum()) { $0.add($1) }
  }

  /// Writes the buckets that were touched, inside the transaction at whose end they count.
  func save() throws {
    if changes.isEmpty { return }
    var sums = try load()
    let touched = Set(changes.map(\.bucket))
    for change in changes { sums[change.bucket].add(change.sum) }
    for bucket in touched { try write(sums[bucket], at: bucket) }
    changes.removeAll(keepingCapacity: true)
    stored = sums
    isAhead = true
  }

  private func write(_ sum: Checksum, at bucket: Int) throws {
    let update = try connection.cached("INSERT OR REPLACE INTO checksum_bucket(number, high, low) VALUES(?, ?, ?)")
    update.bind(bucket, at: 1)
    update.bind(Int64(bitPattern: sum.high), at: 2)
    update.bind(Int64(bitPattern: sum.low), at: 3)
    try update.run()
  }

  private func load() throws -> [Checksum] {
    if let stored { return stored }
    var sums = [Checksum](repeating: Checksum(), count: Checksum.bucketCount)
    let query = try connection.cached("SELECT number, high, low FROM checksum_bucket")
    defer { query.reset() }
    while try query.step() {
      guard sums.indices.contains(Int(query.int64(0))) else { continue }
      sums[Int(query.int64(0))] = Checksum(
        high: UInt64(bitPattern: query.int64(1)), low: UInt64(bitPattern: query.int64(2)))
    }
    stored = sums
    return sums
  }
}
