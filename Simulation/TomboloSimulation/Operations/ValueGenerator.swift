import Tombolo
import TomboloProtocol

/// Values for attributes: mostly of a small set, so that replicas meet in them, now and then something odd.
struct ValueGenerator {
  private static let words = ["", "a", "b", "c", "d", "Zoë", "ZOË", "e\u{301}", "é", "naïve 🏖", "it's; --"]
  private static let decimals = ["0", "-1.5", "3.14159265358979323846", "100", "0.1"]
  private static let numbers: [Double] = [0, 1, -1.5, 0.1, 1e300, 2.5e-300, 798_000_000.125]

  /// Whether the type is one of the user's own, of whose values nothing is known: those keep their declared default.
  static func isOpaque(_ attribute: SchemaAttribute) -> Bool {
    attribute.cases.isEmpty && attribute.swiftType != nil
  }

  /// A value that the attribute may hold; nil only where it is optional.
  static func value(
    of attribute: SchemaAttribute, _ generator: inout SeededGenerator, clock: any WallClock
  ) -> Value {
    if attribute.isOptional, generator.chance(0.15) { return .null }
    if !attribute.cases.isEmpty { return generator.pick(attribute.cases) ?? .null }
    switch attribute.type {
    case .bool: return .integer(Int64(generator.below(2)))
    case .int8, .int16, .int32, .int64:
      return .integer(Int64(generator.below(12)) - 4)
    case .uint8, .uint16, .uint32, .uint64: return .integer(Int64(generator.below(12)))
    case .float: return .real(Double(Float(generator.below(9)) / 4))
    case .double: return .real(generator.pick(numbers) ?? 0)
    case .decimal: return .text(generator.pick(decimals) ?? "0")
    case .string: return .text(generator.pick(words) ?? "")
    case .date: return .real(Double(clock.milliseconds()) / 1000 - 978_307_200)
    case .data: return .blob((0..<generator.below(40)).map { _ in UInt8(truncatingIfNeeded: generator.next()) })
    case .uuid: return .blob(uuid(&generator))
    case .url: return .text("https://example.org/\(generator.below(5))")
    case .codable: return .text("{\"x\":\(generator.below(5))}")
    }
  }

  /// A value out of very few, so that unique keys collide.
  static func collidingValue(of attribute: SchemaAttribute, _ generator: inout SeededGenerator) -> Value {
    let number = generator.below(4)
    switch attribute.type {
    case .string: return .text("key-\(number)")
    case .decimal: return .text("\(number)")
    case .url: return .text("https://example.org/key-\(number)")
    case .codable: return .text("{\"key\":\(number)}")
    case .data: return .blob([UInt8(number)])
    case .uuid: return .blob([UInt8](repeating: UInt8(number), count: 16))
    case .double, .float, .date: return .real(Double(number))
    case .bool, .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64: return .integer(Int64(number))
    }
  }

  /// A value that no other record has.
  static func freshValue(of attribute: SchemaAttribute, _ generator: inout SeededGenerator) -> Value {
    let number = Int64(generator.next() >> 24)
    switch attribute.type {
    case .string, .decimal: return .text("\(number)")
    case .url: return .text("https://example.org/\(number)")
    case .codable: return .text("{\"fresh\":\(number)}")
    case .data, .uuid: return .blob(uuid(&generator))
    case .double, .float, .date: return .real(Double(number & 0xFF_FFFF))
    case .int8: return .integer(number & 0x7F)
    case .uint8: return .integer(number & 0xFF)
    case .int16, .uint16: return .integer(number & 0x7FFF)
    case .int32, .uint32: return .integer(number & 0x7FFF_FFFF)
    case .bool: return .integer(number & 1)
    case .int64, .uint64: return .integer(number)
    }
  }

  private static func uuid(_ generator: inout SeededGenerator) -> [UInt8] {
    RecordID(high: generator.next(), low: generator.next()).bytes
  }
}
