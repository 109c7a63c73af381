import Foundation
import TomboloSQLite

/// Values out of the JSON text of a captured list: JSON has neither bytes nor exact reals.
extension QueryFunctions {
  static func registerLists(on connection: Connection) throws {
    try connection.define("tombolo_blob", arguments: 1) { arguments in
      guard case .text(let text) = arguments[0] else { return .null }
      return .blob(Hexadecimal.bytes(of: text))
    }
    try connection.define("tombolo_text", arguments: 1) { arguments in
      guard case .text(let text) = arguments[0] else { return .null }
      return .text(String(decoding: Hexadecimal.bytes(of: text), as: UTF8.self))
    }
    try connection.define("tombolo_real", arguments: 1) { arguments in
      guard case .integer(let bits) = arguments[0] else { return .null }
      return .real(Double(bitPattern: UInt64(bitPattern: bits)))
    }
  }
}

/// Bytes as text, two digits each.
enum Hexadecimal {
  static func append(_ bytes: some Sequence<UInt8>, to text: inout [UInt8]) {
    for byte in bytes {
      text.append(digit(byte >> 4))
      text.append(digit(byte & 15))
    }
  }

  static func bytes(of text: String) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count / 2)
    var pending: UInt8?
    for digit in text.utf8 {
      let value = digit < 0x3A ? digit &- 0x30 : digit &- 0x61 &+ 10
      if let high = pending {
        bytes.append(high << 4 | value & 15)
        pending = nil
      } else {
        pending = value & 15
      }
    }
    return bytes
  }

  private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x61 + value - 10 }
}
