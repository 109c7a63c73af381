import Foundation
import TomboloProtocol

/// Captured Swift values as parameters.
extension QueryCompiler {
  /// - Parameter type: the other side of a comparison; nil to go by the value itself.
  func constant(_ value: Any?, as type: ScalarType? = nil) throws -> QueryScalar {
    guard let value = value.flatMap({ withoutOptional($0) }) else {
      var scalar = QueryScalar("NULL", .atom, type ?? .text)
      scalar.isNullable = true
      return scalar
    }
    if let flag = value as? Bool { return flag ? .yes : .no }
    let encoded = try QueryConstant(value, as: type)
    var scalar = QueryScalar("NULL", .atom, type ?? encoded.type)
    if let value = encoded.value {
      scalar.sql = try bind(value)
    } else {
      scalar.isNaN = true
    }
    return scalar
  }
}

/// A captured value in the form in which a column holds it.
struct QueryConstant {
  /// Nil for NaN, which no column can hold.
  let value: Value?
  let type: ScalarType

  init(_ value: Any, as type: ScalarType? = nil) throws {
    if case .attribute(.codable) = type, let codable = value as? any Encodable {
      self.init(.text(try Self.json(codable)), .codable)
      return
    }
    switch value {
    case let value as String: self.init(.text(value.composed), .string)
    case let value as Int: self.init(.integer(Int64(value)), .int64)
    case let value as Double: self.init(real: value, .double)
    case let value as Bool: self.init(.integer(value ? 1 : 0), .bool)
    case let value as Date: self.init(real: value.timeIntervalSinceReferenceDate, .date)
    case let value as any RecordReferencing:
      self.init(reference: value.recordReference)
    case let value as UUID: self.init(.blob(withUnsafeBytes(of: value.uuid) { [UInt8]($0) }), .uuid)
    case let value as Decimal: try self.init(decimal: value)
    case let value as Data: self.init(.blob([UInt8](value)), .data)
    case let value as URL: self.init(.text(value.absoluteString), .url)
    case let value as Float: self.init(real: Double(value), .float)
    case let value as any BinaryInteger: try self.init(integer: value)
    case let value as Character: self.init(.text(String(value).composed), .string)
    case let value as Substring: self.init(.text(String(value).composed), .string)
    case let value as any RawRepresentable: try self.init(value.rawValue, as: type)
    case let value as any Encodable: self.init(.text(try Self.json(value)), .codable)
    default:
      throw QueryFailure.unsupported(
        "a captured value of type \(Swift.type(of: value))",
        instead: "Capture a value of a type that an attribute may have.")
    }
  }

  private init(_ value: Value, _ type: AttributeType) {
    self.value = value
    self.type = .attribute(type)
  }

  private init(reference: RecordID?) {
    value = Value(reference: reference)
    type = .record
  }

  private init(real: Double, _ type: AttributeType) {
    // -0.0 is stored as 0.0, and SQLite would bind NaN as NULL.
    value = real.isNaN ? nil : .real(real == 0 ? 0 : real)
    self.type = .attribute(type)
  }

  private init(decimal: Decimal) throws {
    value = decimal.isNaN ? nil : .text(DecimalText.text(of: decimal))
    type = .attribute(.decimal)
  }

  private init(integer: any BinaryInteger) throws {
    if let exact = Int64(exactly: integer) {
      self.init(.integer(exact), .int64)
    } else if let unsigned = UInt64(exactly: integer) {
      // Greater than any that a column holds; SQLite compares integers with reals exactly.
      self.init(.real(Double(unsigned)), .uint64)
    } else {
      throw QueryFailure.unsupported("an integer of more than 64 bits", instead: "Capture an Int64.")
    }
  }

  private static func json(_ value: any Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }
}
