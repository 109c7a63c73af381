/// Writes deterministic CBOR (RFC 8949, section 4.2): shortest heads, shortest floats that keep the value, definite lengths.
///
/// The writer of a map gives its keys in ascending order.
package struct CBORWriter: Sendable {
  package private(set) var bytes: [UInt8] = []

  package init(reservingCapacity capacity: Int = 0) { bytes.reserveCapacity(capacity) }

  package mutating func unsigned(_ value: UInt64) { head(0, value) }
  package mutating func integer(_ value: Int64) {
    if value >= 0 { head(0, UInt64(value)) } else { head(1, UInt64(bitPattern: ~value)) }
  }
  package mutating func bytes(_ value: some Collection<UInt8>) {
    head(2, UInt64(value.count))
    bytes.append(contentsOf: value)
  }
  /// The end of a record's key, without the leading bytes that it shares with another.
  package mutating func bytes(of record: RecordID, after shared: Int) {
    head(2, UInt64(16 - shared))
    withUnsafeBytes(of: (record.high.bigEndian, record.low.bigEndian)) { key in
      bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: key[shared...]))
    }
  }
  package mutating func text(_ value: String) {
    let utf8 = value.utf8
    head(3, UInt64(utf8.count))
    // A string of UTF-8 is appended as a block; only a bridged one has no contiguous bytes.
    if utf8.withContiguousStorageIfAvailable({ bytes.append(contentsOf: $0) }) == nil { bytes.append(contentsOf: utf8) }
  }
  package mutating func array(count: Int) { head(4, UInt64(count)) }
  package mutating func map(count: Int) { head(5, UInt64(count)) }
  package mutating func bool(_ value: Bool) { bytes.append(value ? 0xF5 : 0xF4) }
  package mutating func null() { bytes.append(0xF6) }

  package mutating func float(_ value: Double) {
    let single = Float(value)
    guard Double(single) == value else {
      bytes.append(0xFB)
      append(value.bitPattern, count: 8)
      return
    }
    if let half = Self.half(single) {
      bytes.append(0xF9)
      append(UInt64(half), count: 2)
    } else {
      bytes.append(0xFA)
      append(UInt64(single.bitPattern), count: 4)
    }
  }

  package mutating func value(_ value: Value) {
    switch value {
    case .null: null()
    case .integer(let integer): self.integer(integer)
    case .real(let real): float(real)
    case .text(let text): self.text(text)
    case .blob(let blob): bytes(blob)
    }
  }

  /// Bytes that are CBOR already.
  package mutating func raw(_ encoded: [UInt8]) { bytes.append(contentsOf: encoded) }

  private mutating func head(_ major: UInt8, _ argument: UInt64) {
    let type = major << 5
    switch argument {
    case 0..<24: bytes.append(type | UInt8(argument))
    case 24...0xFF:
      bytes.append(type | 24)
      bytes.append(UInt8(argument))
    case 0x100...0xFFFF:
      bytes.append(type | 25)
      append(argument, count: 2)
    case 0x1_0000...0xFFFF_FFFF:
      bytes.append(type | 26)
      append(argument, count: 4)
    default:
      bytes.append(type | 27)
      append(argument, count: 8)
    }
  }

  private mutating func append(_ value: UInt64, count: Int) {
    withUnsafeBytes(of: value.bigEndian) { number in
      bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: number[(8 - count)...]))
    }
  }

  /// The half-precision bits (IEEE 754 binary16) of a float, where they keep its value.
  private static func half(_ value: Float) -> UInt16? {
    let bits = value.bitPattern
    let sign = UInt16(bits >> 16) & 0x8000
    let exponent = Int((bits >> 23) & 0xFF) - 127
    let fraction = bits & 0x7F_FFFF
    if value == 0 { return sign }
    if exponent == 128 { return fraction == 0 ? sign | 0x7C00 : nil }
    if exponent >= -14, exponent <= 15, fraction & 0x1FFF == 0 {
      return sign | UInt16(exponent + 15) << 10 | UInt16(fraction >> 13)
    }
    if exponent >= -24, exponent < -14 {
      let shift = UInt32(-exponent - 1)
      let full = fraction | 0x80_0000
      guard full & ((1 << shift) - 1) == 0 else { return nil }
      return sign | UInt16(full >> shift)
    }
    return nil
  }
}
