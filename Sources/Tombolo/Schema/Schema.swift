import Foundation
package import TomboloProtocol

/// A set of models as data: entities with their attributes and relationships, and a version.
///
/// A schema made of a ``VersionedSchema`` makes *versioned* stores, which can sync; one made of a list of models makes
/// unversioned ones.
public final class Schema: Sendable {
  /// The version; 1.0.0 where none was declared.
  public let version: Version
  /// The entities, by name.
  public let entities: [Entity]
  /// The same, as a dictionary.
  public var entitiesByName: [String: Entity] {
    Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }
  package let document: SchemaDocument
  package let descriptions: [ClassDescription]
  /// The entities that were named, without those that relationships and base classes brought along.
  let named: Set<String>
  /// What the classes' declarations got wrong.
  package let faults: [TomboloError.Detail]

  /// A schema of these models, of all that their relationships lead to, and of their base classes.
  public convenience init(_ types: [any PersistentModel.Type], version: Version = Version(1, 0, 0)) {
    self.init(types, name: "Models", version: version, isVersioned: false)
  }

  /// A schema of these models, of all that their relationships lead to, and of their base classes.
  public convenience init(_ types: any PersistentModel.Type..., version: Version = Version(1, 0, 0)) {
    self.init(types, version: version)
  }

  /// The schema of a declared version.
  public convenience init(versionedSchema: any VersionedSchema.Type) {
    self.init(
      versionedSchema.models, name: String(describing: versionedSchema), version: versionedSchema.versionIdentifier,
      isVersioned: true)
  }

  private init(_ types: [any PersistentModel.Type], name: String, version: Version, isVersioned: Bool) {
    let descriptions = SchemaCollector(types).descriptions
    let builder = DocumentBuilder(descriptions)
    self.version = version
    self.descriptions = descriptions
    named = Set(types.map { ClassDescription.of($0).name })
    document = SchemaDocument(
      name: name, version: isVersioned ? version.number : nil, entities: descriptions.map(builder.entity))
    let described = Dictionary(descriptions.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let document = document
    entities = document.entities.map { Entity($0, in: document, description: described[$0.name]) }
    faults = descriptions.flatMap(\.faults) + builder.faults
  }

  /// A schema without classes, to be looked at and compared.
  init(document: SchemaDocument) {
    self.document = document
    version = document.version.map { Version($0.major, $0.minor, $0.patch) } ?? Version(1, 0, 0)
    descriptions = []
    named = Set(document.entities.map(\.name))
    faults = []
    entities = document.entities.map { Entity($0, in: document) }
  }

  /// The version of the form in which a schema is written.
  public var encodingVersion: Version { Version(1, 0, 0) }

  /// The entity of that name.
  public func entity(named name: String) -> Entity? { entities.first { $0.name == name } }

  /// The entity of a model.
  public func entity<Model: PersistentModel>(for type: Model.Type) -> Entity? {
    entity(named: ClassDescription.of(type).name)
  }

  /// The entity's name of a model.
  public static func entityName(for type: any PersistentModel.Type) -> String { ClassDescription.of(type).name }
}

extension Schema: Hashable {
  /// Equal, if their documents are.
  public static func == (a: Schema, b: Schema) -> Bool { a.document == b.document }
  /// Hashes what equality compares.
  public func hash(into hasher: inout Hasher) { hasher.combine(document) }
}

/// Finds every class that belongs to a schema, from the ones that were named.
private struct SchemaCollector {
  /// Sorted by name.
  let descriptions: [ClassDescription]

  init(_ types: [any PersistentModel.Type]) {
    var found: [ObjectIdentifier: ClassDescription] = [:]
    var waiting = types
    // Ends: a class is followed once, and there are finitely many.
    while let type = waiting.popLast() {
      guard found[ObjectIdentifier(type)] == nil else { continue }
      let description = ClassDescription.of(type)
      found[ObjectIdentifier(type)] = description
      if let superclass = description.superclass { waiting.append(superclass) }
      waiting += description.relationships.map(\.destination)
    }
    descriptions = found.values.sorted { $0.name < $1.name }
  }
}
