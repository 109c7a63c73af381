extension JSONValue {
  /// Reads a text that is one JSON value.
  ///
  /// - Throws: ``JSONMalformed``: not JSON, a key twice in one object, an integer beyond 64 bits, nested too deeply.
  package init(parsing bytes: [UInt8]) throws {
    var parser = JSONParser(bytes)
    self = try parser.document()
  }
}

/// Where and why a text is not JSON.
package struct JSONMalformed: Error, Hashable, Sendable, CustomStringConvertible {
  /// From 1.
  package let line: Int
  /// In bytes, from 1.
  package let column: Int
  package let reason: String
  package var description: String { "line \(line), column \(column): \(reason)" }
}

private struct JSONParser {
  private let input: [UInt8]
  private var offset = 0
  private static let nestingMax = 64

  init(_ input: [UInt8]) { self.input = input }

  mutating func document() throws -> JSONValue {
    if input.starts(with: [0xEF, 0xBB, 0xBF]) { offset = 3 }
    let value = try self.value(depth: 0)
    skipSpace()
    guard offset == input.count else { throw malformed("something follows the value") }
    return value
  }

  private mutating func value(depth: Int) throws -> JSONValue {
    guard depth < Self.nestingMax else { throw malformed("nested too deeply") }
    skipSpace()
    guard offset < input.count else { throw malformed("the text ends where a value was expected") }
    switch input[offset] {
    case 0x7B: return try object(depth: depth)
    case 0x5B: return try array(depth: depth)
    case 0x22: return .string(try string())
    case 0x74: return try word("true", .bool(true))
    case 0x66: return try word("false", .bool(false))
    case 0x6E: return try word("null", .null)
    case 0x2D, 0x30...0x39: return try number()
    default: throw malformed("a value was expected")
    }
  }

  private mutating func object(depth: Int) throws -> JSONValue {
    offset += 1
    var members: [(String, JSONValue)] = []
    skipSpace()
    if take(0x7D) { return .object(JSONObject([])) }
    while true {
      skipSpace()
      guard offset < input.count, input[offset] == 0x22 else { throw malformed("a key in quotes was expected") }
      let key = try string()
      skipSpace()
      guard take(0x3A) else { throw malformed("a colon was expected after the key") }
      members.append((key, try value(depth: depth + 1)))
      skipSpace()
      if take(0x2C) { continue }
      guard take(0x7D) else { throw malformed("a comma or } was expected") }
      let object = JSONObject(members)
      if object.duplicateKey != nil { throw malformed("a key stands twice in the object that ends here") }
      return .object(object)
    }
  }

  private mutating func array(depth: Int) throws -> JSONValue {
    offset += 1
    var elements: [JSONValue] = []
    skipSpace()
    if take(0x5D) { return .array([]) }
    while true {
      elements.append(try value(depth: depth + 1))
      skipSpace()
      if take(0x2C) { continue }
      guard take(0x5D) else { throw malformed("a comma or ] was expected") }
      return .array(elements)
    }
  }

  private mutating func word(_ word: String, _ value: JSONValue) throws -> JSONValue {
    guard input[offset...].starts(with: word.utf8) else { throw malformed("a value was expected") }
    offset += word.utf8.count
    return value
  }

  private mutating func number() throws -> JSONValue {
    let start = offset
    _ = take(0x2D)
    let digits = digitCount()
    guard digits > 0, digits == 1 || input[offset - digits] != 0x30 else { throw malformed("a number was expected") }
    var isInteger = true
    if take(0x2E) {
      isInteger = false
      guard digitCount() > 0 else { throw malformed("a digit was expected after the point") }
    }
    if take(0x65) || take(0x45) {
      isInteger = false
      if !take(0x2B) { _ = take(0x2D) }
      guard digitCount() > 0 else { throw malformed("a digit was expected in the exponent") }
    }
    let text = String(decoding: input[start..<offset], as: UTF8.self)
    if isInteger {
      guard let integer = Int64(text) else { throw malformed("an integer beyond 64 bits ends here") }
      return .integer(integer)
    }
    guard let real = Double(text), real.isFinite else { throw malformed("a number beyond a double's range ends here") }
    return .real(real == 0 ? 0 : real)
  }

  private mutating func digitCount() -> Int {
    let start = offset
    while offset < input.count, (0x30...0x39).contains(input[offset]) { offset += 1 }
    return offset - start
  }

  private mutating func string() throws -> String {
    offset += 1
    var text: [UInt8] = []
    var start = offset
    while offset < input.count {
      switch input[offset] {
      case 0x22:
        text.append(contentsOf: input[start..<offset])
        guard let string = String(validating: text, as: UTF8.self) else { throw malformed("text that is not UTF-8") }
        offset += 1
        return string
      case 0x5C:
        text.append(contentsOf: input[start..<offset])
        offset += 1
        try escape(into: &text)
        start = offset
      case 0..<0x20: throw malformed("a control character inside a string")
      default: offset += 1
      }
    }
    throw malformed("the text ends inside a string")
  }

  private mutating func escape(into text: inout [UInt8]) throws {
    guard offset < input.count else { throw malformed("the text ends inside a string") }
    let character = input[offset]
    offset += 1
    switch character {
    case 0x22, 0x5C, 0x2F: text.append(character)
    case 0x62: text.append(0x08)
    case 0x66: text.append(0x0C)
    case 0x6E: text.append(0x0A)
    case 0x72: text.append(0x0D)
    case 0x74: text.append(0x09)
    case 0x75:
      var code = try hexadecimal()
      if (0xD800..<0xDC00).contains(code) {
        guard take(0x5C), take(0x75) else { throw malformed("half of a surrogate pair") }
        let low = try hexadecimal()
        guard (0xDC00..<0xE000).contains(low) else { throw malformed("half of a surrogate pair") }
        code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
      }
      guard let scalar = Unicode.Scalar(code) else { throw malformed("half of a surrogate pair") }
      text.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
    default: throw malformed("an escape that JSON does not have")
    }
  }

  private mutating func hexadecimal() throws -> UInt32 {
    guard input.count - offset >= 4 else { throw malformed("the text ends inside a string") }
    var code: UInt32 = 0
    for _ in 0..<4 {
      let digit: UInt8
      switch input[offset] {
      case 0x30...0x39: digit = input[offset] - 0x30
      case 0x41...0x46: digit = input[offset] - 0x41 + 10
      case 0x61...0x66: digit = input[offset] - 0x61 + 10
      default: throw malformed("four hexadecimal digits were expected")
      }
      code = code << 4 | UInt32(digit)
      offset += 1
    }
    return code
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard offset < input.count, input[offset] == byte else { return false }
    offset += 1
    return true
  }

  private mutating func skipSpace() {
    while offset < input.count {
      let byte = input[offset]
      guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
      offset += 1
    }
  }

  private func malformed(_ reason: String) -> JSONMalformed {
    let before = input[..<min(offset, input.count)]
    let line = before.count { $0 == 0x0A } + 1
    let column = before.count - (before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0) + 1
    return JSONMalformed(line: line, column: column, reason: reason)
  }
}
