import Testing
import Tombolo
import TomboloProtocol
import TomboloSQLite

@Suite("Positions that the write path gives")
struct OrderTests {
  private static func document(isOrdered: Bool = true, isUnique: Bool = false) throws -> SchemaDocument {
    try SchemaDocument(
      parsing: Array(
        """
        {"name":"Lists","entities":[
          {"name":"Folder","attributes":[{"name":"name","type":"string","optional":true}],
           "relationships":[{"name":"notes","destination":"Note","toMany":true,"inverse":"folder"\
        \(isOrdered ? ",\"ordered\":true" : "")}]},
          {"name":"Note","attributes":[{"name":"title","type":"string","optional":true}],
           "relationships":[{"name":"folder","destination":"Folder","inverse":"notes"}]\
        \(isUnique ? ",\"unique\":[[\"title\"]]" : "")}]}
        """.utf8))
  }

  private func titles(_ store: Store, of folder: RecordID) throws -> [String] {
    let side = try #require(try store.plan("Folder").farSides.first)
    return try store.read { connection in
      var titles: [String] = []
      try connection.eachRow(
        "SELECT title FROM Note AS t0 WHERE folder = ?1 ORDER BY \(side.order(in: "t0"))", { $0.bind(folder, at: 1) }
      ) { titles.append($0.string(0)) }
      return titles
    }
  }

  private func key(_ store: Store, _ note: RecordID) throws -> PositionKey? {
    guard case .blob(let bytes)? = try store.values("Note", note)?["_tombolo_order_folder"] else { return nil }
    return PositionKey(bytes: bytes)
  }

  @Test("Whoever gets an owner comes behind its last member", arguments: [true, false])
  func appends(recordsHistory: Bool) throws {
    try StoreFixture.run { fixture in
      let store = try fixture.memory(try Self.document()) { $0.recordsHistory = recordsHistory }
      let (one, two) = (try store.insert("Folder", [:]), try store.insert("Folder", [:]))
      func note(_ title: String, _ folder: RecordID?) throws -> RecordID {
        try store.insert("Note", ["title": .text(title), "folder": Value(reference: folder)])
      }
      let first = try note("1", one)
      let loose = try note("2", nil)
      _ = try note("3", one)
      #expect(try key(store, loose) == nil)
      try store.set("Note", loose, ["folder": Value(reference: one)])
      #expect(try titles(store, of: one) == ["1", "3", "2"])
      _ = try note("a", two)
      try store.set("Note", first, ["folder": Value(reference: two), "title": .text("b")])
      #expect(try titles(store, of: two) == ["a", "b"])
      #expect(try titles(store, of: one) == ["3", "2"])
      let before = try key(store, first)
      try store.set("Note", first, ["folder": Value(reference: two), "title": .text("c")])
      #expect(try key(store, first) == before, "who stays with an owner stays in its place")
      try store.set("Note", first, ["folder": .null])
      #expect(try titles(store, of: two) == ["a"])
      try store.set("Note", first, ["folder": Value(reference: one)])
      #expect(try titles(store, of: one) == ["3", "2", "c"])
    }
  }

  @Test("A position that is given beside the owner stands") func given() throws {
    try StoreFixture.run { fixture in
      let store = try fixture.memory(try Self.document())
      let folder = try store.insert("Folder", [:])
      _ = try store.insert("Note", ["title": .text("1"), "folder": Value(reference: folder)])
      let last = try store.insert("Note", ["title": .text("2"), "folder": Value(reference: folder)])
      let front = try #require(PositionKey(after: nil, before: try key(store, last), by: ReplicaID(1)))
      let new = try store.insert(
        "Note",
        [
          "title": .text("3"), "folder": Value(reference: folder),
          "_tombolo_order_folder": .blob(front.bytes),
        ])
      #expect(try key(store, new) == front)
      try store.set("Note", new, ["_tombolo_order_folder": .null])
      #expect(try titles(store, of: folder) == ["3", "1", "2"], "without a position one comes first")
    }
  }

  @Test("Ten thousand are appended in linear time, with keys below sixteen bytes", .timeLimit(.minutes(1)))
  func many() throws {
    try StoreFixture.run { fixture in
      let store = try fixture.memory(try Self.document())
      let folder = try store.insert("Folder", [:])
      let note = try store.plan("Note")
      _ = try store.save { writer in
        for index in 0..<10_000 {
          let row = try ValueRow(note, ["title": .text("\(index)"), "folder": Value(reference: folder)])
          try writer.insert(note, store.makeRecordID(), assigned: row.assigned, from: row)
        }
      }
      #expect(try titles(store, of: folder) == (0..<10_000).map(String.init))
      #expect(try store.integer("SELECT max(length(_tombolo_order_folder)) FROM Note") ?? 99 < 16)
      let plan = try store.read { connection in
        var lines: [String] = []
        try connection.eachRow(
          "EXPLAIN QUERY PLAN SELECT _tombolo_order_folder FROM Note WHERE folder = x'00' "
            + "ORDER BY _tombolo_order_folder DESC LIMIT 1"
        ) { lines.append($0.string(3)) }
        return lines.joined(separator: "; ")
      }
      #expect(plan.contains("COVERING INDEX") && !plan.contains("TEMP B-TREE"), "\(plan)")
    }
  }

  @Test("Who meets its like by a unique value keeps its place, and comes to another owner's end")
  func unites() throws {
    try StoreFixture.run { fixture in
      let store = try fixture.memory(try Self.document(isUnique: true))
      let (one, two) = (try store.insert("Folder", [:]), try store.insert("Folder", [:]))
      for title in ["1", "2", "3"] {
        _ = try store.insert("Note", ["title": .text(title), "folder": Value(reference: one)])
      }
      _ = try store.insert("Note", ["title": .text("x"), "folder": Value(reference: two)])
      _ = try store.insert("Note", ["title": .text("1"), "folder": Value(reference: one)])
      #expect(try titles(store, of: one) == ["1", "2", "3"])
      _ = try store.insert("Note", ["title": .text("1"), "folder": Value(reference: two)])
      #expect(try titles(store, of: one) == ["2", "3"])
      #expect(try titles(store, of: two) == ["x", "1"])
    }
  }

  @Test("Rows of the sqlite3 shell get their place at the end with the next save") func shell() throws {
    try StoreFixture.run { fixture in
      let store = try fixture.file(try Self.document())
      let (one, two) = (try store.insert("Folder", [:]), try store.insert("Folder", [:]))
      let moved = try store.insert("Note", ["title": .text("1"), "folder": Value(reference: one)])
      _ = try store.insert("Note", ["title": .text("2"), "folder": Value(reference: one)])
      _ = try store.insert("Note", ["title": .text("9"), "folder": Value(reference: two)])
      func literal(_ id: RecordID) -> String { Value(reference: id).literal }
      try Connection(path: fixture.path("test.store")).execute(
        "INSERT INTO Note(title, folder) VALUES ('3', \(literal(one)));"
          + "UPDATE Note SET folder = \(literal(two)) WHERE _tombolo_id = \(literal(moved))")
      try store.save { _ in }
      #expect(try titles(store, of: one) == ["2", "3"])
      #expect(try titles(store, of: two) == ["9", "1"])
      #expect(try store.integer("SELECT count(*) FROM Note WHERE _tombolo_order_folder IS NULL") == 0)
    }
  }

  @Test("A store of an earlier build gets the column when it is opened to be written, and its members come first")
  func earlierBuild() throws {
    try StoreFixture.run { fixture in
      let path = fixture.path("old.store")
      var folder: RecordID?
      do {
        let store = try Store(
          .file(path: path), document: try Self.document(isOrdered: false), options: fixture.options())
        folder = try store.insert("Folder", [:])
        for title in ["1", "2"] {
          _ = try store.insert("Note", ["title": .text(title), "folder": Value(reference: folder)])
        }
      }
      let owner = try #require(folder)
      // As a build left it that took the option and had no column for it.
      let document = String(decoding: try Self.document().normalized.canonicalJSON, as: UTF8.self)
      try Connection(path: path).run("UPDATE _tombolo_meta SET value = ?1 WHERE key = 'document'") {
        $0.bind(document, at: 1)
      }
      #expect(
        StoreFixture.code {
          _ = try Store(existing: path, options: fixture.options { $0.isReadOnly = true })
        } == .readOnlyStore)
      let store = try Store(existing: path, options: fixture.options())
      _ = try store.insert("Note", ["title": .text("3"), "folder": Value(reference: owner)])
      #expect(try titles(store, of: owner) == ["1", "2", "3"])
      #expect(store.isQuiescent)
      _ = try Store(existing: path, options: fixture.options { $0.isReadOnly = true })
    }
  }
}
