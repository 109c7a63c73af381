internal import CTomboloSodium

/// A store's checksum: the sum, in two lanes of 64 bits, of SipHash-2-4 under two fixed keys over everything that readers
/// see: that a record lives, each of its fields that somebody assigned, and each pair of a many-to-many relationship of
/// which both ends live. Sums do not depend on the order.
///
/// What is hashed is a row of CBOR items (SPEC.md, "The checksum"); the second one is a text for a field, 0 for a
/// record's life and 1 for a pair. A pair belongs to its source.
///
/// SipHash: J.-P. Aumasson, D. J. Bernstein, "SipHash: a fast short-input PRF", 2012; libsodium's short hash.
extension Checksum {
  /// Adds one field as a reader sees it. A field with the zero stamp adds nothing.
  package mutating func insert(_ record: RecordID, _ field: String, _ value: Value, _ stamp: Stamp) {
    guard !stamp.isZero else { return }
    add(Self.contribution(record, field, value, stamp))
  }

  package mutating func remove(_ record: RecordID, _ field: String, _ value: Value, _ stamp: Stamp) {
    guard !stamp.isZero else { return }
    subtract(Self.contribution(record, field, value, stamp))
  }

  /// Adds that a record lives, whatever its fields: one without any assigned field counts too.
  package mutating func insert(life incarnation: Stamp, of record: RecordID, as entity: String) {
    add(Self.contribution(record, entity, incarnation))
  }

  package mutating func remove(life incarnation: Stamp, of record: RecordID, as entity: String) {
    subtract(Self.contribution(record, entity, incarnation))
  }

  /// Adds a pair that is present and whose ends both live.
  package mutating func insert(_ link: LinkKey, _ stamp: Stamp) { add(Self.contribution(link, stamp)) }

  package mutating func remove(_ link: LinkKey, _ stamp: Stamp) { subtract(Self.contribution(link, stamp)) }

  /// Adds a living record as a pull delivers it, whole.
  package mutating func insert(_ state: RecordState) {
    insert(life: state.incarnation, of: state.id, as: state.entity)
    for field in state.fields { insert(state.id, field.name, field.value, field.stamp) }
  }

  package mutating func add(_ other: Checksum) {
    high &+= other.high
    low &+= other.low
  }

  package mutating func subtract(_ other: Checksum) {
    high &-= other.high
    low &-= other.low
  }

  private static func contribution(_ record: RecordID, _ field: String, _ value: Value, _ stamp: Stamp) -> Checksum {
    var writer = CBORWriter(reservingCapacity: 128)
    writer.bytes(of: record, after: 0)
    writer.text(field)
    writer.value(value)
    return hash(&writer, stamp)
  }

  private static func contribution(_ record: RecordID, _ entity: String, _ incarnation: Stamp) -> Checksum {
    var writer = CBORWriter(reservingCapacity: 64)
    writer.bytes(of: record, after: 0)
    writer.unsigned(0)
    writer.text(entity)
    return hash(&writer, incarnation)
  }

  private static func contribution(_ link: LinkKey, _ stamp: Stamp) -> Checksum {
    var writer = CBORWriter(reservingCapacity: 96)
    writer.bytes(link.source.bytes)
    writer.unsigned(1)
    writer.text(link.relationship)
    writer.bytes(link.target.bytes)
    return hash(&writer, stamp)
  }

  private static func hash(_ writer: inout CBORWriter, _ stamp: Stamp) -> Checksum {
    writer.unsigned(stamp.clock.rawValue)
    writer.unsigned(stamp.replica.rawValue)
    writer.unsigned(UInt64(stamp.derived))
    return Checksum(high: shortHash(writer.bytes, key: highKey), low: shortHash(writer.bytes, key: lowKey))
  }

  private static let highKey: [UInt8] = Array("tombolo sum high".utf8)
  private static let lowKey: [UInt8] = Array("tombolo sum low ".utf8)
}

/// The parts of a checksum, so that a difference can be narrowed down: each record belongs to one of 4 096 buckets.
///
/// By a hash of the record's id: identifiers that begin with a time are uneven in every prefix.
extension Checksum {
  package static let bucketCount = 4_096

  package static func bucket(of record: RecordID) -> Int { Int(shortHash(record.bytes, key: bucketKey) >> 52) }

  private static let bucketKey: [UInt8] = Array("tombolo bucket  ".utf8)
}

/// What a merge adds to a store's checksum and takes away, by bucket.
package struct ChecksumChange: Hashable, Sendable {
  package private(set) var total = Checksum()
  package private(set) var buckets: [Int: Checksum] = [:]

  package init() {}

  package mutating func add(_ sum: Checksum, of record: RecordID) {
    if sum != Checksum() { add(sum, toBucket: Checksum.bucket(of: record)) }
  }

  package mutating func add(_ sum: Checksum, toBucket bucket: Int) {
    if sum == Checksum() { return }
    total.add(sum)
    buckets[bucket, default: Checksum()].add(sum)
  }
}

/// SipHash-2-4 of the bytes under a key of sixteen bytes, read as a little-endian number.
package func shortHash(_ bytes: [UInt8], key: [UInt8]) -> UInt64 {
  precondition(key.count == 16, "SipHash-2-4 takes a key of sixteen bytes")
  var digest: UInt64 = 0
  withUnsafeMutablePointer(to: &digest) { digest in
    digest.withMemoryRebound(to: UInt8.self, capacity: 8) {
      _ = crypto_shorthash($0, bytes, UInt64(bytes.count), key)
    }
  }
  return UInt64(littleEndian: digest)
}
