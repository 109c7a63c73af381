/// Finds the differences of one attribute or relationship in two documents.
enum PropertyComparison {
  static func changes(from old: SchemaAttribute, to new: SchemaAttribute, in entity: SchemaEntity) -> [SchemaChange] {
    var changes = ChangeList(entity: entity.name, property: old.name)
    if old.type != new.type {
      let isWidth = old.type.isInteger && new.type.isInteger || old.type.isFloating && new.type.isFloating
      changes.refuse(
        isWidth ? "attribute_width_changed" : "attribute_type_changed",
        "The type is \(new.type.rawValue) instead of \(old.type.rawValue), and older clients cannot hold the other.",
        "Keep \(old.type.rawValue), and add a new attribute of type \(new.type.rawValue).")
    }
    if old.isOptional != new.isOptional {
      changes.refuse(
        "optionality_changed",
        new.isOptional
          ? "It may be nil now, which older clients cannot hold."
          : "It must have a value now, and older clients still write nil.",
        "Keep it \(old.isOptional ? "optional" : "required").")
    }
    if old.merge != new.merge {
      changes.refuse(
        "merge_policy_changed",
        "Concurrent writes merge by \(new.merge.rawValue) instead of \(old.merge.rawValue): replicas would disagree.",
        "Keep \(old.merge.rawValue).")
    }
    defaultValue(from: old, to: new, in: &changes)
    originalName(from: old.originalName, to: new.originalName, in: entity, &changes)
    hashModifier(from: old.hashModifier, to: new.hashModifier, in: &changes)
    options(from: Set(old.options), to: Set(new.options), in: &changes)
    documentation(from: old, to: new, in: &changes)
    return changes.list
  }

  private static func defaultValue(
    from old: SchemaAttribute, to new: SchemaAttribute, in changes: inout ChangeList
  ) {
    // A default of another type is part of the change of type.
    guard old.type == new.type, old.defaultValue != new.defaultValue else { return }
    let code =
      old.defaultValue == nil ? "default_added" : new.defaultValue == nil ? "default_removed" : "default_changed"
    changes.add(
      .warning, code, "The default is another one: records written by older clients keep the old one.")
  }

  private static func originalName(
    from old: String?, to new: String?, in entity: SchemaEntity, _ changes: inout ChangeList
  ) {
    guard old != new else { return }
    let known = entity.attributes.map(\.name) + entity.relationships.map(\.name)
    if let new, new != changes.property, known.contains(new) {
      changes.refuse(
        "rename_over_existing", "It takes the values of \(new), which older clients still write under that name.",
        "Leave out originalName.")
    } else {
      changes.add(.allowed, "original_name_changed", "An earlier name only matters to migrations.")
    }
  }

  private static func hashModifier(from old: String?, to new: String?, in changes: inout ChangeList) {
    guard old != new else { return }
    changes.refuse(
      "hash_modifier_changed", "The hash modifier says that its values mean something else now.",
      "Keep the hash modifier, and add a new property for the new meaning.")
  }

  private static func options(from old: Set<String>, to new: Set<String>, in changes: inout ChangeList) {
    // These decide whether and in which form a value is stored; the others are each replica's own matter.
    let shaping: Set<String> = ["codable", "ephemeral", "transformable"]
    let differing = old.symmetricDifference(new)
    for option in differing.sorted() {
      let verb = new.contains(option) ? "added" : "removed"
      if shaping.contains(option) {
        changes.refuse(
          "option_\(verb)",
          "The option \(option) decides how values are stored, and older clients store them the old way.",
          "Leave it \(new.contains(option) ? "out" : "in").")
      } else {
        changes.add(.allowed, "option_\(verb)", "The option \(option) is local to each replica.")
      }
    }
  }

  private static func documentation(
    from old: SchemaAttribute, to new: SchemaAttribute, in changes: inout ChangeList
  ) {
    if old.type == new.type {
      if new.cases.contains(where: { !old.cases.contains($0) }) {
        changes.add(.allowed, "cases_added", "New cases; older clients set values aside that they do not know.")
      }
      if old.cases.contains(where: { !new.cases.contains($0) }) {
        changes.add(
          .warning, "cases_removed", "Cases are gone, and older clients still write them: such values are set aside.",
          "Keep the cases.")
      }
    }
    if old.swiftType != new.swiftType {
      changes.add(
        .warning, "swift_type_changed", "The Swift type has another name; what it encodes must stay readable for both.")
    }
  }

  static func changes(
    from old: SchemaRelationship, to new: SchemaRelationship, in entity: SchemaEntity
  ) -> [SchemaChange] {
    var changes = ChangeList(entity: entity.name, property: old.name)
    if old.isToMany != new.isToMany {
      changes.refuse(
        "cardinality_changed",
        "It is \(new.isToMany ? "to-many" : "to-one") instead of \(old.isToMany ? "to-many" : "to-one").",
        "Keep it, and add a new relationship.")
    } else if old.isOptional != new.isOptional {
      changes.refuse(
        "optionality_changed",
        new.isOptional
          ? "It may be nil now, which older clients cannot hold."
          : "It must lead somewhere now, and older clients still write nil.",
        "Keep it \(old.isOptional ? "optional" : "required").")
    }
    if old.destination != new.destination {
      changes.refuse(
        "destination_changed", "It leads to \(new.destination) instead of \(old.destination).",
        "Keep it, and add a new relationship to \(new.destination).")
    }
    if old.inverse != new.inverse {
      changes.refuse(
        "inverse_changed", "Its inverse is \(new.inverse ?? "none") instead of \(old.inverse ?? "none").",
        "Keep \(old.inverse.map { "the inverse \($0)" } ?? "it without an inverse"), and add a new relationship.")
    }
    rules(from: old, to: new, in: &changes)
    originalName(from: old.originalName, to: new.originalName, in: entity, &changes)
    hashModifier(from: old.hashModifier, to: new.hashModifier, in: &changes)
    return changes.list
  }

  private static func rules(
    from old: SchemaRelationship, to new: SchemaRelationship, in changes: inout ChangeList
  ) {
    if old.deleteRule != new.deleteRule {
      changes.refuse(
        "delete_rule_changed",
        "The delete rule is \(new.deleteRule.rawValue) instead of \(old.deleteRule.rawValue): replicas would disagree.",
        "Keep \(old.deleteRule.rawValue).")
    }
    if old.isOrdered, !new.isOrdered {
      changes.refuse(
        "order_changed", "It is unordered now, and older clients still write positions.", "Keep it ordered.")
    } else if new.isOrdered, !old.isOrdered {
      changes.add(
        .warning, "order_added",
        "It is ordered now: what older clients add has no position, and comes before what has one.")
    }
    if old.isAcyclic != new.isAcyclic {
      changes.refuse(
        "acyclic_changed",
        new.isAcyclic ? "Older clients may still close a cycle." : "Older clients still undo cycles.",
        "Keep it \(old.isAcyclic ? "acyclic" : "without the rule").")
    }
    if (old.minimumCount, old.maximumCount) != (new.minimumCount, new.maximumCount) {
      changes.refuse(
        "count_limit_changed", "The limits of its count differ: replicas would disagree on what is valid.",
        "Keep the limits.")
    }
  }
}

/// Collects the changes of one property.
private struct ChangeList {
  let entity: String
  let property: String
  private(set) var list: [SchemaChange] = []

  init(entity: String, property: String) {
    self.entity = entity
    self.property = property
  }

  mutating func add(_ verdict: SchemaChange.Verdict, _ code: String, _ text: String, _ fix: String = "") {
    list.append(SchemaChange(verdict, code, entity: entity, property: property, text: text, fix: fix))
  }

  mutating func refuse(_ code: String, _ text: String, _ fix: String) { add(.refused, code, text, fix) }
}

extension AttributeType {
  fileprivate var isFloating: Bool { self == .float || self == .double }
}
