import TomboloProtocol
import TomboloSQLite

/// A key of `_tombolo_remote`.
enum RemoteKey: String {
  case url
  case tokenFile = "token_file"
  case epoch
  /// The cursor of the last complete pull, and the one that staged pages have walked to.
  case cursor, walk
  /// 1 while a snapshot is wanted or under way.
  case snapshot
  /// Local numbers of saves less the numbers that the server knows them by.
  case numberOffset = "number_offset"
  /// The greatest clock reading received, and of own accepted saves: the clock is never set below it.
  case greatest
  case lastPush = "last_push"
  case lastPull = "last_pull"
  /// The checksum of the confirmed state: of records, and of pairs, which is not there while it has to be made anew.
  case checksumHigh = "checksum_high"
  case checksumLow = "checksum_low"
  case linkChecksumHigh = "link_checksum_high"
  case linkChecksumLow = "link_checksum_low"
  /// Bytes that the server takes of one record; absent where it takes the usual number.
  case recordBytes = "record_bytes"
  /// When all rows were last summed up, and how many records there were.
  case scanned
  case scannedRecords = "scanned_records"
  /// The ids that this replica had before: eight bytes each.
  case formerReplicas = "former_replicas"
  /// The processed numbers of all replicas at the last complete pull: eight bytes of replica, eight of number each.
  case vector
  /// How far a re-upload has come.
  case reupload
}

/// What the replica knows about its server, read and written inside the caller's transaction.
struct RemoteBook {
  let connection: Connection
  init(_ connection: Connection) { self.connection = connection }

  func value(_ key: RemoteKey) throws -> Value {
    try connection.firstRow("SELECT value FROM _tombolo_remote WHERE key = ?1", { $0.bind(key.rawValue, at: 1) }) {
      $0.value(0)
    } ?? .null
  }

  func integer(_ key: RemoteKey) throws -> Int64? {
    guard case .integer(let value) = try value(key) else { return nil }
    return value
  }

  func text(_ key: RemoteKey) throws -> String? {
    guard case .text(let value) = try value(key) else { return nil }
    return value
  }

  /// Null removes the key.
  func set(_ key: RemoteKey, to value: Value) throws {
    if value.isNull {
      return try connection.run("DELETE FROM _tombolo_remote WHERE key = ?1") { $0.bind(key.rawValue, at: 1) }
    }
    try connection.run(
      "INSERT INTO _tombolo_remote(key, value) VALUES (?1, ?2) ON CONFLICT(key) DO UPDATE SET value = ?2"
    ) {
      $0.bind(key.rawValue, at: 1)
      $0.bind(value, at: 2)
    }
  }

  func set(_ key: RemoteKey, to number: UInt64?) throws {
    try set(key, to: number.map { .integer(Int64(bitPattern: $0)) } ?? .null)
  }

  var epoch: Epoch? { get throws { try integer(.epoch).map { Epoch(UInt64(bitPattern: $0)) } } }
  var cursor: Cursor? { get throws { try text(.cursor).map { try Cursor(text: $0) } } }
  var walk: Cursor? { get throws { try text(.walk).map { try Cursor(text: $0) } } }
  var isSnapshot: Bool { get throws { try integer(.snapshot) == 1 } }
  var numberOffset: Int64 { get throws { try integer(.numberOffset) ?? 0 } }
  var greatest: ClockReading {
    get throws { ClockReading(rawValue: UInt64(bitPattern: try integer(.greatest) ?? 0)) }
  }

  /// Takes note of a reading that the clock must never be set below.
  func note(_ reading: ClockReading) throws {
    if reading > (try greatest) { try set(.greatest, to: reading.rawValue) }
  }

  var checksum: Checksum {
    get throws {
      Checksum(
        high: UInt64(bitPattern: try integer(.checksumHigh) ?? 0),
        low: UInt64(bitPattern: try integer(.checksumLow) ?? 0))
    }
  }

  func set(_ checksum: Checksum) throws {
    try set(.checksumHigh, to: checksum.high)
    try set(.checksumLow, to: checksum.low)
  }

  var linkChecksum: Checksum? {
    get throws {
      guard let high = try integer(.linkChecksumHigh), let low = try integer(.linkChecksumLow) else { return nil }
      return Checksum(high: UInt64(bitPattern: high), low: UInt64(bitPattern: low))
    }
  }

  func set(links checksum: Checksum?) throws {
    if try linkChecksum == checksum { return }
    try set(.linkChecksumHigh, to: checksum?.high)
    try set(.linkChecksumLow, to: checksum?.low)
  }

  /// What the server, when it last spoke, took of one record.
  var recordBytesMax: Int {
    get throws { try integer(.recordBytes).map { Int(clamping: $0) } ?? RecordSize.usualBytesMax }
  }

  func noteLimits(of page: Page) throws {
    let limit = page.recordBytesMax ?? RecordSize.usualBytesMax
    if limit == (try recordBytesMax) { return }
    try set(.recordBytes, to: page.recordBytesMax.map { .integer(Int64(clamping: $0)) } ?? .null)
  }

  var vector: [ReplicaID: SaveNumber] {
    get throws {
      guard case .blob(let bytes) = try value(.vector) else { return [:] }
      var vector: [ReplicaID: SaveNumber] = [:]
      for start in stride(from: 0, to: bytes.count - 15, by: 16) {
        guard let replica = ReplicaID(bytes: Array(bytes[start..<start + 8])),
          let number = ReplicaID(bytes: Array(bytes[start + 8..<start + 16]))
        else { continue }
        vector[replica] = SaveNumber(number.rawValue)
      }
      return vector
    }
  }

  func set(_ vector: [ReplicaID: SaveNumber]) throws {
    let bytes = vector.sorted { $0.key < $1.key }.flatMap { $0.key.bytes + ReplicaID($0.value.rawValue).bytes }
    try set(.vector, to: .blob(bytes))
  }

  var formerReplicas: [ReplicaID] {
    get throws {
      guard case .blob(let bytes) = try value(.formerReplicas) else { return [] }
      return stride(from: 0, to: bytes.count - 7, by: 8).compactMap { ReplicaID(bytes: Array(bytes[$0..<$0 + 8])) }
    }
  }
}
