import Testing
import Tombolo
import TomboloProtocol

@Suite("The size of a record")
struct RecordSizeTests {
  @Test("What one save writes of a record in two parts counts together")
  func parts() throws {
    try StoreFixture.run { fixture in
      let store = try fixture.memory(TestSchemas.library(version: SchemaVersion(1, 0, 0)))
      try store.setRemote("http://server:1/v1/stores/library", tokenFile: nil)
      let note = try store.plan("Note")
      let half = Value.text(String(repeating: "x", count: 600_000))
      let (title, text) = (try ValueRow(note, ["title": half]), try ValueRow(note, ["text": half]))
      let code = StoreFixture.code {
        try store.save { writer in
          let id = store.makeRecordID()
          try writer.insert(note, id, assigned: title.assigned, from: title)
          // The same value again is no other part.
          try writer.update(note, id, changed: title.assigned, from: title)
          try writer.update(note, id, changed: text.assigned, from: text)
        }
      }
      #expect(code == .recordTooLarge)
      #expect(try store.count("Note") == 0)
      // Two saves send each its own part.
      let id = try store.insert("Note", ["title": half])
      try store.set("Note", id, ["text": half])
      #expect(try store.count("Note") == 1)
    }
  }

  @Test("A store that does not sync has no limit")
  func unlimited() throws {
    try StoreFixture.run { fixture in
      let store = try fixture.memory(TestSchemas.library())
      try store.insert("Note", ["title": .text(String(repeating: "x", count: 2_000_000))])
      #expect(try store.count("Note") == 1)
    }
  }
}
