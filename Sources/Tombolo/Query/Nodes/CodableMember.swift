import Foundation
import TomboloProtocol
import TomboloSQLite

/// A property of a `Codable` value, which a column holds as JSON: an SQL function decodes the value and asks Swift for it.
///
/// What the JSON calls the property is the type's own business (`CodingKeys`), and a computed property is not in it: so only
/// Swift has the answer that a pending object gives. No index serves such a predicate.
struct CodableMember: @unchecked Sendable {
  // Guarded by being immutable; the key path is a literal that captures nothing.

  /// Names it in SQL.
  let number: Int
  let type: AttributeType
  let isOptional: Bool
  private let read: (String) throws -> Value

  private struct Key: Hashable, @unchecked Sendable {
    // Guarded as above.
    let root: ObjectIdentifier
    let path: AnyKeyPath
  }
  private struct Known: Sendable {
    var numbers: [Key: Int] = [:]
    var members: [CodableMember] = []
  }
  /// Every property that a predicate of this process asked for: as many as are written in the program.
  private static let known = Guarded(Known())

  /// Nil for a value that cannot be decoded, or a property of a type that is no column's and not `Codable`.
  static func of(_ property: ScalarProperty) -> CodableMember? {
    guard let root = property.rootType as? any Decodable.Type, let value = property.valueType as? any Codable.Type
    else { return nil }
    let key = Key(root: ObjectIdentifier(property.rootType), path: property.path)
    let (type, isOptional) = column(of: value)
    let read = reader(root, property.path, as: .attribute(type))
    return known.withLock { known in
      if let number = known.numbers[key] { return known.members[number] }
      let member = CodableMember(number: known.members.count, type: type, isOptional: isOptional, read: read)
      known.numbers[key] = member.number
      known.members.append(member)
      return member
    }
  }

  private static func column<Member: Codable>(of type: Member.Type) -> (AttributeType, Bool) {
    let reader = AttributeReader(type)
    return (reader.type, reader.isOptional)
  }

  private static func reader<Root: Decodable>(
    _ root: Root.Type, _ path: AnyKeyPath, as type: ScalarType
  ) -> (String) throws -> Value {
    { text in
      let value: Root
      do { value = try JSONDecoder().decode(root, from: Data(text.utf8)) } catch {
        throw QueryFunctions.Failure(reason: "a stored value is no \(root)")
      }
      guard let member = value[keyPath: path].flatMap({ withoutOptional($0) }) else { return .null }
      return try QueryConstant(member, as: type).value ?? .null
    }
  }

  static func register(on connection: Connection) throws {
    try connection.define("tombolo_member", arguments: 2) { arguments in
      guard case .text(let text) = arguments[0], case .integer(let number) = arguments[1] else { return .null }
      let members = known.withLock { $0.members }
      guard members.indices.contains(Int(number)) else { return .null }
      return Connection.FunctionValue(try members[Int(number)].read(text))
    }
  }

  /// SQL for the property of a value.
  func scalar(of base: QueryScalar) -> QueryScalar {
    var result = QueryScalar("tombolo_member(\(base.sql), \(number))", .atom, .attribute(type))
    result.isNullable = base.isNullable || isOptional
    result.nullWith = base.nullWith
    result.mayFail = base.mayFail
    result.mayBeNaN = type == .double || type == .float
    return result
  }
}
