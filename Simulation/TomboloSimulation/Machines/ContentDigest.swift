import TomboloProtocol

/// Tells contents apart; the same in every process. A word at a time through a multiply and a shift (the steps of
/// SplitMix64's finisher), since every state that a reader could see goes through it.
struct ContentDigest {
  private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

  mutating func add(_ word: UInt64) {
    value = (value ^ word) &* 0xBF58_476D_1CE4_E5B9
    value ^= value >> 29
  }

  mutating func add(_ bytes: UnsafeRawBufferPointer) {
    add(UInt64(bytes.count))
    var offset = 0
    while offset + 8 <= bytes.count {
      add(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      offset += 8
    }
    var rest: UInt64 = 0
    for byte in bytes[offset...] { rest = rest << 8 | UInt64(byte) }
    add(rest)
  }

  mutating func add(_ text: String) {
    var text = text
    text.withUTF8 { add(UnsafeRawBufferPointer($0)) }
  }

  mutating func add(_ id: RecordID) {
    add(id.high)
    add(id.low)
  }

  mutating func add(_ value: Value) {
    switch value {
    case .null: add(0)
    case .integer(let value):
      add(1)
      add(UInt64(bitPattern: value))
    case .real(let value):
      add(2)
      add(value.bitPattern)
    case .text(let value):
      add(3)
      add(value)
    case .blob(let value):
      add(4)
      value.withUnsafeBytes { add($0) }
    }
  }
}
