import Foundation
package import TomboloProtocol

/// Reads what a person typed, or a cell of a CSV file, as a value of an attribute's type.
package enum ValueParser {
  /// - Parameter place: what the error names, as `Airport.latitude`.
  /// - Throws: `wrong_type`, `integer_out_of_range`, `not_a_number`, `decimal_out_of_range`.
  package static func value(_ text: String, of attribute: SchemaAttribute, at place: String) throws -> Value {
    switch attribute.type {
    case .bool: return try bool(text, place)
    case .int8: return try integer(text, Int8.self, place)
    case .int16: return try integer(text, Int16.self, place)
    case .int32: return try integer(text, Int32.self, place)
    case .int64: return try integer(text, Int64.self, place)
    case .uint8: return try integer(text, UInt8.self, place)
    case .uint16: return try integer(text, UInt16.self, place)
    case .uint32: return try integer(text, UInt32.self, place)
    case .uint64: return try integer(text, UInt64.self, place)
    case .float: return .real(try real(text, place) { Float($0).map(Double.init) })
    case .double: return .real(try real(text, place) { Double($0) })
    case .decimal: return .text(try DecimalText.normalized(text, at: place))
    case .string: return .text(text)
    case .date:
      guard let seconds = DateText.seconds(of: trimmed(text)) else {
        throw wrong(place, "a date as 2024-05-31, 2024-05-31T14:05:00Z or 2024-05-31T14:05:00+02:00")
      }
      return .real(seconds)
    case .data:
      guard let bytes = Data(base64Encoded: trimmed(text)) else { throw wrong(place, "bytes in base64") }
      return .blob([UInt8](bytes))
    case .uuid:
      guard let id = RecordID(trimmed(text)) else { throw wrong(place, "a UUID") }
      return .blob(id.bytes)
    case .url:
      let text = trimmed(text)
      guard !text.isEmpty, URL(string: text) != nil else { throw wrong(place, "a URL") }
      return .text(text)
    case .codable: return .text(try json(text, place))
    }
  }

  private static func trimmed(_ text: String) -> String { text.trimmingCharacters(in: .whitespaces) }

  private static func wrong(_ place: String, _ expected: String) -> TomboloError {
    TomboloError(.wrongType, "The value for \(place) cannot be read.", remedy: "It takes \(expected).")
  }

  private static func bool(_ text: String, _ place: String) throws -> Value {
    switch trimmed(text).lowercased() {
    case "true", "yes", "1": return .integer(1)
    case "false", "no", "0": return .integer(0)
    default: throw wrong(place, "true or false")
    }
  }

  private static func integer<Integer: FixedWidthInteger>(
    _ text: String, _ type: Integer.Type, _ place: String
  ) throws -> Value {
    let text = trimmed(text)
    let digits = text.first == "-" || text.first == "+" ? text.dropFirst() : text[...]
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      throw wrong(place, "a whole number")
    }
    // A column has 64 bits with a sign, so the upper half of UInt64 has no place.
    guard let number = Integer(text), let stored = Int64(exactly: number) else {
      throw TomboloError(
        .integerOutOfRange, "The number for \(place) does not fit.",
        remedy: "It takes whole numbers from \(Integer.min) to \(min(UInt64(clamping: Integer.max), UInt64(Int64.max))).")
    }
    return .integer(stored)
  }

  private static func real(_ text: String, _ place: String, _ read: (String) -> Double?) throws -> Double {
    let text = trimmed(text)
    let isPlain = text.utf8.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x2B, 0x2D, 0x2E, 0x45, 0x65: true
      default: false
      }
    }
    let infinities = ["infinity": Double.infinity, "+infinity": .infinity, "-infinity": -.infinity]
    if let infinity = infinities[text.lowercased()] { return infinity }
    if text.lowercased() == "nan" {
      throw TomboloError(.notANumber, "The value for \(place) is NaN, which has no place in a store.")
    }
    guard isPlain, let number = read(text) else { throw wrong(place, "a number") }
    // A number beyond the largest one reads as infinity, which nobody wrote.
    guard number.isFinite else { throw wrong(place, "a number within the range of its type") }
    return number == 0 ? 0 : number
  }

  private static func json(_ text: String, _ place: String) throws -> String {
    guard let object = try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed),
      let data = try? JSONSerialization.data(
        withJSONObject: object, options: [.sortedKeys, .fragmentsAllowed, .withoutEscapingSlashes])
    else { throw wrong(place, "JSON") }
    return String(decoding: data, as: UTF8.self)
  }
}

/// Decimals as a store keeps them: plain digits, no exponent, no zeros that say nothing.
package enum DecimalText {
  /// What Foundation's `Decimal` holds exactly.
  private static let digitsMax = 38

  package static func normalized(_ text: String, at place: String) throws -> String {
    var rest = text.trimmingCharacters(in: .whitespaces)[...]
    let isNegative = rest.hasPrefix("-")
    if isNegative || rest.hasPrefix("+") { rest = rest.dropFirst() }
    let parts = rest.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    let whole = parts.first ?? ""
    let fraction = parts.count > 1 ? parts[1] : ""
    guard !(whole.isEmpty && fraction.isEmpty),
      (whole + fraction).utf8.allSatisfy({ (0x30...0x39).contains($0) })
    else {
      throw TomboloError(.wrongType, "The value for \(place) cannot be read.", remedy: "It takes a decimal number.")
    }
    let integer = whole.drop { $0 == "0" }
    var decimals = fraction
    while decimals.last == "0" { decimals = decimals.dropLast() }
    guard integer.count + decimals.count <= digitsMax else {
      throw TomboloError(
        .decimalOutOfRange, "The number for \(place) has more than \(digitsMax) digits, and would not be kept exactly.")
    }
    let digits = (integer.isEmpty ? "0" : String(integer)) + (decimals.isEmpty ? "" : "." + decimals)
    return isNegative && digits != "0" ? "-" + digits : digits
  }
}
