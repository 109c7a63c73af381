/// A schema document with inheritance and inverses worked out: what merge, store, server and queries look things up in.
///
/// Roles of relationships: a to-one is a *reference* (a field of the record), unless it is the far side of a one-to-one;
/// a to-many whose inverse is a reference is that reference's far side; every other to-many is a *link* (pairs).
package final class ResolvedSchema: Sendable {
  package let document: SchemaDocument
  private let entities: [String: ResolvedEntity]
  /// Every link relationship, by its key (`Note.tags`).
  package let links: [String: ResolvedLink]

  /// Takes a document that was validated; a base, destination or inverse that does not exist is passed over.
  package init(_ document: SchemaDocument) {
    self.document = document
    let byName = Dictionary(document.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    var resolved: [String: ResolvedEntity] = [:]
    var links: [String: ResolvedLink] = [:]
    for entity in document.entities {
      var lineage = [entity]
      while let base = lineage.first?.superentity.flatMap({ byName[$0] }),
        !lineage.contains(where: { $0.name == base.name })
      {
        lineage.insert(base, at: 0)
      }
      resolved[entity.name] = ResolvedEntity(lineage: lineage, in: byName)
    }
    for entity in document.entities {
      var base = entity.superentity
      var steps = 0
      while let name = base, steps < document.entities.count {
        resolved[name]?.descendants.append(entity.name)
        base = byName[name]?.superentity
        steps += 1
      }
      for relationship in entity.relationships {
        if let link = ResolvedLink(relationship, of: entity.name, in: byName) { links[link.key] = link }
      }
    }
    entities = resolved
    self.links = links
  }

  package func entity(_ name: String) -> ResolvedEntity? { entities[name] }

  /// What a person calls a field of a record: its name, or the list in which it is a place.
  package func title(of field: String, in entity: String) -> String {
    order(field, of: entity).map { "place in \($0.owner).\($0.list)" } ?? field
  }

  /// The position that a field is; nil for every other.
  package func order(_ field: String?, of entity: String) -> ResolvedOrder? {
    guard let field, field.hasPrefix(ResolvedOrder.prefix) else { return nil }
    return entities[entity]?.orders.first { $0.name == field }
  }

  /// The references (holder's declaring entity and field) that name records of the entity or of its bases.
  package func referrers(to entity: String) -> [(entity: String, reference: ResolvedReference)] {
    let lineage = Set(entities[entity]?.lineage ?? [entity])
    return document.entities.flatMap { holder in
      (entities[holder.name]?.references ?? [])
        .filter { $0.declaringEntity == holder.name && lineage.contains($0.destination) }
        .map { (holder.name, $0) }
    }
  }
}

package struct ResolvedEntity: Sendable {
  package let name: String
  /// From the root to the entity itself.
  package let lineage: [String]
  package var root: String { lineage.first ?? name }
  /// Every entity below this one; itself not.
  package fileprivate(set) var descendants: [String] = []
  /// Inherited ones first, each class's own sorted by name; after them those that no document names (``orders``).
  package let attributes: [SchemaAttribute]
  /// The positions that its records have in ordered to-many relationships.
  package let orders: [ResolvedOrder]
  package let references: [ResolvedReference]
  /// To-many relationships, and the far sides of one-to-one ones.
  package let farSides: [ResolvedFarSide]
  /// The keys of the link relationships that it takes part in, with whether it is the source.
  package let links: [(key: String, isSource: Bool, name: String)]
  /// With the entity that declares each: a constraint of a base spans all subclasses.
  package let unique: [(declaringEntity: String, constraint: UniqueConstraint)]
  package let concurrentDelete: DeletePolicy

  fileprivate init(lineage: [SchemaEntity], in byName: [String: SchemaEntity]) {
    let entity = lineage[lineage.count - 1]
    name = entity.name
    self.lineage = lineage.map(\.name)
    unique = lineage.flatMap { level in level.unique.map { (level.name, $0) } }
    concurrentDelete = lineage.contains { $0.concurrentDelete == .editWins } ? .editWins : .deleteWins
    var references: [ResolvedReference] = []
    var farSides: [ResolvedFarSide] = []
    var links: [(key: String, isSource: Bool, name: String)] = []
    for level in lineage {
      for relationship in level.relationships.sorted(by: { $0.name < $1.name }) {
        switch RelationshipRole(of: relationship, in: level.name, byName: byName) {
        case .reference(let inverse):
          references.append(ResolvedReference(relationship, declaringEntity: level.name, inverse: inverse))
        case .farSide(let reference):
          farSides.append(
            ResolvedFarSide(relationship: relationship, declaringEntity: level.name, reference: reference))
        case .link(let key, let isSource):
          links.append((key, isSource, relationship.name))
        }
      }
    }
    self.references = references
    self.farSides = farSides
    self.links = links
    orders = references.filter(\.isOrdered).map(ResolvedOrder.init)
    attributes = lineage.flatMap { $0.attributes.sorted { $0.name < $1.name } } + orders.map(\.attribute)
  }
}

/// The position of a record among the members of the ordered to-many at the other end of one of its references.
///
/// A field like any other to merge, wire and store, which the schema document does not name: its name cannot be declared.
package struct ResolvedOrder: Hashable, Sendable {
  package static let prefix = "_tombolo_order_"
  /// The reference that leads to the owner.
  package let reference: String
  /// The class that declares the reference.
  package let declaringEntity: String
  /// The owner's class, and what it calls the list.
  package let owner: String
  package let list: String
  /// The field: a ``PositionKey``, of which the last write wins; nil where nobody gave one.
  package let attribute: SchemaAttribute
  package var name: String { attribute.name }

  fileprivate init(_ reference: ResolvedReference) {
    self.reference = reference.name
    declaringEntity = reference.declaringEntity
    owner = reference.destination
    list = reference.inverse ?? ""
    attribute = SchemaAttribute(name: Self.prefix + reference.name, type: .data, isOptional: true)
  }
}

/// A to-one relationship that is a field of its record.
package struct ResolvedReference: Hashable, Sendable {
  package let name: String
  /// The class in the holder's lineage that declares it.
  package let declaringEntity: String
  package let destination: String
  package let isOptional: Bool
  /// What happens to the *holder* when the destination is deleted: the inverse's delete rule; nullify without an inverse.
  package let rule: DeleteRule
  /// What happens to the destination when the holder is deleted.
  package let ownRule: DeleteRule
  /// Each destination has at most one holder.
  package let isOneToOne: Bool
  package let isAcyclic: Bool
  /// The far side is an ordered to-many.
  package let isOrdered: Bool
  package let inverse: String?

  fileprivate init(_ relationship: SchemaRelationship, declaringEntity: String, inverse: SchemaRelationship?) {
    name = relationship.name
    self.declaringEntity = declaringEntity
    destination = relationship.destination
    isOptional = relationship.isOptional
    rule = inverse?.deleteRule ?? .nullify
    ownRule = relationship.deleteRule
    isOneToOne = inverse.map { !$0.isToMany } ?? false
    isAcyclic = relationship.isAcyclic || (inverse?.isAcyclic ?? false)
    isOrdered = inverse?.isOrdered ?? false
    self.inverse = inverse?.name
  }
}

/// The side of a relationship that is derived from a reference at the other end.
package struct ResolvedFarSide: Hashable, Sendable {
  package let relationship: SchemaRelationship
  package let declaringEntity: String
  /// The name of the reference in `relationship.destination`.
  package let reference: String
}

/// A many-to-many relationship, or a to-many without an inverse.
package struct ResolvedLink: Hashable, Sendable {
  /// `Entity.relationship` of the source side.
  package let key: String
  package let source: String
  package let sourceName: String
  package let target: String
  /// Nil where the target knows nothing of it.
  package let targetName: String?

  fileprivate init?(_ relationship: SchemaRelationship, of entity: String, in byName: [String: SchemaEntity]) {
    guard case .link(let key, isSource: true) = RelationshipRole(of: relationship, in: entity, byName: byName) else {
      return nil
    }
    self.key = key
    source = entity
    sourceName = relationship.name
    target = relationship.destination
    targetName = relationship.inverse
  }
}

/// Which side of a relationship is stored where.
private enum RelationshipRole {
  case reference(inverse: SchemaRelationship?)
  case farSide(reference: String)
  case link(key: String, isSource: Bool)

  init(of relationship: SchemaRelationship, in entity: String, byName: [String: SchemaEntity]) {
    let inverse = relationship.inverse.flatMap { name in
      byName[relationship.destination]?.relationships.first { $0.name == name }
    }
    if relationship.isToMany {
      if let inverse, !inverse.isToMany {
        self = .farSide(reference: inverse.name)
      } else {
        // The smaller (entity, name) side owns the pairs.
        let own = (entity, relationship.name)
        let other = inverse.map { (relationship.destination, $0.name) }
        if let other, other < own {
          self = .link(key: "\(other.0).\(other.1)", isSource: false)
        } else {
          self = .link(key: "\(own.0).\(own.1)", isSource: true)
        }
      }
      return
    }
    if let inverse, !inverse.isToMany {
      // One-to-one: the required side holds the reference; else the smaller (entity, name).
      let ownsIt =
        relationship.isOptional != inverse.isOptional
        ? !relationship.isOptional
        : (entity, relationship.name) <= (relationship.destination, inverse.name)
      self = ownsIt ? .reference(inverse: inverse) : .farSide(reference: inverse.name)
      return
    }
    self = .reference(inverse: inverse)
  }
}
