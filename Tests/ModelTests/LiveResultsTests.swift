import SwiftData
import Testing

@Suite("ResultsObserver and HistoryObserver")
struct LiveResultsTests {
  private func watch(_ read: () -> Void) -> () -> Int {
    nonisolated(unsafe) var calls = 0
    withObservationTracking(read) { calls += 1 }
    return { calls }
  }

  @Test(
    "Results follow the context's own saves, rollbacks and pending changes, and tell observers of another list only")
  func own() throws {
    let context = ModelContext(try makeContainer())
    for name in ["b", "a"] { context.insert(Folder(name: name)) }
    try context.save()
    let observer = try ResultsObserver(FetchDescriptor<Folder>(sortBy: [SortDescriptor(\.name)]), in: context)
    #expect(observer.results.map(\.name) == ["a", "b"] && observer.identifiers.count == 2)
    let calls = watch { _ = observer.results }
    observer.results[0].name = "aa"
    try context.save()
    #expect(calls() == 0)
    context.insert(Folder(name: "c"))
    context.processPendingChanges()
    #expect(calls() == 1 && observer.results.map(\.name) == ["aa", "b", "c"])
    context.rollback()
    #expect(observer.results.map(\.name) == ["aa", "b"])
    observer.results[0].name = "z"
    try context.save()
    #expect(observer.results.map(\.name) == ["b", "z"])
    observer.descriptor = FetchDescriptor(predicate: #Predicate { $0.name > "m" })
    #expect(observer.results.map(\.name) == ["z"])
  }

  @Test("Results follow what other contexts save, at the context's next call")
  func others() throws {
    let container = try makeContainer()
    let (here, there) = (ModelContext(container), ModelContext(container))
    let observer = try ResultsObserver(FetchDescriptor<Folder>(sortBy: [SortDescriptor(\.name)]), in: here)
    #expect(observer.results.isEmpty)
    let folder = Folder(name: "x")
    there.insert(folder)
    try there.save()
    here.processPendingChanges()
    #expect(observer.results.map(\.name) == ["x"])
    there.delete(folder)
    try there.save()
    here.processPendingChanges()
    #expect(observer.results.isEmpty)
  }

  @Test("Sections have their objects in the order of the results")
  func sections() throws {
    let context = ModelContext(try makeContainer())
    for (name, age) in [("a", 1), ("b", 2), ("c", 1)] {
      let person = Person(email: nil, name: name)
      person.age = age
      context.insert(person)
    }
    try context.save()
    let observer = try ResultsObserver(
      FetchDescriptor<Person>(sortBy: [SortDescriptor(\.age), SortDescriptor(\.name)]), in: context
    ) { "age \($0.age)" }
    #expect(observer.sections.map(\.id) == ["age 1", "age 2"])
    #expect(observer.sections.map { $0.map(\.name) } == [["a", "c"], ["b"]])
  }

  @Test("A fetch that cannot be made is told, and the results stay")
  func failure() throws {
    let context = ModelContext(try makeContainer())
    context.insert(Sample())
    try context.save()
    let observer = try ResultsObserver(FetchDescriptor<Sample>(), in: context)
    observer.descriptor = FetchDescriptor(predicate: #Predicate { $0.scratch == 1 })
    #expect((observer.fetchError as? TomboloError)?.code == .unsupportedPredicate && observer.results.count == 1)
    observer.descriptor = FetchDescriptor()
    #expect(observer.fetchError == nil)
  }

  @Test("In the main context, Observations of the results gives each list by itself")
  @MainActor func sequence() async throws {
    let container = try makeContainer()
    let observer = try ResultsObserver(
      FetchDescriptor<Folder>(sortBy: [SortDescriptor(\.name)]), in: container.mainContext)
    var seen: [Int] = []
    for await identifiers in Observations({ observer.identifiers }) {
      seen.append(identifiers.count)
      if identifiers.count == 0 { container.mainContext.insert(Folder(name: "a")) }
      if identifiers.count == 1 {
        let other = ModelContext(container)
        other.insert(Folder(name: "b"))
        try other.save()
      }
      if identifiers.count == 2 { break }
    }
    #expect(seen == [0, 1, 2])
  }

  @Test("HistoryObserver gives the transactions of every context as they are committed")
  func history() async throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    context.insert(Folder(name: "before"))
    try context.save()
    let observer = try HistoryObserver(container)
    var iterator = observer.makeAsyncIterator()
    let first = observer.token
    context.author = "me"
    context.insert(Folder(name: "a"))
    try context.save()
    let found = await iterator.next()
    #expect(found?.map(\.author) == ["me"] && found?.first?.changes.count == 1)
    let token = try #require(observer.token)
    #expect(try token > #require(first))
    let later = try HistoryObserver(container, after: first)
    var again = later.makeAsyncIterator()
    later.check()
    context.insert(Folder(name: "b"))
    try context.save()
    #expect(await again.next()?.isEmpty == false)
  }
}
