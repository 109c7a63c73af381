extension Cursor {
  /// What travels in a URL: base64url of CBOR. Only the server that made it looks inside.
  package var text: String {
    var writer = CBORWriter()
    write(to: &writer)
    return Base64URL.text(of: writer.bytes)
  }

  /// - Throws: ``TomboloError`` with ``ErrorCode/malformedMessage``.
  package init(text: some StringProtocol) throws {
    guard let bytes = Base64URL.bytes(of: text) else {
      throw TomboloError(.malformedMessage, "The cursor is not base64url.")
    }
    do {
      var reader = CBORReader(bytes)
      try self.init(from: &reader)
      guard reader.isAtEnd else { throw reader.malformed("something follows the cursor") }
    } catch let error as CBORReader.Malformed {
      throw TomboloError(.malformedMessage, "The cursor cannot be read: \(error.description).")
    }
  }

  func write(to writer: inout CBORWriter) {
    writer.array(count: 5)
    for part in [epoch.rawValue, base.rawValue, position.rawValue, start.rawValue, commit] { writer.unsigned(part) }
  }

  init(from reader: inout CBORReader) throws {
    guard try reader.array() == 5 else { throw reader.malformed("a cursor has five parts") }
    let epoch = Epoch(try reader.unsigned())
    let base = FeedPosition(try reader.unsigned())
    let position = FeedPosition(try reader.unsigned())
    let start = FeedPosition(try reader.unsigned())
    self.init(epoch: epoch, base: base, position: position, start: start, commit: try reader.unsigned())
  }
}

/// Base64 with the alphabet for URLs, without padding (RFC 4648, section 5).
package enum Base64URL {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  package static func text(of bytes: some Collection<UInt8>) -> String {
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count * 4 / 3 + 2)
    var bits: UInt32 = 0
    var count = 0
    for byte in bytes {
      bits = (bits << 8 | UInt32(byte)) & 0xFFFF
      count += 8
      while count >= 6 {
        count -= 6
        text.append(alphabet[Int(bits >> UInt32(count) & 63)])
      }
    }
    if count > 0 { text.append(alphabet[Int(bits << UInt32(6 - count) & 63)]) }
    return String(decoding: text, as: UTF8.self)
  }

  /// Nil for a foreign character, an impossible length, or bits left over that are not zero: one text for each value.
  package static func bytes(of text: some StringProtocol) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count * 3 / 4)
    var bits: UInt32 = 0
    var count = 0
    for character in text.utf8 {
      let digit: UInt8
      switch character {
      case 0x41...0x5A: digit = character - 0x41
      case 0x61...0x7A: digit = character - 0x61 + 26
      case 0x30...0x39: digit = character - 0x30 + 52
      case 0x2D: digit = 62
      case 0x5F: digit = 63
      default: return nil
      }
      bits = (bits << 6 | UInt32(digit)) & 0x3FFF
      count += 6
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
      }
    }
    guard count < 6, bits & ((1 << UInt32(count)) - 1) == 0 else { return nil }
    return bytes
  }
}
