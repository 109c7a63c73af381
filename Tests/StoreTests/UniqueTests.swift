import Testing
import Tombolo
import TomboloProtocol
import TomboloSQLite

@Suite("Unique keys")
struct UniqueTests {
  private func people(_ store: Store) throws -> [String] {
    try store.read { connection in
      var found: [String] = []
      try connection.eachRow("SELECT coalesce(email, '-') || ':' || name FROM Person ORDER BY 1") {
        found.append($0.string(0))
      }
      return found
    }
  }

  @Test("Two pending inserts with one key become one record with the later values (C01)", arguments: [false, true])
  func pending(saved: Bool) throws {
    try StoreFixture.run { fixture in
      let store = try fixture.memory(TestSchemas.library())
      let person = try store.plan("Person")
      let stored = saved ? try store.insert("Person", ["email": .text("a"), "name": .text("zero")]) : nil
      let first = store.makeRecordID()
      let second = store.makeRecordID()
      let outcome = try store.save { writer in
        let one = try ValueRow(person, ["email": .text("a"), "name": .text("one")])
        let two = try ValueRow(person, ["email": .text("a"), "name": .text("two")])
        try writer.insert(person, first, assigned: one.assigned, from: one)
        try writer.insert(person, second, assigned: two.assigned, from: two)
      }.outcome
      #expect(try people(store) == ["a:two"])
      #expect(outcome.merged[second] == stored ?? first)
      if let stored { #expect(outcome.merged[first] == stored) }
      #expect(try store.changes().count == (saved ? 2 : 1))
    }
  }

  @Test("Fields that nobody assigned do not overwrite, and links are united (C66)")
  func upsert() throws {
    try StoreFixture.run { fixture in
      let store = try fixture.memory(TestSchemas.library())
      let person = try store.plan("Person")
      let tags = try #require(person.links.first)
      let old = try store.insert("Person", ["email": .text("a"), "name": .text("kept")])
      let sample = store.makeRecordID()
      let samples = try store.plan("Sample")
      let (one, two) = (try store.insert("Tag", [:]), try store.insert("Tag", [:]))
      try store.save { try $0.link(tags, old, one) }
      try store.save { writer in
        let row = try ValueRow(person, ["email": .text("a")])
        let id = store.makeRecordID()
        try writer.insert(person, id, assigned: row.assigned, from: row)
        try writer.link(tags, id, one)
        try writer.link(tags, id, two)
        let owned = try ValueRow(samples, ["owner": Value(reference: id)])
        try writer.insert(samples, sample, assigned: owned.assigned, from: owned)
      }
      #expect(try people(store) == ["a:kept"])
      #expect(try store.values("Sample", sample)?["owner"] == Value(reference: old))
      #expect(try store.integer("SELECT count(*) FROM Person_tags") == 2)
    }
  }

  @Test(
    "Equal texts in any form are one key, whichever came first, and however the row got there",
    arguments: [
      ("é", "e\u{301}"), ("e\u{301}", "é"), ("e\u{301}", "e\u{301}"), ("q\u{307}\u{323}", "q\u{323}\u{307}"),
      ("\u{212A}", "K"), ("K", "\u{212A}"),
    ],
    [0, 1, 2])
  func forms(_ texts: (stored: String, new: String), _ way: Int) throws {
    try StoreFixture.run { fixture in
      let store = try fixture.file(TestSchemas.library())
      try store.insert("Person", ["email": .text("a\u{308}lter"), "name": .text("makes the column uncomposed")])
      switch way {
      case 0: try store.insert("Person", ["email": .text(texts.stored), "name": .text("old")])
      case 1:
        let id = try store.insert("Person", ["email": .text("b"), "name": .text("old")])
        let person = try store.plan("Person")
        let row = try ValueRow(person, ["email": .text(texts.stored)])
        try store.save { try $0.update(person, id, changed: row.assigned, from: row) }
      default:
        try Connection(path: fixture.path("test.store")).execute(
          "INSERT INTO Person(email, name) VALUES (\(Value.text(texts.stored).literal), 'old')")
      }
      try store.insert("Person", ["email": .text(texts.new), "name": .text("new")])
      #expect(try people(store).filter { $0.hasSuffix(":new") || $0.hasSuffix(":old") } == ["\(texts.new):new"])
      #expect(try store.count("Person") == 2)
    }
  }

  @Test("A text that is not in composed form does not make every later insert look at all rows")
  func manyBesideOne() throws {
    try StoreFixture.run { fixture in
      let store = try fixture.memory(TestSchemas.library())
      let person = try store.plan("Person")
      try store.insert("Person", ["email": .text("e\u{301}"), "name": .text("")])
      var plan: [String] = []
      try store.save { writer in
        let sql = try writer.collisionQuery(person, try #require(person.uniqueKeys.first))
        try writer.connection.eachRow("EXPLAIN QUERY PLAN " + sql) { plan.append($0.string(3)) }
      }
      #expect(plan.contains { $0.contains("_tombolo_decomposed") })
      #expect(!plan.contains { $0.hasPrefix("SCAN") }, "\(plan)")
    }
  }

  @Test(
    "What is noted of a text that is not composed goes with the text, and with its record", arguments: [false, true])
  func forgotten(isOtherProgram: Bool) throws {
    try StoreFixture.run { fixture in
      let store = try fixture.file(TestSchemas.library())
      let person = try store.plan("Person")
      func noted() throws -> Int64? {
        try store.absorbShellNotes()
        return try store.read { try $0.firstRow("SELECT count(*) FROM _tombolo_decomposed") { $0.int64(0) } }
      }
      func set(_ id: RecordID, _ column: String, _ value: Value) throws {
        guard isOtherProgram else {
          let row = try ValueRow(person, [column: value])
          _ = try store.save { _ = try $0.update(person, id, changed: row.assigned, from: row) }
          return
        }
        try Connection(path: fixture.path("test.store")).execute(
          "UPDATE Person SET \(column) = \(value.literal) WHERE _tombolo_id = \(Value(reference: id).literal)")
      }
      let (a, b) = (
        try store.insert("Person", ["email": .text("e\u{301}"), "name": .text("a")]),
        try store.insert("Person", ["email": .text("o\u{302}"), "name": .text("b")])
      )
      #expect(try noted() == 2)
      try set(a, "name", .text("other"))
      #expect(try noted() == 2)
      try set(a, "email", .text("u\u{308}"))
      #expect(try noted() == 2)
      // The entry is the new text's: whoever has it composed is the same person.
      try store.insert("Person", ["email": .text("\u{FC}"), "name": .text("a again")])
      #expect(try store.count("Person") == 2)
      #expect(try noted() == 1)
      try set(a, "email", .text("e\u{301}"))
      #expect(try noted() == 2)
      try set(a, "email", .null)
      #expect(try noted() == 1)
      if isOtherProgram {
        try Connection(path: fixture.path("test.store")).execute("DELETE FROM Person WHERE name = 'b'")
      } else {
        try store.save { _ = try $0.delete(person, b) }
      }
      #expect(try noted() == 0)
    }
  }

  @Test("Nil never collides, and values may be swapped within one save")
  func swapped() throws {
    try StoreFixture.run { fixture in
      let store = try fixture.memory(TestSchemas.library())
      let person = try store.plan("Person")
      try store.insert("Person", [:])
      try store.insert("Person", [:])
      let a = try store.insert("Person", ["email": .text("a"), "name": .text("A")])
      let b = try store.insert("Person", ["email": .text("b"), "name": .text("B")])
      try store.save { writer in
        for (id, email) in [(a, "b"), (b, "a")] {
          let row = try ValueRow(person, ["email": .text(email)])
          try writer.update(person, id, changed: row.assigned, from: row)
        }
      }
      #expect(try people(store) == ["-:", "-:", "a:B", "b:A"])
    }
  }

  @Test("An update that collides unites the records, and the later save's values win")
  func update() throws {
    try StoreFixture.run { fixture in
      let store = try fixture.memory(TestSchemas.library())
      let a = try store.insert("Person", ["email": .text("a"), "name": .text("A")])
      let b = try store.insert("Person", ["email": .text("b"), "name": .text("B")])
      let outcome = try store.set("Person", b, ["email": .text("a"), "name": .text("new")])
      #expect(outcome.merged == [b: a])
      #expect(try people(store) == ["a:new"])
    }
  }

  @Test("A key declared reject refuses the save")
  func reject() throws {
    try StoreFixture.run { fixture in
      let store = try fixture.memory(TestSchemas.library(onConflict: .reject))
      try store.insert("Person", ["email": .text("a")])
      #expect(StoreFixture.code { try store.insert("Person", ["email": .text("a")]) } == .uniqueViolation)
      #expect(try store.count("Person") == 1)
    }
  }

  @Test("Composed and decomposed forms of one text are one key, in both orders (C85)", arguments: [true, false])
  func unicode(composedFirst: Bool) throws {
    try StoreFixture.run { fixture in
      let store = try fixture.memory(TestSchemas.library())
      let forms = composedFirst ? ["caf\u{E9}", "cafe\u{301}"] : ["cafe\u{301}", "caf\u{E9}"]
      for form in forms { try store.insert("Person", ["email": .text(form)]) }
      #expect(try store.count("Person") == 1)
      // The text keeps its bytes: the later form stands.
      let bytes = try store.read { try $0.firstRow("SELECT email FROM Person") { $0.bytes(0) } }
      #expect(bytes == Array(forms[1].utf8))
    }
  }
}
