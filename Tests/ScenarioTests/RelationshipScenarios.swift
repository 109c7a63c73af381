import Testing
import Tombolo
import TomboloClient
import TomboloProtocol
import TomboloServer
import TomboloSimulation

@Suite("Scenarios: relationships")
struct RelationshipScenarios {
  private func pair() throws -> (World, Replica, Replica) {
    let world = try World()
    return (world, try world.replica("a"), try world.replica("b"))
  }

  @Test("40, C48: a pull that is cut between its pages goes on, and shows nothing before its last page")
  func cutBetweenPages() throws {
    let (world, a, b) = try pair()
    for index in 0..<6 { try a.inserts("Note", ["title": .text("\(index)")]) }
    try a.syncs()
    var gets = 0
    _ = try b.exchange(pageItems: 2) { request in
      gets += request.method == "GET" ? 1 : 0
      return gets > 2
    }
    #expect(try b.count("Note") == 0)
    try b.opens()
    #expect(try b.syncs(pageItems: 2).pulled < 6, "what was staged is not fetched again")
    #expect(try b.count("Note") == 6)
    try world.expectAllEqual()
  }

  @Test("41: what was deleted while a pull was under way leaves nothing staged")
  func deletedMeanwhile() throws {
    let (world, a, b) = try pair()
    let top = try a.inserts("Node", ["name": "A"])
    let middle = try a.inserts("Node", ["name": "B", "parent": Value(reference: top)])
    let last = try a.inserts("Node", ["name": "C", "parent": Value(reference: middle)])
    try a.syncs()
    var gets = 0
    _ = try b.exchange(pageItems: 1) { request in
      gets += request.method == "GET" ? 1 : 0
      return gets > 2
    }
    try a.deletes("Node", middle)
    try a.syncs()
    try b.syncs(pageItems: 1)
    #expect(try b.ids("Node") == [top])
    #expect(try !b.has("Node", last))
    try world.expectAllEqual()
  }

  @Test(
    "42, C34: a child added to a parent that is deleted elsewhere dies, is reported and can be restored",
    arguments: [false, true])
  func lateChild(isDeleteFirst: Bool) throws {
    let (world, a, b) = try pair()
    let folder = try a.inserts("Folder", ["name": "F"])
    try world.settles()
    try a.deletes("Folder", folder)
    let note = try b.inserts("Note", ["title": "late", "folder": Value(reference: folder)])
    for replica in isDeleteFirst ? [a, b] : [b, a] { try replica.pushes() }
    try world.expectAllEqual()
    #expect(try a.count("Note") == 0 && b.count("Note") == 0)
    let entry = try #require(try b.conflicts.first { $0.record == note && $0.field == "title" })
    try b.store.restoreConflict(entry.id)
    try world.expectAllEqual()
    #expect(try a.value("Note", note, "title") == "late" && a.value("Note", note, "folder") == .null)
    #expect(try b.conflicts.map(\.field) == ["folder"], "the folder is gone, so that loss is not made good")
  }

  @Test("45, C34: under deny the parent is back, whole, at the deleter", arguments: [false, true])
  func deny(isDeleteFirst: Bool) throws {
    let (world, a, b) = try pair()
    let shelf = try a.inserts("Shelf", ["name": "S"])
    try world.settles()
    try a.deletes("Shelf", shelf)
    let book = try b.inserts("Book", ["shelf": Value(reference: shelf)])
    for replica in isDeleteFirst ? [a, b] : [b, a] { try replica.pushes() }
    try world.expectAllEqual()
    #expect(try a.value("Shelf", shelf, "name") == "S" && a.value("Book", book, "shelf") == Value(reference: shelf))
  }

  @Test("46: a child moved to a list that the other deletes never dangles")
  func movedToDeleted() throws {
    let (world, a, b) = try pair()
    let (one, two) = (try a.inserts("Person"), try a.inserts("Person"))
    let pet = try a.inserts("Pet", ["name": "Rex", "owner": Value(reference: one)])
    try world.settles()
    try a.deletes("Person", two)
    try b.sets("Pet", pet, "owner", to: Value(reference: two))
    try world.expectAllEqual()
    #expect(try a.value("Pet", pet, "owner") == .null && a.value("Pet", pet, "name") == "Rex")
    #expect(try b.conflicts.map(\.rule) == [.targetDeleted])
  }

  @Test("C34: a kept reference shows again when its record lives again")
  func referenceReturns() throws {
    let (world, a, b) = try pair()
    let owner = try a.inserts("Person", ["name": "Ada"])
    let pet = try a.inserts("Pet", ["owner": Value(reference: owner)])
    try world.settles()
    try a.deletes("Person", owner)
    try world.settles()
    #expect(try b.value("Pet", pet, "owner") == .null)
    try a.inserts("Person", ["name": "Ada again"], id: owner)
    try world.expectAllEqual()
    #expect(try b.value("Pet", pet, "owner") == Value(reference: owner))
  }

  @Test("49, C32: of two moves that close a cycle the later is undone, and its author told", arguments: [false, true])
  func cycle(isLaterFirst: Bool) throws {
    let (world, a, b) = try pair()
    let (x, y) = (try a.inserts("Node", ["name": "X"]), try a.inserts("Node", ["name": "Y"]))
    try world.settles()
    try a.sets("Node", x, "parent", to: Value(reference: y))
    try b.sets("Node", y, "parent", to: Value(reference: x))
    for replica in isLaterFirst ? [b, a] : [a, b] { try replica.pushes() }
    try world.expectAllEqual()
    #expect(try a.value("Node", x, "parent") == Value(reference: y))
    #expect(try a.value("Node", y, "parent") == .null)
    #expect(try b.conflicts.map(\.rule) == [.cycle] && a.conflicts.isEmpty)
  }

  @Test("50: a node moved out of a subtree that is deleted elsewhere: all agree, and its author is told if it is lost")
  func movedOut() throws {
    let (world, a, b) = try pair()
    let (root, other) = (try a.inserts("Node"), try a.inserts("Node"))
    let leaf = try a.inserts("Node", ["name": "leaf", "parent": Value(reference: root)])
    try world.settles()
    try a.deletes("Node", root)
    try b.sets("Node", leaf, "parent", to: Value(reference: other))
    try world.expectAllEqual()
    #expect(try !a.has("Node", root))
    #expect(try b.has("Node", leaf) || b.conflicts.contains { $0.record == leaf })
  }

  @Test("54: a list cleared on one side keeps what was added on the other")
  func clearedAndAdded() throws {
    let (world, a, b) = try pair()
    let note = try a.inserts("Note")
    let tags = try (0..<3).map { try a.inserts("Tag", ["name": .text("\($0)")]) }
    for tag in tags { try a.links("Note", note, "tags", to: tag) }
    try world.settles()
    for tag in tags { try a.parts("Note", note, "tags", from: tag) }
    let new = try b.inserts("Tag", ["name": "new"])
    try b.links("Note", note, "tags", to: new)
    try world.expectAllEqual()
    #expect(try a.pairs() == 1)
  }

  @Test("C46: a pair linked on both sides is one pair, and parting it parts it for both")
  func linkedTwice() throws {
    let (world, a, b) = try pair()
    let (note, tag) = (try a.inserts("Note"), try a.inserts("Tag"))
    try world.settles()
    try a.links("Note", note, "tags", to: tag)
    try b.links("Note", note, "tags", to: tag)
    try world.expectAllEqual()
    #expect(try a.pairs() == 1)
    try b.parts("Note", note, "tags", from: tag)
    try world.expectAllEqual()
    #expect(try a.pairs() == 0)
  }

  @Test("57, C29: a child that comes before its parent, in one save or page by page, arrives with it")
  func childFirst() throws {
    let (world, a, b) = try pair()
    let (note, folder) = (a.store.makeRecordID(), a.store.makeRecordID())
    let (notes, folders) = (try #require(a.store.schema.entity("Note")), try #require(a.store.schema.entity("Folder")))
    try a.store.save { writer in
      let row = try ValueRow(notes, ["folder": Value(reference: folder)])
      try writer.insert(notes, note, assigned: row.assigned, from: row)
      let parent = try ValueRow(folders, ["name": "F"])
      try writer.insert(folders, folder, assigned: parent.assigned, from: parent)
    }
    try a.syncs()
    try b.syncs(pageItems: 1)
    #expect(try b.value("Note", note, "folder") == Value(reference: folder))
    try world.expectAllEqual()
  }

  @Test("48: a reference to a record that nobody knows reads as nil everywhere, and is shown once it is there")
  func unknownTarget() throws {
    let (world, a, b) = try pair()
    let owner = try a.inserts("Person", ["name": "Ada"])
    try a.syncs()
    let pet = try b.inserts("Pet", ["name": "Rex"])
    try b.syncs()
    try b.sets("Pet", pet, "owner", to: Value(reference: owner))
    try a.deletes("Person", owner)
    try world.expectAllEqual()
    #expect(try a.value("Pet", pet, "owner") == .null)
  }

  @Test("58: a cascade larger than a page is one step for readers")
  func largeCascade() throws {
    let (world, a, b) = try pair()
    let folder = try a.inserts("Folder")
    let notes = try #require(a.store.schema.entity("Note"))
    try a.store.save { writer in
      let row = try ValueRow(notes, ["folder": Value(reference: folder)])
      for _ in 0..<1_000 {
        try writer.insert(notes, a.store.makeRecordID(), assigned: row.assigned, from: row)
      }
    }
    try world.settles()
    try a.deletes("Folder", folder)
    try a.syncs()
    var gets = 0
    _ = try b.exchange(pageItems: 100) { request in
      gets += request.method == "GET" ? 1 : 0
      return gets > 3
    }
    #expect(try b.count("Note") == b.count("Folder") * 1_000)
    try world.expectAllEqual()
    #expect(try b.count("Note") == 0)
  }

  @Test("C31: a refused parent hides its children; retried, both are there")
  func refusedParent() throws {
    let (world, a, b) = try pair()
    try a.inserts("Badge", ["code": "7", "holder": "Ada"])
    try a.syncs()
    let badge = try b.inserts("Badge", ["code": "7", "holder": "Bob"])
    try b.sets("Badge", badge, "holder", to: "Bob B.")
    try b.syncs()
    #expect(try b.parked.map(\.code) == [.uniqueViolation, .dependsOnRefused])
    #expect(try b.count("Badge") == 1)
    let first = try a.ids("Badge")[0]
    try a.deletes("Badge", first)
    try world.settles()
    for save in try b.parked { try b.store.retryParked(save.changeSet.number) }
    try world.expectAllEqual()
    #expect(try a.value("Badge", badge, "holder") == "Bob B.")
    #expect(try b.parked.isEmpty)
  }

  @Test("a reference whose target went while it waited travels as it was written, also once it was written over")
  func hiddenReferenceWrittenOver() throws {
    let (world, a, b) = try pair()
    let (gone, kept) = (try a.inserts("Person", ["email": "1@y"]), try a.inserts("Person", ["email": "2@y"]))
    let pet = try a.inserts("Pet", ["name": "Rex"])
    try world.settles()
    try a.deletes("Person", gone)
    try a.syncs()
    // While the page with the deletion travels.
    world.answer = { request in
      guard request.method == "GET" else { return nil }
      world.answer = nil
      try? b.sets("Pet", pet, "owner", to: Value(reference: gone))
      return nil
    }
    _ = try b.exchange { $0.method == "POST" }
    #expect(try b.value("Pet", pet, "owner") == .null)
    try b.sets("Pet", pet, "owner", to: Value(reference: kept))
    #expect(try written("owner", by: b) == [Value(reference: gone), Value(reference: kept)])
    try world.expectAllEqual()
    #expect(try a.value("Pet", pet, "owner") == Value(reference: kept))
  }

  @Test("a reference that a save's own delete took away and that the save gives anew is sent")
  func referenceGivenAnew() throws {
    let (world, a, b) = try pair()
    let (gone, kept) = (try a.inserts("Person", ["email": "1@y"]), try a.inserts("Person", ["email": "2@y"]))
    let pet = try a.inserts("Pet", ["owner": Value(reference: gone)])
    try world.settles()
    try a.saves([
      .delete(entity: "Person", gone), .update(entity: "Pet", pet, values: ["owner": Value(reference: kept)]),
    ])
    #expect(try written("owner", by: a) == [Value(reference: kept)])
    try world.expectAllEqual()
    #expect(try b.value("Pet", pet, "owner") == Value(reference: kept))
  }

  /// What the unsent saves give a property, in order.
  private func written(_ property: String, by replica: Replica) throws -> [Value] {
    try replica.store.outbox(recordsMax: 99, bytesMax: .max).flatMap(\.changes).flatMap { change -> [Value] in
      guard case .update(let update) = change else { return [] }
      return update.writes.filter { $0.name == property }.map(\.value)
    }
  }
}
