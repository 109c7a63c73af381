import SwiftData
import Synchronization
import Testing

@Suite("Observation")
struct ObservationTests {
  /// Counts the calls of `onChange`, which come from any thread.
  private final class Calls: Sendable {
    private let count = Mutex(0)
    var value: Int { count.withLock { $0 } }
    func note() { count.withLock { $0 += 1 } }
  }

  private func watch(_ read: () -> Void) -> Calls {
    let calls = Calls()
    withObservationTracking(read) { calls.note() }
    return calls
  }

  @Test("withObservationTracking fires for an attribute that is set, and for no other one")
  func attribute() {
    let note = Note(text: "a")
    let (text, position) = (watch { _ = note.text }, watch { _ = note.position })
    note.text = "b"
    #expect((text.value, position.value) == (1, 0))
  }

  @Test("It fires on both sides of a relationship")
  func relationship() throws {
    let context = ModelContext(try makeContainer())
    let (folder, note, tag) = (Folder(name: "f"), Note(text: "n"), Tag(name: "t"))
    context.insert(folder)
    context.insert(note)
    context.insert(tag)
    try context.save()
    let toOne = watch { _ = note.folder }
    let toMany = watch { _ = folder.notes }
    let pairs = (watch { _ = note.tags }, watch { _ = tag.notes })
    folder.notes.append(note)
    #expect((toOne.value, toMany.value) == (1, 1))
    tag.notes = [note]
    #expect((pairs.0.value, pairs.1.value) == (1, 1))
  }

  @Test("It fires when another context's save changes an attribute, a to-one or a to-many, at the context's next call")
  func otherContext() throws {
    let container = try makeContainer()
    let (here, there) = (ModelContext(container), ModelContext(container))
    let folder = Folder(name: "f")
    folder.notes = [Note(text: "n")]
    there.insert(folder)
    try there.save()
    let mine = try #require(try here.fetch(FetchDescriptor<Folder>()).first)
    let note = try #require(mine.notes.first)
    let (name, notes, owner) = (watch { _ = mine.name }, watch { _ = mine.notes }, watch { _ = note.folder })
    folder.name = "g"
    folder.notes[0].folder = nil
    folder.notes.append(Note(text: "m"))
    try there.save()
    here.processPendingChanges()
    #expect((name.value, notes.value, owner.value) == (1, 1, 1))
    #expect(mine.name == "g")
    #expect(mine.notes.map(\.text) == ["m"])
    #expect(note.folder == nil)
  }

  @Test("It fires when a fetch notices another process's save")
  func otherProcess() throws {
    try StoreFile.run { file in
      let context = ModelContext(try ModelContainer(for: Folder.self, configurations: file.configuration))
      let folder = Folder(name: "f")
      context.insert(folder)
      try context.save()
      _ = try context.fetch(FetchDescriptor<Folder>())
      let name = watch { _ = folder.name }
      let elsewhere = ModelContext(try ModelContainer(for: Folder.self, configurations: file.configuration))
      let other = try #require(try elsewhere.fetch(FetchDescriptor<Folder>()).first)
      other.name = "g"
      try elsewhere.save()
      _ = try context.fetch(FetchDescriptor<Folder>())
      #expect(name.value == 1)
      #expect(folder.name == "g")
    }
  }

  @Test("Observations gives each state of a model of the main context, another context's save included")
  @MainActor func sequence() async throws {
    let container = try makeContainer()
    let folder = Folder(name: "a")
    container.mainContext.insert(folder)
    try container.mainContext.save()
    let id = folder.persistentModelID
    var seen: [String] = []
    for await name in Observations({ folder.name }) {
      seen.append(name)
      if name == "c" { break }
      if name == "a" {
        folder.name = "b"
        try container.mainContext.save()
      } else {
        let other = ModelContext(container)
        let stored: Folder = try #require(try other.existingModel(for: id))
        stored.name = "c"
        try other.save()
      }
    }
    #expect(seen == ["a", "b", "c"])
  }
}
