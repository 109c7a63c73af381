import SwiftData
import Testing

@Suite("Concurrent contexts")
struct ConcurrentContextTests {
  private func makeFileContainer(_ body: (ModelContainer) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tombolo-\(UUID())")
    defer { try? FileManager.default.removeItem(at: folder) }
    let configuration = ModelConfiguration(url: folder.appendingPathComponent("a.store"))
    try await body(try ModelContainer(for: Person.self, configurations: configuration))
  }

  @Test("Contexts of several tasks save and fetch at once, and nothing is lost")
  func severalTasks() async throws {
    try await makeFileContainer { container in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for task in 0..<4 {
          group.addTask {
            let context = ModelContext(container)
            for index in 0..<25 {
              context.insert(Person(email: "\(task)-\(index)", name: "n"))
              try context.save()
              _ = try context.fetchCount(FetchDescriptor<Person>())
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(try ModelContext(container).fetchCount(FetchDescriptor<Person>()) == 100)
    }
  }

  @Test("The main context shows what a background task saved")
  func backgroundSave() async throws {
    try await makeFileContainer { container in try await watchFromMain(container) }
  }

  @MainActor private func watchFromMain(_ container: ModelContainer) async throws {
    let main = container.mainContext
    let person = Person(email: "a", name: "before")
    main.insert(person)
    try main.save()
    let identifier = person.persistentModelID
    try await Task.detached {
      let context = ModelContext(container)
      let found: Person? = try context.existingModel(for: identifier)
      found?.name = "after"
      try context.save()
    }.value
    #expect(person.name == "after")
    #expect(container.mainContext === main)
  }

  @Test("A store in a file is read by a container that is opened later")
  func reopening() async throws {
    try await makeFileContainer { container in
      let context = ModelContext(container)
      let person = Person(email: "a", name: "a")
      person.passport = Passport(code: "p")
      context.insert(person)
      try context.save()
      let url = try #require(container.configurations.first?.url)
      let again = try ModelContainer(for: Person.self, configurations: ModelConfiguration(url: url))
      let other = ModelContext(again)
      let found = try other.fetch(FetchDescriptor<Person>())
      #expect(found.first?.passport?.code == "p")
      person.name = "b"
      try context.save()
      #expect(try other.fetch(FetchDescriptor<Person>()).first?.name == "b")
    }
  }
}
