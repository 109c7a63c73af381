import Foundation
import Testing
import Tombolo
import TomboloProtocol
import TomboloSQLite

@Suite("Opening stores")
struct OpeningTests {
  private static let first = SchemaVersion(1, 0, 0)

  private func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }

  @Test("A store is found again with its data, also by the document inside it")
  func reopen() throws {
    try StoreFixture.run { fixture in
      let id: RecordID
      do {
        let store = try fixture.file(TestSchemas.library(version: Self.first), name: "a")
        id = try store.insert("Note", ["title": .text("kept")])
      }
      let again = try fixture.file(TestSchemas.library(version: Self.first), name: "a")
      #expect(try again.values("Note", id)?["title"] == .text("kept"))
      let inside = try Store(existing: fixture.path("a"), options: fixture.options())
      #expect(inside.isVersioned)
      #expect(try inside.values("Note", id)?["title"] == .text("kept"))
    }
  }

  @Test("What is no store is refused, each with its own error, and stays byte for byte as it was (C40, C78)")
  func refused() throws {
    try StoreFixture.run { fixture in
      let text = fixture.path("text")
      try Data(
        "Dear diary, this is no database at all, and more than a hundred bytes long, so that it could be a header, if it were one."
          .utf8
      )
      .write(to: URL(fileURLWithPath: text))
      let foreign = fixture.path("foreign")
      try Connection(path: foreign).execute("CREATE TABLE Note(title TEXT); INSERT INTO Note VALUES ('mine')")
      let marked = fixture.path("marked")
      try Connection(path: marked).execute("PRAGMA application_id = 77; CREATE TABLE Note(title TEXT)")
      let newer = fixture.path("newer")
      _ = try fixture.file(TestSchemas.library(), name: "newer")
      try Connection(path: newer).execute("PRAGMA user_version = 99; PRAGMA wal_checkpoint(TRUNCATE)")
      let stripped = fixture.path("stripped")
      _ = try fixture.file(TestSchemas.library(), name: "stripped")
      try Connection(path: stripped).execute("DELETE FROM _tombolo_meta; PRAGMA wal_checkpoint(TRUNCATE)")
      let damaged = fixture.path("damaged")
      _ = try fixture.file(TestSchemas.library(), name: "damaged")
      try Connection(path: damaged).execute("PRAGMA wal_checkpoint(TRUNCATE)")
      var content = try bytes(damaged)
      for index in 100..<min(content.count, 20_000) { content[index] = 0xA5 }
      try content.write(to: URL(fileURLWithPath: damaged))
      let expected: [(String, ErrorCode)] = [
        (text, .notADatabase), (foreign, .foreignDatabase), (marked, .foreignDatabase), (newer, .newerStore),
        (stripped, .corruptStore), (damaged, .corruptStore), (fixture.folder, .notADatabase),
        (fixture.path("none/a"), .fileUnwritable),
      ]
      for (path, code) in expected {
        let before = try? bytes(path)
        #expect(
          StoreFixture.code {
            _ = try Store(.file(path: path), document: TestSchemas.library(), options: fixture.options())
          } == code, "\(path)")
        #expect((try? bytes(path)) == before, "\(path)")
      }
      #expect(
        StoreFixture.code { _ = try Store(existing: fixture.path("nothing"), options: fixture.options()) }
          == .storeMissing)
      #expect(!FileManager.default.fileExists(atPath: fixture.path("nothing")))
    }
  }

  @Test("A pipe is no store, and nobody waits for what comes out of it")
  func pipe() throws {
    try StoreFixture.run { fixture in
      let path = fixture.path("pipe")
      #expect(mkfifo(path, 0o600) == 0)
      let code = StoreFixture.code { _ = try Store(existing: path, options: fixture.options()) }
      #expect(code == .notADatabase)
    }
  }

  @Test("A file of zero bytes, and a database without tables, become new stores (C40)")
  func empty() throws {
    try StoreFixture.run { fixture in
      try Data().write(to: URL(fileURLWithPath: fixture.path("zero")))
      try Connection(path: fixture.path("bare")).execute("PRAGMA journal_mode = wal; VACUUM")
      for name in ["zero", "bare"] {
        let store = try fixture.file(TestSchemas.library(), name: name)
        try store.insert("Note", [:])
        #expect(try store.count("Note") == 1)
      }
    }
  }

  @Test("An unversioned store of the same shape is adopted by a version")
  func adopted() throws {
    try StoreFixture.run { fixture in
      let id = try fixture.file(TestSchemas.library()).insert("Note", ["title": .text("old")])
      let store = try fixture.file(TestSchemas.library(version: Self.first))
      #expect(store.isVersioned)
      #expect(try store.values("Note", id)?["title"] == .text("old"))
      #expect(try store.integer("SELECT value = '1.0.0' FROM _tombolo_meta WHERE key = 'version'") == 1)
      #expect(StoreFixture.code { _ = try fixture.file(TestSchemas.library()) } == .schemaDiffers)
    }
  }

  @Test("Another shape is refused with the differences: unversioned, edited after release, older, not additive")
  func otherShape() throws {
    try StoreFixture.run { fixture in
      var changed = TestSchemas.library(version: Self.first)
      changed.entities.removeAll { $0.name == "Sample" }
      func attempt(_ stored: SchemaDocument, _ given: SchemaDocument, _ name: String) throws -> TomboloError? {
        _ = try fixture.file(stored, name: name)
        do {
          _ = try fixture.file(given, name: name)
          return nil
        } catch let error as TomboloError {
          return error
        }
      }
      let unknown = try #require(try attempt(TestSchemas.library(), changed, "a"))
      #expect(unknown.code == .unknownSchema)
      #expect(unknown.details.contains { $0.entity == "Sample" })
      #expect(try attempt(TestSchemas.library(version: Self.first), changed, "b")?.code == .schemaDiffers)
      changed.version = SchemaVersion(0, 9, 0)
      #expect(try attempt(TestSchemas.library(version: Self.first), changed, "c")?.code == .newerStore)
      changed.version = SchemaVersion(1, 1, 0)
      let migration = try #require(try attempt(TestSchemas.library(version: Self.first), changed, "d"))
      #expect(migration.code == .migrationNeeded)
      #expect(migration.details.map(\.entity) == ["Sample"])
    }
  }

  /// Adds an entity, a subclass of a class that had none, an attribute of each kind of default, a relationship, an index.
  private func extended() -> SchemaDocument {
    var document = TestSchemas.library(version: SchemaVersion(1, 1, 0))
    for index in document.entities.indices {
      switch document.entities[index].name {
      case "Note":
        document.entities[index].attributes += [
          SchemaAttribute(name: "Title", type: .string, isOptional: true),
          SchemaAttribute(name: "color", type: .string, defaultValue: .constant(.text("blue"))),
          SchemaAttribute(name: "token", type: .uuid, defaultValue: .generatedUUID),
          SchemaAttribute(name: "seen", type: .date, defaultValue: .generatedNow),
        ]
        document.entities[index].indexes.append(SchemaIndex(attributes: ["color", "title"]))
      case "Dog":
        document.entities[index].attributes.append(
          SchemaAttribute(name: "age", type: .int64, defaultValue: .constant(.integer(4))))
      case "Tag":
        document.entities[index].relationships.append(
          SchemaRelationship(name: "badge", destination: "Badge", inverse: "tags"))
      default: break
      }
    }
    document.entities.append(
      SchemaEntity(
        name: "Badge",
        relationships: [SchemaRelationship(name: "tags", destination: "Tag", isToMany: true, inverse: "badge")]))
    document.entities.append(SchemaEntity(name: "StarTag", superentity: "Tag"))
    return document
  }

  @Test("A higher version that only adds is applied on opening, with the defaults, and keeps every name")
  func additive() throws {
    try StoreFixture.run { fixture in
      let old = try fixture.file(TestSchemas.library(version: Self.first))
      try old.beginStamps()
      let note = try old.insert("Note", ["title": .text("n")])
      let dog = try old.insert("Dog", [:])
      let tag = try old.insert("Tag", ["name": .text("t")])
      let numbers = old.schema.entities.map { [$0.name: $0.number] }
      let store = try fixture.file(extended())
      #expect(Array(store.schema.entities.map { [$0.name: $0.number] }.prefix(numbers.count)) == numbers)
      let values = try #require(try store.values("Note", note))
      #expect(values["title"] == .text("n"))
      #expect(values["Title"] == .null)
      #expect(values["color"] == .text("blue"))
      #expect(values["token"]?.reference != nil)
      #expect(values["seen"] == .real(1_700_000_000 - 978_307_200))
      #expect(try store.values("Dog", dog)?["age"] == .integer(4))
      #expect(try store.stamps("Note", note)?.stamp(of: store.number("Note", "color")).isZero == true)
      let badge = try store.insert("Badge", [:])
      try store.set("Tag", tag, ["badge": Value(reference: badge)])
      try store.insert("StarTag", ["name": .text("*")])
      #expect(try store.count("Tag") == 2)
      #expect(
        StoreFixture.code { _ = try fixture.file(TestSchemas.library(version: Self.first)) } == .newerStore)
      #expect(try fixture.file(extended()).values("Note", note) == values)
    }
  }

  @Test("A store that was opened to be read only takes no save, and changes nothing")
  func readOnly() throws {
    try StoreFixture.run { fixture in
      let id = try fixture.file(TestSchemas.library()).insert("Note", [:])
      let store = try fixture.file(TestSchemas.library()) { $0.isReadOnly = true }
      #expect(try store.values("Note", id) != nil)
      #expect(StoreFixture.code { try store.insert("Note", [:]) } == .readOnlyStore)
    }
  }

  @Test("Names that are keywords, have quotes or emoji, or differ in case only are all usable (C112)")
  func names() throws {
    try StoreFixture.run { fixture in
      let names = [
        "order", "group", "Order", "ORDER", "id", "rowid", "_pk", "say \"hi\"", "it's", "naïve", "🦆", "select",
        String(repeating: "x", count: 200),
      ]
      let document = SchemaDocument(
        name: "Names", version: nil,
        entities: [
          SchemaEntity(
            name: "Index", attributes: names.map { SchemaAttribute(name: $0, type: .string, isOptional: true) }),
          SchemaEntity(name: "index", attributes: [SchemaAttribute(name: "values", type: .int64, isOptional: true)]),
          SchemaEntity(
            name: "Cat", superentity: "index",
            attributes: [SchemaAttribute(name: "size", type: .int64, isOptional: true)]),
          SchemaEntity(
            name: "Dog", superentity: "index",
            attributes: [SchemaAttribute(name: "size", type: .string, isOptional: true)]),
        ])
      let store: Store
      do {
        store = try fixture.file(document)
      } catch let error as TomboloError {
        Issue.record("\(error): \(error.details)")
        return
      }
      let values = Dictionary(uniqueKeysWithValues: names.map { ($0, Value.text("value of " + $0)) })
      let id = try store.insert("Index", values)
      #expect(try store.values("Index", id) == values)
      let cat = try store.insert("Cat", ["size": .integer(3)])
      let dog = try store.insert("Dog", ["size": .text("big")])
      #expect(try store.values("Cat", cat)?["size"] == .integer(3))
      #expect(try store.values("Dog", dog)?["size"] == .text("big"))
      #expect(try fixture.file(document).values("Index", id) == values)
    }
  }
}
