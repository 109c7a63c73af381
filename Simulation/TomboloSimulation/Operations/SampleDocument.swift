package import TomboloProtocol

extension SchemaDocument {
  /// The schema that runs use where none is given: every rule of the merge is in it.
  package static var simulationSample: SchemaDocument {
    SchemaDocument(
      name: "Simulation", version: SchemaVersion(1, 0, 0),
      entities: [account, badge, folder, item, note, project, room, seat, slot, tag, task, visit])
  }

  /// The version before it: some replicas begin on this one. It has no Visit, and Note has neither picture nor views.
  package static var simulationSampleBefore: SchemaDocument {
    var document = simulationSample
    document.version = SchemaVersion(0, 9, 0)
    document.entities.removeAll { $0.name == "Visit" }
    for index in document.entities.indices {
      switch document.entities[index].name {
      case "Note": document.entities[index].attributes.removeAll { ["picture", "views"].contains($0.name) }
      case "Room": document.entities[index].relationships.removeAll { $0.name == "visits" }
      case "Tag": document.entities[index].attributes.removeAll { $0.name == "hue" }
      default: break
      }
    }
    return document
  }

  /// A ledger: its counter moves from one record to another.
  private static var account: SchemaEntity {
    SchemaEntity(
      name: "Account",
      attributes: [
        SchemaAttribute(name: "balance", type: .int64, defaultValue: .constant(.integer(0)), merge: .counter),
        SchemaAttribute(name: "owner", type: .string, defaultValue: .constant(.text(""))),
      ])
  }

  private static var folder: SchemaEntity {
    SchemaEntity(
      name: "Folder",
      attributes: [
        SchemaAttribute(name: "left", type: .int64, defaultValue: .constant(.integer(0))),
        SchemaAttribute(name: "right", type: .int64, defaultValue: .constant(.integer(0))),
      ],
      relationships: [
        SchemaRelationship(name: "children", destination: "Folder", isToMany: true, inverse: "parent"),
        SchemaRelationship(name: "items", destination: "Item", isToMany: true, inverse: "folder", deleteRule: .cascade),
        SchemaRelationship(name: "notes", destination: "Note", isToMany: true, inverse: "folder"),
        SchemaRelationship(name: "parent", destination: "Folder", inverse: "children", isAcyclic: true),
      ])
  }

  private static var item: SchemaEntity {
    SchemaEntity(
      name: "Item",
      attributes: [
        SchemaAttribute(name: "isDone", type: .bool, defaultValue: .constant(.integer(0))),
        SchemaAttribute(name: "price", type: .decimal, isOptional: true),
        SchemaAttribute(name: "text", type: .string, defaultValue: .constant(.text(""))),
      ],
      relationships: [SchemaRelationship(name: "folder", destination: "Folder", inverse: "items")],
      concurrentDelete: .editWins)
  }

  private static var note: SchemaEntity {
    SchemaEntity(
      name: "Note",
      attributes: [
        SchemaAttribute(name: "body", type: .string, defaultValue: .constant(.text(""))),
        SchemaAttribute(name: "created", type: .date, defaultValue: .generatedNow),
        SchemaAttribute(name: "first", type: .string, isOptional: true, merge: .firstWriter),
        SchemaAttribute(name: "highest", type: .int64, defaultValue: .constant(.integer(0)), merge: .max),
        SchemaAttribute(name: "lowest", type: .double, defaultValue: .constant(.real(0)), merge: .min),
        SchemaAttribute(name: "picture", type: .data, isOptional: true),
        SchemaAttribute(name: "title", type: .string, defaultValue: .constant(.text(""))),
        SchemaAttribute(name: "views", type: .int64, defaultValue: .constant(.integer(0)), merge: .counter),
      ],
      relationships: [
        SchemaRelationship(name: "badge", destination: "Badge", inverse: "note"),
        SchemaRelationship(name: "folder", destination: "Folder", inverse: "notes"),
        SchemaRelationship(name: "tags", destination: "Tag", isToMany: true, inverse: "notes"),
      ])
  }

  /// One-to-one with a note.
  private static var badge: SchemaEntity {
    SchemaEntity(
      name: "Badge",
      attributes: [SchemaAttribute(name: "colour", type: .string, defaultValue: .constant(.text("red")))],
      relationships: [SchemaRelationship(name: "note", destination: "Note", inverse: "badge")])
  }

  private static var tag: SchemaEntity {
    SchemaEntity(
      name: "Tag",
      attributes: [
        SchemaAttribute(name: "hue", type: .double, defaultValue: .constant(.real(0))),
        SchemaAttribute(name: "name", type: .string, defaultValue: .constant(.text(""))),
      ],
      relationships: [
        SchemaRelationship(name: "notes", destination: "Note", isToMany: true, inverse: "tags"),
        SchemaRelationship(name: "slots", destination: "Slot", isToMany: true, inverse: "tag", deleteRule: .deny),
      ],
      unique: [UniqueConstraint(attributes: ["name"])])
  }

  private static var slot: SchemaEntity {
    SchemaEntity(
      name: "Slot",
      attributes: [
        SchemaAttribute(name: "code", type: .string, isOptional: true),
        SchemaAttribute(name: "size", type: .int16, defaultValue: .constant(.integer(1))),
      ],
      relationships: [SchemaRelationship(name: "tag", destination: "Tag", inverse: "slots")],
      unique: [UniqueConstraint(attributes: ["code"], onConflict: .reject)])
  }

  // MARK: A cascade whose root may come back

  private static var project: SchemaEntity {
    SchemaEntity(
      name: "Project",
      attributes: [SchemaAttribute(name: "name", type: .string, defaultValue: .constant(.text("")))],
      relationships: [
        SchemaRelationship(name: "tasks", destination: "Task", isToMany: true, inverse: "project", deleteRule: .cascade)
      ],
      concurrentDelete: .editWins)
  }

  private static var task: SchemaEntity {
    SchemaEntity(
      name: "Task",
      attributes: [SchemaAttribute(name: "text", type: .string, defaultValue: .constant(.text("")))],
      relationships: [SchemaRelationship(name: "project", destination: "Project", inverse: "tasks")])
  }

  // MARK: Required references, and those that no rule touches

  private static var room: SchemaEntity {
    SchemaEntity(
      name: "Room",
      attributes: [SchemaAttribute(name: "label", type: .string, defaultValue: .constant(.text("")))],
      relationships: [
        SchemaRelationship(name: "seats", destination: "Seat", isToMany: true, inverse: "room"),
        SchemaRelationship(
          name: "visits", destination: "Visit", isToMany: true, inverse: "room", deleteRule: .noAction),
      ])
  }

  private static var seat: SchemaEntity {
    SchemaEntity(
      name: "Seat",
      attributes: [SchemaAttribute(name: "row", type: .int32, defaultValue: .constant(.integer(1)))],
      relationships: [SchemaRelationship(name: "room", destination: "Room", isOptional: false, inverse: "seats")])
  }

  private static var visit: SchemaEntity {
    SchemaEntity(
      name: "Visit",
      attributes: [SchemaAttribute(name: "remark", type: .string, isOptional: true)],
      relationships: [SchemaRelationship(name: "room", destination: "Room", inverse: "visits")])
  }
}
