import Testing
import Tombolo
import TomboloProtocol
import TomboloSQLite

@Suite("The write path")
struct WriterTests {
  @Test("A record is inserted, read, changed and deleted", arguments: [true, false])
  func roundTrip(inMemory: Bool) throws {
    try StoreFixture.run { fixture in
      let document = TestSchemas.library()
      let store = try inMemory ? fixture.memory(document) : fixture.file(document)
      let id = try store.insert("Note", ["title": .text("one")])
      #expect(try store.values("Note", id)?["title"] == .text("one"))
      #expect(try store.values("Note", id)?["text"] == .null)
      try store.set("Note", id, ["title": .text("two"), "text": .text("")])
      #expect(try store.values("Note", id)?["title"] == .text("two"))
      #expect(try store.values("Note", id)?["text"] == .text(""))
      #expect(try store.delete("Note", id).deleted.count == 1)
      #expect(try store.values("Note", id) == nil)
    }
  }

  @Test("A subclass lies in its root's table and is found under its base")
  func hierarchy() throws {
    try StoreFixture.run { fixture in
      let store = try fixture.memory(TestSchemas.library())
      let id = try store.insert("Dog", ["name": .text("Rex"), "tricks": .integer(3)])
      #expect(try store.values("Animal", id) == ["name": .text("Rex")])
      #expect(try store.plan("Dog").table == "Animal")
      #expect(try store.delete("Animal", id).deleted.map(\.entity) == ["Dog"])
      #expect(try store.count("Dog") == 0)
    }
  }

  @Test("What the body throws undoes the whole save")
  func rollback() throws {
    struct Stop: Error {}
    try StoreFixture.run { fixture in
      let store = try fixture.file(TestSchemas.library())
      let note = try store.plan("Note")
      #expect(throws: Stop.self) {
        try store.save { writer in
          try writer.insert(note, store.makeRecordID(), assigned: ColumnSet(), from: ValueRow(note, [:]))
          throw Stop()
        }
      }
      #expect(try store.count("Note") == 0)
    }
  }
}
