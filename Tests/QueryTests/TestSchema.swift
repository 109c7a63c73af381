import Foundation
import TomboloProtocol

@testable import Tombolo

/// The schema of the test classes, its tables, and their key paths.
enum TestSchema {
  static let document = SchemaDocument(
    name: "Query", version: nil,
    entities: [
      SchemaEntity(
        name: "Animal", attributes: [attribute("name", .string)],
        relationships: [
          SchemaRelationship(name: "mother", destination: "Animal", inverse: "young"),
          SchemaRelationship(name: "young", destination: "Animal", isToMany: true, inverse: "mother"),
        ]),
      SchemaEntity(
        name: "Badge", attributes: [attribute("title", .string)],
        relationships: [SchemaRelationship(name: "item", destination: "Item", inverse: "badge")]),
      SchemaEntity(name: "Cat", superentity: "Animal", attributes: [attribute("isTame", .bool)]),
      SchemaEntity(name: "Dog", superentity: "Animal", attributes: [attribute("breed", .string)]),
      SchemaEntity(
        name: "Folder", attributes: [attribute("name", .string), attribute("nick", .string, isOptional: true)],
        relationships: [
          SchemaRelationship(name: "children", destination: "Folder", isToMany: true, inverse: "parent"),
          SchemaRelationship(name: "items", destination: "Item", isToMany: true, inverse: "folder"),
          SchemaRelationship(name: "owner", destination: "Person", inverse: "folders"),
          SchemaRelationship(name: "parent", destination: "Folder", inverse: "children"),
        ]),
      SchemaEntity(
        name: "Item", attributes: itemAttributes,
        relationships: [
          SchemaRelationship(name: "badge", destination: "Badge", inverse: "item"),
          SchemaRelationship(name: "folder", destination: "Folder", inverse: "items"),
          SchemaRelationship(name: "tags", destination: "Tag", isToMany: true, inverse: "items"),
        ]),
      SchemaEntity(
        name: "Person", attributes: [attribute("age", .int64, isOptional: true), attribute("name", .string)],
        relationships: [SchemaRelationship(name: "folders", destination: "Folder", isToMany: true, inverse: "owner")]),
      SchemaEntity(name: "Puppy", superentity: "Dog", attributes: [attribute("weeks", .int64, isOptional: true)]),
      SchemaEntity(
        name: "Tag", attributes: [attribute("name", .string), attribute("weight", .int64)],
        relationships: [SchemaRelationship(name: "items", destination: "Item", isToMany: true, inverse: "tags")]),
    ])

  static let itemAttributes: [SchemaAttribute] = [
    attribute("count", .int64), attribute("data", .data), attribute("date", .date), attribute("flag", .bool),
    attribute("kind", .string), attribute("level", .int64), attribute("link", .url, isOptional: true),
    attribute("name", .string), attribute("nick", .string, isOptional: true), attribute("numbers", .codable),
    attribute("optionalCount", .int64, isOptional: true), attribute("optionalDate", .date, isOptional: true),
    attribute("optionalFlag", .bool, isOptional: true), attribute("optionalKind", .string, isOptional: true),
    attribute("optionalPrice", .decimal, isOptional: true), attribute("optionalScore", .double, isOptional: true),
    attribute("order", .string), attribute("price", .decimal), attribute("ratio", .float), attribute("score", .double),
    attribute("small", .int8), attribute("unsigned", .uint16), attribute("uuid", .uuid), attribute("words", .codable),
  ]

  static func attribute(_ name: String, _ type: AttributeType, isOptional: Bool = false) -> SchemaAttribute {
    SchemaAttribute(name: name, type: type, isOptional: isOptional)
  }

  static let store = TestPlans.schema(document)

  static let maps = KeyPathMaps([
    KeyPathMap(
      entity: "Person", model: Person.self,
      properties: [(\Person.name, "name"), (\Person.age, "age"), (\Person.folders, "folders")]),
    KeyPathMap(
      entity: "Folder", model: Folder.self,
      properties: [
        (\Folder.name, "name"), (\Folder.nick, "nick"), (\Folder.owner, "owner"), (\Folder.parent, "parent"),
        (\Folder.children, "children"), (\Folder.items, "items"),
      ]),
    KeyPathMap(
      entity: "Tag", model: Tag.self,
      properties: [(\Tag.name, "name"), (\Tag.weight, "weight"), (\Tag.items, "items")]),
    KeyPathMap(
      entity: "Badge", model: Badge.self, properties: [(\Badge.title, "title"), (\Badge.item, "item")]),
    KeyPathMap(entity: "Item", model: Item.self, properties: itemPaths),
    KeyPathMap(entity: "Animal", model: Animal.self, properties: animalPaths(Animal.self)),
    KeyPathMap(
      entity: "Dog", model: Dog.self, properties: animalPaths(Dog.self) + [(\Dog.breed, "breed")]),
    KeyPathMap(
      entity: "Puppy", model: Puppy.self,
      properties: animalPaths(Puppy.self) + [(\Puppy.breed, "breed"), (\Puppy.weeks, "weeks")]),
    KeyPathMap(
      entity: "Cat", model: Cat.self, properties: animalPaths(Cat.self) + [(\Cat.isTame, "isTame")]),
  ])

  private static func animalPaths<Kind: Animal>(_ type: Kind.Type) -> [(path: AnyKeyPath, name: String)] {
    [(\Kind.name, "name"), (\Kind.mother, "mother"), (\Kind.young, "young")]
  }

  private static var itemPaths: [(path: AnyKeyPath, name: String)] {
    [
      (\Item.name, "name"), (\Item.nick, "nick"), (\Item.count, "count"), (\Item.optionalCount, "optionalCount"),
      (\Item.small, "small"), (\Item.unsigned, "unsigned"), (\Item.score, "score"),
      (\Item.optionalScore, "optionalScore"), (\Item.ratio, "ratio"), (\Item.price, "price"),
      (\Item.optionalPrice, "optionalPrice"), (\Item.date, "date"), (\Item.optionalDate, "optionalDate"),
      (\Item.flag, "flag"), (\Item.optionalFlag, "optionalFlag"), (\Item.kind, "kind"),
      (\Item.optionalKind, "optionalKind"), (\Item.level, "level"), (\Item.uuid, "uuid"), (\Item.link, "link"),
      (\Item.data, "data"), (\Item.words, "words"), (\Item.numbers, "numbers"), (\Item.folder, "folder"),
      (\Item.tags, "tags"), (\Item.optionalTags, "tags"), (\Item.badge, "badge"), (\Item.order, "order"),
    ]
  }
}

/// Plans as the store makes them, without its clash rules.
enum TestPlans {
  static func schema(_ document: SchemaDocument) -> StoreSchema {
    let resolved = ResolvedSchema(document)
    let plans = document.entities.enumerated().compactMap { index, entity in
      resolved.entity(entity.name).map { plan(index, $0, in: resolved) }
    }
    return StoreSchema(document: document, entities: plans)
  }

  private static func plan(_ index: Int, _ entity: ResolvedEntity, in resolved: ResolvedSchema) -> EntityPlan {
    var columns: [ColumnPlan] = []
    for attribute in entity.attributes {
      columns.append(
        ColumnPlan(
          position: columns.count, property: attribute.name, column: attribute.name, kind: .attribute(attribute),
          isOptional: attribute.isOptional))
    }
    for reference in entity.references {
      columns.append(
        ColumnPlan(
          position: columns.count, property: reference.name, column: reference.name, kind: .reference(reference),
          isOptional: reference.isOptional))
    }
    let root = resolved.entity(entity.root)
    return EntityPlan(
      name: entity.name, index: index, table: entity.root, lineage: entity.lineage,
      concreteNames: [entity.name] + entity.descendants, hasEntityColumn: !(root?.descendants.isEmpty ?? true),
      columns: columns,
      farSides: entity.farSides.map { side in
        FarSidePlan(
          property: side.relationship.name, isToMany: side.relationship.isToMany,
          destination: side.relationship.destination,
          table: resolved.entity(side.relationship.destination)?.root ?? "", column: side.reference,
          reference: side.reference, deleteRule: side.relationship.deleteRule)
      },
      links: entity.links.compactMap { key, isSource, name in
        resolved.links[key].map {
          LinkPlan(
            property: name, destination: isSource ? $0.target : $0.source, link: $0,
            table: key.replacing(".", with: "_"), isSource: isSource, deleteRule: .nullify)
        }
      },
      uniqueKeys: [])
  }
}
