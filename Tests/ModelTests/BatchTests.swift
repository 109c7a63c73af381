import SwiftData
import Testing

@Suite("Batches and autosave")
struct BatchTests {
  private func filled(_ count: Int) throws -> ModelContainer {
    let container = try makeContainer()
    let context = ModelContext(container)
    for position in 0..<count {
      let note = Note(text: "\(position)")
      note.position = position
      context.insert(note)
    }
    try context.save()
    return container
  }
  private var ordered: FetchDescriptor<Note> { FetchDescriptor<Note>(sortBy: [SortDescriptor(\.position)]) }

  @Test("fetch(_:batchSize:): a collection that loads pages, in order, from any position")
  func collection() throws {
    let context = ModelContext(try filled(25))
    let results = try context.fetch(ordered, batchSize: 10)
    #expect(results.count == 25)
    #expect(results[24].position == 24)
    #expect(results.map(\.position) == Array(0..<25))
    #expect(results.reversed().first?.position == 24)
    #expect(results[3] === results[3])
    let registered: Note? = context.registeredModel(for: results[0].persistentModelID)
    #expect(registered != nil)
  }

  @Test("fetch(_:batchSize:): nothing is loaded before it is asked for, and what is pending takes part")
  func lazily() throws {
    let context = ModelContext(try filled(5))
    let identifiers = try context.fetchIdentifiers(ordered)
    let results = try context.fetch(ordered, batchSize: 2)
    #expect(identifiers.allSatisfy { (context.registeredModel(for: $0) as Note?) == nil })
    #expect(results[1].position == 1)
    #expect((context.registeredModel(for: identifiers[4]) as Note?) == nil)
    let note = Note(text: "new")
    note.position = -1
    context.insert(note)
    #expect(try context.fetch(ordered, batchSize: 2).first === note)
  }

  @Test("fetch(_:batchSize:): a record that was deleted since is a deleted object")
  func deletedSince() throws {
    let container = try filled(3)
    let context = ModelContext(container)
    let results = try context.fetch(ordered, batchSize: 1)
    try ModelContext(container).delete(model: Note.self, where: #Predicate { $0.position == 1 })
    let other = ModelContext(container)
    try other.delete(model: Note.self, where: #Predicate { $0.position == 1 })
    try other.save()
    #expect(results[1].isDeleted)
    #expect(results[2].position == 2)
  }

  @Test("fetchIdentifiers, with and without a batch size, agree with fetch")
  func identifiers() throws {
    let context = ModelContext(try filled(7))
    let fetched = try context.fetch(ordered).map(\.persistentModelID)
    #expect(try context.fetchIdentifiers(ordered) == fetched)
    #expect(Array(try context.fetchIdentifiers(ordered, batchSize: 3)) == fetched)
  }

  @Test("enumerate: every record once, in order; objects that nobody holds are let go, held and changed ones stay")
  func enumerate() throws {
    let context = ModelContext(try filled(20))
    weak var dropped: Note?
    var kept: Note?
    var seen: [Int] = []
    try context.enumerate(ordered, batchSize: 5) { note in
      seen.append(note.position)
      if note.position == 0 { dropped = note }
      if note.position == 7 { kept = note }
      if note.position == 13 { note.text = "changed" }
    }
    #expect(seen == Array(0..<20))
    #expect(dropped == nil)
    #expect(try context.fetch(ordered)[7] === kept)
    #expect(context.changedModelsArray.count == 1)
    try context.save()
    #expect(try ModelContext(context.container).fetch(ordered)[13].text == "changed")
  }

  @Test("enumerate: what the block throws ends it; what it inserts is not enumerated")
  func enumerateThrows() throws {
    struct Stop: Error {}
    let context = ModelContext(try filled(6))
    var seen = 0
    #expect(throws: Stop.self) {
      try context.enumerate(ordered, batchSize: 2) { note in
        seen += 1
        if note.position == 3 { throw Stop() }
      }
    }
    #expect(seen == 4)
    seen = 0
    try context.enumerate(ordered, batchSize: 2, allowEscapingMutations: true) { _ in
      seen += 1
      context.insert(Note(text: "more"))
    }
    #expect(seen == 6)
  }

  // MARK: Autosave

  @Test("C110: the main context saves itself when the main actor is free; another context only when it is told")
  @MainActor func mainContextAutosaves() async throws {
    let container = try makeContainer()
    #expect(container.mainContext.autosaveEnabled)
    container.mainContext.insert(Folder(name: "a"))
    #expect(container.mainContext.hasChanges)
    let other = ModelContext(container)
    #expect(!other.autosaveEnabled)
    for _ in 0..<100 where container.mainContext.hasChanges { await Task.yield() }
    #expect(try other.fetchCount(FetchDescriptor<Folder>()) == 1)
    other.insert(Folder(name: "b"))
    other.processPendingChanges()
    #expect(other.hasChanges)
    other.autosaveEnabled = true
    other.processPendingChanges()
    #expect(!other.hasChanges)
  }

  @Test("C110: a save by itself that fails keeps everything pending and says why; the next one that succeeds clears it")
  @MainActor func failingAutosave() throws {
    let context = try makeContainer().mainContext
    let sample = Sample()
    sample.double = .nan
    context.insert(sample)
    context.processPendingChanges()
    #expect(context.hasChanges)
    #expect((context.autosaveFailure as? TomboloError)?.code == .notANumber)
    sample.double = 1
    context.processPendingChanges()
    #expect(!context.hasChanges)
    #expect(context.autosaveFailure == nil)
  }
}
