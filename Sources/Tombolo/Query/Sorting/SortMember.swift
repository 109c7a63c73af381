import Foundation
import TomboloProtocol
import TomboloSQLite

/// The member of a `Codable` attribute that a fetch is sorted by, as `\\.address.city`.
///
/// The rest of a key path behind the attribute cannot be had by itself, and what JSON calls the member is the type's own
/// business. So an SQL function decodes the attribute, lays it into an object made for the key path, and follows that.
struct SortMember: Sendable {
  /// Names it in SQL.
  let number: Int
  let type: ScalarType
  private let read: @Sendable (String) throws -> Value

  private struct Key: Hashable, @unchecked Sendable {
    // Guarded by being immutable; a key path of a sort descriptor captures nothing that changes.
    let path: AnyKeyPath
    let root: ObjectIdentifier
  }
  private struct Known: Sendable {
    var numbers: [Key: Int] = [:]
    var members: [SortMember] = []
  }
  /// As many as the program has key paths that it sorts by.
  private static let known = Guarded(Known())

  /// - Parameters:
  ///   - references: the key paths of the to-one relationships on the way to the attribute.
  /// - Returns: nil for a member that has no order, or an attribute that no object can be given.
  static func of(
    _ path: AnyKeyPath, in model: any PersistentModel.Type, references: [AnyKeyPath], attribute: AnyKeyPath
  ) -> SortMember? {
    let key = Key(path: path, root: ObjectIdentifier(model))
    if let known = known.withLock({ known in known.numbers[key].map { known.members[$0] } }) { return known }
    guard let type = columnType(of: Swift.type(of: path).valueType),
      let probe = Probe(path, in: model, references: references, attribute: attribute)
    else { return nil }
    let guarded = Guarded(probe)
    return known.withLock { known in
      let member = SortMember(number: known.members.count, type: type) { text in
        try guarded.withLock { try $0.value(text, as: type) }
      }
      known.numbers[key] = member.number
      known.members.append(member)
      return member
    }
  }

  private static func columnType(of type: any Any.Type) -> ScalarType? {
    if type == TextRank.self || type == TextRank?.self { return .attribute(.data) }
    guard let type = type as? any Codable.Type else { return nil }
    let column = attributeType(of: type)
    return column == .codable ? nil : .attribute(column)
  }

  private static func attributeType<Member: Codable>(of type: Member.Type) -> AttributeType {
    AttributeReader(type).type
  }

  static func register(on connection: Connection) throws {
    try connection.define("tombolo_sort_member", arguments: 2) { arguments in
      guard case .text(let text) = arguments[0], case .integer(let number) = arguments[1] else { return .null }
      let members = known.withLock { $0.members }
      guard members.indices.contains(Int(number)) else { return .null }
      return Connection.FunctionValue(try members[Int(number)].read(text))
    }
  }
}

/// An object that a key path is followed on.
private struct Probe {
  private let object: any PersistentModel
  private let path: AnyKeyPath
  private let assign: (Data) throws -> Void

  init?(
    _ path: AnyKeyPath, in model: any PersistentModel.Type, references: [AnyKeyPath], attribute: AnyKeyPath
  ) {
    guard let object = KeyPathProbe.object(of: model) else { return nil }
    var owner = object
    for reference in references {
      let root: Any = owner
      guard let next = root[keyPath: reference].flatMap({ withoutOptional($0) }) as? any PersistentModel else {
        return nil
      }
      owner = next
    }
    guard let type = Swift.type(of: attribute).valueType as? any Decodable.Type,
      let assign = Self.assignment(to: owner, attribute, type)
    else { return nil }
    (self.object, self.path, self.assign) = (object, path, assign)
  }

  private static func assignment<Model: PersistentModel, Member: Decodable>(
    to model: Model, _ attribute: AnyKeyPath, _ type: Member.Type
  ) -> ((Data) throws -> Void)? {
    guard let attribute = attribute as? ReferenceWritableKeyPath<Model, Member> else { return nil }
    return { data in model[keyPath: attribute] = try JSONDecoder().decode(type, from: data) }
  }

  func value(_ text: String, as type: ScalarType) throws -> Value {
    do { try assign(Data(text.utf8)) } catch {
      throw QueryFunctions.Failure(reason: "a stored value that is sorted by cannot be decoded")
    }
    let root: Any = object
    guard let value = root[keyPath: path].flatMap({ withoutOptional($0) }) else { return .null }
    if let rank = value as? TextRank { return .blob(Array(rank.key.text.utf8)) }
    return try QueryConstant(value, as: type).value ?? .null
  }
}
