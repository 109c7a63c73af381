import SwiftData
import Synchronization
import Testing

@Suite("Contexts, member by member")
struct ContextRowTests {
  @Test("willSave and didSave carry the identities of what was inserted, updated and deleted")
  func notifications() throws {
    let context = ModelContext(try makeContainer())
    let (kept, gone) = (Folder(name: "kept"), Folder(name: "gone"))
    context.insert(kept)
    context.insert(gone)
    try context.save()
    let heard = Mutex<[[String: [PersistentIdentifier]]]>([])
    let tokens = [ModelContext.willSave, ModelContext.didSave].map { name in
      NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { note in
        var found: [String: [PersistentIdentifier]] = [:]
        for key: ModelContext.NotificationKey in [.insertedIdentifiers, .updatedIdentifiers, .deletedIdentifiers] {
          found[key.rawValue] = note.userInfo?[key.rawValue] as? [PersistentIdentifier]
        }
        heard.withLock { $0.append(found) }
      }
    }
    defer { for token in tokens { NotificationCenter.default.removeObserver(token) } }
    let fresh = Folder(name: "fresh")
    context.insert(fresh)
    kept.name = "renamed"
    context.delete(gone)
    try context.save()
    let expected = [
      "inserted": [fresh.persistentModelID], "updated": [kept.persistentModelID], "deleted": [gone.persistentModelID],
    ]
    #expect(heard.withLock { $0 } == [expected, expected])
    try context.save()
    #expect(heard.withLock { $0.count } == 2)
  }

  @Test("insertedModelsArray, changedModelsArray, deletedModelsArray and hasChanges, of context and model")
  func pendingLists() throws {
    let context = ModelContext(try makeContainer())
    let (one, two, three) = (Folder(name: "1"), Folder(name: "2"), Folder(name: "3"))
    context.insert(one)
    context.insert(two)
    #expect(context.insertedModelsArray.map(\.persistentModelID) == [one, two].map(\.persistentModelID))
    #expect(one.hasChanges && !three.hasChanges)
    try context.save()
    #expect(!context.hasChanges && !one.hasChanges && context.insertedModelsArray.isEmpty)
    one.name = "x"
    context.delete(two)
    context.insert(three)
    #expect(context.changedModelsArray.map(\.persistentModelID) == [one.persistentModelID])
    #expect(context.deletedModelsArray.map(\.persistentModelID) == [two.persistentModelID])
    #expect(context.insertedModelsArray.count == 1)
    #expect(two.isDeleted && two.hasChanges)
  }

  @Test("registeredModel costs no query and answers nil for what is not here; model(for:) fetches")
  func oneRecord() throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    let folder = Folder(name: "f")
    context.insert(folder)
    try context.save()
    let id = folder.persistentModelID
    let other = ModelContext(container)
    #expect((other.registeredModel(for: id) as Folder?) == nil)
    let model = try #require(other.model(for: id) as? Folder)
    #expect(model.name == "f")
    #expect((other.registeredModel(for: id) as Folder?) === model)
    #expect((other.registeredModel(for: id) as Note?) == nil)
    let missing = try PersistentIdentifier.identifier(for: "x", entityName: "Folder", primaryKey: UUID())
    #expect(other.model(for: missing).isDeleted)
    #expect(try (other.existingModel(for: missing) as Folder?) == nil)
  }

  @Test("PersistentIdentifier: temporary until the first save, one value all along, ordered, JSON of the known shape")
  func identifiers() throws {
    let context = ModelContext(try makeContainer())
    let (first, second) = (Folder(name: "a"), Folder(name: "b"))
    context.insert(first)
    context.insert(second)
    let before = first.persistentModelID
    #expect(before.isTemporary && before.storeIdentifier == nil && before.entityName == "Folder")
    try context.save()
    let after = first.persistentModelID
    #expect(!after.isTemporary && after.storeIdentifier == "default")
    #expect(before == after && Set([before, after]).count == 1 && before.id == after.id)
    #expect(first.persistentModelID < second.persistentModelID)
    let data = try JSONEncoder().encode(after)
    let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: [String: Any]])
    #expect(
      Set(try #require(object["implementation"]).keys) == [
        "primaryKey", "isTemporary", "entityName", "uriRepresentation",
      ])
    let decoded = try JSONDecoder().decode(PersistentIdentifier.self, from: data)
    #expect(decoded == after && decoded.storeIdentifier == "default" && !decoded.isTemporary)
    let key = try #require(object["implementation"]?["primaryKey"] as? String)
    #expect(try PersistentIdentifier.identifier(for: "default", entityName: "Folder", primaryKey: key) == after)
    #expect(throws: TomboloError.self) {
      try PersistentIdentifier.identifier(for: "default", entityName: "Folder", primaryKey: "7")
    }
    #expect(first.id == after)
  }

  @Test("author is in the history; editingState names the context and its author")
  func author() throws {
    let context = ModelContext(try makeContainer())
    context.author = "importer"
    context.insert(Folder(name: "a"))
    try context.save()
    #expect(try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).map(\.author) == ["importer"])
    #expect(context.editingState.author == "importer")
    #expect(context.editingState.id == context.editingState.id)
    #expect(context.editingState.id != ModelContext(context.container).editingState.id)
  }

  @Test("ModelConfiguration: names, files, memory, strictness; one without saves refuses them")
  func configurations() throws {
    let named = ModelConfiguration("library")
    #expect(named.name == "library" && named.url.lastPathComponent == "library.store")
    #expect(named.allowsSave && !named.isStoredInMemoryOnly && named.recordsHistory && named.schema == nil)
    #expect(ModelConfiguration(isStoredInMemoryOnly: true).isStoredInMemoryOnly)
    #expect(ModelConfiguration(cloudKitDatabase: .private("x")).cloudKitDatabase != .automatic)
    #expect(ModelConfiguration(cloudKitDatabase: .automatic).cloudKitDatabase == .none)
    #expect(ModelConfiguration(groupContainer: .identifier("g")).groupContainer == .identifier("g"))
    try StoreFile.run { file in
      let writable = ModelContext(try ModelContainer(for: Folder.self, configurations: file.configuration))
      writable.insert(Folder(name: "a"))
      try writable.save()
      let reading = ModelContext(
        try ModelContainer(for: Folder.self, configurations: ModelConfiguration(url: file.url, allowsSave: false)))
      #expect(try reading.fetch(FetchDescriptor<Folder>()).map(\.name) == ["a"])
      reading.insert(Folder(name: "b"))
      let error = #expect(throws: TomboloError.self) { try reading.save() }
      #expect(error?.code == .readOnlyStore)
    }
  }

  @Test("C61: a batch delete takes what is there at the call, cascades, is one change set, and is undone by rollback")
  func batchDelete() throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    for name in ["a", "b"] {
      let folder = Folder(name: name)
      folder.notes = [Note(text: name)]
      context.insert(folder)
    }
    try context.save()
    try context.delete(model: Folder.self)
    context.rollback()
    #expect(try context.fetchCount(FetchDescriptor<Folder>()) == 2)
    try context.delete(model: Folder.self, where: #Predicate { $0.notes.contains { $0.text == "a" } })
    context.insert(Folder(name: "c"))
    let saves = try StoreCounts(container).saves()
    try context.save()
    #expect(try StoreCounts(container).saves() == saves + 1)
    #expect(try context.fetch(FetchDescriptor<Folder>(sortBy: [SortDescriptor(\.name)])).map(\.name) == ["b", "c"])
    #expect(try context.fetch(FetchDescriptor<Note>()).map(\.text) == ["b"])
  }
}
