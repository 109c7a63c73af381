import Foundation
package import TomboloProtocol

/// What attributes and relationships of a schema have in common.
public protocol SchemaProperty: Hashable, Sendable {
  /// The property's name.
  var name: String { get }
  /// What it was called in the version before; its own name where nothing was declared.
  var originalName: String { get }
  /// The Swift type; of a schema without classes, the one that its column suggests.
  var valueType: Any.Type { get }
  /// Whether it is an attribute.
  var isAttribute: Bool { get }
  /// Whether it is a relationship.
  var isRelationship: Bool { get }
  /// False: what is transient is not in a schema.
  var isTransient: Bool { get }
  /// Whether nil is a value.
  var isOptional: Bool { get }
  /// Whether it alone is declared unique.
  var isUnique: Bool { get }
}

extension SchemaProperty {
  /// False: what is transient is not in a schema.
  public var isTransient: Bool { false }
  /// Whether it is a relationship.
  public var isRelationship: Bool { !isAttribute }
}

extension Schema {
  /// One model of a schema, as data.
  public struct Entity: Hashable, Sendable {
    package let entity: SchemaEntity
    /// The bases, the nearest one first.
    let bases: [SchemaEntity]
    /// The names of the classes directly below.
    let subclasses: [String]
    let description: ClassDescription?
    private let document: SchemaDocument

    init(_ entity: SchemaEntity, in document: SchemaDocument, description: ClassDescription? = nil) {
      self.entity = entity
      self.document = document
      self.description = description
      var bases: [SchemaEntity] = []
      // Ends: a hierarchy has as many levels as the document has entities, at most.
      while bases.count < document.entities.count, let name = (bases.last ?? entity).superentity,
        let base = document.entities.first(where: { $0.name == name })
      {
        bases.append(base)
      }
      self.bases = bases
      subclasses = document.entities.filter { $0.superentity == entity.name }.map(\.name)
    }

    /// The class's name.
    public var name: String { entity.name }
    /// The base class's name; nil for a root.
    public var superentityName: String? { entity.superentity }
    /// The base class, as data without types; nil for a root.
    public var superentity: Entity? { bases.first.map { Entity($0, in: document) } }
    /// The classes that derive from it directly, as data without types.
    public var subentities: Set<Entity> {
      Set(document.entities.filter { subclasses.contains($0.name) }.map { Entity($0, in: document) })
    }
    /// The names of the classes that derive from it directly, in alphabetical order.
    public var subentityNames: [String] { subclasses }
    /// The class's own attributes.
    public var attributes: Set<Attribute> { Set(entity.attributes.map { attribute($0, of: entity) }) }
    /// The class's own relationships.
    public var relationships: Set<Relationship> { Set(entity.relationships.map { relationship($0) }) }
    /// The attributes among them that are stored as JSON.
    public var compositeAttributes: Set<CompositeAttribute> {
      Set(attributes.filter { $0.attribute.type == .codable }.map(CompositeAttribute.init))
    }
    /// The class's own attributes, by name.
    public var attributesByName: [String: Attribute] { Self.byName(attributes) }
    /// The class's own relationships, by name.
    public var relationshipsByName: [String: Relationship] { Self.byName(relationships) }
    /// The class's own properties, in alphabetical order.
    public var storedProperties: [any SchemaProperty] {
      (Array(attributes) + Array(relationships)).sorted { $0.name < $1.name }
    }
    /// The bases' properties, in alphabetical order.
    public var inheritedProperties: [any SchemaProperty] {
      let all: [any SchemaProperty] = bases.flatMap { base -> [any SchemaProperty] in
        base.attributes.map { attribute($0, of: base) } + base.relationships.map { relationship($0) }
      }
      return all.sorted { $0.name < $1.name }
    }
    /// The inherited and the class's own properties.
    public var properties: [any SchemaProperty] { inheritedProperties + storedProperties }
    /// The class's own properties, by name.
    public var storedPropertiesByName: [String: any SchemaProperty] {
      Dictionary(storedProperties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }
    /// The bases' properties, by name.
    public var inheritedPropertiesByName: [String: any SchemaProperty] {
      Dictionary(inheritedProperties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }
    /// The names of each unique constraint's attributes.
    public var uniquenessConstraints: [[String]] { entity.unique.map(\.attributes) }
    /// The names of each index's attributes.
    public var indices: [[String]] { entity.indexes.map(\.attributes) }

    private func attribute(_ attribute: SchemaAttribute, of owner: SchemaEntity) -> Attribute {
      Attribute(attribute, unique: owner.unique, path: path(attribute.name))
    }
    private func relationship(_ relationship: SchemaRelationship) -> Relationship {
      Relationship(relationship, description: description?.properties.first { $0.name == relationship.name })
    }
    private func path(_ name: String) -> AnyKeyPath? { description?.properties.first { $0.name == name }?.path }
    private static func byName<Property: SchemaProperty>(_ properties: Set<Property>) -> [String: Property] {
      Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Equal, if they are declared alike.
    public static func == (a: Entity, b: Entity) -> Bool { a.entity == b.entity }
    /// Hashes what equality compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(entity) }
  }

  /// An attribute whose value has parts, and is stored as JSON.
  public struct CompositeAttribute: Hashable, Sendable {
    /// The attribute.
    public let attribute: Attribute
    init(_ attribute: Attribute) { self.attribute = attribute }
    /// The property's name.
    public var name: String { attribute.name }
    /// The Swift type.
    public var valueType: Any.Type { attribute.valueType }
  }
}
