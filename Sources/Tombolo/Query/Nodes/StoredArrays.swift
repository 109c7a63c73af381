import Foundation
import TomboloProtocol

/// Arrays and sets of simple values, which a column holds as JSON, as rows of SQLite's `json_each`
/// (https://sqlite.org/json1.html#jeach).
extension QueryCompiler {
  /// The rows of a stored array, and one element of it.
  struct StoredElements {
    /// What stands after FROM.
    let source: String
    let element: QueryScalar
    let mayFail: Bool
  }

  /// - Throws: `unsupported_predicate` for elements that JSON does not hold as what they are.
  func elements(of array: QueryScalar, _ type: any Any.Type) throws -> StoredElements {
    guard array.type == .attribute(.codable), let sequence = type as? any ArrayValue.Type,
      let elementType = Self.elementType(of: sequence)
    else {
      throw QueryFailure.unsupported(
        "the elements of a stored \(type)",
        instead: "Only those of arrays and sets of texts, integers and Booleans can be asked.")
    }
    let alias = makeAlias()
    var element = QueryScalar("\(alias).value", .atom, elementType)
    element.isComposed = !elementType.isText
    return StoredElements(source: "json_each(\(array.sql)) AS \(alias)", element: element, mayFail: array.mayFail)
  }

  /// The value of a key in a stored dictionary, null where there is none.
  func entry(
    of stored: QueryScalar, _ type: any Any.Type, _ valueType: any Any.Type, _ key: QueryOperand
  ) throws -> QueryScalar {
    guard stored.type == .attribute(.codable) else {
      throw QueryFailure.unsupported(
        "a subscript of a stored \(type)", instead: "Store what you filter by in its own property.")
    }
    guard type is any TextKeyed.Type, let type = Self.simpleType(valueType) else {
      guard let element = CodableElement.of(type) else {
        throw QueryFailure.unsupported(
          "a subscript of a stored \(type), whose keys or values are not Codable",
          instead: "Store what you filter by in its own property.")
      }
      return element.scalar(of: stored, at: try scalar(key), mayBeAbsent: true)
    }
    let key = try scalar(key, as: .text)
    let alias = makeAlias()
    var result = QueryScalar(
      "(SELECT \(alias).value FROM json_each(\(stored.sql)) AS \(alias) "
        + "WHERE tombolo_composed(\(alias).key) = \(key.comparable(inside: .equality)))", .atom, type)
    result.isComposed = !type.isText
    result.isNullable = true
    result.mayFail = stored.mayFail || key.mayFail
    return result
  }

  private static func elementType(of sequence: (some ArrayValue).Type) -> ScalarType? {
    simpleType(sequence.elementType)
  }

  /// The type of a value that JSON holds as what it is; nil for others.
  private static func simpleType(_ type: any Any.Type) -> ScalarType? {
    switch type {
    case is String.Type: .text
    case is Bool.Type: .bool
    case is Int.Type, is Int64.Type: .integer
    case is Int8.Type: .attribute(.int8)
    case is Int16.Type: .attribute(.int16)
    case is Int32.Type: .attribute(.int32)
    case is UInt8.Type: .attribute(.uint8)
    case is UInt16.Type: .attribute(.uint16)
    case is UInt32.Type: .attribute(.uint32)
    case let raw as any RawRepresentable.Type where raw is any Encodable.Type: rawType(of: raw)
    default: nil
    }
  }

  private static func rawType<Raw: RawRepresentable>(of type: Raw.Type) -> ScalarType? {
    Raw.RawValue.self == String.self ? .text : Raw.RawValue.self == Int.self ? .integer : nil
  }

  static func exists(_ rows: StoredElements, where condition: QueryScalar) -> QueryScalar {
    .condition(
      "EXISTS (SELECT 1 FROM \(rows.source) WHERE \(condition.sql))", .atom,
      mayFail: rows.mayFail || condition.mayFail)
  }

  /// A stored array of those elements that satisfy a test.
  func filter(
    _ array: QueryScalar, of type: any Any.Type, variable: PredicateExpressions.VariableID,
    test: some PredicateExpression
  ) throws -> QueryScalar {
    let rows = try elements(of: array, type)
    define(variable, as: .scalar(rows.element))
    let condition = try condition(test, toleratesNull: true)
    var result = array
    // Without rows there is no array, rather than an empty one: an aggregate gives one row.
    result.sql = "(SELECT json_group_array(\(rows.element.sql)) FROM \(rows.source) WHERE \(condition.sql))"
    result.binding = .atom
    result.guarded = nil
    result.nullWith = []
    result.isNullable = false
    result.mayFail = rows.mayFail || condition.mayFail
    return result
  }

  /// The greatest or least element of a stored array; null for an empty one.
  func extreme(_ function: String, _ array: QueryOperand, of type: any Any.Type) throws -> QueryScalar {
    guard case .scalar(let array) = array else {
      throw QueryFailure.unsupported(
        "\(function)() on such a value", instead: "Use contains(where:) or allSatisfy with a comparison.")
    }
    let rows = try elements(of: array, type)
    var result = rows.element
    result.sql = "(SELECT \(function)(\(rows.element.comparable)) FROM \(rows.source))"
    result.isComposed = true
    result.isNullable = true
    result.mayFail = rows.mayFail
    return result
  }
}

/// Dictionaries with texts as keys are stored as JSON objects.
protocol TextKeyed {}
extension Dictionary: TextKeyed where Key == String {}

/// Arrays and sets are stored as JSON arrays.
protocol ArrayValue {
  static var elementType: any Any.Type { get }
}
extension Array: ArrayValue {
  static var elementType: any Any.Type { Element.self }
}
extension Set: ArrayValue {
  static var elementType: any Any.Type { Element.self }
}
