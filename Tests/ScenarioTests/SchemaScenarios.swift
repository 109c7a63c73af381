import Testing
import Tombolo
import TomboloClient
import TomboloProtocol
import TomboloServer
import TomboloSimulation

@Suite("Scenarios: schema versions")
struct SchemaScenarios {
  /// The house with a colour for notes, and rooms with lamps, many to many.
  private static func newer() throws -> SchemaDocument {
    var document = try House.document(version: "1.1.0")
    document.entities.append(
      SchemaEntity(
        name: "Lamp", attributes: [SchemaAttribute(name: "name", type: .string, isOptional: true)],
        relationships: [SchemaRelationship(name: "notes", destination: "Note", isToMany: true, inverse: "lamps")]))
    for index in document.entities.indices where document.entities[index].name == "Note" {
      document.entities[index].attributes.append(SchemaAttribute(name: "colour", type: .string, isOptional: true))
      document.entities[index].relationships.append(
        SchemaRelationship(name: "lamps", destination: "Lamp", isToMany: true, inverse: "notes"))
    }
    return try SchemaDocument(parsing: document.canonicalJSON)
  }

  @Test("108, 109, 112, C04: what an old version receives without knowing it is there after its upgrade, pairs too")
  func upgrade() throws {
    let world = try World()
    let old = try world.replica("old")
    let note = try old.inserts("Note", ["title": "old"])
    try old.syncs()
    let new = try world.replica("new", document: try Self.newer())
    try new.syncs()
    try new.sets("Note", note, "colour", to: "red")
    let lamps = try (0..<2).map { try new.inserts("Lamp", ["name": .text("\($0)")]) }
    for lamp in lamps { try new.links("Note", note, "lamps", to: lamp) }
    try new.parts("Note", note, "lamps", from: lamps[1])
    let gone = try new.inserts("Lamp", ["name": "linked, then parted"])
    try new.links("Note", note, "lamps", to: gone)
    try new.syncs()
    try old.syncs()
    try new.parts("Note", note, "lamps", from: gone)
    try new.syncs()
    try old.sets("Note", note, "title", to: "of the old version")
    try old.syncs()
    try old.opens(with: try Self.newer())
    #expect(try old.value("Note", note, "colour") == "red")
    #expect(try old.count("Lamp") == 3 && old.pairs() == 1)
    try world.expectAllEqual()
    #expect(try new.value("Note", note, "title") == "of the old version")
  }

  @Test("113: nil that the new version wrote on purpose stays nil")
  func nilOnPurpose() throws {
    let world = try World()
    let old = try world.replica("old")
    let note = try old.inserts("Note")
    try old.syncs()
    let new = try world.replica("new", document: try Self.newer())
    try new.syncs()
    try new.sets("Note", note, "colour", to: "red")
    try new.syncs()
    try old.syncs()
    try new.sets("Note", note, "colour", to: .null)
    try new.syncs()
    try old.syncs()
    try old.opens(with: try Self.newer())
    #expect(try old.value("Note", note, "colour") == .null)
    try world.expectAllEqual()
  }

  @Test("117: of two different documents for one version the second is refused, and its replica keeps its work")
  func twoDocuments() throws {
    let world = try World()
    try world.replica("a").syncs()
    var other = try House.document()
    other.entities.append(
      SchemaEntity(name: "Zoo", attributes: [SchemaAttribute(name: "x", type: .int64, isOptional: true)]))
    let b = try world.replica("b", document: other)
    let note = try b.inserts("Note", ["title": "kept"])
    #expect(throws: TomboloError.self) { try b.syncs() }
    #expect(try b.unsent == 1 && b.value("Note", note, "title") == "kept")
  }
}
