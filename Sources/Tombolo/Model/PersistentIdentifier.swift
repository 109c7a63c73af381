public import Foundation
package import TomboloProtocol

/// The identity of a record: the same before and after the first save, in every context, on every replica.
///
/// Encoded, it has the shape `{"implementation":{"primaryKey":…,"isTemporary":…,"entityName":…,"uriRepresentation":…}}`.
public struct PersistentIdentifier: Hashable, Comparable, Identifiable, Sendable {
  package let record: RecordID
  /// The entity, which is the class's name.
  public let entityName: String
  /// Names the store; nil before the first save.
  public let storeIdentifier: String?
  /// Whether the record was not saved yet when this value was taken. It is no part of the identity.
  public let isTemporary: Bool

  package init(record: RecordID, entityName: String, storeIdentifier: String?, isTemporary: Bool) {
    self.record = record
    self.entityName = entityName
    self.storeIdentifier = storeIdentifier
    self.isTemporary = isTemporary
  }

  /// The identity without its entity and store.
  public struct ID: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let record: RecordID
    /// Orders by the time at which the records were made.
    public static func < (a: ID, b: ID) -> Bool { a.record < b.record }
    /// The usual form of a UUID, in lower case.
    public var description: String { record.description }
  }

  /// The identity without its entity and store.
  public var id: ID { ID(record: record) }

  /// Equal, if they name one record.
  public static func == (a: PersistentIdentifier, b: PersistentIdentifier) -> Bool { a.record == b.record }
  /// Hashes what equality compares.
  public func hash(into hasher: inout Hasher) { hasher.combine(record) }
  /// Orders by the time at which the records were made.
  public static func < (a: PersistentIdentifier, b: PersistentIdentifier) -> Bool { a.record < b.record }

  /// The identity of a record by its parts.
  ///
  /// - Parameter primaryKey: a UUID, in any of its usual forms.
  /// - Throws: ``TomboloError`` `wrong_type`.
  public static func identifier(
    for storeIdentifier: String, entityName: String, primaryKey: String
  ) throws -> PersistentIdentifier {
    guard let record = RecordID(primaryKey) else {
      throw TomboloError(
        .wrongType, "The primary key of \(entityName) is not a UUID.",
        remedy: "Give the sixteen bytes as a UUID's text.")
    }
    return PersistentIdentifier(
      record: record, entityName: entityName, storeIdentifier: storeIdentifier, isTemporary: false)
  }

  /// The same for a key that is a UUID already.
  public static func identifier(
    for storeIdentifier: String, entityName: String, primaryKey: UUID
  ) throws -> PersistentIdentifier {
    try identifier(for: storeIdentifier, entityName: entityName, primaryKey: primaryKey.uuidString)
  }
}

extension PersistentIdentifier: RecordReferencing {
  package var recordReference: RecordID? { record }
}

extension PersistentIdentifier: CustomStringConvertible {
  /// The entity and the key.
  public var description: String { "\(entityName)/\(record)" }
}

extension PersistentIdentifier: Codable {
  private enum OuterKeys: String, CodingKey { case implementation }
  private enum InnerKeys: String, CodingKey { case primaryKey, isTemporary, entityName, uriRepresentation }

  /// Reads the shape that ``encode(to:)`` writes.
  public init(from decoder: any Decoder) throws {
    let inner = try decoder.container(keyedBy: OuterKeys.self)
      .nestedContainer(keyedBy: InnerKeys.self, forKey: .implementation)
    let key = try inner.decode(String.self, forKey: .primaryKey)
    guard let record = RecordID(key) else {
      throw DecodingError.dataCorruptedError(
        forKey: .primaryKey, in: inner, debugDescription: "The primary key is not a UUID.")
    }
    let uri = try inner.decodeIfPresent(String.self, forKey: .uriRepresentation)
    let store = uri.flatMap { URL(string: $0)?.host }
    self.init(
      record: record, entityName: try inner.decode(String.self, forKey: .entityName), storeIdentifier: store,
      isTemporary: try inner.decodeIfPresent(Bool.self, forKey: .isTemporary) ?? false)
  }

  /// Writes key, entity and a URI of the store under the key `implementation`.
  public func encode(to encoder: any Encoder) throws {
    var outer = encoder.container(keyedBy: OuterKeys.self)
    var inner = outer.nestedContainer(keyedBy: InnerKeys.self, forKey: .implementation)
    try inner.encode(record.description, forKey: .primaryKey)
    try inner.encode(isTemporary, forKey: .isTemporary)
    try inner.encode(entityName, forKey: .entityName)
    try inner.encode("x-tombolo://\(storeIdentifier ?? "")/\(entityName)/\(record)", forKey: .uriRepresentation)
  }
}
