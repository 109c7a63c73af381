package import TomboloProtocol

extension Schema {
  /// The number of a schema version, as 1.2.0.
  public struct Version: Hashable, Comparable, Codable, Sendable, CustomStringConvertible {
    /// The first number.
    public let major: Int
    /// The second number.
    public let minor: Int
    /// The third number.
    public let patch: Int
    /// A version of three numbers, none of them negative.
    public init(_ major: Int, _ minor: Int, _ patch: Int) {
      self.major = major
      self.minor = minor
      self.patch = patch
    }
    /// Orders by the numbers, the first one first.
    public static func < (a: Version, b: Version) -> Bool {
      (a.major, a.minor, a.patch) < (b.major, b.minor, b.patch)
    }
    /// The numbers with points between.
    public var description: String { "\(major).\(minor).\(patch)" }
    package var number: SchemaVersion { SchemaVersion(major, minor, patch) }
  }

  /// One model of a schema, as data.
  public struct Entity: Hashable, Sendable {
    package let entity: SchemaEntity
    package init(_ entity: SchemaEntity) { self.entity = entity }
    /// The class's name.
    public var name: String { entity.name }
    /// The base class's name; nil for a root.
    public var superentityName: String? { entity.superentity }
    /// The class's own attributes, by name.
    public var attributes: Set<Attribute> { Set(entity.attributes.map { Attribute($0, unique: entity.unique) }) }
    /// The class's own relationships, by name.
    public var relationships: Set<Relationship> { Set(entity.relationships.map { Relationship($0) }) }
    /// The class's own attributes, by name.
    public var attributesByName: [String: Attribute] {
      Dictionary(attributes.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }
    /// The class's own relationships, by name.
    public var relationshipsByName: [String: Relationship] {
      Dictionary(relationships.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }
    /// The names of each unique constraint's attributes.
    public var uniquenessConstraints: [[String]] { entity.unique.map(\.attributes) }
    /// The names of each index's attributes.
    public var indices: [[String]] { entity.indexes.map(\.attributes) }
  }

  /// One attribute of an entity, as data.
  public struct Attribute: Hashable, Sendable {
    package let attribute: SchemaAttribute
    /// Whether it alone is declared unique.
    public let isUnique: Bool
    package init(_ attribute: SchemaAttribute, unique: [UniqueConstraint]) {
      self.attribute = attribute
      isUnique = unique.contains { $0.attributes == [attribute.name] }
    }
    /// The property's name.
    public var name: String { attribute.name }
    /// What it was called in the version before; its own name where nothing was declared.
    public var originalName: String { attribute.originalName ?? attribute.name }
    /// Whether nil is a value.
    public var isOptional: Bool { attribute.isOptional }
    /// The modifier of its identity.
    public var hashModifier: String? { attribute.hashModifier }
  }

  /// One relationship of an entity, as data.
  public struct Relationship: Hashable, Sendable {
    package let relationship: SchemaRelationship
    package init(_ relationship: SchemaRelationship) { self.relationship = relationship }
    /// The property's name.
    public var name: String { relationship.name }
    /// What it was called in the version before; its own name where nothing was declared.
    public var originalName: String { relationship.originalName ?? relationship.name }
    /// The entity at the other end.
    public var destination: String { relationship.destination }
    /// The name of the other side; nil where there is none.
    public var inverseName: String? { relationship.inverse }
    /// Whether nil is a value.
    public var isOptional: Bool { relationship.isOptional }
    /// Whether it leads to one record at most.
    public var isToOneRelationship: Bool { !relationship.isToMany }
    /// What happens to the destination when a record is deleted.
    public var deleteRule: DeleteRule { DeleteRule(relationship.deleteRule) }
  }
}

extension Schema.Attribute {
  /// What an attribute is besides its type.
  public struct Option: Hashable, Sendable {
    package let name: String
    package let merge: MergePolicy?
    private init(_ name: String, merge: MergePolicy? = nil) {
      self.name = name
      self.merge = merge
    }
    /// No two records have one value; an insert that matches updates the record. Nil never collides.
    public static let unique = Option("unique")
    /// Large values lie beside the store.
    public static let externalStorage = Option("externalStorage")
    /// Accepted for source compatibility.
    public static let allowsCloudEncryption = Option("allowsCloudEncryption")
    /// History keeps the value of a deleted record.
    public static let preserveValueOnDeletion = Option("preserveValueOnDeletion")
    /// Accepted for source compatibility.
    public static let ephemeral = Option("ephemeral")
    /// Accepted for source compatibility.
    public static let spotlight = Option("spotlight")
    /// The value is stored as JSON.
    public static let codable = Option("codable")
    /// Accepted for source compatibility: the value is stored as JSON.
    public static func transformable(by name: String) -> Option { Option("transformable") }
    /// How concurrent writes merge. Beyond SwiftData: a file that uses it does not compile on Apple's platforms.
    public static func merge(_ policy: Policy) -> Option { Option("merge", merge: policy.merge) }

    /// How concurrent writes of one attribute merge.
    public enum Policy: Hashable, Sendable {
      /// Every difference counts once.
      case counter
      /// The greatest value stands.
      case max
      /// The smallest value stands.
      case min
      /// The value that was written first stands.
      case firstWriter

      var merge: MergePolicy {
        switch self {
        case .counter: .counter
        case .max: .max
        case .min: .min
        case .firstWriter: .firstWriter
        }
      }
    }
  }
}

extension Schema.Relationship {
  /// What a relationship is besides its destination.
  public struct Option: Hashable, Sendable {
    private let name: String
    private init(_ name: String) { self.name = name }
    /// Accepted for source compatibility.
    public static let unique = Option("unique")
    /// A to-many whose order is synced. Beyond SwiftData.
    public static let ordered = Option("ordered")
    /// A to-one to the class itself that never closes a cycle. Beyond SwiftData.
    public static let acyclic = Option("acyclic")
  }

  /// What becomes of a record's partners when it is deleted.
  public enum DeleteRule: String, Hashable, Codable, Sendable, CaseIterable {
    /// The partners stay as they are, their references with them.
    case noAction
    /// The partners' references become nil.
    case nullify
    /// The partners are deleted as well.
    case cascade
    /// The deletion is refused as long as there are partners.
    case deny

    package init(_ rule: TomboloProtocol.DeleteRule) {
      switch rule {
      case .noAction: self = .noAction
      case .nullify: self = .nullify
      case .cascade: self = .cascade
      case .deny: self = .deny
      }
    }
    package var rule: TomboloProtocol.DeleteRule {
      switch self {
      case .noAction: .noAction
      case .nullify: .nullify
      case .cascade: .cascade
      case .deny: .deny
      }
    }
  }
}

extension Schema {
  /// The kinds of index that ``Index(_:)`` takes.
  public struct Index<Model: PersistentModel> {
    /// One index: its kind and its attributes.
    public struct Types<Root: PersistentModel> {
      package let paths: [PartialKeyPath<Root>]
      package let isTree: Bool
      /// An ordinary index, for equality, ranges and order.
      public static func binary(_ paths: [PartialKeyPath<Root>]) -> Self { Self(paths: paths, isTree: false) }
      /// An index for ranges in several dimensions.
      public static func rtree(_ paths: [PartialKeyPath<Root>]) -> Self { Self(paths: paths, isTree: true) }
    }
  }
}
