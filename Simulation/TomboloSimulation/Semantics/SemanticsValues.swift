import TomboloProtocol

/// Values that stand for what people write.
enum SemanticsValues {
  /// Whose value it is. That of the first is the one that `.max` and `.min` keep, although it is the earlier one.
  enum Whose { case old, first, second }

  /// - Parameter number: makes the value one that no other record has.
  static func value(of attribute: SchemaAttribute, _ whose: Whose, number: Int? = nil) -> Value {
    let isMinimum = attribute.merge == .min
    let rank =
      switch whose {
      case .old: isMinimum ? 9 : 1
      case .first: isMinimum ? 3 : 5
      case .second: isMinimum ? 5 : 3
      }
    let isRanked = attribute.merge == .max || isMinimum
    let size = number ?? rank
    let word = isRanked ? "\(rank)" : whose == .old ? "old" : whose == .first ? "one" : "two"
    let text = number.map { "\(word) \($0)" } ?? word
    switch attribute.type {
    case .bool:
      if whose == .second, attribute.isOptional { return .null }
      return .integer(whose == .first ? 1 : 0)
    case .int8, .uint8: return .integer(Int64(size % 120))
    case .int16, .int32, .int64, .uint16, .uint32, .uint64: return .integer(Int64(size))
    case .float, .double: return .real(Double(size))
    case .decimal: return .text("\(size)")
    case .string: return .text(text)
    case .date: return .real(800_000_000 + Double(size) * 86_400)
    case .data: return .blob(Array("\(text)".utf8))
    case .uuid: return .blob(RecordID(high: 0x4000, low: 0x8000_0000_0000_0000 | UInt64(size)).bytes)
    case .url: return .text("https://example.org/\(text.split(separator: " ").joined(separator: "/"))")
    case .codable: return .text("{\"value\":\"\(text)\"}")
    }
  }

  /// Whether two people can write two values into it that differ from the old one and from each other.
  static func admitsTwo(_ attribute: SchemaAttribute) -> Bool { attribute.type != .bool || attribute.isOptional }
}
