import TomboloProtocol

/// The entities of the executable model: P holds every field policy, a unique key and a tree; the others hang on it by
/// each delete rule.
enum MergeModelSchema {
  static let schema = MergeSchema(document: document)

  static var document: SchemaDocument {
    var partners = [
      relationship("par", "P", inverse: "children", acyclic: true), many("children", "P", inverse: "par"),
      many("tags", "T", inverse: "tagged"),
    ]
    for (holder, rule) in [("C", DeleteRule.cascade), ("N", .nullify), ("D", .deny), ("M", .nullify)] {
      // The model's key of a member is the engine's position.
      partners.append(many("all\(holder)", holder, inverse: "own", rule: rule, isOrdered: holder == "M"))
    }
    partners.append(relationship("allO", "O", inverse: "own"))
    let plain = [attribute("f")]
    let entities: [SchemaEntity] = [
      SchemaEntity(
        name: "P",
        attributes: [
          attribute("f"), attribute("g"), attribute("u"), attribute("cnt", .counter, default: 0),
          attribute("mx", .max, default: 0), attribute("mn", .min, default: 0), attribute("fw", .firstWriter),
        ], relationships: partners, unique: [UniqueConstraint(attributes: ["u"])]),
      SchemaEntity(
        name: "T", attributes: [attribute("f"), attribute("g")],
        relationships: [many("tagged", "P", inverse: "tags"), many("allI", "I", inverse: "own", rule: .cascade)],
        concurrentDelete: .editWins),
      SchemaEntity(
        name: "W", attributes: plain, relationships: [many("allX", "X", inverse: "own")],
        concurrentDelete: .editWins),
      SchemaEntity(
        name: "R", attributes: [attribute("f"), attribute("k")], relationships: [many("allS", "S", inverse: "own")],
        unique: [UniqueConstraint(attributes: ["k"], onConflict: .reject)]),
      SchemaEntity(
        name: "M", attributes: [attribute("f")],
        relationships: [relationship("own", "P", inverse: "allM")]),
      SchemaEntity(
        name: "C", attributes: plain,
        relationships: [
          relationship("own", "P", inverse: "allC"), many("allE", "E", inverse: "own", rule: .deny),
        ]),
      holder("N", of: "P"), holder("D", of: "P"), holder("O", of: "P"), holder("E", of: "C"), holder("I", of: "T"),
      holder("S", of: "R"), holder("X", of: "W"),
    ]
    return SchemaDocument(
      name: "Model", version: SchemaVersion(1, 0, 0), entities: entities.sorted { $0.name < $1.name })
  }

  static func holder(_ name: String, of parent: String) -> SchemaEntity {
    SchemaEntity(
      name: name, attributes: [attribute("f")], relationships: [relationship("own", parent, inverse: "all\(name)")])
  }

  static func attribute(
    _ name: String, _ merge: MergePolicy = .lastWriter, type: AttributeType = .int64, default: Int64? = nil
  ) -> SchemaAttribute {
    SchemaAttribute(
      name: name, type: type, isOptional: `default` == nil, defaultValue: `default`.map { .constant(.integer($0)) },
      merge: merge)
  }

  static func relationship(
    _ name: String, _ destination: String, inverse: String, acyclic: Bool = false
  ) -> SchemaRelationship {
    SchemaRelationship(name: name, destination: destination, inverse: inverse, isAcyclic: acyclic)
  }

  static func many(
    _ name: String, _ destination: String, inverse: String, rule: DeleteRule = .nullify, isOrdered: Bool = false
  ) -> SchemaRelationship {
    SchemaRelationship(
      name: name, destination: destination, isToMany: true, inverse: inverse, deleteRule: rule, isOrdered: isOrdered)
  }
}
