package import TomboloProtocol

/// What one model class says of itself: its properties, inherited ones first, with their key paths. Made once a class.
package final class ClassDescription: @unchecked Sendable {
  // Guarded by being immutable once it is built; key paths are literals that capture nothing, closures hold only those.

  package struct Property {
    package let name: String
    /// Rooted at the described class.
    package let path: AnyKeyPath
    /// Rooted at the declaring class.
    package let declaredPath: AnyKeyPath
    /// The entity that declares it.
    package let declaringClass: String
    package let kind: Kind
    package enum Kind {
      case attribute(SchemaAttribute)
      case relationship(RelationshipDescription)
    }
    package var relationship: RelationshipDescription? {
      if case .relationship(let relationship) = kind { return relationship }
      return nil
    }
  }

  package let type: any PersistentModel.Type
  package let name: String
  package let superclass: (any PersistentModel.Type)?
  package let properties: [Property]
  package let relationships: [RelationshipDescription]
  package let unique: [UniqueConstraint]
  package let indexes: [SchemaIndex]
  package let concurrentDelete: TomboloProtocol.DeletePolicy
  /// Paths beyond each property's own: those of `override var`.
  package let otherPaths: [(path: AnyKeyPath, name: String)]
  /// By property: the name of its value transformer.
  let transformers: [Int: String]
  package let unloadedCells: [RelationCell]
  /// What the class's declaration got wrong, found when a schema is made of it.
  package let faults: [TomboloError.Detail]
  private let relationshipByProperty: [RelationshipDescription?]

  fileprivate init(_ type: any PersistentModel.Type, _ builder: _$SchemaBuilder) {
    self.type = type
    name = builder.className
    superclass = builder.superclass
    properties = builder.properties
    relationships = properties.compactMap(\.relationship)
    relationshipByProperty = properties.map(\.relationship)
    unique = builder.unique
    indexes = builder.indexes
    concurrentDelete = builder.deletePolicy
    otherPaths = builder.otherPaths
    faults = builder.faults
    transformers = builder.transformers
    unloadedCells = Array(repeating: RelationCell(.unloaded), count: relationships.count)
  }

  package func relationship(at property: Int) -> RelationshipDescription? {
    relationshipByProperty.indices.contains(property) ? relationshipByProperty[property] : nil
  }
  package func propertyName(at index: Int) -> String {
    properties.indices.contains(index) ? properties[index].name : "property \(index)"
  }
  /// The property of a key path, rooted at this class or at the declaring one.
  package func property(of path: AnyKeyPath) -> Property? {
    properties.first { $0.path == path || $0.declaredPath == path }
      ?? otherPaths.first { $0.path == path }.flatMap { other in properties.first { $0.name == other.name } }
  }
  /// The class itself and its bases.
  package var lineage: [ClassDescription] {
    var all = [self]
    while let next = all[all.count - 1].superclass { all.append(Self.of(next)) }
    return all
  }

  // MARK: The registry

  private static let registry = Guarded<[ObjectIdentifier: ClassDescription]>([:])

  package static func of(_ type: any PersistentModel.Type) -> ClassDescription {
    if let known = registry.withLock({ $0[ObjectIdentifier(type)] }) { return known }
    // Outside the lock: describing runs the user's default values. A second one made meanwhile is dropped.
    let builder = _$SchemaBuilder(type)
    type._$describe(builder)
    let made = ClassDescription(type, builder)
    return registry.withLock { registry in
      if let known = registry[ObjectIdentifier(type)] { return known }
      registry[ObjectIdentifier(type)] = made
      return made
    }
  }
}
