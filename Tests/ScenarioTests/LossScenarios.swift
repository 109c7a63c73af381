import Testing
import Tombolo
import TomboloClient
import TomboloProtocol
import TomboloServer
import TomboloSQLite
import TomboloSimulation

/// What is told to whom when an act of his does not stand, and what he can have back.
@Suite("Scenarios: losses are told, and made good")
struct LossScenarios {
  private func pair() throws -> (World, Replica, Replica) {
    let world = try World()
    return (world, try world.replica("a"), try world.replica("b"))
  }

  private func sentence(_ entry: ConflictEntry, on replica: Replica) -> String {
    ConflictWording(entry, schema: replica.store.schema.resolved).sentence
  }

  @Test(
    "24: under editWins the deleter is told by whom it was undone, whichever arrives first", arguments: [false, true])
  func editWins(isDeleteFirst: Bool) throws {
    let (world, a, b) = try pair()
    let draft = try a.inserts("Draft", ["title": "old"])
    try world.settles()
    try a.deletes("Draft", draft)
    try b.sets("Draft", draft, "title", to: "edited")
    for replica in isDeleteFirst ? [a, b] : [b, a] { try replica.pushes() }
    try world.expectAllEqual()
    let entry = try #require(try a.conflicts.first)
    #expect(try a.conflicts.count == 1 && entry.rule == .editWins && entry.record == draft && entry.field == nil)
    #expect(sentence(entry, on: a).contains("by replica \(try b.store.replicaState()?.replica.description ?? "")"))
    try a.store.restoreConflict(entry.id)
    try world.expectAllEqual()
    #expect(try !b.has("Draft", draft))
  }

  @Test("of a cascade that does not stand its author hears once, of what he deleted", arguments: [false, true])
  func undoneCascade(isDeleteFirst: Bool) throws {
    let world = try World(document: try Estate.document())
    let (a, b) = (try world.replica("a"), try world.replica("b"))
    let binder = try a.inserts("Binder", ["name": "B"])
    let drafts = try (0..<3).map {
      try a.inserts("Draft", ["title": .text("\($0)"), "binder": Value(reference: binder)])
    }
    try world.settles()
    try a.deletes("Binder", binder)
    for draft in drafts.dropFirst() { try b.sets("Draft", draft, "title", to: "edited") }
    for replica in isDeleteFirst ? [a, b] : [b, a] { try replica.pushes() }
    try world.expectAllEqual()
    #expect(try a.count("Draft") == 3 && a.count("Binder") == 1)
    #expect(try a.conflicts.map(\.record) == [binder] && b.conflicts.isEmpty)
  }

  @Test(
    "a unite here and a deletion of what stands elsewhere: the united record stays, and the deleter is told",
    arguments: [false, true])
  func uniteAgainstDeletion(isDeleteFirst: Bool) throws {
    let (world, a, b) = try pair()
    let (one, two) = (
      try a.inserts("Person", ["email": "1@y", "name": "One"]),
      try a.inserts("Person", ["email": "2@y", "name": "Two"])
    )
    let pet = try a.inserts("Pet", ["owner": Value(reference: two)])
    try world.settles()
    try a.sets("Person", two, "email", to: "1@y")
    #expect(try a.count("Person") == 1)
    try b.deletes("Person", one)
    for replica in isDeleteFirst ? [b, a] : [a, b] { try replica.pushes() }
    try world.expectAllEqual()
    #expect(try b.ids("Person") == [one])
    #expect(try b.value("Person", one, "email") == "1@y" && b.value("Pet", pet, "owner") == Value(reference: one))
    #expect(try b.conflicts.map(\.rule) == [.mergeUnseen] && a.conflicts.isEmpty)
  }

  @Test(
    "a unite here and a deletion elsewhere of what goes: what the deletion took along lives as well",
    arguments: [false, true])
  func uniteAgainstCascade(isDeleteFirst: Bool) throws {
    var document = try House.document()
    for index in document.entities.indices where document.entities[index].name == "Person" {
      for place in document.entities[index].relationships.indices {
        document.entities[index].relationships[place].deleteRule = .cascade
      }
    }
    let world = try World(document: try SchemaDocument(parsing: document.canonicalJSON))
    let (a, b) = (try world.replica("a"), try world.replica("b"))
    let (one, two) = (try a.inserts("Person", ["email": "1@y"]), try a.inserts("Person", ["email": "2@y"]))
    let pet = try a.inserts("Pet", ["owner": Value(reference: two)])
    try world.settles()
    try b.deletes("Person", two)
    #expect(try !b.has("Pet", pet))
    try a.sets("Person", two, "email", to: "1@y")
    for replica in isDeleteFirst ? [b, a] : [a, b] { try replica.pushes() }
    try world.expectAllEqual()
    #expect(try b.ids("Person") == [one] && b.value("Pet", pet, "owner") == Value(reference: one))
    #expect(try b.conflicts.map(\.rule) == [.mergeUnseen] && a.conflicts.isEmpty)
  }

  @Test("a unite here and a deletion or an edit of what was taken in elsewhere", arguments: [false, true])
  func uniteAgainstTwin(isUniteFirst: Bool) throws {
    let (world, a, b) = try pair()
    let (one, two, three) = (
      try a.inserts("Person", ["email": "1@y"]), try a.inserts("Person", ["email": "2@y"]),
      try a.inserts("Person", ["email": "3@y"])
    )
    try world.settles()
    for twin in [two, three] { try a.sets("Person", twin, "email", to: "1@y") }
    try b.deletes("Person", two)
    try b.sets("Person", three, "name", to: "edited")
    for replica in isUniteFirst ? [a, b] : [b, a] { try replica.pushes() }
    try world.expectAllEqual()
    #expect(try a.ids("Person") == [one])
    #expect(try a.value("Person", one, "name") == "edited")
    #expect(try b.conflicts.map(\.rule) == [.mergeUnseen])
  }

  @Test("a pair with a record that is deleted elsewhere is told, and linked again on demand", arguments: [false, true])
  func pairLost(isDeleteFirst: Bool) throws {
    let (world, a, b) = try pair()
    let (note, tag) = (try a.inserts("Note", ["title": "N"]), try a.inserts("Tag", ["name": "T"]))
    try world.settles()
    try a.deletes("Tag", tag)
    try b.links("Note", note, "tags", to: tag)
    for replica in isDeleteFirst ? [a, b] : [b, a] { try replica.pushes() }
    try world.expectAllEqual()
    let entry = try #require(try b.conflicts.first)
    #expect(try b.conflicts.count == 1 && entry.rule == .targetDeleted && entry.field == "tags")
    #expect(entry.lost.value == Value(reference: tag))
    #expect(sentence(entry, on: b).hasPrefix("Your addition of Tag \(tag.description.prefix(13)) to tags of Note "))
    #expect(throws: TomboloError.self) { try b.store.restoreConflict(entry.id) }
    try b.inserts("Tag", ["name": "T"], id: tag)
    try b.store.restoreConflict(entry.id)
    try world.expectAllEqual()
    #expect(try a.pairs() == 1 && b.conflicts.isEmpty)
  }

  @Test("a pair linked here and parted there: whose act does not stand is told", arguments: [false, true])
  func pairParted(isPartingLater: Bool) throws {
    let (world, a, b) = try pair()
    let (note, tag) = (try a.inserts("Note"), try a.inserts("Tag"))
    try a.links("Note", note, "tags", to: tag)
    try world.settles()
    if !isPartingLater { try a.parts("Note", note, "tags", from: tag) }
    try b.parts("Note", note, "tags", from: tag)
    try b.pushes()
    try b.links("Note", note, "tags", to: tag)
    if isPartingLater { try a.parts("Note", note, "tags", from: tag) }
    try b.pushes()
    try world.expectAllEqual()
    #expect(try a.pairs() == (isPartingLater ? 0 : 1))
    let (loser, winner) = isPartingLater ? (b, a) : (a, b)
    #expect(try winner.conflicts.isEmpty)
    let entry = try #require(try loser.conflicts.first)
    #expect(sentence(entry, on: loser).hasPrefix(isPartingLater ? "Your addition of Tag " : "Your removal of Tag "))
    try loser.store.restoreConflict(entry.id)
    try world.expectAllEqual()
    #expect(try winner.pairs() == (isPartingLater ? 1 : 0))
  }

  @Test("rows of the sqlite3 shell with one unique value become one, and what does not stand is on the list")
  func shellTwins() throws {
    let (world, a, b) = try pair()
    try a.types(
      """
      INSERT INTO Person(email, name) VALUES ('x@y', 'first');
      INSERT INTO Person(email, name) VALUES ('x@y', 'second');
      """)
    try a.store.absorbShellNotes()
    let person = try #require(try a.ids("Person").first)
    #expect(try a.count("Person") == 1)
    let stands = try #require(try a.value("Person", person, "name"))
    let entry = try #require(try a.conflicts.first)
    #expect(try a.conflicts.count == 1 && entry.rule == .uniqueMerge && entry.field == "name")
    #expect(Set([entry.lost.value, stands]) == ["first", "second"] && entry.standing?.value == stands)
    try a.store.restoreConflict(entry.id)
    try world.expectAllEqual()
    #expect(try b.value("Person", person, "name") == entry.lost.value)
  }

  @Test(
    "a note moved into a folder that is deleted elsewhere: each value is told, by whom, and where it was to go",
    arguments: [false, true])
  func movedIntoDeleted(isDeleteFirst: Bool) throws {
    let (world, a, b) = try pair()
    let (folder, other) = (try a.inserts("Folder", ["name": "F"]), try a.inserts("Folder", ["name": "G"]))
    let note = try b.inserts("Note", ["title": "N", "folder": Value(reference: other)])
    try world.settles()
    try world.settles()
    try a.deletes("Folder", folder)
    try b.sets("Note", note, "folder", to: Value(reference: folder))
    for replica in isDeleteFirst ? [a, b] : [b, a] { try replica.pushes() }
    try world.expectAllEqual()
    let told = try b.conflicts
    #expect(Set(told.map(\.field)) == ["title", "folder"] && told.allSatisfy { $0.rule == .parentDeleted })
    let move = try #require(told.first { $0.field == "folder" })
    let text = sentence(move, on: b)
    #expect(text.contains("Folder \(folder.description.prefix(13))") && text.contains("deleted by replica "), "\(text)")
  }

  @Test(
    "an entry about a value that its author wrote over is told if the server refuses what he wrote",
    arguments: [true, false])
  func withheld(isRefused: Bool) throws {
    let (world, a, b) = try pair()
    let note = try a.inserts("Note", ["title": "old"])
    try world.settles()
    try a.sets("Note", note, "title", to: "mine")
    try a.pushes()
    try b.sets("Note", note, "title", to: "theirs")
    try b.inserts("Badge", ["code": "1"])
    try b.syncs()
    // While the page with the entry travels, the value is written over, in a save with a code that is taken.
    world.answer = { request in
      guard request.method == "GET" else { return nil }
      world.answer = nil
      try? a.saves([
        .update(entity: "Note", note, values: ["title": "later"]),
        .insert(entity: "Badge", a.store.makeRecordID(), values: ["code": isRefused ? "1" : "2"]),
      ])
      return nil
    }
    _ = try a.exchange { $0.method == "POST" }
    #expect(try a.unsent == 1 && a.conflicts.isEmpty)
    try world.expectAllEqual()
    #expect(try a.parked.count == (isRefused ? 1 : 0))
    #expect(try a.value("Note", note, "title") == (isRefused ? "theirs" : "later"))
    #expect(try a.conflicts.map(\.lost.value) == (isRefused ? ["mine"] : []))
    #expect(try a.store.read { try $0.firstRow("SELECT count(*) FROM _tombolo_withheld") { $0.int64(0) } } == 0)
  }

  @Test(
    "entries survive a power cut: the server forgets them once the next request says that they were taken",
    arguments: [nil, 1])
  func entriesSurvive(pageItems: Int?) throws {
    let (world, a, b) = try pair()
    let note = try a.inserts("Note", ["title": "old"])
    try world.settles()
    try a.sets("Note", note, "title", to: "mine")
    try a.pushes()
    try b.sets("Note", note, "title", to: "theirs")
    for number in 0..<3 { try b.inserts("Note", ["title": .text("\(number)")]) }
    try b.syncs()
    for _ in 0..<2 { try a.syncs(pageItems: pageItems) }
    #expect(try a.conflicts.count == 1)
    world.passes(milliseconds: 100 * 24 * 3_600 * 1_000)
    try b.syncs()
    _ = try world.service.collectTombstones()
    try a.losesPower()
    try a.syncs(pageItems: pageItems)
    #expect(try a.conflicts.map(\.lost.value) == ["mine"])
  }

  @Test(
    "a greatest value that its deleter had written over in vain, unseen, is told to its author",
    arguments: [false, true])
  func greatestOfDeleted(isSeen: Bool) throws {
    let (world, a, b) = try pair()
    let score = try a.inserts("Score", ["best": .integer(1)])
    try world.settles()
    try a.sets("Score", score, "best", to: .integer(9))
    try a.pushes()
    if isSeen { try world.settles() }
    try b.sets("Score", score, "best", to: .integer(5))
    try b.deletes("Score", score)
    try b.syncs()
    try world.expectAllEqual()
    #expect(try !a.has("Score", score))
    #expect(try a.conflicts.map(\.lost.value) == (isSeen ? [] : [.integer(9)]))
    #expect(try b.conflicts.map(\.rule) == (isSeen ? [] : [.extremum]))
  }
}
