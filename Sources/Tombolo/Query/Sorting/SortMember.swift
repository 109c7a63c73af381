import Foundation
import TomboloProtocol
import TomboloSQLite

/// The member of a `Codable` attribute or of an enum that a fetch is sorted by, as `\\.address.city`.
///
/// The rest of a key path behind the attribute cannot be had by itself, and what JSON calls the member is the type's own
/// business. So an SQL function decodes the attribute, lays it into an object made for the key path, and follows that.
struct SortMember: Sendable {
  /// Names it in SQL.
  let number: Int
  let type: ScalarType
  private let read: @Sendable (Value) throws -> Value

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
      let probe = SortProbe(path, in: model, references: references, attribute: attribute)
    else { return nil }
    let guarded = Guarded(probe)
    return known.withLock { known in
      let member = SortMember(number: known.members.count, type: type) { stored in
        try guarded.withLock { try $0.value(stored, as: type) }
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
      guard case .integer(let number) = arguments[1] else { return .null }
      let stored: Value
      switch arguments[0] {
      case .text(let text): stored = .text(text)
      case .integer(let raw): stored = .integer(raw)
      default: return .null
      }
      let members = known.withLock { $0.members }
      guard members.indices.contains(Int(number)) else { return .null }
      return Connection.FunctionValue(try members[Int(number)].read(stored))
    }
  }
}
