extension JSONValue {
  /// Without whitespace, keys sorted: equal values give equal bytes.
  package var compact: [UInt8] {
    var writer = JSONWriter(indentation: nil)
    writer.write(self, depth: 0)
    return writer.bytes
  }

  /// For people: two spaces a level, and a line break at the end.
  package var indented: [UInt8] {
    var writer = JSONWriter(indentation: 2)
    writer.write(self, depth: 0)
    return writer.bytes + [0x0A]
  }
}

private struct JSONWriter {
  var bytes: [UInt8] = []
  /// Spaces a level; nil for no whitespace at all.
  let indentation: Int?

  init(indentation: Int?) { self.indentation = indentation }

  mutating func write(_ value: JSONValue, depth: Int) {
    switch value {
    case .null: append("null")
    case .bool(let value): append(value ? "true" : "false")
    case .integer(let value): append(String(value))
    // Swift's description is the shortest text that reads as the same number, and keeps a point or an exponent.
    case .real(let value): append((value == 0 ? 0 : value).description)
    case .string(let text): write(text)
    case .array(let elements):
      write(elements.count, between: "[]", depth: depth) { writer, index in
        writer.write(elements[index], depth: depth + 1)
      }
    case .object(let object):
      write(object.members.count, between: "{}", depth: depth) { writer, index in
        writer.write(object.members[index].key)
        writer.append(writer.indentation == nil ? ":" : ": ")
        writer.write(object.members[index].value, depth: depth + 1)
      }
    }
  }

  private mutating func write(
    _ count: Int, between brackets: String, depth: Int, element: (inout JSONWriter, Int) -> Void
  ) {
    append(brackets.prefix(1))
    for index in 0..<count {
      if index > 0 { append(",") }
      breakLine(depth: depth + 1)
      element(&self, index)
    }
    if count > 0 { breakLine(depth: depth) }
    append(brackets.suffix(1))
  }

  private mutating func breakLine(depth: Int) {
    guard let indentation else { return }
    bytes.append(0x0A)
    bytes.append(contentsOf: repeatElement(0x20, count: indentation * depth))
  }

  private mutating func append(_ text: some StringProtocol) { bytes.append(contentsOf: text.utf8) }

  private mutating func write(_ text: String) {
    bytes.append(0x22)
    for byte in text.utf8 {
      switch byte {
      case 0x22: append("\\\"")
      case 0x5C: append("\\\\")
      case 0x0A: append("\\n")
      case 0x0D: append("\\r")
      case 0x09: append("\\t")
      case 0..<0x20:
        let digits = Array("0123456789abcdef".utf8)
        append("\\u00")
        bytes.append(digits[Int(byte >> 4)])
        bytes.append(digits[Int(byte & 15)])
      default: bytes.append(byte)
      }
    }
    bytes.append(0x22)
  }
}
