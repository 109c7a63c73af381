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

  @Test("110: what was set aside meets an edit after the upgrade: the newer stands")
  func asideAgainstEdit() throws {
    let world = try World()
    let old = try world.replica("old")
    let note = try old.inserts("Note")
    try old.syncs()
    let new = try world.replica("new", document: try Self.newer())
    try new.syncs()
    try new.sets("Note", note, "colour", to: "red")
    try new.syncs()
    try old.syncs()
    try new.sets("Note", note, "colour", to: "green")
    try old.opens(with: try Self.newer())
    try old.sets("Note", note, "colour", to: "blue")
    try world.expectAllEqual()
    #expect(try new.value("Note", note, "colour") == "blue")
    #expect(try new.conflicts.map(\.lost.value) == ["green"])
  }

  @Test("what waited for a record whose deletion does not stand after the upgrade is the record's again, and no damage")
  func asideOfUndoneDeletion() throws {
    var document = try House.document(version: "1.1.0")
    for index in document.entities.indices where document.entities[index].name == "Person" {
      document.entities[index].attributes.append(SchemaAttribute(name: "colour", type: .string, isOptional: true))
    }
    document = try SchemaDocument(parsing: document.canonicalJSON)
    let world = try World()
    let old = try world.replica("old")
    let person = try old.inserts("Person", ["email": "1@y"])
    try old.syncs()
    let new = try world.replica("new", document: document)
    try new.syncs()
    try new.sets("Person", person, "colour", to: "red")
    try new.syncs()
    try old.syncs()
    // The server unites the record with another, which the deleter has not seen: the deletion does not stand.
    let other = try world.replica("other")
    try other.inserts("Person", ["email": "1@y"])
    try other.syncs()
    try old.deletes("Person", person)
    try old.opens(with: document)
    #expect(try !old.has("Person", person))
    try old.pushes()
    #expect(try old.value("Person", person, "colour") == "red")
    let report = try old.syncs()
    #expect(report.repaired == 0 && report.checksum == .equal)
    #expect(try old.conflicts.map(\.rule) == [.mergeUnseen])
    try other.opens(with: document)
    try world.expectAllEqual()
    #expect(try new.value("Person", person, "colour") == "red")
  }

  @Test("a server that was put back has forgotten the newer schema: what an old version had set aside is no damage")
  func asideOfForgottenSchema() throws {
    let world = try World()
    let old = try world.replica("old")
    let note = try old.inserts("Note", ["title": "old"])
    try old.syncs()
    let backup = world.backup()
    let new = try world.replica("new", document: try Self.newer())
    try new.syncs()
    try new.sets("Note", note, "colour", to: "red")
    try new.syncs()
    try old.syncs()
    try world.restores(backup)
    _ = try old.failsToSync()
    let report = try old.syncs(.reupload)
    #expect(report.repaired == 0 && report.checksum == .equal)
    _ = try new.failsToSync()
    try new.syncs(.reupload)
    try old.opens(with: try Self.newer())
    try world.expectAllEqual()
    #expect(try old.value("Note", note, "colour") == "red")
  }

  @Test("114: an old program does not open what a new one has upgraded, and nothing is lost by its trying")
  func downgrade() throws {
    let world = try World()
    let replica = try world.replica("a")
    let note = try replica.inserts("Note", ["title": "N"])
    try replica.syncs()
    try replica.opens(with: try Self.newer())
    try replica.sets("Note", note, "colour", to: "red")
    #expect(throws: TomboloError.self) { try replica.opens(with: try House.document()) }
    try replica.opens(with: try Self.newer())
    #expect(try replica.value("Note", note, "colour") == "red" && replica.unsent == 1)
    let other = try world.replica("b", document: try Self.newer())
    try world.expectAllEqual()
    #expect(try other.value("Note", note, "colour") == "red")
  }

  @Test("116: a reset in the middle of an upgrade keeps what is unsent, of either version")
  func resetWhileUpgrading() throws {
    let world = try World()
    let replica = try world.replica("a")
    try replica.inserts("Note", ["title": "old"])
    try replica.syncs()
    try world.restores(world.backup())
    let first = try replica.inserts("Note", ["title": "unsent"])
    try replica.opens(with: try Self.newer())
    try replica.sets("Note", first, "colour", to: "red")
    _ = try replica.exchange(recovery: .reset) { $0.method == "POST" }
    try replica.opens(with: try Self.newer())
    try replica.syncs(.reset)
    let other = try world.replica("b", document: try Self.newer())
    try world.expectAllEqual()
    #expect(try other.count("Note") == 2 && other.value("Note", first, "colour") == "red")
  }

  @Test("118: a new attribute moves no row over the wire, whatever the store holds")
  func addedAttribute() throws {
    let world = try World()
    let (a, b) = (try world.replica("a"), try world.replica("b"))
    let notes = try #require(a.store.schema.entity("Note"))
    try a.store.save { writer in
      let row = try ValueRow(notes, ["title": "N"])
      for _ in 0..<2_000 { try writer.insert(notes, a.store.makeRecordID(), assigned: row.assigned, from: row) }
    }
    try world.settles()
    let sent = world.requests.count
    for replica in [a, b] {
      try replica.opens(with: try Self.newer())
      #expect(try replica.unsent == 0)
      let report = try replica.syncs()
      #expect(report.pushed == 0 && report.pulled == 0)
    }
    #expect(world.pushes(since: sent).isEmpty)
    try world.expectAllEqual()
  }

  @Test("120: a case that an old version does not know keeps its raw value there, through edits of other values")
  func unknownCase() throws {
    func document(_ version: String, cases: String) throws -> SchemaDocument {
      try SchemaDocument(
        parsing: Array(
          """
          {"name":"Moods","version":"\(version)","entities":[{"name":"Mood","attributes":[
            {"name":"kind","type":"string","cases":[\(cases)],"optional":true},
            {"name":"note","type":"string","optional":true}]}]}
          """.utf8))
    }
    let world = try World(document: try document("1.0.0", cases: "\"calm\""))
    let old = try world.replica("old")
    let mood = try old.inserts("Mood", ["kind": "calm"])
    try old.syncs()
    let new = try world.replica("new", document: try document("1.1.0", cases: "\"calm\",\"wild\""))
    try new.syncs()
    try new.sets("Mood", mood, "kind", to: "wild")
    try new.syncs()
    try old.syncs()
    #expect(try old.value("Mood", mood, "kind") == "wild")
    try old.sets("Mood", mood, "note", to: "of the old version")
    try world.expectAllEqual()
    #expect(try new.value("Mood", mood, "kind") == "wild" && new.conflicts.isEmpty)
  }

  @Test("105, 122: a server that does not know what a newer client says harms nothing, and is named; later all arrives")
  func olderServer() throws {
    let world = try World()
    let (a, b) = (try world.replica("a"), try world.replica("b"))
    try world.settles()
    let note = try a.inserts("Note", ["title": "N"])
    let refusal = TomboloError(
      .unknownMessageKind, "The message is of kind 99, which this version does not know.", remedy: "Update the server.")
    world.answer = { request in
      guard request.method == "POST", request.url.hasSuffix("/changes") else { return nil }
      return TransportResponse(
        status: 400, headers: ["content-type": WireFormat.cbor.mediaType], body: WireError(refusal).encoded(as: .cbor))
    }
    #expect(try a.failsToSync().code == .unknownMessageKind)
    #expect(try a.unsent == 1 && a.parked.isEmpty && a.value("Note", note, "title") == "N")
    world.answer = nil
    try world.expectAllEqual()
    #expect(try b.value("Note", note, "title") == "N")
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
