internal import CTomboloSodium

/// A store's checksum: the sum, in two lanes of 64 bits, of SipHash-2-4 under two fixed keys over (record, attribute,
/// value, stamp) of living records. Sums do not depend on the order; what nobody assigned is left out.
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

  package mutating func add(_ other: Checksum) {
    high &+= other.high
    low &+= other.low
  }

  package mutating func subtract(_ other: Checksum) {
    high &-= other.high
    low &-= other.low
  }

  private static func contribution(_ record: RecordID, _ field: String, _ value: Value, _ stamp: Stamp) -> Checksum {
    var writer = CBORWriter(reservingCapacity: 96)
    writer.bytes(record.bytes)
    writer.text(field)
    writer.value(value)
    writer.unsigned(stamp.clock.rawValue)
    writer.unsigned(stamp.replica.rawValue)
    writer.unsigned(UInt64(stamp.derived))
    return Checksum(high: shortHash(writer.bytes, key: highKey), low: shortHash(writer.bytes, key: lowKey))
  }

  private static let highKey: [UInt8] = Array("tombolo sum high".utf8)
  private static let lowKey: [UInt8] = Array("tombolo sum low ".utf8)
}

/// SipHash-2-4 of the bytes under a key of sixteen bytes, read as a little-endian number.
package func shortHash(_ bytes: [UInt8], key: [UInt8]) -> UInt64 {
  precondition(key.count == 16, "SipHash-2-4 takes a key of sixteen bytes")
  var digest: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0]
  crypto_shorthash(&digest, bytes, UInt64(bytes.count), key)
  return digest.reversed().reduce(0) { $0 << 8 | UInt64($1) }
}
