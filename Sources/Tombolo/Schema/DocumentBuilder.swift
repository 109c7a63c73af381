import TomboloProtocol

/// Makes the schema document's entities of class descriptions.
final class DocumentBuilder {
  private(set) var faults: [TomboloError.Detail] = []

  init(_ descriptions: [ClassDescription]) {
    var names: [String: ClassDescription] = [:]
    for description in descriptions {
      if names.updateValue(description, forKey: description.name) != nil {
        fault(description.name, nil, "Two models are called \(description.name).", "Rename one of the classes.")
      }
    }
  }

  func entity(_ description: ClassDescription) -> SchemaEntity {
    let inherited = description.superclass.map { ClassDescription.of($0).properties.count } ?? 0
    var attributes: [SchemaAttribute] = []
    var relationships: [SchemaRelationship] = []
    for property in description.properties[inherited...] {
      switch property.kind {
      case .attribute(var attribute):
        if attribute.options.contains(Schema.Attribute.Option.ephemeral.name) { continue }
        attribute.options.removeAll { $0 == "unique" }
        attributes.append(attribute)
      case .relationship(let relationship): relationships.append(self.relationship(relationship, description))
      }
    }
    return SchemaEntity(
      name: description.name, superentity: description.superclass.map { ClassDescription.of($0).name },
      attributes: attributes.sorted { $0.name < $1.name }, relationships: relationships.sorted { $0.name < $1.name },
      unique: Self.distinct(description.unique), indexes: description.indexes,
      concurrentDelete: description.concurrentDelete)
  }

  /// A key may be named by `@Attribute(.unique)` and by `#Unique` as well: what says more than the default stands.
  private static func distinct(_ constraints: [UniqueConstraint]) -> [UniqueConstraint] {
    var distinct: [UniqueConstraint] = []
    for constraint in constraints {
      if let index = distinct.firstIndex(where: { $0.attributes == constraint.attributes }) {
        if distinct[index].onConflict == .merge { distinct[index] = constraint }
      } else {
        distinct.append(constraint)
      }
    }
    return distinct
  }

  private func relationship(
    _ relationship: RelationshipDescription, _ owner: ClassDescription
  ) -> SchemaRelationship {
    let options = relationship.options
    let inverse = relationship.inverse
    if options.inverse != nil, inverse == nil {
      fault(
        owner.name, relationship.name,
        "The inverse of \(owner.name).\(relationship.name) is no relationship of \(ClassDescription.of(relationship.destination).name).",
        "Name a relationship of the destination that leads back.")
    }
    return SchemaRelationship(
      name: relationship.name, destination: ClassDescription.of(relationship.destination).name,
      isToMany: relationship.isToMany, isOptional: relationship.isOptional, inverse: inverse?.name,
      deleteRule: options.deleteRule.rule, isOrdered: options.options.contains(.ordered),
      isAcyclic: options.options.contains(.acyclic), minimumCount: options.minimumModelCount,
      maximumCount: options.maximumModelCount, originalName: options.originalName, hashModifier: options.hashModifier)
  }

  private func fault(_ entity: String, _ property: String?, _ text: String, _ fix: String) {
    faults.append(
      TomboloError.Detail(
        code: ErrorCode.invalidSchema.rawValue, entity: entity, property: property, text: text, fix: fix))
  }
}
