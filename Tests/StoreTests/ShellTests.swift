import Foundation
import Testing
import Tombolo
import TomboloProtocol
import TomboloSQLite

@Suite("Writes of other programs")
struct ShellTests {
  /// A connection like the one of a person in the `sqlite3` shell: triggers fire, and none of our functions is there.
  private func shell(_ fixture: StoreFixture, _ sql: String) throws {
    try Connection(path: fixture.path("test.store")).execute(sql)
  }

  @Test("Inserts, updates, deletes and links from the shell become a change set with the next save")
  func absorbed() throws {
    try StoreFixture.run { fixture in
      let store = try fixture.file(TestSchemas.library(rule: .cascade))
      try store.beginStamps()
      let folder = try store.insert("Folder", ["name": .text("f")])
      let note = try store.insert("Note", ["title": .text("it's, a: 'test'"), "folder": Value(reference: folder)])
      let kept = try store.insert("Note", ["title": .text("kept")])
      let tag = try store.insert("Tag", [:])
      let before = try store.changes().count
      let hex = Value.blob(tag.bytes).literal
      try shell(
        fixture,
        """
        INSERT INTO Tag(name) VALUES ('from the shell');
        UPDATE Note SET title = 'changed' WHERE title = 'kept';
        UPDATE Note SET title = title;
        INSERT INTO Note_tags(source, target) SELECT _tombolo_id, \(hex) FROM Note WHERE title = 'changed';
        DELETE FROM Folder;
        """)
      try store.save { _ in }
      let changes = try store.changes().dropFirst(before)
      #expect(
        changes.map(\.detail.kind).sorted { $0.rawValue < $1.rawValue } == [.create, .update, .delete, .delete, .link])
      #expect(try store.values("Note", note) == nil)
      #expect(try store.integer("SELECT count(*) FROM _tombolo_shell") == 0)
      #expect(try store.integer("SELECT count(*) FROM Tag WHERE _tombolo_stamps IS NULL") == 0)
      #expect(try store.integer("SELECT count(*) FROM Note_tags WHERE _tombolo_stamps IS NULL") == 0)
      #expect(try store.integer("SELECT count(*) FROM _tombolo_save WHERE author = 'sqlite3'") == 1)
      let title = try store.number("Note", "title")
      for change in changes {
        switch change.detail {
        case .update(let detail):
          #expect(change.record == kept)
          #expect(detail.fields.map(\.under) == [.text("kept")])
        case .delete(let detail) where change.record == note:
          #expect(detail.values[title] == .text("it's, a: 'test'"))
          #expect(detail.incarnation != nil)
        default: break
        }
      }
    }
  }

  @Test(
    "Rows that become one by a unique value leave what does not stand on the list, with and without a remote",
    arguments: [false, true])
  func unitedRows(hasRemote: Bool) throws {
    try StoreFixture.run { fixture in
      let store = try fixture.file(
        SchemaDocument(
          parsing: Array(
            """
            {"name":"Shell","version":"1.0.0","entities":[{"name":"Person","attributes":[
              {"name":"email","type":"string","optional":true},{"name":"name","type":"string","optional":true}],
              "unique":[["email"]]}]}
            """.utf8)))
      if hasRemote { try store.beginStamps() }
      try shell(
        fixture, "INSERT INTO Person(email, name) VALUES ('x', 'first'), ('x', 'second'), ('y', 'other')")
      try store.save { _ in }
      #expect(try store.integer("SELECT count(*) FROM Person") == 2)
      let entry = try #require(try store.conflicts().first)
      #expect(try store.conflicts().count == 1 && entry.rule == .uniqueMerge && entry.field == "name")
      let values = [entry.lost.value, entry.standing?.value]
      #expect(
        values == ["first", "second"].map { Value.text($0) } || values == ["second", "first"].map { Value.text($0) })
      try store.restoreConflict(entry.id)
      #expect(try store.conflicts().isEmpty && store.values("Person", entry.record)?["name"] == entry.lost.value)
    }
  }

  @Test("A record that holds what no server takes gets a save of its own, so that the others are not refused with it")
  func unsoundRecords() throws {
    try StoreFixture.run { fixture in
      let store = try fixture.file(TestSchemas.library(requiresFolder: true))
      try store.beginStamps()
      let folder = try store.insert("Folder", ["name": .text("f")])
      try shell(
        fixture,
        """
        PRAGMA ignore_check_constraints = 1;
        UPDATE Folder SET name = 'good edit';
        INSERT INTO Note(title) VALUES ('without a folder');
        INSERT INTO Note(title, folder) VALUES ('no identity', x'01');
        INSERT INTO Tag(name) VALUES ('good');
        """)
      try store.save { _ in }
      #expect(try store.values("Folder", folder)?["name"] == .text("good edit"))
      let saves = try store.saveLog(limit: 9).filter { $0.author == "sqlite3" }
      #expect(saves.map { [$0.inserted, $0.updated] } == [[1, 0], [1, 0], [1, 1]])
      #expect(try store.integer("SELECT count(*) FROM _tombolo_shell") == 0)
    }
  }

  @Test(
    "Text that is not UTF-8 is read as ISO 8859-1 and named: different bytes stay different", arguments: [false, true])
  func notUTF8(hasRemote: Bool) throws {
    try StoreFixture.run { fixture in
      let store = try fixture.file(
        SchemaDocument(
          parsing: Array(
            """
            {"name":"Shell","version":"1.0.0","entities":[{"name":"Tag","attributes":[
              {"name":"name","type":"string"},{"name":"note","type":"string","optional":true}],"unique":[["name"]]}]}
            """.utf8)))
      if hasRemote { try store.beginStamps() }
      let kept = try store.insert("Tag", ["name": .text("kept")])
      try shell(
        fixture,
        """
        INSERT INTO Tag(name) VALUES (cast(x'61fe' AS TEXT)), (cast(x'61ff' AS TEXT));
        UPDATE Tag SET note = cast(x'e962' AS TEXT) WHERE name = 'kept';
        """)
      #expect(try store.recordsWrittenByOthers() == 3)
      try store.save { _ in }
      #expect(try store.recordsWrittenByOthers() == 0)
      var names: [String] = []
      try store.read { try $0.eachRow("SELECT hex(name) FROM Tag ORDER BY name") { names.append($0.string(0)) } }
      #expect(names == ["61C3BE", "61C3BF", "6B657074"])
      #expect(try store.values("Tag", kept)?["note"] == .text("éb"))
      let incident = try #require(try store.incidents().first)
      #expect(incident.records.count == 3 && incident.records.allSatisfy { $0.kind == .text && $0.entity == "Tag" })
      #expect(try store.saveLog(limit: 1).map { [$0.inserted, $0.updated] } == [[2, 1]])
    }
  }

  @Test("What the shell wrote is found when the store is next opened, and what came to nothing is not")
  func onOpening() throws {
    try StoreFixture.run { fixture in
      do {
        try fixture.file(TestSchemas.library()).insert("Sample", ["number": .real(0.1), "bytes": .blob([1, 255])])
      }
      try shell(fixture, "UPDATE Sample SET number = 1e999")
      try shell(fixture, "INSERT INTO Note(title) VALUES ('gone'); DELETE FROM Note")
      let store = try fixture.file(TestSchemas.library())
      let last = try #require(try store.changes().last)
      guard case .update(let detail) = last.detail else {
        Issue.record("not an update")
        return
      }
      #expect(detail.fields.map(\.under) == [.real(0.1)])
      #expect(try store.changes().count == 2)
      #expect(try store.integer("SELECT count(*) FROM _tombolo_shell") == 0)
    }
  }

  /// What another program does with a record and a pair, both as they are; nothing of it changes anything.
  enum RoundTrip: String, CaseIterable, CustomTestStringConvertible {
    case pairAgain = "DELETE FROM Note_tags; INSERT INTO Note_tags(source, target) VALUES (NOTE, TAG)"
    case pairReplaced = "INSERT OR REPLACE INTO Note_tags(source, target) VALUES (NOTE, TAG)"
    case pairIgnored = "INSERT OR IGNORE INTO Note_tags(source, target) VALUES (NOTE, TAG)"
    case stampLost = "UPDATE Note_tags SET _tombolo_stamps = NULL"
    case recordAgain = "DELETE FROM Tag; INSERT INTO Tag(_tombolo_id, name) VALUES (TAG, 'kept')"
    case recordReplaced = "INSERT OR REPLACE INTO Tag(_tombolo_id, name) VALUES (TAG, 'kept')"
    case recordIgnored = "INSERT OR IGNORE INTO Tag(_tombolo_id, name) VALUES (TAG, 'other')"
    case recordUpserted =
      "INSERT INTO Tag(_tombolo_id, name) VALUES (TAG, 'kept') ON CONFLICT(_tombolo_id) DO UPDATE SET name = 'kept'"

    var testDescription: String { rawValue }
  }

  @Test("What is taken away and put back as it was stays as it was, stamps and all", arguments: RoundTrip.allCases)
  func roundTrips(_ trip: RoundTrip) throws {
    try StoreFixture.run { fixture in
      let store = try fixture.file(TestSchemas.library())
      try store.beginStamps()
      let tag = try store.insert("Tag", ["name": .text("kept")])
      let note = try store.insert("Note", ["title": .text("n")])
      let key = Value.blob(tag.bytes).literal
      try shell(
        fixture,
        "INSERT INTO Note_tags(source, target) SELECT _tombolo_id, \(key) FROM Note; UPDATE Tag SET name = 'kept'")
      try store.save { _ in }
      func rows() throws -> [String] {
        var rows: [String] = []
        try store.read { connection in
          for table in ["Tag", "Note_tags"] {
            try connection.eachRow("SELECT quote(_tombolo_stamps), * FROM \(table)") { rows.append($0.string(0)) }
          }
        }
        return rows
      }
      let (before, changes) = (try rows(), try store.changes().count)
      let sql = trip.rawValue.replacing("NOTE", with: Value.blob(note.bytes).literal).replacing("TAG", with: key)
      try shell(fixture, sql)
      try store.save { _ in }
      let after = try rows()
      #expect(before.count == 2 && !before.contains("NULL") && after == before)
      #expect(try store.changes().count == changes && store.values("Tag", tag)?["name"] == .text("kept"))
    }
  }

  @Test("A row that takes another's place is an edit of the record, and what it does not name is taken away")
  func replaced() throws {
    try StoreFixture.run { fixture in
      let store = try fixture.file(TestSchemas.library())
      try store.beginStamps()
      let person = try store.insert("Person", ["email": .text("a"), "name": .text("one")])
      let before = try store.changes().count
      try shell(
        fixture, "REPLACE INTO Person(_tombolo_id, email) VALUES (\(Value.blob(person.bytes).literal), 'b')")
      try store.save { _ in }
      let change = try #require(try store.changes().dropFirst(before).first)
      guard case .update(let detail) = change.detail else {
        Issue.record("not an update: \(change.detail)")
        return
      }
      #expect(try store.changes().count == before + 1 && change.record == person)
      #expect(Set(detail.fields.map(\.under)) == [.text("a"), .text("one")])
    }
  }

  @Test("A file of an earlier build, which did not know of replaced rows, gets its triggers when it is opened")
  func earlierBuild() throws {
    try StoreFixture.run { fixture in
      let tag = try fixture.file(TestSchemas.library()).insert("Tag", ["name": .text("kept")])
      try shell(
        fixture, "DROP TRIGGER _tombolo_shell_Tag_replace; DROP TRIGGER _tombolo_shell_Folder_replace")
      let first = try fixture.file(TestSchemas.library())
      try first.save { _ in }
      try shell(fixture, "REPLACE INTO Tag(_tombolo_id, name) VALUES (\(Value.blob(tag.bytes).literal), 'new')")
      try first.save { _ in }
      #expect(try first.changes().map(\.detail.kind) == [.create, .update])
    }
  }

  @Test(
    "A duplicate key from the shell is united, and one that rejects stays for the server to judge",
    arguments: UniqueConflict.allCases)
  func duplicates(onConflict: UniqueConflict) throws {
    try StoreFixture.run { fixture in
      let store = try fixture.file(TestSchemas.library(onConflict: onConflict))
      try store.insert("Person", ["email": .text("a"), "name": .text("one")])
      try shell(fixture, "INSERT INTO Person(email, name) VALUES ('a', 'two')")
      try store.save { _ in }
      #expect(try store.count("Person") == (onConflict == .merge ? 1 : 2))
    }
  }

  @Test("Our own writes leave no notes")
  func ownWrites() throws {
    try StoreFixture.run { fixture in
      let store = try fixture.file(TestSchemas.library())
      let id = try store.insert("Note", [:])
      try store.set("Note", id, ["title": .text("x")])
      try store.delete("Note", id)
      #expect(try store.integer("SELECT count(*) FROM _tombolo_shell") == 0)
    }
  }

  @Test("The image of a row is read as quote() writes it, and anything else is refused")
  func images() throws {
    let connection = try Connection(path: ":memory:")
    for value in [
      Value.null, .integer(.min), .real(-1.5e-300), .real(.infinity), .real(-.infinity), .text("a'b,1:''"), .text(""),
      .blob([]), .blob([0, 1, 254]),
    ] {
      let found = try connection.firstRow("SELECT '7:' || quote(?1) || ',s:NULL'", { $0.bind(value, at: 1) }) {
        $0.string(0)
      }
      let text = try #require(found)
      let image = try #require(ShellImage(text))
      #expect(image.values == [7: value])
    }
    for text in ["7", "7:", "x:1", "7:'open", "7:X'0'", "7:zzz", "7:1;s:NULL"] {
      #expect(ShellImage(text) == nil, "\(text)")
    }
  }
}
