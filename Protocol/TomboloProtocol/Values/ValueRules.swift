private import Foundation

/// What a value of each attribute type may be, and its one form: shared by store, server, import and command line.
///
/// No message holds the value itself.
package enum ValueRules {
  /// The value in the one form that rows, wire and checksums hold.
  ///
  /// - Parameter name: what messages call the attribute, as `Book.price`.
  /// - Throws: ``TomboloError`` with ``ErrorCode/wrongType``, ``ErrorCode/integerOutOfRange``, ``ErrorCode/floatOutOfRange``, ``ErrorCode/notANumber``,
  ///   ``ErrorCode/decimalOutOfRange``. Null passes: whether it may be is ``normalized(_:for:of:)``'s matter.
  package static func normalized(_ value: Value, as type: AttributeType, named name: String) throws -> Value {
    switch (value, type) {
    case (.null, _): return .null
    case (.integer(let integer), _) where type.integerRange != nil:
      return .integer(try checked(integer, as: type, named: name))
    case (.real(let real), .double), (.real(let real), .date): return .real(try checked(real, named: name))
    case (.real(let real), .float):
      let single = Float(try checked(real, named: name))
      guard single.isFinite || real.isInfinite else {
        throw TomboloError(
          .floatOutOfRange, "A value of \(name) does not fit a 32-bit float.", remedy: "Declare it Double.")
      }
      return .real(Double(single))
    // A number without a fraction that somebody wrote in the shell, or left out in JSON.
    case (.integer(let integer), .double), (.integer(let integer), .float), (.integer(let integer), .date):
      return try normalized(.real(Double(integer)), as: type, named: name)
    case (.text(let text), .decimal):
      guard let canonical = try DecimalForm.canonical(text) else { throw wrongType(name, type) }
      return .text(canonical)
    case (.text, .string), (.text, .url), (.text, .codable), (.blob, .data): return value
    case (.blob(let bytes), .uuid) where bytes.count == 16: return value
    default: throw wrongType(name, type)
    }
  }

  /// As above, and refuses null where the attribute is required.
  ///
  /// - Throws: also ``ErrorCode/requiredAttribute``.
  package static func normalized(_ value: Value, for attribute: SchemaAttribute, of entity: String) throws -> Value {
    let name = "\(entity).\(attribute.name)"
    guard !value.isNull || attribute.isOptional else {
      throw TomboloError(.requiredAttribute, "\(name) is required and has no value.", remedy: "Give it a value.")
    }
    return try normalized(value, as: attribute.type, named: name)
  }

  /// Whether text is in composed form (NFC), so that equal texts have equal bytes.
  package static func isComposed(_ text: String) -> Bool {
    // Below U+0300 there is nothing that composes or could have been decomposed.
    if text.utf8.allSatisfy({ $0 < 0xCC }) { return true }
    return text.precomposedStringWithCanonicalMapping.utf8.elementsEqual(text.utf8)
  }

  /// The composed form (NFC) of text.
  package static func composed(_ text: String) -> String {
    text.utf8.allSatisfy { $0 < 0xCC } ? text : text.precomposedStringWithCanonicalMapping
  }

  private static func checked(_ integer: Int64, as type: AttributeType, named name: String) throws -> Int64 {
    guard type.integerRange?.contains(integer) ?? true else {
      throw TomboloError(
        .integerOutOfRange, "A value of \(name) does not fit \(type.rawValue).",
        remedy: type == .bool ? "Write 0 or 1." : "Use a wider type in a new attribute, or a smaller value.")
    }
    return integer
  }

  private static func checked(_ real: Double, named name: String) throws -> Double {
    guard !real.isNaN else {
      throw TomboloError(
        .notANumber, "A value of \(name) is not a number.",
        remedy: "Declare the attribute optional and save nil instead of NaN.")
    }
    // Both zeros are equal, so only one of them is kept.
    return real == 0 ? 0 : real
  }

  private static func wrongType(_ name: String, _ type: AttributeType) -> TomboloError {
    TomboloError(
      .wrongType, "A value of \(name) is not of its type, \(type.rawValue).", remedy: "Write \(type.inputForm).")
  }
}

extension AttributeType {
  /// What an integer type may hold; nil for other types.
  package var integerRange: ClosedRange<Int64>? {
    switch self {
    case .bool: 0...1
    case .int8: Int64(Int8.min)...Int64(Int8.max)
    case .int16: Int64(Int16.min)...Int64(Int16.max)
    case .int32: Int64(Int32.min)...Int64(Int32.max)
    case .int64: .min ... .max
    case .uint8: 0...Int64(UInt8.max)
    case .uint16: 0...Int64(UInt16.max)
    case .uint32: 0...Int64(UInt32.max)
    // SQLite's integers have 64 bits with a sign.
    case .uint64: 0 ... .max
    default: nil
    }
  }

  /// A whole number, not a Boolean.
  package var isInteger: Bool { integerRange != nil && self != .bool }

  /// How a value is written by hand, for messages.
  package var inputForm: String {
    switch self {
    case .bool: "true or false"
    case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64: "a whole number"
    case .float, .double: "a number, or inf"
    case .decimal: "a decimal number such as 12.50"
    case .string: "text"
    case .date: "a date such as 2026-11-30 or 2026-11-30T16:12:43Z"
    case .data: "base64"
    case .uuid: "a UUID"
    case .url: "a URL"
    case .codable: "JSON"
    }
  }
}
