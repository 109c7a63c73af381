/// Reads CBOR (RFC 8949) with definite lengths; every length is checked against the bytes that are left before
/// anything is allocated, and nesting is bounded.
package struct CBORReader: Sendable {
  package enum Kind: Sendable { case unsigned, negative, bytes, text, array, map, bool, null, float }

  package struct Malformed: Error, CustomStringConvertible, Sendable {
    package let offset: Int
    package let reason: String
    package var description: String { "malformed CBOR at byte \(offset): \(reason)" }
  }

  private let input: [UInt8]
  package private(set) var offset: Int
  private static let nestingMax = 64

  package init(_ input: [UInt8]) {
    self.input = input
    offset = 0
  }

  package var isAtEnd: Bool { offset == input.count }

  /// What comes next, without reading it.
  package func peek() throws -> Kind {
    guard offset < input.count else { throw malformed("the input ends here") }
    let first = input[offset]
    switch first >> 5 {
    case 0: return .unsigned
    case 1: return .negative
    case 2: return .bytes
    case 3: return .text
    case 4: return .array
    case 5: return .map
    case 7:
      switch first & 31 {
      case 20, 21: return .bool
      case 22: return .null
      case 25, 26, 27: return .float
      default: throw malformed("a simple value that is not used here")
      }
    default: throw malformed("a tag, which is not used here")
    }
  }

  package mutating func unsigned() throws -> UInt64 { try head(expecting: 0, named: "an unsigned integer") }

  package mutating func integer() throws -> Int64 {
    let isNegative = try peek() == .negative
    let argument = try head(expecting: isNegative ? 1 : 0, named: "an integer")
    guard argument <= UInt64(Int64.max) else { throw malformed("an integer beyond 64 bits") }
    return isNegative ? ~Int64(argument) : Int64(argument)
  }

  package mutating func bytes() throws -> [UInt8] { Array(try take(expecting: 2, named: "bytes")) }

  /// A record's key of which the leading bytes, as many as are missing, are those of another.
  package mutating func record(sharedWith previous: RecordID) throws -> RecordID {
    let tail = try take(expecting: 2, named: "a record's key")
    guard tail.count <= 16 else { throw malformed("a record's key of more than sixteen bytes") }
    if tail.count == 16 {
      return tail.withUnsafeBytes { bytes in
        RecordID(
          high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
          low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
      }
    }
    var (high, low) = (previous.high, previous.low)
    var index = 16 - tail.count
    for byte in tail {
      let shift = UInt64(56 - 8 * (index & 7))
      if index < 8 {
        high = high & ~(0xFF << shift) | UInt64(byte) << shift
      } else {
        low = low & ~(0xFF << shift) | UInt64(byte) << shift
      }
      index += 1
    }
    return RecordID(high: high, low: low)
  }

  package mutating func text() throws -> String {
    let slice = try take(expecting: 3, named: "text")
    let plain = slice.withUnsafeBufferPointer { bytes -> String? in
      Self.isPlain(UnsafeRawBufferPointer(bytes)) ? String(decoding: bytes, as: UTF8.self) : nil
    }
    if let plain { return plain }
    guard let text = String(validating: slice, as: UTF8.self) else { throw malformed("text that is not UTF-8") }
    return text
  }

  /// Whether all bytes are ASCII, of which every row is UTF-8: eight at a time.
  private static func isPlain(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var index = 0
    while index + 8 <= bytes.count {
      if bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 != 0 { return false }
      index += 8
    }
    while index < bytes.count {
      if bytes[index] & 0x80 != 0 { return false }
      index += 1
    }
    return true
  }

  /// The number of elements; at least one byte must be left for each.
  package mutating func array() throws -> Int { try count(expecting: 4, named: "an array", bytesEach: 1) }
  /// The number of pairs; at least two bytes must be left for each.
  package mutating func map() throws -> Int { try count(expecting: 5, named: "a map", bytesEach: 2) }

  package mutating func bool() throws -> Bool {
    guard try peek() == .bool else { throw malformed("a Boolean was expected") }
    defer { offset += 1 }
    return input[offset] == 0xF5
  }

  /// Reads a null if one comes next, and says whether it did.
  package mutating func null() throws -> Bool {
    guard try peek() == .null else { return false }
    offset += 1
    return true
  }

  package mutating func float() throws -> Double {
    guard try peek() == .float else { throw malformed("a float was expected") }
    let size = input[offset] & 31
    offset += 1
    switch size {
    case 25:
      let bits = try fixed(2)
      return Self.double(half: UInt16(bits))
    case 26: return Double(Float(bitPattern: UInt32(try fixed(4))))
    default: return Double(bitPattern: try fixed(8))
    }
  }

  package mutating func value() throws -> Value {
    switch try peek() {
    case .null:
      offset += 1
      return .null
    case .unsigned, .negative: return .integer(try integer())
    case .float:
      let real = try float()
      guard !real.isNaN else { throw malformed("a number that is not a number") }
      return .real(real == 0 ? 0 : real)
    case .text: return .text(try text())
    case .bytes: return .blob(try bytes())
    default: throw malformed("a value was expected")
    }
  }

  /// Passes over whatever comes next: an unknown field of a map.
  package mutating func skip() throws { try skip(depth: 0) }

  private mutating func skip(depth: Int) throws {
    guard depth < Self.nestingMax else { throw malformed("nested too deeply") }
    switch try peek() {
    case .unsigned: _ = try unsigned()
    case .negative: _ = try head(expecting: 1, named: "an integer")
    case .bytes: _ = try take(expecting: 2, named: "bytes")
    case .text: _ = try take(expecting: 3, named: "text")
    case .array: for _ in 0..<(try array()) { try skip(depth: depth + 1) }
    case .map: for _ in 0..<(2 * (try map())) { try skip(depth: depth + 1) }
    case .bool, .null: offset += 1
    case .float: _ = try float()
    }
  }

  package func malformed(_ reason: String) -> Malformed { Malformed(offset: offset, reason: reason) }

  private mutating func count(expecting major: UInt8, named name: String, bytesEach: UInt64) throws -> Int {
    let count = try head(expecting: major, named: name)
    guard count <= UInt64(input.count - offset) / bytesEach else { throw malformed("\(name) longer than the input") }
    return Int(count)
  }

  private mutating func take(expecting major: UInt8, named name: String) throws -> ArraySlice<UInt8> {
    let count = try head(expecting: major, named: name)
    guard count <= UInt64(input.count - offset) else { throw malformed("\(name) longer than the input") }
    defer { offset += Int(count) }
    return input[offset..<offset + Int(count)]
  }

  private mutating func head(expecting major: UInt8, named name: String) throws -> UInt64 {
    guard offset < input.count else { throw malformed("the input ends where \(name) was expected") }
    let first = input[offset]
    guard first >> 5 == major else { throw malformed("\(name) was expected") }
    let short = first & 31
    switch short {
    case 0..<24:
      offset += 1
      return UInt64(short)
    case 24...27:
      offset += 1
      return try fixed(1 << Int(short - 24))
    default: throw malformed("an indefinite length, which is not used here")
    }
  }

  private mutating func fixed(_ count: Int) throws -> UInt64 {
    guard input.count - offset >= count else { throw malformed("the input ends inside a number") }
    let start = offset
    offset += count
    return input.withUnsafeBytes { bytes in
      if count == 8 { return UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self)) }
      var value: UInt64 = 0
      for index in start..<start + count { value = value << 8 | UInt64(bytes[index]) }
      return value
    }
  }

  private static func double(half bits: UInt16) -> Double {
    let exponent = Int(bits >> 10) & 31
    let fraction = Double(bits & 0x3FF)
    let magnitude: Double
    switch exponent {
    case 0: magnitude = fraction * 0x1p-24
    case 31: magnitude = fraction == 0 ? .infinity : .nan
    default: magnitude = (1 + fraction / 1024) * Double(sign: .plus, exponent: exponent - 15, significand: 1)
    }
    return bits & 0x8000 == 0 ? magnitude : -magnitude
  }
}
