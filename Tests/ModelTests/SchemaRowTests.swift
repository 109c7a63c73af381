import SwiftData
import Testing

@Suite("Schemas as data")
struct SchemaRowTests {
  private let schema = Schema([Folder.self, Person.self, Sample.self, Puppy.self])

  @Test("Schema.Entity: names, hierarchy, own and inherited properties, constraints, indexes")
  func entities() throws {
    let dog = try #require(schema.entity(for: Dog.self))
    #expect(dog.superentityName == "Animal")
    #expect(dog.subentityNames == ["Puppy"])
    #expect(dog.storedProperties.map(\.name) == ["breed"])
    #expect(dog.inheritedProperties.map(\.name) == ["keeper", "name"])
    #expect(dog.properties.count == 3)
    #expect(schema.entitiesByName["Puppy"]?.inheritedPropertiesByName["breed"]?.valueType == String.self)
    #expect(schema.entity(for: Person.self)?.uniquenessConstraints == [["email"]])
    #expect(Schema.entityName(for: Puppy.self) == "Puppy")
  }

  @Test("Schema.Attribute: value type, optionality, default, uniqueness, options")
  func attributes() throws {
    let sample = try #require(schema.entity(for: Sample.self)).attributesByName
    #expect(sample["int8"]?.valueType == Int8.self)
    #expect(sample["genre"]?.valueType == Genre.self)
    #expect(sample["measure"].map { ObjectIdentifier($0.valueType) } == ObjectIdentifier(Measure?.self))
    #expect(sample["measure"]?.isOptional == true)
    #expect(sample["text"]?.defaultValue as? String == "")
    #expect(sample["int"]?.defaultValue as? Int == 0)
    let name = try #require(schema.entity(for: Folder.self)?.attributesByName["name"])
    #expect(name.isUnique && name.isAttribute && !name.isRelationship && !name.isTransient)
    #expect(name.options == [.unique])
    #expect(
      schema.entity(for: Sample.self)?.compositeAttributes.map(\.name).sorted() == ["counts", "measure", "words"])
  }

  @Test("Schema.Relationship: destination, inverse, rule, counts, value type")
  func relationships() throws {
    let notes = try #require(schema.entity(for: Folder.self)?.relationshipsByName["notes"])
    #expect(notes.destination == "Note" && notes.inverseName == "folder" && notes.deleteRule == .cascade)
    #expect(notes.inverseKeyPath == \Note.folder)
    #expect(ObjectIdentifier(notes.valueType) == ObjectIdentifier([Note].self))
    #expect(!notes.isToOneRelationship && notes.isRelationship)
    #expect(notes.minimumModelCount == 0 && notes.maximumModelCount == 0)
  }

  @Test("Schema: JSON and files give the same schema again, without classes")
  func coding() throws {
    let decoded = try JSONDecoder().decode(Schema.self, from: try JSONEncoder().encode(schema))
    #expect(decoded == schema)
    #expect(decoded.entitiesByName["Sample"]?.attributesByName["int8"]?.valueType == Int8.self)
    try StoreFile.run { file in
      try schema.save(to: file.url)
      #expect(try Schema.load(from: file.url) == schema)
      let error = #expect(throws: TomboloError.self) { try Schema.load(from: file.url.appendingPathComponent("no")) }
      #expect(error?.code == .fileUnreadable)
    }
    let refused = #expect(throws: TomboloError.self) {
      try ModelContainer(for: decoded, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    }
    #expect(refused?.code == .invalidSchema)
  }

  @Test("Schema.Version, .Index and .Unique")
  func parts() throws {
    #expect(Schema.Version(1, 2, 0) < Schema.Version(1, 10, 0))
    let version = try JSONDecoder().decode(
      Schema.Version.self, from: try JSONEncoder().encode(Schema.Version(1, 2, 3)))
    #expect(version.description == "1.2.3")
    #expect(Schema.Index<Folder>([\.name]).indices == [[\.name]])
    #expect(Schema.Index<Folder>(.binary([\.name]), .rtree([\.name])).indices.count == 2)
    #expect(Schema.Unique<Person>([\.email], [\.name, \.age]).constraints.count == 2)
  }
}
