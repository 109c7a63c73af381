import SwiftData
import Testing

@ModelActor actor Importer {
  private(set) var imported = 0

  func add(_ names: [String]) throws -> [PersistentIdentifier] {
    modelExecutor.checkIsolated()
    let folders = names.map { Folder(name: $0) }
    for folder in folders { modelContext.insert(folder) }
    try modelContext.save()
    imported += names.count
    return folders.map(\.persistentModelID)
  }

  func rename(_ id: PersistentIdentifier, to name: String) throws -> Bool {
    guard let folder = self[id, as: Folder.self] else { return false }
    folder.name = name
    try modelContext.save()
    return true
  }

  /// Fulfilled when the folder's name is another one.
  func nextChange(of id: PersistentIdentifier, started: @escaping @Sendable () -> Void) async -> Bool {
    guard let folder = self[id, as: Folder.self] else { return false }
    await withCheckedContinuation { continuation in
      withObservationTracking {
        _ = folder.name
      } onChange: {
        continuation.resume()
      }
      started()
    }
    return true
  }

  func insertOnly(_ name: String) {
    modelContext.autosaveEnabled = true
    modelContext.insert(Folder(name: name))
  }
}

@ModelActor actor Labelled {
  private let label: String
  init(container: ModelContainer, label: String) {
    self.label = label
    modelContainer = container
    modelExecutor = DefaultSerialModelExecutor(modelContext: ModelContext(container))
  }
  func name() -> String { "\(label)-\(modelContainer.schema.entities.count)" }
}

extension ModelExecutor {
  func checkIsolated() { (self as? any SerialModelExecutor)?.checkIsolated() }
}

@Suite("Model actors")
struct ModelActorTests {
  @Test("@ModelActor: an actor works on a context of its own, on its own executor, and hands over identities")
  func importer() async throws {
    let container = try makeContainer()
    let importer = Importer(modelContainer: container)
    let identifiers = try await importer.add(["a", "b"])
    #expect(await importer.imported == 2)
    let context = ModelContext(container)
    let folder: Folder? = try context.existingModel(for: identifiers[1])
    #expect(folder?.name == "b")
    #expect(importer.modelContainer === container)
  }

  @Test("ModelActor subscript: the object of an identity, nil for another class or no record")
  func lookup() async throws {
    let container = try makeContainer()
    let importer = Importer(modelContainer: container)
    let identifiers = try await importer.add(["a"])
    #expect(try await importer.rename(identifiers[0], to: "b"))
    #expect(try ModelContext(container).fetch(FetchDescriptor<Folder>()).map(\.name) == ["b"])
    let missing = try PersistentIdentifier.identifier(
      for: "default", entityName: "Folder", primaryKey: UUID().uuidString)
    #expect(try await !importer.rename(missing, to: "c"))
  }

  @Test("@ModelActor: an initializer of one's own, where the actor has properties without a default")
  func ownInitializer() async throws {
    let labelled = Labelled(container: try makeContainer(), label: "x")
    #expect(await labelled.name().hasPrefix("x-"))
  }

  @Test("DefaultSerialModelExecutor: a commit of another context reaches the actor's observers without a call")
  func observation() async throws {
    let container = try makeContainer()
    let importer = Importer(modelContainer: container)
    let id = try await importer.add(["a"])[0]
    let (started, continuation) = AsyncStream<Void>.makeStream()
    async let changed = importer.nextChange(of: id) { continuation.finish() }
    for await _ in started {}
    let context = ModelContext(container)
    let folder: Folder = try #require(try context.existingModel(for: id))
    folder.name = "b"
    try context.save()
    #expect(await changed)
  }

  @Test("autosaveEnabled: a model actor's context saves when the executor is free")
  func autosave() async throws {
    let container = try makeContainer()
    let importer = Importer(modelContainer: container)
    let saved = AsyncStream<Void>.makeStream()
    let token = NotificationCenter.default.addObserver(forName: ModelContext.didSave, object: nil, queue: nil) { note in
      guard (note.object as? ModelContext)?.container === container else { return }
      saved.continuation.finish()
    }
    defer { NotificationCenter.default.removeObserver(token) }
    await importer.insertOnly("a")
    for await _ in saved.stream {}
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Folder>()) == 1)
  }

  @Test("Many model actors on one store lose no update")
  func many() async throws {
    let container = try makeContainer()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<4 {
        group.addTask {
          let importer = Importer(modelContainer: container)
          for round in 0..<10 { _ = try await importer.add(["\(number)-\(round)"]) }
        }
      }
      try await group.waitForAll()
    }
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Folder>()) == 40)
  }
}
