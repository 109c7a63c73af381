/// Sixteen bytes that name a record on every replica and on the server.
///
/// Tombolo makes them as UUID version 7 (RFC 9562), so that keys made later sort later; any sixteen bytes are
/// accepted, since a person in the `sqlite3` shell inserts `randomblob(16)`.
package struct RecordID: Hashable, Comparable, Sendable {
  /// Bytes 0–7, big endian.
  package let high: UInt64
  /// Bytes 8–15, big endian.
  package let low: UInt64

  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Returns nil unless there are exactly sixteen bytes.
  package init?(bytes: some Collection<UInt8>) {
    guard bytes.count == 16 else { return nil }
    let halves = bytes.withContiguousStorageIfAvailable { buffer in
      let bytes = UnsafeRawBufferPointer(buffer)
      return (
        high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
        low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      )
    }
    if let halves {
      self.init(high: halves.high, low: halves.low)
      return
    }
    var high: UInt64 = 0
    var low: UInt64 = 0
    for (index, byte) in bytes.enumerated() {
      if index < 8 { high = high << 8 | UInt64(byte) } else { low = low << 8 | UInt64(byte) }
    }
    self.init(high: high, low: low)
  }

  /// The sixteen bytes in the order in which SQLite and the wire hold them.
  package var bytes: [UInt8] {
    withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { [UInt8]($0) }
  }

  package static func < (a: RecordID, b: RecordID) -> Bool { a.high == b.high ? a.low < b.low : a.high < b.high }
  package static func == (a: RecordID, b: RecordID) -> Bool { a.low == b.low && a.high == b.high }

  /// Only the half that is random in a version 7 UUID is hashed: it tells records apart, and hashing shows in profiles.
  package func hash(into hasher: inout Hasher) { hasher.combine(low) }

  /// What dictionaries ask for: one multiplication instead of a general hash of a word. Secret in each process, so that
  /// nobody can choose keys that fall together.
  package func _rawHashValue(seed: Int) -> Int {
    let product = (low ^ Self.secret).multipliedFullWidth(by: UInt64(bitPattern: Int64(seed)) ^ 0x9E37_79B9_7F4A_7C15)
    return Int(truncatingIfNeeded: product.high ^ product.low)
  }
  private static let secret = UInt64(bitPattern: Int64(Hasher().finalize()))
}

extension RecordID: CustomStringConvertible {
  /// The usual form of a UUID, in lower case.
  package var description: String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    text.reserveCapacity(36)
    for (index, byte) in bytes.enumerated() {
      if index == 4 || index == 6 || index == 8 || index == 10 { text.append(0x2D) }
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Reads the usual form of a UUID, with or without hyphens, in either case.
  package init?(_ text: some StringProtocol) {
    var bytes: [UInt8] = []
    var pending: UInt8?
    for character in text.utf8 where character != 0x2D {
      let nibble: UInt8
      switch character {
      case 0x30...0x39: nibble = character - 0x30
      case 0x41...0x46: nibble = character - 0x41 + 10
      case 0x61...0x66: nibble = character - 0x61 + 10
      default: return nil
      }
      if let high = pending {
        bytes.append(high << 4 | nibble)
        pending = nil
      } else {
        pending = nibble
      }
      if bytes.count > 16 { return nil }
    }
    guard pending == nil else { return nil }
    self.init(bytes: bytes)
  }
}

/// Eight random bytes that name a replica. A copied or restored replica takes a new one.
package struct ReplicaID: Hashable, Comparable, Sendable, CustomStringConvertible {
  package let rawValue: UInt64
  package init(_ rawValue: UInt64) { self.rawValue = rawValue }
  package static func < (a: ReplicaID, b: ReplicaID) -> Bool { a.rawValue < b.rawValue }
  /// Sixteen hexadecimal digits.
  package var description: String {
    let text = String(rawValue, radix: 16)
    return String(repeating: "0", count: 16 - text.count) + text
  }
}

/// Sixteen random bytes that name one save for ever, whatever is renumbered, restamped or moved to another replica id.
package struct SaveID: Hashable, Sendable, CustomStringConvertible {
  package let record: RecordID
  package init(_ record: RecordID) { self.record = record }
  package init?(bytes: some Collection<UInt8>) {
    guard let record = RecordID(bytes: bytes) else { return nil }
    self.record = record
  }
  package var bytes: [UInt8] { record.bytes }
  package var description: String { record.description }
}

/// The place of a save in its replica's queue, from 1. The server takes only the last one plus one.
package struct SaveNumber: Hashable, Comparable, Sendable {
  package let rawValue: UInt64
  package init(_ rawValue: UInt64) { self.rawValue = rawValue }
  package static func < (a: SaveNumber, b: SaveNumber) -> Bool { a.rawValue < b.rawValue }
  package var next: SaveNumber { SaveNumber(rawValue + 1) }
  /// Before the first save.
  package static let none = SaveNumber(0)
}

/// A place in a store's feed: how many change sets the server had merged. 0 is before the first.
package struct FeedPosition: Hashable, Comparable, Sendable {
  package let rawValue: UInt64
  package init(_ rawValue: UInt64) { self.rawValue = rawValue }
  package static func < (a: FeedPosition, b: FeedPosition) -> Bool { a.rawValue < b.rawValue }
  package var next: FeedPosition { FeedPosition(rawValue + 1) }
  package static let start = FeedPosition(0)
}

/// Names one life of a server's store. A restored, replaced or wiped server has another one.
package struct Epoch: Hashable, Sendable {
  /// Random, so that two servers never share one.
  package let rawValue: UInt64
  package init(_ rawValue: UInt64) { self.rawValue = rawValue }
}
