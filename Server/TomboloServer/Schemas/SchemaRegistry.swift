import TomboloProtocol
import TomboloSQLite

/// The schema versions that a store's clients registered, ascending; the newest is what the server merges by: it is an
/// additive successor of all others, so it knows whatever any client may write.
struct SchemaRegistry {
  struct Entry {
    var version: SchemaVersion
    /// The canonical document.
    var json: [UInt8]
    var document: SchemaDocument
    /// Milliseconds since 1970.
    var registered: UInt64
  }

  private(set) var entries: [Entry] = []
  /// The newest version in the merge's form; nil before the first registration.
  private(set) var merged: MergeSchema?

  var latest: Entry? { entries.last }

  static let tables = """
    CREATE TABLE IF NOT EXISTS schema_version(major INTEGER NOT NULL, minor INTEGER NOT NULL, patch INTEGER NOT NULL,
      document BLOB NOT NULL, registered INTEGER NOT NULL, PRIMARY KEY(major, minor, patch)) STRICT, WITHOUT ROWID;
    """

  static func load(from connection: Connection) throws -> SchemaRegistry {
    let query = try connection.cached(
      "SELECT major, minor, patch, document, registered FROM schema_version ORDER BY major, minor, patch")
    defer { query.reset() }
    var registry = SchemaRegistry()
    while try query.step() {
      let version = SchemaVersion(Int(query.int64(0)), Int(query.int64(1)), Int(query.int64(2)))
      let json = query.bytes(3)
      registry.entries.append(
        Entry(
          version: version, json: json, document: try SchemaDocument(parsing: json),
          registered: UInt64(clamping: query.int64(4))))
    }
    registry.merged = registry.latest.map { MergeSchema(document: $0.document) }
    return registry
  }

  subscript(version: SchemaVersion) -> Entry? { entries.first { $0.version == version } }

  mutating func insert(_ entry: Entry, into connection: Connection) throws {
    let insert = try connection.cached("INSERT INTO schema_version VALUES(?, ?, ?, ?, ?)")
    insert.bind(entry.version.major, at: 1)
    insert.bind(entry.version.minor, at: 2)
    insert.bind(entry.version.patch, at: 3)
    insert.bind(entry.json, at: 4)
    insert.bind(Int64(clamping: entry.registered), at: 5)
    try insert.run()
    let place = entries.firstIndex { $0.version > entry.version } ?? entries.count
    entries.insert(entry, at: place)
    if place == entries.count - 1 { merged = MergeSchema(document: entry.document) }
  }
}

extension StoreFile {
  func knowsSchema(_ version: SchemaVersion) throws -> Bool { registry[version] != nil }

  /// Registers a version, or finds it registered with the same document.
  /// - Returns: whether it is new.
  /// - Throws: whatever ``SchemaRegistration`` finds, and `limit_exceeded`.
  func register(_ document: SchemaDocument, as version: SchemaVersion) throws -> Bool {
    switch try SchemaRegistration.check(document, among: registry.entries.map(\.document)) {
    case .known: return false
    case .new: break
    }
    guard registry.entries.count < options.limits.schemaVersionsMax else {
      throw TomboloError.limitExceeded("schema versions a store", limit: options.limits.schemaVersionsMax)
    }
    try transaction {
      let entry = SchemaRegistry.Entry(
        version: version, json: document.canonicalJSON, document: document, registered: advanceNow())
      try registry.insert(entry, into: connection)
    }
    return true
  }
}
