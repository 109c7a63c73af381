package import TomboloProtocol

/// A row as a trigger noted it: `NUMBER:LITERAL` for each column and `s:LITERAL` for the stamps, with commas between.
///
/// The literals are those of SQLite's function `quote()`. They are read here, never run as SQL: anybody may write notes.
package struct ShellImage {
  package private(set) var values: [Int: Value] = [:]
  package private(set) var stamps: [UInt8]?

  /// Nil for text that no trigger of ours wrote.
  package init?(_ text: String) {
    var rest = Array(text.utf8)[...]
    // Ends: each turn takes at least a colon.
    while !rest.isEmpty {
      guard let colon = rest.firstIndex(of: 0x3A) else { return nil }
      let name = String(decoding: rest[..<colon], as: UTF8.self)
      rest = rest[(colon + 1)...]
      guard let value = Self.literal(&rest) else { return nil }
      if name == "s" {
        if case .blob(let bytes) = value { stamps = bytes }
      } else {
        guard let number = Int(name) else { return nil }
        values[number] = value
      }
      if let comma = rest.first {
        guard comma == 0x2C else { return nil }
        rest = rest.dropFirst()
      }
    }
  }

  private static func literal(_ rest: inout ArraySlice<UInt8>) -> Value? {
    guard let first = rest.first else { return nil }
    if first == 0x27 { return quoted(&rest).map { .text(String(decoding: $0, as: UTF8.self)) } }
    if first == 0x58 || first == 0x78 {
      rest = rest.dropFirst()
      return quoted(&rest).flatMap(hexadecimal).map { .blob($0) }
    }
    let end = rest.firstIndex(of: 0x2C) ?? rest.endIndex
    let word = String(decoding: rest[..<end], as: UTF8.self)
    rest = rest[end...]
    if word == "NULL" { return .null }
    if let integer = Int64(word) { return .integer(integer) }
    // Infinity is written as Inf, or as a number that is too large to be one.
    return Double(word).flatMap { $0.isNaN ? nil : .real($0 == 0 ? 0 : $0) }
  }

  /// What stands between apostrophes, doubled ones made single.
  private static func quoted(_ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
    guard rest.first == 0x27 else { return nil }
    var bytes: [UInt8] = []
    var index = rest.startIndex + 1
    while index < rest.endIndex {
      if rest[index] != 0x27 {
        bytes.append(rest[index])
        index += 1
      } else if index + 1 < rest.endIndex, rest[index + 1] == 0x27 {
        bytes.append(0x27)
        index += 2
      } else {
        rest = rest[(index + 1)...]
        return bytes
      }
    }
    return nil
  }

  private static func hexadecimal(_ digits: [UInt8]) -> [UInt8]? {
    guard digits.count % 2 == 0 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count / 2)
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let byte = UInt8(String(decoding: digits[index..<index + 2], as: UTF8.self), radix: 16) else { return nil }
      bytes.append(byte)
    }
    return bytes
  }
}
