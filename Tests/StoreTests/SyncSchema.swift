import TomboloProtocol

/// Every policy and every rule: `Task` has all field policies, a unique key and a tree; the others hang on it.
enum SyncSchema {
  static let document = SchemaDocument(
    name: "Sync", version: SchemaVersion(1, 0, 0),
    entities: [
      holder("Claim", of: "Task"),  // one-to-one
      holder("Deny", of: "Task"),
      SchemaEntity(
        name: "Label", attributes: [text("name")],
        relationships: [
          many("tagged", "Task", inverse: "labels"), many("pieces", "Piece", inverse: "owner", rule: .cascade),
        ], concurrentDelete: .editWins),
      holder("Note", of: "Task"),
      holder("Part", of: "Task"),
      holder("Piece", of: "Label"),
      SchemaEntity(
        name: "Serial", attributes: [text("name"), text("key")],
        unique: [
          UniqueConstraint(attributes: ["key"], onConflict: .reject)
        ]),
      SchemaEntity(
        name: "Task",
        attributes: [
          text("code"), number("count", .counter, default: 0), number("high", .max, default: 0),
          number("low", .min, default: 0), text("name"), text("title"), number("first", .firstWriter),
        ].sorted { $0.name < $1.name },
        relationships: [
          many("children", "Task", inverse: "parent"),
          SchemaRelationship(name: "claim", destination: "Claim", inverse: "owner"),
          many("denials", "Deny", inverse: "owner", rule: .deny), many("labels", "Label", inverse: "tagged"),
          many("notes", "Note", inverse: "owner"),
          SchemaRelationship(name: "parent", destination: "Task", inverse: "children", isAcyclic: true),
          many("parts", "Part", inverse: "owner", rule: .cascade),
        ], unique: [UniqueConstraint(attributes: ["code"])]),
    ])

  private static let inverses = [
    "Claim": "claim", "Deny": "denials", "Note": "notes", "Part": "parts", "Piece": "pieces",
  ]

  private static func holder(_ name: String, of owner: String) -> SchemaEntity {
    SchemaEntity(
      name: name, attributes: [text("name")],
      relationships: [SchemaRelationship(name: "owner", destination: owner, inverse: inverses[name])])
  }

  private static func text(_ name: String) -> SchemaAttribute {
    SchemaAttribute(name: name, type: .string, isOptional: true)
  }

  private static func number(_ name: String, _ merge: MergePolicy, default: Int64? = nil) -> SchemaAttribute {
    SchemaAttribute(
      name: name, type: .int64, isOptional: `default` == nil, defaultValue: `default`.map { .constant(.integer($0)) },
      merge: merge)
  }

  private static func many(
    _ name: String, _ destination: String, inverse: String, rule: DeleteRule = .nullify
  ) -> SchemaRelationship {
    SchemaRelationship(name: name, destination: destination, isToMany: true, inverse: inverse, deleteRule: rule)
  }
}
