import Testing
import Tombolo
import TomboloClient
import TomboloProtocol
import TomboloServer
import TomboloSimulation

@Suite("Scenarios: deletes")
struct DeleteScenarios {
  private func world(_ entity: String, _ values: [String: Value]) throws -> (World, Replica, Replica, RecordID) {
    let world = try World()
    let (a, b) = (try world.replica("a"), try world.replica("b"))
    let record = try a.inserts(entity, values)
    try world.settles()
    return (world, a, b, record)
  }

  @Test("24: under editWins a concurrent edit brings the whole row back, at the deleter too", arguments: [false, true])
  func editWins(isDeleteFirst: Bool) throws {
    let (world, a, b, draft) = try world("Draft", ["title": "old", "text": "body"])
    try a.deletes("Draft", draft)
    try b.sets("Draft", draft, "title", to: "edited")
    for replica in isDeleteFirst ? [a, b] : [b, a] { try replica.pushes() }
    try world.expectAllEqual()
    #expect(try a.value("Draft", draft, "title") == "edited" && a.value("Draft", draft, "text") == "body")
  }

  @Test(
    "C35: under deleteWins the edit is lost, reported to its author, and restored on demand", arguments: [false, true])
  func deleteWins(isDeleteFirst: Bool) throws {
    let (world, a, b, note) = try world("Note", ["title": "old"])
    try a.deletes("Note", note)
    try b.sets("Note", note, "title", to: "edited")
    for replica in isDeleteFirst ? [a, b] : [b, a] { try replica.pushes() }
    try world.expectAllEqual()
    #expect(try !b.has("Note", note))
    let entry = try #require(try b.conflicts.first { $0.field == "title" })
    #expect(entry.rule == .recordDeleted && entry.lost.value == "edited")
    try b.store.restoreConflict(entry.id)
    try world.expectAllEqual()
    #expect(try a.value("Note", note, "title") == "edited")
    #expect(try b.conflicts.isEmpty)
  }

  @Test("25, C15: both delete: the record is gone and nobody is told")
  func bothDelete() throws {
    let (world, a, b, note) = try world("Note", [:])
    try a.deletes("Note", note)
    try b.deletes("Note", note)
    try world.expectAllEqual()
    #expect(try a.count("Note") == 0)
    #expect(try a.conflicts.isEmpty && b.conflicts.isEmpty)
  }

  @Test("26, C09, C42: a record created again under its identity is a new one, everywhere")
  func recreated() throws {
    let (world, a, b, note) = try world("Note", ["title": "old", "body": "of the first"])
    try a.deletes("Note", note)
    try a.inserts("Note", ["title": "again"], id: note)
    try world.expectAllEqual()
    #expect(try b.value("Note", note, "title") == "again" && b.value("Note", note, "body") == .null)
    // Nor does the old tombstone take a pending new one away.
    try b.deletes("Note", note)
    try b.syncs()
    try a.deletes("Note", note)
    try a.inserts("Note", ["title": "third"], id: note)
    try a.syncs()
    #expect(try a.value("Note", note, "title") == "third")
    try world.expectAllEqual()
    #expect(try b.value("Note", note, "title") == "third")
  }

  @Test("28, 29: an edit that saw the deletion undone outlives an older tombstone, in any order")
  func olderTombstone() throws {
    let (world, a, b, note) = try world("Note", ["title": "old"])
    try b.deletes("Note", note)
    try b.inserts("Note", ["title": "back"], id: note)
    try a.deletes("Note", note)
    try b.pushes()
    try a.pushes()
    try world.expectAllEqual()
    #expect(try a.value("Note", note, "title") == "back")
  }

  @Test("30: a record created and deleted before the first push is not sent")
  func createdInVain() throws {
    let world = try World()
    let (a, b) = (try world.replica("a"), try world.replica("b"))
    try world.settles()
    let note = try a.inserts("Note", ["title": "x"])
    try a.sets("Note", note, "title", to: "y")
    try a.deletes("Note", note)
    let sent = world.requests.count
    try a.syncs()
    #expect(world.pushes(since: sent).isEmpty)
    #expect(try a.unsent == 0)
    try a.inserts("Note", ["title": "real"])
    try world.expectAllEqual()
    #expect(try b.count("Note") == 1)
  }

  @Test("30: a deleted record that another save names travels, so that all agree on the reference")
  func createdAndNamed() throws {
    let world = try World()
    let (a, b) = (try world.replica("a"), try world.replica("b"))
    let owner = try a.inserts("Person", ["name": "Ada"])
    let pet = try a.inserts("Pet", ["owner": Value(reference: owner)])
    try a.deletes("Person", owner)
    try world.expectAllEqual()
    #expect(try b.value("Pet", pet, "owner") == .null)
    #expect(try b.count("Person") == 0)
  }

  @Test("33, C115: an edit of a record that the server does not know is reported, not dropped")
  func unknownRecord() throws {
    let (world, a, b, note) = try world("Note", ["title": "old"])
    try a.deletes("Note", note)
    try a.inserts("Note", ["title": "new"], id: note)
    try a.syncs()
    try b.sets("Note", note, "title", to: "of the first")
    try world.expectAllEqual()
    #expect(try b.value("Note", note, "title") == "new")
    #expect(try b.conflicts.contains { $0.lost.value == "of the first" })
  }

  @Test("34, 36, C36, C37: after the retention a replica starts anew: what is gone is gone, its own work is kept")
  func expired() throws {
    let world = try World()
    let (a, b) = (try world.replica("a"), try world.replica("b"))
    let gone = try a.inserts("Note", ["title": "gone"])
    let kept = try a.inserts("Note", ["title": "kept"])
    try world.settles()
    try a.deletes("Note", gone)
    try a.syncs()
    for _ in 0..<4 {
      world.passes(milliseconds: 40 * 24 * 3_600 * 1_000)
      try a.syncs()
      _ = try world.service.collectTombstones()
    }
    try b.sets("Note", gone, "title", to: "edited")
    try b.sets("Note", kept, "title", to: "edited")
    let new = try b.inserts("Note", ["title": "new"])
    try world.expectAllEqual()
    #expect(try !b.has("Note", gone) && !a.has("Note", gone))
    #expect(try a.value("Note", kept, "title") == "edited" && a.has("Note", new))
    #expect(try b.conflicts.contains { $0.record == gone && $0.lost.value == "edited" })
    let c = try world.replica("c")
    try c.syncs()
    #expect(try c.count("Note") == 2)
  }

  @Test("37: a replica that skipped the deletion and the new life sees what one sees that followed")
  func skippedEvents() throws {
    let (world, a, b, note) = try world("Note", ["title": "old", "body": "x"])
    let c = try world.replica("c")
    try c.syncs()
    try a.deletes("Note", note)
    try a.syncs()
    try c.syncs()
    try a.inserts("Note", ["title": "again"], id: note)
    try a.syncs()
    try c.syncs()
    try b.syncs()
    try world.expectAllEqual()
    #expect(try b.value("Note", note, "body") == .null)
  }

  @Test("38: a deletion by condition takes what its replica had, and no more")
  func deletedByCondition() throws {
    let world = try World()
    let (a, b) = (try world.replica("a"), try world.replica("b"))
    let note = try #require(a.store.schema.entity("Note"))
    try a.store.save { writer in
      for index in 0..<500 {
        let row = try ValueRow(note, ["title": .text("match \(index)")])
        try writer.insert(note, a.store.makeRecordID(), assigned: row.assigned, from: row)
      }
    }
    try world.settles()
    let mine = try a.ids("Note")
    let new = try b.inserts("Note", ["title": "match too"])
    try a.store.save { writer in for id in mine { try writer.delete(note, id) } }
    try world.expectAllEqual()
    #expect(try a.ids("Note") == [new])
  }

  @Test("C03: cascaded deletions travel, two levels deep, to new replicas as to old ones")
  func cascade() throws {
    let world = try World()
    let (a, b) = (try world.replica("a"), try world.replica("b"))
    let folder = try a.inserts("Folder")
    for _ in 0..<3 { try a.inserts("Note", ["folder": Value(reference: folder)]) }
    let root = try a.inserts("Node")
    let middle = try a.inserts("Node", ["parent": Value(reference: root)])
    try a.inserts("Node", ["parent": Value(reference: middle)])
    try world.settles()
    let late = try b.inserts("Note", ["title": "late", "folder": Value(reference: folder)])
    try a.deletes("Folder", folder)
    try a.deletes("Node", root)
    try a.syncs()
    let c = try world.replica("c")
    try world.expectAllEqual()
    for entity in ["Folder", "Note", "Node"] { #expect(try c.count(entity) == 0, "\(entity)") }
    #expect(try b.conflicts.contains { $0.record == late && $0.rule == .parentDeleted })
    #expect(try c.syncs().pulled == 0)
  }

  @Test("C52: a deletion that the server does not let stand comes back whole, with its links")
  func deniedDelete() throws {
    let (world, a, b, shelf) = try world("Shelf", ["name": "S"])
    let book = try b.inserts("Book", ["title": "T", "shelf": Value(reference: shelf)])
    try b.pushes()
    try a.deletes("Shelf", shelf)
    try world.expectAllEqual()
    #expect(try a.value("Shelf", shelf, "name") == "S")
    #expect(try a.value("Book", book, "shelf") == Value(reference: shelf))
    #expect(try a.conflicts.map(\.rule) == [.deny])
  }
}
