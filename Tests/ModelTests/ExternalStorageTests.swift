import SwiftData
import Testing
import Tombolo
import TomboloProtocol
import TomboloSQLite

@Model final class Picture {
  @Attribute(.unique) var name: String
  var note: String = ""
  @Attribute(.externalStorage) var data: Data
  @Attribute(.externalStorage) var preview: Data?
  init(name: String, data: Data, preview: Data? = nil) {
    self.name = name
    self.data = data
    self.preview = preview
  }
}

@Model final class Scan {
  var name: String
  @Attribute(.unique, .externalStorage) var data: Data
  init(name: String, data: Data) {
    self.name = name
    self.data = data
  }
}

@Suite("@Attribute(.externalStorage)")
struct ExternalStorageTests {
  private static func bytes(_ count: Int, _ seed: UInt8 = 1) -> Data {
    Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ Int(seed)) })
  }
  private let large = bytes(300_000)
  private let other = bytes(200_000, 9)
  private let small = bytes(1_000)

  /// What lies in the row, and what outside of it: bytes each.
  private func places(_ container: ModelContainer) throws -> (row: [Int], outside: [Int]) {
    try container.store.read { connection in
      func lengths(_ sql: String) throws -> [Int] {
        var found: [Int] = []
        try connection.eachRow(sql) { found.append(Int($0.int64(0))) }
        return found
      }
      return (
        try lengths("SELECT length(data) FROM Picture ORDER BY name"),
        try lengths("SELECT length(body) FROM _tombolo_external ORDER BY length(body)")
      )
    }
  }

  private func findings(_ file: StoreFile) -> [Finding] {
    StoreExamination(
      path: file.url.path, options: Store.Options(clock: SystemClock(), randomness: SystemRandomness())
    ).findings.filter { $0.code == .external || $0.code == .integrity || $0.code == .tables }
  }

  @Test("A large value lies outside of its row, and is read when it is asked for, by a query of its own")
  func lazy() throws {
    let traced = try TracedStore(Picture.self)
    let writing = ModelContext(traced.container)
    writing.insert(Picture(name: "a", data: large, preview: other))
    writing.insert(Picture(name: "b", data: small))
    writing.insert(Picture(name: "c", data: Data()))
    try writing.save()
    let places = try places(traced.container)
    #expect(places.row == [0, 1_000, 0] && places.outside == [200_000, 300_000])

    let context = ModelContext(traced.container)
    var found: [Picture] = []
    let fetch = try traced.queries { found = try context.fetch(FetchDescriptor(sortBy: [SortDescriptor(\.name)])) }
    #expect(fetch.count == 1 && fetch[0].contains("_tombolo_external") == false)
    let inline = traced.queries { #expect(found[1].data == small && found[1].preview == nil) }
    #expect(inline.isEmpty)
    let read = traced.queries { #expect(found[0].data == large && found[0].data.count == 300_000) }
    #expect(read.count == 1)
    #expect(found[0].preview == other && found[2].data.isEmpty)
    #expect(!context.hasChanges)
  }

  @Test("Changes move it in and out; another attribute's change leaves it; it is deleted with its record")
  func changes() throws {
    let traced = try TracedStore(Picture.self)
    let context = ModelContext(traced.container)
    let picture = Picture(name: "a", data: large, preview: other)
    context.insert(picture)
    try context.save()
    func stored() throws -> Picture {
      try #require(try ModelContext(traced.container).fetch(FetchDescriptor<Picture>()).first)
    }
    picture.note = "seen"
    try context.save()
    #expect(try places(traced.container).outside == [200_000, 300_000] && stored().data == large)
    picture.data = small
    picture.preview = nil
    try context.save()
    #expect(try places(traced.container) == ([1_000], []) && stored().data == small && stored().preview == nil)
    picture.data = other
    try context.save()
    picture.data = large
    try context.save()
    #expect(try places(traced.container) == ([0], [300_000]) && stored().data == large)
    picture.data = other
    context.rollback()
    #expect(picture.data == large && !context.hasChanges)
    context.delete(picture)
    try context.save()
    #expect(try places(traced.container) == ([], []))
    #expect(picture.data == large)
  }

  @Test("A save that fails leaves it as it was; a unique key that unites records keeps the value that stands")
  func upsert() throws {
    let traced = try TracedStore(Picture.self)
    let context = ModelContext(traced.container)
    context.insert(Picture(name: "a", data: large))
    try context.save()
    context.insert(Picture(name: "a", data: other))
    try context.save()
    let found = try ModelContext(traced.container).fetch(FetchDescriptor<Picture>())
    #expect(found.map(\.data) == [other])
    #expect(try places(traced.container) == ([0], [200_000]))
    #expect(throws: CancellationError.self) {
      try traced.container.store.save { writer in
        let plan = try #require(traced.container.store.schema.entity("Picture"))
        let row = try ValueRow(plan, ["name": .text("z"), "data": .blob([UInt8](large))])
        try writer.insert(plan, traced.container.store.makeRecordID(), assigned: row.assigned, from: row)
        throw CancellationError()
      }
    }
    #expect(try places(traced.container) == ([0], [200_000]))
  }

  @Test("Empty, small and large values and nil come back as they are; ten replacements leave one outside (C55)")
  func sizes() throws {
    let traced = try TracedStore(Picture.self)
    let context = ModelContext(traced.container)
    let sizes = [0, 1, 99_999, 100_000, 100_001, 1_000_000]
    for size in sizes {
      context.insert(Picture(name: "\(size)", data: Self.bytes(size), preview: size == 1 ? nil : Self.bytes(size, 5)))
    }
    try context.save()
    let reading = ModelContext(traced.container)
    let found = try reading.fetch(FetchDescriptor<Picture>())
    for picture in found {
      let size = try #require(Int(picture.name))
      #expect(picture.data == Self.bytes(size))
      #expect(picture.preview == (size == 1 ? nil : Self.bytes(size, 5)))
    }
    #expect(try places(traced.container).outside == [100_001, 100_001, 1_000_000, 1_000_000])
    let picture = try #require(found.first { $0.name == "100001" })
    for seed in UInt8(0)..<10 {
      picture.data = Self.bytes(150_000, seed)
      if seed == 5 { reading.rollback() } else { try reading.save() }
    }
    #expect(try places(traced.container).outside == [100_001, 150_000, 1_000_000, 1_000_000])
    #expect(
      try ModelContext(traced.container).fetch(FetchDescriptor<Picture>()).contains {
        $0.data == Self.bytes(150_000, 9)
      })
  }

  @Test("A unique large value is compared whole")
  func unique() throws {
    let container = try ModelContainer(
      for: Scan.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(container)
    for (name, data) in [("a", large), ("b", other), ("c", large)] { context.insert(Scan(name: name, data: data)) }
    try context.save()
    let found = try ModelContext(container).fetch(FetchDescriptor<Scan>(sortBy: [SortDescriptor(\.name)]))
    #expect(found.map(\.data) == [other, large])
    #expect(found.map(\.name) == ["b", "c"])
  }

  @Test("Predicates see the whole value")
  func predicates() throws {
    let traced = try TracedStore(Picture.self)
    let context = ModelContext(traced.container)
    context.insert(Picture(name: "a", data: large))
    context.insert(Picture(name: "b", data: small))
    try context.save()
    let large = large
    let other = ModelContext(traced.container)
    #expect(try other.fetch(FetchDescriptor<Picture>(predicate: #Predicate { $0.data == large })).map(\.name) == ["a"])
    #expect(
      try other.fetch(FetchDescriptor<Picture>(predicate: #Predicate { $0.data.count > 1_000 })).map(\.name) == ["a"])
    #expect(try other.fetch(FetchDescriptor<Picture>(predicate: #Predicate { $0.data.isEmpty })).isEmpty)
  }

  @Test("sqlite3 reads it by the documented query, and what it writes counts")
  func shell() throws {
    try StoreFile.run { file in
      let container = try ModelContainer(for: Picture.self, configurations: file.configuration)
      let context = ModelContext(container)
      context.insert(Picture(name: "a", data: large))
      context.insert(Picture(name: "b", data: other))
      try context.save()
      let connection = try Connection(path: file.url.path)
      // As the README has it.
      let documented =
        "SELECT coalesce(x.body, p.data) FROM Picture p LEFT JOIN _tombolo_external x ON x.record = p._tombolo_id "
        + "AND x.property = 'data' AND length(p.data) = 0 WHERE p.name = 'a'"
      #expect(try connection.firstRow(documented) { Data($0.bytes(0)) } == large)
      try connection.execute("UPDATE Picture SET data = zeroblob(150000) WHERE name = 'a'")
      #expect(try connection.firstRow(documented) { $0.bytes(0).count } == 150_000)
      try connection.execute("UPDATE Picture SET note = 'x' WHERE name = 'b'")
      try connection.execute("INSERT INTO Picture(name, data) VALUES ('c', x'0102')")
      let all = try context.fetch(FetchDescriptor<Picture>(sortBy: [SortDescriptor(\.name)]))
      #expect(all.map { $0.data.count } == [150_000, 200_000, 2])
      // Taken over by the next save, it lies outside as any other.
      context.insert(Picture(name: "d", data: Data([1])))
      try context.save()
      let places = try places(container)
      #expect(places.row == [0, 0, 2, 1] && places.outside == [150_000, 200_000])
      try connection.execute("DELETE FROM Picture WHERE name = 'b'")
      let after = try self.places(container)
      #expect(after.outside == [150_000])
      #expect(findings(file).allSatisfy { $0.severity == .fine }, "\(findings(file))")
      connection.setTriggersEnabled(false)
      try connection.execute("DELETE FROM Picture WHERE name = 'a'")
      #expect(findings(file).contains { $0.code == .external && $0.severity == .warning })
    }
  }

  @Test("An object whose value was not read is not inserted again without it")
  func reinsertion() throws {
    let traced = try TracedStore(Picture.self)
    let writing = ModelContext(traced.container)
    writing.insert(Picture(name: "a", data: large))
    try writing.save()
    let context = ModelContext(traced.container)
    let picture = try #require(try context.fetch(FetchDescriptor<Picture>()).first)
    context.delete(picture)
    try context.save()
    context.insert(picture)
    let error = #expect(throws: TomboloError.self) { try context.save() }
    #expect(error?.code == .deletedModel)

    writing.insert(Picture(name: "b", data: large))
    try writing.save()
    context.undoManager = UndoManager()
    let second = try #require(try context.fetch(FetchDescriptor<Picture>()).first)
    context.delete(second)
    try context.save()
    context.undoManager?.undo()
    try context.save()
    #expect(try ModelContext(traced.container).fetch(FetchDescriptor<Picture>()).map(\.data) == [large])
  }

  @Test("Values move out where the option is new, and back where it is gone")
  func evolution() throws {
    try StoreFile.run { file in
      func document(isExternal: Bool) -> SchemaDocument {
        SchemaDocument(
          name: "Pictures", version: nil,
          entities: [
            SchemaEntity(
              name: "Picture",
              attributes: [
                SchemaAttribute(
                  name: "data", type: .data, isOptional: true, options: isExternal ? ["externalStorage"] : [])
              ])
          ])
      }
      func open(isExternal: Bool) throws -> Store {
        try Store(
          .file(path: file.url.path), document: document(isExternal: isExternal),
          options: Store.Options(clock: SystemClock(), randomness: SystemRandomness()))
      }
      let value = Value.blob([UInt8](large))
      var id: RecordID?
      do {
        let store = try open(isExternal: true)
        let plan = try #require(store.schema.entity("Picture"))
        let row = try ValueRow(plan, ["data": value])
        let made = store.makeRecordID()
        try store.save { try $0.insert(plan, made, assigned: row.assigned, from: row) }
        id = made
      }
      for isExternal in [false, true] {
        let store = try open(isExternal: isExternal)
        let plan = try #require(store.schema.entity("Picture"))
        #expect(try store.row(plan, try #require(id))?["data"] == value)
        #expect(try store.read { try $0.firstRow("SELECT count(*) FROM _tombolo_external") { $0.int64(0) } } == 0)
      }
    }
  }
}
