/// What a schema document must fulfil before anything is made from it, whether it syncs or not.
package enum SchemaValidation {
  /// Every mistake in the document, in the order of its entities.
  package static func problems(in document: SchemaDocument) -> [TomboloError.Detail] {
    var validator = SchemaValidator(document)
    return validator.run()
  }

  /// - Throws: ``TomboloError`` with ``ErrorCode/invalidSchema`` and every mistake in its details.
  package static func check(_ document: SchemaDocument) throws {
    let problems = problems(in: document)
    guard problems.isEmpty else { throw error(problems, in: document) }
  }

  static func error(_ problems: [TomboloError.Detail], in document: SchemaDocument) -> TomboloError {
    let first = problems.first.map { " \($0.place)\($0.text)" } ?? ""
    let count = problems.count == 1 ? "a mistake" : "\(problems.count) mistakes"
    return TomboloError(
      .invalidSchema, "The schema \(document.name.isEmpty ? "document" : document.name) has \(count):\(first)",
      remedy: problems.count == 1 ? problems[0].fix : "See the details.", details: problems)
  }

  /// The options that an attribute may have.
  package static let attributeOptions = [
    "allowsCloudEncryption", "codable", "ephemeral", "externalStorage", "preserveValueOnDeletion", "spotlight",
    "transformable",
  ]
  /// Names that begin so, in any case, are Tombolo's own.
  package static let reservedPrefix = "_tombolo_"
  /// Bytes of a name.
  package static let nameLengthMax = 1_000
  package static let entityCountMax = 2_000
  package static let propertyCountMax = 1_000
}

extension TomboloError.Detail {
  /// `Book.isbn: `, for lists and messages.
  package var place: String {
    // An empty name is itself among the mistakes.
    let parts = [entity, property].compactMap { $0 }.filter { !$0.isEmpty }
    return parts.isEmpty ? "" : parts.joined(separator: ".") + ": "
  }
}

private struct SchemaValidator {
  private let document: SchemaDocument
  private let byName: [String: SchemaEntity]
  private var problems: [TomboloError.Detail] = []
  private var entity = ""

  init(_ document: SchemaDocument) {
    self.document = document
    byName = Dictionary(document.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  mutating func run() -> [TomboloError.Detail] {
    guard document.entities.count <= SchemaValidation.entityCountMax else {
      return [
        .init(
          code: "too_many", text: "There are more than \(SchemaValidation.entityCountMax) entities.",
          fix: "Split the schema.")
      ]
    }
    if document.name.isEmpty {
      problems.append(.init(code: "missing_key", text: "The schema has no name.", fix: "Write \"name\"."))
    }
    var seen: Set<String> = []
    for entity in document.entities {
      self.entity = entity.name
      checkName(entity.name, property: nil, "entity")
      if !seen.insert(entity.name).inserted {
        report(nil, "duplicate_name", "The entity stands twice in the document.", "Give one of them another name.")
      }
      checkLineage(entity)
      checkProperties(entity)
      for attribute in entity.attributes { check(attribute) }
      for relationship in entity.relationships { check(relationship, of: entity) }
      checkKeys(entity)
    }
    return problems
  }

  private mutating func checkName(_ name: String, property: String?, _ what: String) {
    // Swift's raw identifiers may hold nearly anything; a point divides entity and property in keys and messages.
    let isUsable = name.unicodeScalars.allSatisfy { $0 != "." && $0.properties.generalCategory != .control }
    let hasMargin = name.first?.isWhitespace ?? true || name.last?.isWhitespace ?? true
    guard isUsable, !hasMargin else {
      return report(
        property, "wrong_name", "The \(what)'s name is empty, or has a point, a control character or space around it.",
        "Use letters, digits and underscores.")
    }
    let lower = name.lowercased()
    if lower.hasPrefix(SchemaValidation.reservedPrefix) || (property == nil && lower.hasPrefix("sqlite_")) {
      report(property, "reserved_name", "The \(what)'s name begins with a reserved prefix.", "Choose another name.")
    }
    if name.utf8.count > SchemaValidation.nameLengthMax {
      report(
        property, "wrong_name", "The \(what)'s name has more than \(SchemaValidation.nameLengthMax) bytes.",
        "Choose a shorter one.")
    }
  }

  private mutating func checkLineage(_ entity: SchemaEntity) {
    guard let base = entity.superentity else { return }
    guard byName[base] != nil else {
      return report(
        nil, "unknown_superentity", "There is no entity \(base) to inherit from.", suggestion(base, Array(byName.keys)))
    }
    if lineage(of: entity) == nil {
      report(nil, "superentity_cycle", "The entity is its own base.", "Leave out \"superentity\" at one of them.")
    }
  }

  /// From the entity to its root; nil for a cycle.
  private func lineage(of entity: SchemaEntity) -> [SchemaEntity]? {
    var lineage = [entity]
    var next = entity.superentity
    while let name = next, let base = byName[name] {
      guard lineage.count < document.entities.count, base.name != entity.name else { return nil }
      lineage.append(base)
      next = base.superentity
    }
    return lineage
  }

  private mutating func checkProperties(_ entity: SchemaEntity) {
    let own = entity.attributes.map(\.name) + entity.relationships.map(\.name)
    if own.count > SchemaValidation.propertyCountMax {
      report(
        nil, "too_many", "The entity has more than \(SchemaValidation.propertyCountMax) properties.",
        "Move some into an entity of their own.")
    }
    var inherited: [String: String] = [:]
    for base in (lineage(of: entity) ?? []).dropFirst() {
      for name in base.attributes.map(\.name) + base.relationships.map(\.name) { inherited[name] = base.name }
    }
    var seen: Set<String> = []
    for name in own {
      if !seen.insert(name).inserted {
        report(name, "duplicate_name", "Two properties have this name.", "Give one of them another name.")
      } else if let base = inherited[name] {
        report(name, "duplicate_name", "\(base) has a property with this name.", "Give one of them another name.")
      }
    }
  }

  private mutating func check(_ attribute: SchemaAttribute) {
    let name = attribute.name
    checkName(name, property: name, "attribute")
    switch attribute.defaultValue {
    case .constant(let value):
      do {
        _ = try ValueRules.normalized(value, as: attribute.type, named: "the default")
      } catch {
        report(
          name, "default_type", "The default is not of the type \(attribute.type.rawValue).",
          "Write \(attribute.type.inputForm).")
      }
    case .generatedUUID where attribute.type != .uuid:
      report(name, "default_type", "A generated UUID is no \(attribute.type.rawValue).", "Make the type uuid.")
    case .generatedNow where attribute.type != .date:
      report(name, "default_type", "The time of making is no \(attribute.type.rawValue).", "Make the type date.")
    default: break
    }
    for option in attribute.options where !SchemaValidation.attributeOptions.contains(option) {
      report(
        name, "unknown_option", "There is no option \"\(option)\".",
        suggestion(option, SchemaValidation.attributeOptions))
    }
    switch attribute.merge {
    case .counter where !attribute.type.isInteger:
      report(name, "counter_type", "A counter is a whole number.", "Make the type int64, or leave out \"merge\".")
    case .counter where attribute.isOptional:
      report(
        name, "counter_optional", "A counter always has a value.", "Leave out \"optional\", and give it a default.")
    case .max, .min:
      let isOrdered = ![.bool, .data, .uuid, .url, .codable].contains(attribute.type)
      if !isOrdered {
        report(
          name, "extremum_type", "Values of \(attribute.type.rawValue) have no greatest or smallest.",
          "Leave out \"merge\".")
      }
    default: break
    }
  }

  private mutating func check(_ relationship: SchemaRelationship, of entity: SchemaEntity) {
    let name = relationship.name
    checkName(name, property: name, "relationship")
    guard let destination = byName[relationship.destination] else {
      return report(
        name, "unknown_destination", "There is no entity \(relationship.destination).",
        suggestion(relationship.destination, Array(byName.keys)))
    }
    if let inverse = relationship.inverse { check(inverse, of: relationship, in: entity, destination) }
    if relationship.isOrdered {
      if !relationship.isToMany {
        report(name, "ordered_to_one", "Only a to-many relationship has an order.", "Leave out \"ordered\".")
      } else if destination.relationships.first(where: { $0.name == relationship.inverse })?.isToMany ?? true {
        report(
          name, "ordered_many_to_many", "An order needs members that belong to one owner: a to-one inverse.",
          "Put an entity between the two, with a to-one relationship to each.")
      }
    }
    if relationship.isAcyclic {
      let isSelf = [lineage(of: entity), lineage(of: destination)].contains { lineage in
        let names = (lineage ?? []).map(\.name)
        return names.contains(entity.name) && names.contains(destination.name)
      }
      if relationship.isToMany || !isSelf {
        report(
          name, "acyclic_shape", "Only a to-one relationship of an entity to itself can be acyclic.",
          "Leave out \"acyclic\".")
      }
    }
    let (minimum, maximum) = (relationship.minimumCount, relationship.maximumCount)
    if minimum < 0 || maximum < 0 || (maximum > 0 && minimum > maximum) {
      report(name, "count_limits", "The least count is above the greatest, or one is negative.", "Correct the limits.")
    } else if !relationship.isToMany, minimum > 1 || maximum > 1 {
      report(name, "count_limits", "A to-one relationship has at most one member.", "Leave out the limits.")
    }
    if relationship.isToMany, !relationship.isOptional {
      report(name, "required_to_many", "A to-many relationship is empty rather than nil.", "Leave out \"optional\".")
    }
  }

  private mutating func check(
    _ inverse: String, of relationship: SchemaRelationship, in entity: SchemaEntity, _ destination: SchemaEntity
  ) {
    let name = relationship.name
    guard let other = destination.relationships.first(where: { $0.name == inverse }) else {
      let isInherited = (lineage(of: destination) ?? []).contains { $0.relationships.contains { $0.name == inverse } }
      return report(
        name, "unknown_inverse", "\(destination.name) has no relationship \(inverse) of its own.",
        isInherited
          ? "Make the destination the entity that declares \(inverse)."
          : suggestion(inverse, destination.relationships.map(\.name)))
    }
    if inverse == name, destination.name == entity.name {
      report(
        name, "inverse_of_itself",
        "A relationship cannot be its own inverse: only one of the two records would show it.",
        "Declare two relationships that are each other's inverse, or leave the inverse out.")
    } else if other.destination != entity.name {
      report(
        name, "inverse_mismatch", "Its inverse \(destination.name).\(inverse) leads to \(other.destination).",
        "Let it lead to \(entity.name), or name another inverse.")
    } else if other.inverse != name {
      report(
        name, "inverse_mismatch",
        "Its inverse \(destination.name).\(inverse) names \(other.inverse.map { "\($0) as its own" } ?? "none").",
        "Write \"inverse\":\"\(name)\" at \(destination.name).\(inverse).")
    } else if !relationship.isOptional, !other.isOptional, !relationship.isToMany, !other.isToMany {
      report(
        name, "required_both_ways",
        "Both sides of the one-to-one relationship are required: neither can be made first.",
        "Make one side optional.")
    }
  }

  private mutating func checkKeys(_ entity: SchemaEntity) {
    let known = (lineage(of: entity) ?? [entity]).flatMap { level in
      level.attributes.map(\.name) + level.relationships.filter { !$0.isToMany }.map(\.name)
    }
    let counters = Set(
      (lineage(of: entity) ?? [entity]).flatMap { $0.attributes.filter { $0.merge == .counter }.map(\.name) })
    for (what, lists) in [
      ("uniqueness constraint", entity.unique.map(\.attributes)), ("index", entity.indexes.map(\.attributes)),
    ] {
      var seen: Set<[String]> = []
      for attributes in lists {
        if attributes.isEmpty {
          report(nil, "empty_key", "A \(what) names no attribute.", "Name at least one, or leave it out.")
        }
        for name in attributes where !known.contains(name) {
          report(
            name, "unknown_key_attribute", "A \(what) names it, and there is no such attribute.",
            suggestion(name, known))
        }
        if Set(attributes).count < attributes.count {
          report(nil, "duplicate_key_attribute", "A \(what) names an attribute twice.", "Name it once.")
        }
        if !seen.insert(attributes).inserted, what != "index" {
          report(nil, "duplicate_key", "A \(what) stands twice.", "Leave one out.")
        }
        for name in attributes where what != "index" && counters.contains(name) {
          report(name, "unique_counter", "A counter cannot be unique: it changes by addition.", "Leave out \"merge\".")
        }
      }
    }
  }

  private func suggestion(_ name: String, _ known: [String]) -> String {
    let near = known.min { a, b in
      let (x, y) = (SchemaReader.distance(a, name), SchemaReader.distance(b, name))
      return x == y ? a < b : x < y
    }
    guard let near, SchemaReader.distance(near, name) <= 2 else {
      return known.isEmpty ? "Leave it out." : "Known are \(known.sorted().prefix(20).joined(separator: ", "))."
    }
    return "Did you mean \(near)?"
  }

  private mutating func report(_ property: String?, _ code: String, _ text: String, _ fix: String) {
    problems.append(.init(code: code, entity: entity, property: property, text: text, fix: fix))
  }
}
