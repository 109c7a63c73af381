import Foundation
package import TomboloProtocol

extension Schema {
  /// One attribute of an entity, as data.
  public struct Attribute: SchemaProperty {
    package let attribute: SchemaAttribute
    /// Whether it alone is declared unique.
    public let isUnique: Bool
    /// The Swift type; of a schema without classes, the one that its column suggests.
    public let valueType: Any.Type

    package init(_ attribute: SchemaAttribute, unique: [UniqueConstraint], path: AnyKeyPath? = nil) {
      self.attribute = attribute
      isUnique = unique.contains { $0.attributes == [attribute.name] }
      valueType = path.map { type(of: $0).valueType } ?? attribute.type.swiftType
    }

    /// The property's name.
    public var name: String { attribute.name }
    /// What it was called in the version before; its own name where nothing was declared.
    public var originalName: String { attribute.originalName ?? attribute.name }
    /// Whether nil is a value.
    public var isOptional: Bool { attribute.isOptional }
    /// True.
    public var isAttribute: Bool { true }
    /// Whether a value transformer stores it.
    public var isTransformable: Bool { attribute.options.contains("transformable") }
    /// The modifier of its identity.
    public var hashModifier: String? { attribute.hashModifier }
    /// The declared options.
    public var options: [Option] {
      (isUnique ? [.unique] : []) + attribute.options.map { Option($0) }
    }
    /// A declared constant, as its column holds it: `Int`, `Double`, `String` or `Data`; nil where there is none, or each
    /// record has another.
    public var defaultValue: Any? {
      guard case .constant(let value)? = attribute.defaultValue else { return nil }
      switch value {
      case .null: return nil
      case .integer(let integer): return Int(integer)
      case .real(let real): return real
      case .text(let text): return text
      case .blob(let bytes): return Data(bytes)
      }
    }

    /// Equal, if they are declared alike.
    public static func == (a: Attribute, b: Attribute) -> Bool {
      a.attribute == b.attribute && a.isUnique == b.isUnique
    }
    /// Hashes what equality compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(attribute) }
  }

  /// One relationship of an entity, as data.
  public struct Relationship: SchemaProperty {
    package let relationship: SchemaRelationship
    private let description: RelationshipDescription?
    /// A literal that captures nothing.
    nonisolated(unsafe) private let path: AnyKeyPath?
    /// The Swift type: a model, an optional, or an array; of a schema without classes, `AnyObject` or an array of it.
    public let valueType: Any.Type

    init(_ relationship: SchemaRelationship, description: ClassDescription.Property? = nil) {
      self.relationship = relationship
      self.description = description?.relationship
      path = description?.path
      if let description {
        valueType = type(of: description.path).valueType
      } else {
        valueType = relationship.isToMany ? [AnyObject].self : AnyObject.self
      }
    }

    /// The property's name.
    public var name: String { relationship.name }
    /// What it was called in the version before; its own name where nothing was declared.
    public var originalName: String { relationship.originalName ?? relationship.name }
    /// The entity at the other end.
    public var destination: String { relationship.destination }
    /// The name of the other side; nil where there is none.
    public var inverseName: String? { relationship.inverse }
    /// The property's key path; nil where there are no classes.
    public var keypath: AnyKeyPath? { path }
    /// The declared key path of the other side; nil where it is inferred, or there are no classes.
    public var inverseKeyPath: AnyKeyPath? { description?.options.inverse }
    /// Whether nil is a value.
    public var isOptional: Bool { relationship.isOptional }
    /// False.
    public var isAttribute: Bool { false }
    /// False: a relationship is not unique.
    public var isUnique: Bool { false }
    /// Whether it leads to one record at most.
    public var isToOneRelationship: Bool { !relationship.isToMany }
    /// What happens to the destination when a record is deleted.
    public var deleteRule: DeleteRule { DeleteRule(relationship.deleteRule) }
    /// How many members there are at least.
    public var minimumModelCount: Int? { relationship.minimumCount }
    /// How many members there are at most; 0 for any number.
    public var maximumModelCount: Int? { relationship.maximumCount }
    /// The modifier of its identity.
    public var hashModifier: String? { relationship.hashModifier }

    /// Equal, if they are declared alike.
    public static func == (a: Relationship, b: Relationship) -> Bool { a.relationship == b.relationship }
    /// Hashes what equality compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(relationship) }
  }
}

extension AttributeType {
  /// The Swift type of a column's values.
  fileprivate var swiftType: Any.Type {
    switch self {
    case .bool: Bool.self
    case .int8: Int8.self
    case .int16: Int16.self
    case .int32: Int32.self
    case .int64: Int.self
    case .uint8: UInt8.self
    case .uint16: UInt16.self
    case .uint32: UInt32.self
    case .uint64: UInt64.self
    case .float: Float.self
    case .double: Double.self
    case .decimal: Decimal.self
    case .string: String.self
    case .date: Date.self
    case .data: Data.self
    case .uuid: UUID.self
    case .url: URL.self
    case .codable: (any Codable).self
    }
  }
}
