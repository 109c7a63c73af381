import SwiftData
import Testing
import Tombolo
import TomboloProtocol
import TomboloSQLite

@Model class Letter {
  @Attribute(.spotlight) var title: String
  @Attribute(.spotlight) var text: String?
  var folder: String = ""
  init(title: String, text: String? = nil) {
    self.title = title
    self.text = text
  }
}

@Model final class Postcard: Letter {
  @Attribute(.spotlight) var rank: String = ""
  init(title: String, rank: String) {
    self.rank = rank
    super.init(title: title)
  }
}

@Suite("@Attribute(.spotlight) and search")
struct SearchTests {
  private func filled() throws -> ModelContext {
    let context = ModelContext(
      try ModelContainer(
        for: Letter.self, Postcard.self, Folder.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
    for letter in [
      Letter(title: "The Long Road", text: "a road, a road and a river"),
      Letter(title: "Roads", text: "travelling far"),
      Letter(title: "Café Ärger", text: "long winter on the road"), Letter(title: "Nothing"),
      Postcard(title: "Sea", rank: "captain of the road"),
    ] { context.insert(letter) }
    try context.save()
    return context
  }

  private func titles(_ context: ModelContext, _ words: String) throws -> Set<String> {
    Set(try context.search(Letter.self, words).map(\.title))
  }

  @Test(
    "Words, phrases, beginnings and exclusions find what they should, whatever the case and the diacritics",
    arguments: [
      ("road", ["The Long Road", "Café Ärger", "Sea"]), ("ROAD long", ["The Long Road", "Café Ärger"]),
      ("\"long winter\"", ["Café Ärger"]), ("\"winter long\"", []),
      ("road*", ["The Long Road", "Roads", "Café Ärger", "Sea"]),
      ("cafe arger", ["Café Ärger"]), ("Cafe\u{301}", ["Café Ärger"]), ("road -river", ["Café Ärger", "Sea"]),
      ("road -river -captain", ["Café Ärger"]), ("nothing", ["Nothing"]), ("", []), ("  ", []), ("!!!", []),
      ("-road", []),
      ("title:road", []), ("road OR nothing", []), ("road) NEAR(", []), ("\"", []), ("*", []),
      ("'; DROP TABLE Letter", []),
    ])
  func words(_ words: String, _ expected: [String]) throws {
    #expect(try titles(filled(), words) == Set(expected))
  }

  @Test("The best comes first; limit and offset give pages; a count counts all")
  func ranking() throws {
    let context = try filled()
    let all = try context.search(Letter.self, "road")
    #expect(all.first?.title == "The Long Road" && all.count == 3)
    #expect(try context.search(Letter.self, "road", limit: 2) == Array(all.prefix(2)))
    #expect(try context.search(Letter.self, "road", limit: 2, offset: 2) == Array(all.dropFirst(2)))
    #expect(try context.search(Letter.self, "road", limit: 0).isEmpty)
    #expect(try context.searchCount(Letter.self, "road") == 3)
    #expect(try context.searchCount(Postcard.self, "road") == 1)
  }

  @Test("A subclass is found by its own and by inherited words; a base fetch gives its objects")
  func hierarchy() throws {
    let context = try filled()
    #expect(try context.search(Postcard.self, "road").map(\.rank) == ["captain of the road"])
    #expect(try context.search(Letter.self, "captain").first is Postcard)
    #expect(try context.search(Postcard.self, "sea").count == 1)
  }

  @Test("The index follows inserts, changes, deletions and rolled-back saves")
  func changes() throws {
    let context = try filled()
    let letter = try #require(try context.search(Letter.self, "winter").first)
    letter.text = "summer"
    #expect(try titles(context, "winter") == [] && titles(ModelContext(context.container), "winter") == ["Café Ärger"])
    try context.save()
    #expect(try titles(context, "winter") == [] && titles(context, "summer") == ["Café Ärger"])
    letter.folder = "other"
    letter.text = nil
    try context.save()
    #expect(try titles(context, "summer") == [] && titles(context, "arger") == ["Café Ärger"])
    context.delete(letter)
    try context.save()
    #expect(try titles(context, "arger") == [])
    #expect(throws: CancellationError.self) {
      try context.container.store.save { writer in
        let plan = try #require(context.container.store.schema.entity("Letter"))
        let row = try ValueRow(plan, ["title": .text("ghost")])
        try writer.insert(plan, context.container.store.makeRecordID(), assigned: row.assigned, from: row)
        throw CancellationError()
      }
    }
    #expect(try titles(context, "ghost") == [])
  }

  @Test("Pending objects are found by the text that they have now, before the stored ones, and counted")
  func pending() throws {
    let context = try filled()
    func titles(_ words: String) throws -> [String] { try context.search(Letter.self, words).map(\.title) }
    let stored = try titles("road")
    let new = Letter(title: "New road", text: nil)
    context.insert(new)
    context.insert(Letter(title: "Nothing", text: "else"))
    #expect(try titles("road") == ["New road"] + stored)
    #expect(try context.searchCount(Letter.self, "road") == stored.count + 1)
    #expect(try context.search(Letter.self, "road", limit: 1).map(\.title) == ["New road"])
    #expect(try context.search(Letter.self, "road", limit: 2, offset: 1).map(\.title) == Array(stored.prefix(2)))
    #expect(try context.search(Letter.self, "road", limit: 9, offset: 9).isEmpty)
    #expect(try context.search(Postcard.self, "road").count == 1)
    let edited = try #require(try context.search(Letter.self, "road").last)
    edited.text = "renamed ROÀD"
    edited.title = "Edited"
    #expect(try titles("renamed road") == ["Edited"])
    #expect(try Set(titles("road")) == Set(stored.dropLast() + ["Edited", "New road"]))
    let folder = try #require(try context.search(Letter.self, "road").dropFirst(2).first)
    folder.folder = "moved"
    #expect(try titles("road").prefix(2).contains(folder.title) == false)
    context.delete(edited)
    #expect(try titles("renamed") == [] && context.searchCount(Letter.self, "road") == stored.count)
    #expect(try titles("new road -nothing*") == ["New road"])
    context.rollback()
    #expect(try titles("road") == stored)
  }

  @Test("A model without searched text says so")
  func refusal() throws {
    let context = try filled()
    let error = #expect(throws: TomboloError.self) { try context.search(Folder.self, "road") }
    #expect(error?.code == .unsupportedFeature && error?.remedy.contains("spotlight") == true)
  }

  private func findings(_ file: StoreFile) -> [Finding] {
    StoreExamination(
      path: file.url.path, options: Store.Options(clock: SystemClock(), randomness: SystemRandomness())
    ).findings.filter { [.search, .tables, .triggers, .integrity].contains($0.code) }
  }

  @Test(
    "What sqlite3 writes is found at once, doctor compares the index with the records, and a dropped one comes back")
  func shell() throws {
    try StoreFile.run { file in
      let types: [any PersistentModel.Type] = [Letter.self, Postcard.self]
      do {
        let context = ModelContext(try ModelContainer(for: Schema(types), configurations: file.configuration))
        context.insert(Letter(title: "alpha", text: "beta"))
        try context.save()
        try file.execute("INSERT INTO Letter(title, text) VALUES ('gamma', 'delta')")
        try file.execute("UPDATE Letter SET text = 'epsilon' WHERE title = 'alpha'")
        #expect(try titles(context, "gamma") == ["gamma"] && titles(context, "beta") == [])
        #expect(try titles(context, "epsilon") == ["alpha"])
        try file.execute("UPDATE Letter SET _tombolo_id = randomblob(16), title = 'zeta' WHERE title = 'gamma'")
        #expect(try titles(context, "gamma") == [] && titles(context, "zeta delta") == ["zeta"])
        try file.execute("DELETE FROM Letter WHERE title = 'alpha'")
        #expect(try titles(context, "epsilon") == [])
        try context.save()
        try file.execute("REPLACE INTO Letter(_tombolo_id, title, text) SELECT _tombolo_id, title, 'eta' FROM Letter")
        #expect(try titles(context, "zeta eta") == ["zeta"])
        // The next save takes in what other programs wrote.
        context.insert(Letter(title: "theta", text: "iota"))
        try context.save()
        #expect(try titles(context, "delta") == [] && titles(context, "zeta eta") == ["zeta"])
        try file.execute("DELETE FROM Letter WHERE title = 'theta'; UPDATE Letter SET text = 'delta'")
      }
      #expect(findings(file).contains { $0.code == .search && $0.severity == .fine })
      #expect(findings(file).allSatisfy { $0.severity == .fine }, "\(findings(file))")
      let connection = try Connection(path: file.url.path)
      connection.setTriggersEnabled(false)
      try connection.execute("UPDATE Letter SET title = 'unseen'")
      #expect(findings(file).contains { $0.code == .search && $0.severity == .problem })
      try connection.execute("DROP TABLE \"_tombolo_search_Letter\"")
      #expect(findings(file).contains { $0.code == .tables && $0.severity == .problem })
      let context = ModelContext(try ModelContainer(for: Schema(types), configurations: file.configuration))
      #expect(try titles(context, "unseen delta") == ["unseen"])
      #expect(findings(file).allSatisfy { $0.severity == .fine }, "\(findings(file))")
    }
  }

  @Test("An index that a new schema asks for has the records that were there; one that is not wanted any more goes")
  func evolution() throws {
    try StoreFile.run { file in
      func open(_ options: [String]) throws -> Store {
        try Store(
          .file(path: file.url.path),
          document: SchemaDocument(
            name: "Letters", version: nil,
            entities: [
              SchemaEntity(
                name: "Letter",
                attributes: [
                  SchemaAttribute(name: "text", type: .string, isOptional: true, options: options),
                  SchemaAttribute(
                    name: "title", type: .string, defaultValue: .constant(.text("")), options: ["spotlight"]),
                ])
            ]), options: Store.Options(clock: SystemClock(), randomness: SystemRandomness()))
      }
      func count(_ store: Store, _ words: String) throws -> Int {
        try store.searchCount(try #require(store.schema.entity("Letter")), SearchWords(words))
      }
      do {
        let store = try open([])
        let plan = try #require(store.schema.entity("Letter"))
        let row = try ValueRow(plan, ["title": .text("one"), "text": .text("two")])
        try store.save { try $0.insert(plan, store.makeRecordID(), assigned: row.assigned, from: row) }
        #expect(try count(store, "one") == 1 && count(store, "two") == 0)
      }
      do {
        let store = try open(["spotlight"])
        #expect(try count(store, "one two") == 1)
      }
      let store = try open([])
      #expect(try count(store, "one") == 1 && count(store, "two") == 0)
    }
  }
}
