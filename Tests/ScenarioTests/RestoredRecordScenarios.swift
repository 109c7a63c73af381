import Testing
import Tombolo
import TomboloClient
import TomboloProtocol
import TomboloSimulation

@Suite("Scenarios: a record that was lost is brought back whole")
struct RestoredRecordScenarios {
  /// A note with everything, in a folder, with two tags, at two replicas.
  private struct Desk {
    let world: World
    let a: Replica
    let b: Replica
    let folder: RecordID
    let note: RecordID
    let tags: [RecordID]

    init() throws {
      world = try World()
      (a, b) = (try world.replica("a"), try world.replica("b"))
      folder = try a.inserts("Folder", ["name": "F"])
      note = try a.inserts(
        "Note",
        ["title": "title", "body": "body", "words": "w", "pages": .integer(7), "folder": Value(reference: folder)])
      tags = try ["T", "U"].map { [a] in try a.inserts("Tag", ["name": .text($0)]) }
      for tag in tags { try a.links("Note", note, "tags", to: tag) }
      try world.settles()
    }
  }

  @Test("C35: an edit of a deleted record restored gives the record back with all it had", arguments: [false, true])
  func whole(isDeleteFirst: Bool) throws {
    let desk = try Desk()
    let (a, b, note) = (desk.a, desk.b, desk.note)
    try a.deletes("Note", note)
    try b.sets("Note", note, "title", to: "edited")
    try b.sets("Note", note, "words", to: "more")
    for replica in isDeleteFirst ? [a, b] : [b, a] { try replica.pushes() }
    try desk.world.expectAllEqual()
    let entries = try b.conflicts
    #expect(Set(entries.map(\.field)) == ["title", "words"])
    let done = try b.store.restoreConflict(entries[0].id)
    #expect(done.act == .madeAnew && done.missing.isEmpty && Set(done.settled) == Set(entries.map(\.id)))
    try desk.world.expectAllEqual()
    for (property, value) in [("title", Value.text("edited")), ("body", "body"), ("words", "more")] {
      #expect(try a.value("Note", note, property) == value)
    }
    #expect(try a.value("Note", note, "folder") == Value(reference: desk.folder))
    #expect(try a.value("Note", note, "pages") == .integer(7) && a.pairs() == 2)
    #expect(try b.conflicts.isEmpty)
  }

  @Test("what a record named and is gone as well is named as not restored, and its entry stays")
  func missing() throws {
    let desk = try Desk()
    let (a, b, note) = (desk.a, desk.b, desk.note)
    let other = try a.inserts("Folder", ["name": "G"])
    try desk.world.settles()
    try a.deletes("Folder", other)
    try a.deletes("Tag", desk.tags[0])
    try b.sets("Note", note, "folder", to: Value(reference: other))
    try desk.world.expectAllEqual()
    #expect(try !a.has("Note", note))
    let entry = try #require(try b.conflicts.first { $0.field == "folder" })
    let done = try b.store.restoreConflict(entry.id)
    #expect(Set(done.missing.map(\.property)) == ["folder"] && done.missing.first?.absent?.id == other)
    #expect(done.restored.contains { $0.property == "title" })
    let words = RestoredConflict(done, schema: b.store.schema.resolved)
    #expect(words.sentences.contains { $0.contains("Not restored: folder") && $0.contains("\(other) is not there") })
    #expect(try b.conflicts.map(\.field) == ["folder"])
    try desk.world.expectAllEqual()
    #expect(try a.value("Note", note, "body") == "body" && a.pairs() == 1)
    #expect(try a.value("Note", note, "folder") == .null)
  }

  @Test("a loss of another kind on the same record stays on the list when the record is brought back")
  func otherLosses() throws {
    let desk = try Desk()
    let (a, b, note) = (desk.a, desk.b, desk.note)
    try b.sets("Note", note, "title", to: "early")
    try a.sets("Note", note, "title", to: "late")
    try b.pushes()
    try a.pushes()
    try desk.world.settles()
    #expect(try b.conflicts.map(\.rule) == [.laterEdit])
    try a.deletes("Note", note)
    try b.sets("Note", note, "body", to: "edited")
    try desk.world.expectAllEqual()
    let entry = try #require(try b.conflicts.first { $0.rule == .recordDeleted })
    try b.store.restoreConflict(entry.id)
    #expect(try b.value("Note", note, "title") == "late" && b.value("Note", note, "body") == "edited")
    #expect(try b.conflicts.map(\.rule) == [.laterEdit])
    try b.store.restoreConflict(try #require(try b.conflicts.first).id)
    try desk.world.expectAllEqual()
    #expect(try a.value("Note", note, "title") == "early" && b.conflicts.isEmpty)
  }
}
