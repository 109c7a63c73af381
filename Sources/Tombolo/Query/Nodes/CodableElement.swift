import Foundation
import TomboloProtocol
import TomboloSQLite

/// An element of a stored array by its index, or of a stored dictionary by its key: an SQL function decodes the value and
/// asks Swift for it, as for a ``CodableMember``.
struct CodableElement: Sendable {
  /// Names it in SQL.
  let number: Int
  let type: AttributeType
  let isOptional: Bool
  private let read: @Sendable (_ text: String, _ place: Value) throws -> Value

  private struct Known: Sendable {
    var numbers: [ObjectIdentifier: Int] = [:]
    var elements: [CodableElement] = []
  }
  /// One for each type of a collection that a predicate of this process asked: as many as are written in the program.
  private static let known = Guarded(Known())

  /// Nil for a type that is no array and no dictionary, or whose elements are not `Codable`.
  static func of(_ collection: any Any.Type) -> CodableElement? {
    guard let collection = collection as? any ElementCollection.Type else { return nil }
    let (type, isOptional) = column(of: collection.elementType)
    let read = reader(collection, as: .attribute(type))
    return known.withLock { known in
      if let number = known.numbers[ObjectIdentifier(collection)] { return known.elements[number] }
      let element = CodableElement(number: known.elements.count, type: type, isOptional: isOptional, read: read)
      known.numbers[ObjectIdentifier(collection)] = element.number
      known.elements.append(element)
      return element
    }
  }

  private static func column<Element: Codable>(of type: Element.Type) -> (AttributeType, Bool) {
    let reader = AttributeReader(type)
    return (reader.type, reader.isOptional)
  }

  private static func reader<Elements: ElementCollection>(
    _ type: Elements.Type, as element: ScalarType
  ) -> @Sendable (String, Value) throws -> Value {
    { text, place in
      let elements: Elements
      do { elements = try JSONDecoder().decode(type, from: Data(text.utf8)) } catch {
        throw QueryFunctions.Failure(reason: "a stored value is no \(type)")
      }
      guard let found = try elements.element(at: place) else { return .null }
      return try QueryConstant(found, as: element).value ?? .null
    }
  }

  static func register(on connection: Connection) throws {
    try connection.define("tombolo_element", arguments: 3) { arguments in
      guard case .text(let text) = arguments[0], case .integer(let number) = arguments[1] else { return .null }
      let elements = known.withLock { $0.elements }
      guard elements.indices.contains(Int(number)) else { return .null }
      return Connection.FunctionValue(try elements[Int(number)].read(text, Value(arguments[2])))
    }
  }

  /// SQL for the element; a place that an array does not have makes the fetch fail.
  func scalar(of base: QueryScalar, at place: QueryScalar, mayBeAbsent: Bool) -> QueryScalar {
    var result = QueryScalar("tombolo_element(\(base.sql), \(number), \(place.comparable))", .atom, .attribute(type))
    result.isNullable = base.isNullable || place.isNullable || isOptional || mayBeAbsent
    result.nullWith = base.nullWith
    result.mayFail = base.mayFail || place.mayFail || !mayBeAbsent
    result.mayBeNaN = type == .double || type == .float
    return result
  }
}

/// A collection whose elements have places that SQL can name.
private protocol ElementCollection: Decodable, SendableMetatype {
  static var elementType: any Codable.Type { get }
  /// Nil where there is none.
  func element(at place: TomboloProtocol.Value) throws -> Any?
}

extension Array: ElementCollection where Element: Codable {
  fileprivate static var elementType: any Codable.Type { Element.self }
  fileprivate func element(at place: TomboloProtocol.Value) throws -> Any? {
    guard case .integer(let index) = place, indices.contains(Int(index)) else {
      throw QueryFunctions.Failure(reason: "an index lies outside of a stored array")
    }
    return withoutOptional(self[Int(index)])
  }
}

extension Dictionary: ElementCollection where Key: Codable, Value: Codable {
  fileprivate static var elementType: any Codable.Type { Value.self }
  fileprivate func element(at place: TomboloProtocol.Value) throws -> Any? {
    for (key, value) in self where try QueryConstant(key).value == place { return withoutOptional(value) }
    return nil
  }
}
