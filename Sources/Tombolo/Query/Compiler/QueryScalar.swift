import TomboloProtocol

/// What one value of a compiled predicate is: decides how constants are bound to it and how it is compared.
enum ScalarType: Hashable {
  case attribute(AttributeType)
  /// A record's key.
  case record
}

extension ScalarType {
  static let bool = ScalarType.attribute(.bool)
  static let text = ScalarType.attribute(.string)
  static let integer = ScalarType.attribute(.int64)
  static let double = ScalarType.attribute(.double)

  var isText: Bool { self == .text }
  var isDecimal: Bool { self == .attribute(.decimal) }
  /// Text for SQLite, but compared byte for byte: URL, Codable, Decimal's equality.
  var isFloatingPoint: Bool { self == .double || self == .attribute(.float) }

  /// The bounds of an integer type as SQLite can hold them; nil for other types.
  var integerBounds: ClosedRange<Int64>? {
    guard case .attribute(let type) = self else { return nil }
    switch type {
    case .int8: return Int64(Int8.min)...Int64(Int8.max)
    case .int16: return Int64(Int16.min)...Int64(Int16.max)
    case .int32: return Int64(Int32.min)...Int64(Int32.max)
    case .int64: return Int64.min...Int64.max
    case .uint8: return 0...Int64(UInt8.max)
    case .uint16: return 0...Int64(UInt16.max)
    case .uint32: return 0...Int64(UInt32.max)
    case .uint64: return 0...Int64.max
    default: return nil
    }
  }
}

/// A piece of SQL that is one value.
struct QueryScalar {
  /// How tightly the text's outermost operator binds, so that parentheses stand only where they are needed:
  /// SQLite's parser takes few levels of them.
  enum Binding: Int, Comparable {
    case or, and, not, equality, comparison, arithmetic, atom
    static func < (a: Binding, b: Binding) -> Bool { a.rawValue < b.rawValue }
  }

  /// A value that is there only under a condition: `if let`, `?.`, `as?`.
  struct Guarded {
    /// The condition, never null.
    var presence: String
    var presenceBinding: Binding
    /// The value where the condition holds.
    var value: String
    var valueBinding: Binding
    /// Whether the value may be null though the condition holds.
    var valueIsNullable: Bool
  }

  var sql: String
  var binding: Binding
  var type: ScalarType
  var isNullable = false
  /// Text only: known to be in composed form (NFC).
  var isComposed = true
  /// It may fail while it runs (`x!`, overflow), so the order of evaluation has to be Swift's.
  var mayFail = false
  /// A captured NaN, which SQLite cannot hold: it equals nothing and is in no order.
  var isNaN = false
  /// Floating-point arithmetic may give NaN, which SQLite turns into null.
  var mayBeNaN = false
  /// SQL expressions; this one is null whenever one of them is.
  var nullWith: [String] = []
  var guarded: Guarded?

  init(_ sql: String, _ binding: Binding = .atom, _ type: ScalarType) {
    self.sql = sql
    self.binding = binding
    self.type = type
  }

  static func condition(_ sql: String, _ binding: Binding, mayFail: Bool = false) -> QueryScalar {
    var scalar = QueryScalar(sql, binding, .bool)
    scalar.mayFail = mayFail
    return scalar
  }

  static let yes = QueryScalar("1", .atom, .bool)
  static let no = QueryScalar("0", .atom, .bool)

  /// Its value, where it is a Boolean constant.
  var booleanConstant: Bool? { type != .bool ? nil : sql == "1" ? true : sql == "0" ? false : nil }

  /// The text, in parentheses unless its operator binds tighter than `outer`.
  func inside(_ outer: Binding) -> String { binding > outer ? sql : "(\(sql))" }

  /// Text in a form that compares as Swift does.
  var comparable: String { type.isText && !isComposed ? "tombolo_composed(\(sql))" : sql }
  var comparableBinding: Binding { type.isText && !isComposed ? .atom : binding }
  func comparable(inside outer: Binding) -> String { comparableBinding > outer ? comparable : "(\(comparable))" }
}
