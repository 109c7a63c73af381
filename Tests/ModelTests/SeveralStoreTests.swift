import SwiftData
import Testing
import Tombolo
import TomboloProtocol
import TomboloSQLite

/// A container with a store for the library (Folder, Note, Tag), and one for people.
private struct TwoStores {
  let container: ModelContainer
  let library: ModelConfiguration
  let people: ModelConfiguration

  init(_ folder: URL, allowsPeople: Bool = true) throws {
    library = ModelConfiguration("library", url: folder.appendingPathComponent("library.store"))
    people = ModelConfiguration(
      "people", schema: Schema([Person.self]), url: folder.appendingPathComponent("people.store"),
      allowsSave: allowsPeople)
    container = try ModelContainer(for: Schema([Folder.self, Person.self]), configurations: [library, people])
  }

  static func run<Result>(_ body: (TwoStores, URL) throws -> Result) throws -> Result {
    try StoreFile.run { file in
      let folder = file.url.deletingLastPathComponent()
      return try body(try TwoStores(folder), folder)
    }
  }

  func count(_ table: String, in configuration: ModelConfiguration) throws -> Int64? {
    try container.store(of: configuration.name).read {
      try $0.firstRow("SELECT count(*) FROM \(table)") { $0.int64(0) }
    }
  }
}

@Suite("Several configurations")
struct SeveralStoreTests {
  @Test("Each record goes to the store of its model, and comes from there")
  func routing() throws {
    try TwoStores.run { stores, folder in
      let context = ModelContext(stores.container)
      let (shelf, person) = (Folder(name: "shelf"), Person(email: "a@x", name: "Ada"))
      shelf.notes.append(Note(text: "n"))
      person.orders.append(Order(number: 1))
      context.insert(shelf)
      context.insert(person)
      try context.save()
      #expect(!context.hasChanges)
      #expect(try stores.count("Folder", in: stores.library) == 1 && stores.count("Note", in: stores.library) == 1)
      #expect(try stores.count("Person", in: stores.people) == 1 && stores.count("\"Order\"", in: stores.people) == 1)
      #expect(throws: TomboloError.self) { try stores.count("Person", in: stores.library) }
      #expect(shelf.persistentModelID.storeIdentifier == "library")
      #expect(person.persistentModelID.storeIdentifier == "people")
      #expect(stores.container.configurations == [stores.library, stores.people])

      let again = ModelContext(try TwoStores(folder).container)
      let found = try #require(
        try again.fetch(FetchDescriptor<Person>(predicate: #Predicate { $0.orders.count == 1 })).first)
      #expect(found.orders.map(\.number) == [1])
      #expect(try again.fetchIdentifiers(FetchDescriptor<Person>()).map(\.storeIdentifier) == ["people"])
      #expect(try again.fetch(FetchDescriptor<Note>()).map { $0.folder?.name } == ["shelf"])
      #expect(again.model(for: person.persistentModelID) is Person)
    }
  }

  @Test("A file and a store in memory make one container; two in memory have names of their own")
  func memory() throws {
    try StoreFile.run { file in
      let configurations = [
        file.configuration, ModelConfiguration(schema: Schema([Person.self]), isStoredInMemoryOnly: true),
      ]
      for _ in 0..<2 {
        let context = ModelContext(
          try ModelContainer(for: Schema([Folder.self, Person.self]), configurations: configurations))
        #expect(try context.fetchCount(FetchDescriptor<Person>()) == 0)
        context.insert(Person(email: nil, name: "p"))
        context.insert(Folder(name: "same"))
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<Person>()) == 1)
        #expect(try context.fetchCount(FetchDescriptor<Folder>()) == 1)
      }
      let container = try ModelContainer(
        for: Schema([Folder.self, Person.self]),
        configurations: [ModelConfiguration(isStoredInMemoryOnly: true), configurations[1]])
      let context = ModelContext(container)
      context.insert(Person(email: nil, name: "p"))
      context.insert(Folder(name: "f"))
      try context.save()
      #expect(try context.fetchIdentifiers(FetchDescriptor<Person>()).map(\.storeIdentifier) == ["default-2"])
    }
  }

  @Test("What one store refuses, the other does not keep: nothing is written, and the context can be mended")
  func atomicity() throws {
    try TwoStores.run { stores, _ in
      let context = ModelContext(stores.container)
      let (shelf, person) = (Folder(name: "shelf"), Person(email: "a@x", name: "Ada"))
      context.insert(shelf)
      context.insert(person)
      try context.save()
      let other = ModelContext(stores.container)
      shelf.name = "renamed"
      context.insert(Note(text: "new", folder: shelf))
      person.name = "Bo"
      let order = Order(number: 1)
      context.insert(order)
      order.person = Person(email: "b@x", name: "other")
      // Something that only the second store's own checks know of.
      try stores.container.store(of: "people").write { connection in
        try connection.execute(
          "CREATE UNIQUE INDEX blocked ON \"Order\"(number); INSERT INTO \"Order\"(number) VALUES (1)")
      }
      #expect(throws: (any Error).self) { try context.save() }
      #expect(try other.fetch(FetchDescriptor<Folder>()).map(\.name) == ["shelf"])
      #expect(try other.fetchCount(FetchDescriptor<Note>()) == 0)
      #expect(context.hasChanges && shelf.name == "renamed")
      order.number = 2
      try context.save()
      #expect(!context.hasChanges)
      #expect(try other.fetch(FetchDescriptor<Folder>()).map(\.name) == ["renamed"])
      #expect(
        try other.fetch(FetchDescriptor<Person>(sortBy: [SortDescriptor(\.name)])).map(\.name) == ["Bo", "other"])
    }
  }

  @Test("A configuration that does not allow saves refuses its own models, and by name; the others go on")
  func readOnly() throws {
    try StoreFile.run { file in
      let folder = file.url.deletingLastPathComponent()
      do {
        let context = ModelContext(try TwoStores(folder).container)
        context.insert(Person(email: nil, name: "p"))
        try context.save()
      }
      let context = ModelContext(try TwoStores(folder, allowsPeople: false).container)
      context.insert(Folder(name: "a"))
      try context.save()
      let person = try #require(try context.fetch(FetchDescriptor<Person>()).first)
      person.name = "q"
      context.insert(Folder(name: "b"))
      let error = #expect(throws: TomboloError.self) { try context.save() }
      #expect(error?.code == .readOnlyStore && error?.message.contains("people") == true)
      #expect(try ModelContext(context.container).fetchCount(FetchDescriptor<Folder>()) == 1)
      context.rollback()
      #expect(person.name == "p")
    }
  }

  @Test("A relationship across two stores is refused with a sentence that names both models")
  func crossing() {
    let configurations = [
      ModelConfiguration("a", schema: Schema([Folder.self]), isStoredInMemoryOnly: true),
      ModelConfiguration("b", schema: Schema([Tag.self]), isStoredInMemoryOnly: true),
    ]
    let error = #expect(throws: TomboloError.self) {
      try ModelContainer(for: Schema([Folder.self, Tag.self]), configurations: configurations)
    }
    #expect(error?.code == .ambiguous)
    let message = error?.message ?? ""
    #expect(
      message.contains("Note") && message.contains("Tag") && message.contains("store of a") && message.contains("of b"))
    let hierarchy = #expect(throws: TomboloError.self) {
      try ModelContainer(
        for: Schema([Animal.self, Dog.self]),
        configurations: [
          ModelConfiguration("a", schema: Schema([Animal.self]), isStoredInMemoryOnly: true),
          ModelConfiguration("b", schema: Schema([Dog.self]), isStoredInMemoryOnly: true),
        ])
    }
    #expect(hierarchy?.message.contains("Dog is a subclass of Animal") == true)
  }

  @Test(
    "Configurations that claim one file or one model, or leave one out, are refused",
    arguments: ["file", "model", "open", "missing", "unknown"])
  func refusals(_ fault: String) {
    let url = URL(fileURLWithPath: "/dev/null/never.store")
    func memory(_ name: String, _ schema: Schema?) -> ModelConfiguration {
      ModelConfiguration(name, schema: schema, isStoredInMemoryOnly: true)
    }
    let (folder, person) = (Schema([Folder.self]), Schema([Person.self]))
    let configurations: [ModelConfiguration]
    switch fault {
    case "file":
      configurations = [
        ModelConfiguration("a", schema: folder, url: url), ModelConfiguration("b", schema: person, url: url),
      ]
    case "model": configurations = [memory("a", folder), memory("b", Schema([Folder.self, Person.self]))]
    case "open": configurations = [memory("a", nil), memory("b", nil)]
    case "missing": configurations = [memory("a", folder), memory("b", Schema([Moment.self]))]
    default: configurations = [memory("a", nil), memory("b", Schema([Sample.self]))]
    }
    let types: [any PersistentModel.Type] =
      fault == "missing" ? [Folder.self, Person.self, Moment.self] : [Folder.self, Person.self]
    let error = #expect(throws: TomboloError.self) {
      try ModelContainer(for: Schema(types), configurations: configurations)
    }
    #expect(error?.code == (fault == "missing" || fault == "unknown" ? .modelNotInSchema : .ambiguous))
    #expect(error?.remedy.isEmpty == false)
  }

  @Test("History has the saves of all stores in their order, with tokens that name a place in each")
  func history() throws {
    try TwoStores.run { stores, _ in
      let context = ModelContext(stores.container)
      context.insert(Folder(name: "a"))
      try context.save()
      context.insert(Folder(name: "b"))
      context.insert(Person(email: nil, name: "p"))
      try context.save()
      let all = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
      #expect(all.map(\.storeIdentifier).sorted() == ["library", "library", "people"])
      #expect(all[0].storeIdentifier == "library")
      #expect(all.last?.token.tokenValue?.keys.sorted() == ["library", "people"])
      let token = try #require(all.last).token
      context.insert(Person(email: nil, name: "q"))
      try context.save()
      let newer = try context.fetchHistory(
        HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token > token }))
      #expect(newer.map(\.storeIdentifier) == ["people"])
      try context.deleteHistory(
        HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token <= token }))
      #expect(try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).count == 1)
    }
  }

  @Test("Another context sees the commits to each store; erase empties all")
  func others() throws {
    try TwoStores.run { stores, _ in
      let (context, other) = (ModelContext(stores.container), ModelContext(stores.container))
      let (shelf, person) = (Folder(name: "a"), Person(email: nil, name: "p"))
      context.insert(shelf)
      context.insert(person)
      try context.save()
      let seen = try #require(try other.fetch(FetchDescriptor<Person>()).first)
      let seenShelf = try #require(try other.fetch(FetchDescriptor<Folder>()).first)
      person.name = "q"
      shelf.name = "b"
      try context.save()
      #expect(seen.name == "q" && seenShelf.name == "b")
      context.delete(person)
      try context.save()
      #expect(seen.isDeleted)
      try stores.container.erase()
      #expect(seenShelf.isDeleted)
    }
  }
}
