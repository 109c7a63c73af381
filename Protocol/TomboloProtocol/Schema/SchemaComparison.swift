/// Finds the differences of two documents, entity by entity. Each kind of difference has one function.
struct SchemaComparison {
  private let old: SchemaDocument
  private let new: SchemaDocument

  /// Takes documents in canonical order.
  init(from old: SchemaDocument, to new: SchemaDocument) {
    self.old = old
    self.new = new
  }

  func changes() -> [SchemaChange] {
    var changes: [SchemaChange] = []
    if old.name != new.name {
      changes.append(
        SchemaChange(.allowed, "schema_name_changed", text: "The schema is called \(new.name) instead of \(old.name)."))
    }
    let before = Dictionary(old.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let after = Dictionary(new.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    for entity in old.entities {
      if let successor = after[entity.name] {
        changes += EntityComparison(from: entity, to: successor).changes()
      } else {
        changes.append(
          SchemaChange(
            .refused, "entity_removed", entity: entity.name,
            text: "The entity is gone, and older clients still write it.",
            fix: "Leave it in the schema and stop using it."))
      }
    }
    for entity in new.entities where before[entity.name] == nil {
      let text = entity.superentity.map { "A new subclass of \($0); older clients set its records aside." }
      changes.append(
        SchemaChange(
          .allowed, entity.superentity == nil ? "entity_added" : "subclass_added", entity: entity.name,
          text: text ?? "A new entity; older clients set its records aside."))
    }
    return changes
  }
}

private struct EntityComparison {
  private let old: SchemaEntity
  private let new: SchemaEntity
  private var name: String { old.name }

  init(from old: SchemaEntity, to new: SchemaEntity) {
    self.old = old
    self.new = new
  }

  func changes() -> [SchemaChange] {
    superentity() + deletePolicy() + properties() + unique() + indexes()
  }

  private func superentity() -> [SchemaChange] {
    guard old.superentity != new.superentity else { return [] }
    return [
      SchemaChange(
        .refused, "superentity_changed", entity: name,
        text: "The entity inherits from \(new.superentity ?? "nothing") instead of \(old.superentity ?? "nothing"), "
          + "and older clients keep its records in another place.",
        fix: "Keep the base, and add a new entity with the other one.")
    ]
  }

  private func deletePolicy() -> [SchemaChange] {
    guard old.concurrentDelete != new.concurrentDelete else { return [] }
    return [
      SchemaChange(
        .refused, "delete_policy_changed", entity: name,
        text: "Replicas would disagree on whether a deletion or a concurrent edit wins.",
        fix: "Keep \(old.concurrentDelete.rawValue).")
    ]
  }

  private func properties() -> [SchemaChange] {
    var changes: [SchemaChange] = []
    let renamed = renamedProperties()
    let attributes = Dictionary(new.attributes.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let relationships = Dictionary(new.relationships.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    for attribute in old.attributes {
      if let successor = attributes[attribute.name] {
        changes += PropertyComparison.changes(from: attribute, to: successor, in: old)
      } else if relationships[attribute.name] != nil {
        changes.append(kindChanged(attribute.name, "an attribute", "a relationship"))
      } else if renamed[attribute.name] == nil {
        changes.append(removed(attribute.name, "attribute"))
      }
    }
    for relationship in old.relationships {
      if let successor = relationships[relationship.name] {
        changes += PropertyComparison.changes(from: relationship, to: successor, in: old)
      } else if attributes[relationship.name] != nil {
        changes.append(kindChanged(relationship.name, "a relationship", "an attribute"))
      } else if renamed[relationship.name] == nil {
        changes.append(removed(relationship.name, "relationship"))
      }
    }
    let known = Set(old.attributes.map(\.name) + old.relationships.map(\.name))
    let newNames = Set(renamed.values)
    for attribute in new.attributes where !known.contains(attribute.name) && !newNames.contains(attribute.name) {
      changes.append(added(attribute))
    }
    for relationship in new.relationships
    where !known.contains(relationship.name) && !newNames.contains(relationship.name) {
      changes.append(added(relationship))
    }
    for (before, after) in renamed.sorted(by: { $0.key.isBytewiseLess(than: $1.key) }) {
      changes.append(renamedChange(from: before, to: after))
    }
    return changes
  }

  /// Properties that are gone, and the new ones that say they were them.
  private func renamedProperties() -> [String: String] {
    let before = Set(old.attributes.map(\.name) + old.relationships.map(\.name))
    let after = Set(new.attributes.map(\.name) + new.relationships.map(\.name))
    let origins =
      new.attributes.map { ($0.name, $0.originalName) } + new.relationships.map { ($0.name, $0.originalName) }
    var renamed: [String: String] = [:]
    for case (let name, let origin?) in origins
    where !before.contains(name) && before.contains(origin) && !after.contains(origin) { renamed[origin] = name }
    return renamed
  }

  private func renamedChange(from before: String, to after: String) -> SchemaChange {
    let isAttribute = old.attributes.contains { $0.name == before }
    return SchemaChange(
      .refused, isAttribute ? "attribute_renamed" : "relationship_renamed", entity: name, property: before,
      text: "It is called \(after) now; to older clients that is a removal and an addition.",
      fix: "Keep \(before), add \(after), read both and write both.")
  }

  private func removed(_ property: String, _ kind: String) -> SchemaChange {
    SchemaChange(
      .refused, "\(kind)_removed", entity: name, property: property,
      text: "The \(kind) is gone, and older clients still write it.", fix: "Leave it in the schema and stop using it.")
  }

  private func kindChanged(_ property: String, _ before: String, _ after: String) -> SchemaChange {
    SchemaChange(
      .refused, "property_kind_changed", entity: name, property: property,
      text: "It was \(before) and is \(after).",
      fix: "Keep \(property) as it was, and add the new one under another name.")
  }

  private func added(_ attribute: SchemaAttribute) -> SchemaChange {
    guard attribute.isOptional || attribute.defaultValue != nil else {
      return SchemaChange(
        .refused, "attribute_added_without_default", entity: name, property: attribute.name,
        text: "A new required attribute without a default, which older clients cannot write.",
        fix: "Make it optional, or give it a default.")
    }
    switch attribute.defaultValue {
    case .generatedUUID, .generatedNow:
      return SchemaChange(
        .warning, "attribute_added", entity: name, property: attribute.name,
        text: "A new attribute with a generated default: in records of older clients each replica generates its own.",
        fix: "Make it optional if replicas must agree before somebody writes it.")
    default:
      return SchemaChange(
        .allowed, "attribute_added", entity: name, property: attribute.name,
        text: "A new attribute; records of older clients have its default.")
    }
  }

  private func added(_ relationship: SchemaRelationship) -> SchemaChange {
    if !relationship.isToMany, !relationship.isOptional {
      return SchemaChange(
        .refused, "required_relationship_added", entity: name, property: relationship.name,
        text: "A new required relationship, which older clients cannot write.", fix: "Make it optional.")
    }
    if relationship.minimumCount > 0 {
      return SchemaChange(
        .refused, "required_relationship_added", entity: name, property: relationship.name,
        text: "A new relationship that must have members, which older clients cannot write.",
        fix: "Leave out the least count.")
    }
    if relationship.deleteRule == .deny {
      return SchemaChange(
        .warning, "relationship_added", entity: name, property: relationship.name,
        text:
          "A new relationship that denies deletion: deletions by older clients, which do not know it, will not stand.",
        fix: "Use nullify or cascade if they should.")
    }
    return SchemaChange(
      .allowed, "relationship_added", entity: name, property: relationship.name,
      text: "A new relationship; older clients set its links aside.")
  }

  private func unique() -> [SchemaChange] {
    let before = Dictionary(old.unique.map { ($0.attributes, $0.onConflict) }, uniquingKeysWith: { first, _ in first })
    let after = Dictionary(new.unique.map { ($0.attributes, $0.onConflict) }, uniquingKeysWith: { first, _ in first })
    var changes: [SchemaChange] = []
    func refuse(_ code: String, _ attributes: [String], _ text: String, _ fix: String) {
      changes.append(
        SchemaChange(
          .refused, code, entity: name, property: attributes.joined(separator: ","), text: text, fix: fix))
    }
    for constraint in old.unique {
      switch after[constraint.attributes] {
      case nil:
        refuse(
          "unique_removed", constraint.attributes,
          "The uniqueness constraint is gone, and older clients still keep it.",
          "Leave it in the schema.")
      case constraint.onConflict?: break
      case _?:
        refuse(
          "unique_changed", constraint.attributes, "Replicas would disagree on what becomes of two equal values.",
          "Keep onConflict: .\(constraint.onConflict.rawValue).")
      }
    }
    for constraint in new.unique where before[constraint.attributes] == nil {
      refuse(
        "unique_added", constraint.attributes, "A new uniqueness constraint, which older clients do not keep.",
        "Leave it out, and look for duplicates in the app.")
    }
    return changes
  }

  private func indexes() -> [SchemaChange] {
    let lists: [(String, [SchemaIndex], [SchemaIndex])] = [
      ("index_removed", old.indexes, new.indexes), ("index_added", new.indexes, old.indexes),
    ]
    return lists.flatMap { code, these, those in
      these.filter { !those.contains($0) }.map { index in
        SchemaChange(
          .allowed, code, entity: name, property: index.attributes.joined(separator: ","),
          text: "Indexes are local to each replica.")
      }
    }
  }
}
