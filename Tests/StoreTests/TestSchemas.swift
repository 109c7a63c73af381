import TomboloProtocol

/// The models of the tests: `Folder 1-* Note`, `Note *-* Tag`, `Person` (unique `email`), `Animal <- Dog`, `Node`, `Sample`.
enum TestSchemas {
  static func library(
    version: SchemaVersion? = nil, rule: DeleteRule = .nullify, requiresFolder: Bool = false,
    tagRule: DeleteRule = .nullify,
    onConflict: UniqueConflict = .merge
  ) -> SchemaDocument {
    SchemaDocument(
      name: "Library", version: version,
      entities: [
        SchemaEntity(
          name: "Animal", attributes: [SchemaAttribute(name: "name", type: .string, defaultValue: .constant(.text("")))]
        ),
        SchemaEntity(
          name: "Dog", superentity: "Animal",
          attributes: [SchemaAttribute(name: "tricks", type: .int64, defaultValue: .constant(.integer(0)))]),
        SchemaEntity(
          name: "Folder",
          attributes: [SchemaAttribute(name: "name", type: .string, defaultValue: .constant(.text("")))],
          relationships: [
            SchemaRelationship(name: "notes", destination: "Note", isToMany: true, inverse: "folder", deleteRule: rule)
          ]),
        SchemaEntity(
          name: "Node", attributes: [SchemaAttribute(name: "name", type: .string, defaultValue: .constant(.text("")))],
          relationships: [
            SchemaRelationship(
              name: "children", destination: "Node", isToMany: true, inverse: "parent", deleteRule: .cascade),
            SchemaRelationship(name: "parent", destination: "Node", inverse: "children"),
          ]),
        SchemaEntity(
          name: "Note",
          attributes: [
            SchemaAttribute(name: "text", type: .string, isOptional: true),
            SchemaAttribute(name: "title", type: .string, defaultValue: .constant(.text(""))),
          ],
          relationships: [
            SchemaRelationship(name: "folder", destination: "Folder", isOptional: !requiresFolder, inverse: "notes"),
            SchemaRelationship(name: "tags", destination: "Tag", isToMany: true, inverse: "notes"),
          ]),
        SchemaEntity(
          name: "Person",
          attributes: [
            SchemaAttribute(name: "email", type: .string, isOptional: true),
            SchemaAttribute(name: "name", type: .string, defaultValue: .constant(.text(""))),
          ],
          relationships: [SchemaRelationship(name: "tags", destination: "Tag", isToMany: true)],
          unique: [UniqueConstraint(attributes: ["email"], onConflict: onConflict)]),
        SchemaEntity(
          name: "Sample",
          attributes: [
            SchemaAttribute(name: "number", type: .double, isOptional: true),
            SchemaAttribute(name: "required", type: .double, defaultValue: .constant(.real(0))),
            SchemaAttribute(name: "count", type: .int64, isOptional: true),
            SchemaAttribute(name: "bytes", type: .data, isOptional: true),
          ],
          relationships: [SchemaRelationship(name: "owner", destination: "Person")]),
        SchemaEntity(
          name: "Tag", attributes: [SchemaAttribute(name: "name", type: .string, defaultValue: .constant(.text("")))],
          relationships: [
            SchemaRelationship(name: "notes", destination: "Note", isToMany: true, inverse: "tags", deleteRule: tagRule)
          ]),
      ])
  }
}
