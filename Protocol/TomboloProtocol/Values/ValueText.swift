// Values as people write and read them: in CSV files, on the command line, in tables.

extension ValueRules {
  /// Reads a value by its attribute's type. An empty text is an empty text; what stands for nil is the caller's matter.
  ///
  /// - Throws: ``TomboloError`` with ``ErrorCode/invalidText`` where the text cannot be read as the type, and what
  ///   ``normalized(_:as:named:)`` throws.
  package static func value(parsing text: String, as type: AttributeType, named name: String) throws -> Value {
    guard let value = try unchecked(text, as: type, named: name) else {
      throw TomboloError(
        .invalidText, "A text for \(name) cannot be read as \(type.rawValue).", remedy: "Write \(type.inputForm).")
    }
    return try normalized(value, as: type, named: name)
  }

  private static func unchecked(_ text: String, as type: AttributeType, named name: String) throws -> Value? {
    switch type {
    case .bool: return bool(text).map { .integer($0 ? 1 : 0) }
    case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64:
      if let integer = Int64(text) { return .integer(integer) }
      let digits = text.utf8.first == 0x2D ? text.utf8.dropFirst() : text.utf8[...]
      guard !digits.isEmpty, digits.count < 40, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
      throw TomboloError(
        .integerOutOfRange, "A number for \(name) does not fit 64 bits with a sign.",
        remedy: "Keep such numbers as decimal or string.")
    case .float, .double:
      switch text.lowercased() {
      case "inf", "+inf", "infinity", "+infinity": return .real(.infinity)
      case "-inf", "-infinity": return .real(-.infinity)
      default:
        // Swift also reads hexadecimal and "nan(…)"; people who write those mean something else.
        guard let first = text.utf8.first, first != 0x20, text.utf8.allSatisfy({ "+-.0123456789eE".utf8.contains($0) })
        else { return nil }
        guard let real = Double(text) else { return nil }
        guard real.isFinite else {
          throw TomboloError(
            .floatOutOfRange, "A number for \(name) is beyond what a double can hold.",
            remedy: "Write inf for infinity, or keep such numbers as decimal or string.")
        }
        return .real(real)
      }
    case .decimal: return try DecimalForm.canonical(text).map { .text($0) }
    case .string: return .text(text)
    case .date: return DateText.seconds(text).map { .real($0) }
    case .data: return base64(text).map { .blob($0) }
    case .uuid: return RecordID(text).map { .blob($0.bytes) }
    case .url:
      let hasSpace = text.unicodeScalars.contains { $0.properties.isWhitespace || $0.value < 0x20 }
      return text.isEmpty || hasSpace ? nil : .text(text)
    case .codable: return (try? JSONValue(parsing: Array(text.utf8))) == nil ? nil : .text(text)
    }
  }

  /// The text of a value, which ``value(parsing:as:named:)`` reads again; empty for null.
  package static func text(of value: Value, as type: AttributeType) -> String {
    switch (value, type) {
    case (.null, _): return ""
    case (.integer(let integer), .bool): return integer == 0 ? "false" : "true"
    case (.real(let seconds), .date): return seconds.isFinite ? DateText.text(seconds: seconds) : seconds.description
    case (.blob(let bytes), .uuid): return RecordID(bytes: bytes)?.description ?? Base64URL.text(of: bytes)
    case (.integer(let integer), _): return String(integer)
    case (.real(let real), _): return real.description
    case (.text(let text), _): return text
    case (.blob(let bytes), _): return Base64URL.text(of: bytes)
    }
  }

  private static func bool(_ text: String) -> Bool? {
    switch text.lowercased() {
    case "true", "yes", "1", "t", "y": true
    case "false", "no", "0", "f", "n": false
    default: nil
    }
  }

  /// Either alphabet, with or without padding.
  private static func base64(_ text: String) -> [UInt8]? {
    let bytes = text.utf8.filter { $0 != 0x3D }.map { $0 == 0x2B ? 0x2D : $0 == 0x2F ? 0x5F : $0 }
    let padding = text.utf8.count - bytes.count
    guard padding <= 2, text.utf8.suffix(padding).allSatisfy({ $0 == 0x3D }) else { return nil }
    return Base64URL.bytes(of: String(decoding: bytes, as: UTF8.self))
  }
}
