import SwiftData
import Synchronization
import Testing

@Suite("Containers and errors")
struct ContainerTests {
  @Test("ModelContainer: its four initializers make the same container")
  func initializers() throws {
    let configuration = ModelConfiguration(isStoredInMemoryOnly: true)
    let containers = [
      try ModelContainer(for: Folder.self, Tag.self, configurations: configuration),
      try ModelContainer(for: Schema([Folder.self, Tag.self]), configurations: configuration),
      try ModelContainer(for: Schema([Folder.self, Tag.self]), configurations: [configuration]),
      try ModelContainer(for: Folder.self, migrationPlan: nil, configurations: configuration),
    ]
    for container in containers {
      #expect(container.schema.entities.map(\.name) == ["Folder", "Note", "Tag"])
      #expect(container.configurations == [configuration])
      #expect(container.migrationPlan == nil)
    }
  }

  @Test("ModelContainer.open: opens in the background and tells its steps")
  func openInBackground() async throws {
    let steps = Mutex<[ModelContainer.OpeningStep]>([])
    let container = try await ModelContainer.open(
      for: Schema([Folder.self]), configurations: [ModelConfiguration("x", isStoredInMemoryOnly: true)]
    ) { step in steps.withLock { $0.append(step) } }
    #expect(steps.withLock { $0 } == [.schema, .store(name: "x"), .ready])
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Folder>()) == 0)
    await #expect(throws: TomboloError.self) {
      try await ModelContainer.open(
        for: Schema([Folder.self]), configurations: [ModelConfiguration(url: URL(fileURLWithPath: "/dev/null/x"))])
    }
  }

  @Test("ModelContainer.erase: every record is gone, in one save, and contexts see it")
  func erase() throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    let line = Line(sheet: Sheet(title: "s"), text: "l")
    context.insert(line)
    context.insert(Puppy(name: "p"))
    context.insert(Folder(name: "a"))
    try context.save()
    let counts = StoreCounts(container)
    try container.erase()
    #expect(try counts.saves() == 2)
    #expect(line.isDeleted)
    for entity in container.schema.entities where entity.name == "Sheet" || entity.name == "Animal" {
      #expect(try context.fetchCount(FetchDescriptor<Sheet>()) == 0, "\(entity.name)")
    }
    #expect(try context.fetchCount(FetchDescriptor<Animal>()) == 0)
    context.insert(Folder(name: "a"))
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Folder>()) == 1)
  }

  @Test("SwiftDataError: its members are patterns of what is thrown, which has its reason")
  func errors() throws {
    let context = ModelContext(try makeContainer())
    var caught: [String] = []
    do {
      _ = try context.fetch(FetchDescriptor<Sample>(predicate: #Predicate { $0.scratch == 1 }))
    } catch SwiftDataError.unsupportedPredicate {
      caught.append("predicate")
    }
    do {
      _ = try context.fetch(FetchDescriptor<Trip>())
    } catch SwiftDataError.unknownSchema {
      caught.append("schema")
    }
    do {
      _ = try ModelContainer(
        for: Folder.self, configurations: ModelConfiguration(url: URL(fileURLWithPath: "/dev/null/x")))
    } catch SwiftDataError.loadIssueModelContainer {
      caught.append("load")
    }
    let sample = Sample()
    sample.double = .nan
    context.insert(sample)
    do {
      try context.save()
    } catch SwiftDataError.loadIssueModelContainer {
      caught.append("wrong")
    } catch SwiftDataError.modelValidationFailure {
      caught.append("validation")
    }
    #expect(caught == ["predicate", "schema", "load", "validation"])
    do {
      try context.save()
    } catch let error as SwiftDataError {
      #expect(error.message.contains("double"))
      #expect(!error.remedy.isEmpty)
    }
  }
}
