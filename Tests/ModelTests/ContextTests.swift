import SwiftData
import Testing

@Suite("Contexts")
struct ContextTests {
  // MARK: Uniqueness

  @Test("C01: two pending inserts with one unique value become one record, and the later values win")
  func pendingDuplicates() throws {
    let context = ModelContext(try makeContainer())
    let one = Person(email: "a", name: "one")
    let two = Person(email: "a", name: "two")
    context.insert(one)
    context.insert(two)
    try context.save()
    let found = try context.fetch(FetchDescriptor<Person>())
    #expect(found.map(\.name) == ["two"])
    #expect(try ModelContext(context.container).fetch(FetchDescriptor<Person>()).map(\.name) == ["two"])
  }

  @Test("C01: an update to a value that another record has unites them")
  func updateCollides() throws {
    let context = ModelContext(try makeContainer())
    let one = Person(email: "a", name: "one")
    let two = Person(email: "b", name: "two")
    context.insert(one)
    context.insert(two)
    try context.save()
    two.email = "a"
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Person>()) == 1)
  }

  @Test("C66: an upsert keeps the record's identity and unites its relationships")
  func upsert() throws {
    let context = ModelContext(try makeContainer())
    let first = Person(email: "a", name: "first")
    first.age = 5
    first.orders = [Order(number: 1)]
    context.insert(first)
    try context.save()
    let second = Person(email: "a", name: "second")
    second.orders = [Order(number: 4)]
    context.insert(second)
    try context.save()
    let found = try context.fetch(FetchDescriptor<Person>())
    #expect(found.count == 1)
    #expect(found.first === first)
    #expect(first.name == "second")
    #expect(first.age == 5)
    #expect(first.orders.map(\.number).sorted() == [1, 4])
    #expect(second.persistentModelID == first.persistentModelID)
  }

  @Test("C66: nil never collides")
  func nilIsNotUnique() throws {
    let context = ModelContext(try makeContainer())
    context.insert(Person(email: nil, name: "one"))
    context.insert(Person(email: nil, name: "two"))
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Person>()) == 2)
  }

  // MARK: Pending changes

  @Test("C17: pending changes take part in a fetch: filter, order, limit, offset, count")
  func pendingChanges() throws {
    let context = ModelContext(try makeContainer())
    for position in [1, 3, 5, 7, 9] { context.insert(note(position)) }
    try context.save()
    let all = try context.fetch(FetchDescriptor<Note>(sortBy: [SortDescriptor(\.position)]))
    context.insert(note(4))
    context.delete(all[1])
    all[4].position = 2
    var descriptor = FetchDescriptor<Note>(sortBy: [SortDescriptor(\.position)])
    #expect(try context.fetch(descriptor).map(\.position) == [1, 2, 4, 5, 7])
    #expect(try context.fetchCount(descriptor) == 5)
    descriptor.fetchLimit = 3
    #expect(try context.fetch(descriptor).map(\.position) == [1, 2, 4])
    descriptor.fetchLimit = 2
    descriptor.fetchOffset = 2
    #expect(try context.fetch(descriptor).map(\.position) == [4, 5])
    descriptor = FetchDescriptor<Note>(
      predicate: #Predicate { $0.position > 2 }, sortBy: [SortDescriptor(\.position, order: .reverse)])
    #expect(try context.fetch(descriptor).map(\.position) == [7, 5, 4])
    descriptor = FetchDescriptor<Note>(sortBy: [SortDescriptor(\.position)])
    descriptor.includePendingChanges = false
    #expect(try context.fetchCount(descriptor) == 5)
    #expect(try context.fetch(descriptor).count == 5)
    #expect(context.hasChanges)
  }

  private func note(_ position: Int) -> Note {
    let note = Note(text: "\(position)")
    note.position = position
    return note
  }

  // MARK: Failed saves, rollback

  @Test("C62: a failed save leaves the context as it was, able to be mended")
  func failedSave() throws {
    let context = ModelContext(try makeContainer())
    let sheet = Sheet(title: "s")
    let line = Line(sheet: sheet, text: "l")
    context.insert(line)
    try context.save()
    context.insert(Folder(name: "a"))
    context.insert(Folder(name: "b"))
    context.delete(sheet)
    let error = #expect(throws: TomboloError.self) { try context.save() }
    #expect(error?.code == .deleteDenied)
    #expect(error?.message.contains("lines") == true)
    #expect(context.hasChanges)
    #expect(context.insertedModelsArray.count == 2)
    #expect(try ModelContext(context.container).fetchCount(FetchDescriptor<Folder>()) == 0)
    context.delete(line)
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Folder>()) == 2)
    #expect(try context.fetchCount(FetchDescriptor<Sheet>()) == 0)
  }

  @Test("C62: rollback restores values, relationships and hasChanges")
  func rollback() throws {
    let context = ModelContext(try makeContainer())
    let folder = Folder(name: "a")
    let kept = Note(text: "kept", folder: folder)
    let moved = Note(text: "moved", folder: folder)
    kept.tags = [Tag(name: "t")]
    context.insert(folder)
    try context.save()
    folder.name = "b"
    moved.folder = nil
    kept.tags = []
    let fresh = Note(text: "fresh", folder: folder)
    context.delete(kept)
    #expect(fresh.modelContext === context)
    context.rollback()
    #expect(!context.hasChanges)
    #expect(folder.name == "a")
    #expect(folder.notes.map(\.text) == ["kept", "moved"])
    #expect(moved.folder === folder)
    #expect(kept.tags.map(\.name) == ["t"])
    #expect(!kept.isDeleted)
    #expect(fresh.modelContext == nil)
    #expect(fresh.folder == nil)
    #expect(fresh.text == "fresh")
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Note>()) == 2)
  }

  @Test("C110: a transaction that throws undoes its block; a save without changes does nothing")
  func transaction() throws {
    struct Stop: Error {}
    let context = ModelContext(try makeContainer())
    #expect(throws: Stop.self) {
      try context.transaction {
        context.insert(Folder(name: "a"))
        throw Stop()
      }
    }
    #expect(!context.hasChanges)
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Folder>()) == 0)
    try context.transaction { context.insert(Folder(name: "b")) }
    #expect(try context.fetchCount(FetchDescriptor<Folder>()) == 1)
  }

  // MARK: Deleted objects

  @Test("C63: a deleted object keeps its values, says so, and has no context after the save")
  func deletedObject() throws {
    let context = ModelContext(try makeContainer())
    let folder = Folder(name: "a")
    let note = Note(text: "n", folder: folder)
    context.insert(folder)
    try context.save()
    context.delete(folder)
    #expect(folder.isDeleted)
    #expect(folder.name == "a")
    try context.save()
    #expect(folder.isDeleted)
    #expect(note.isDeleted)
    #expect(folder.modelContext == nil)
    #expect(note.modelContext == nil)
    #expect(note.text == "n")
    folder.name = "still"
    #expect(folder.name == "still")
    #expect(!context.hasChanges)
    context.insert(folder)
    try context.save()
    #expect(try ModelContext(context.container).fetch(FetchDescriptor<Folder>()).map(\.name) == ["still"])
  }

  @Test("C63: an object that another context deleted is a deleted one here")
  func deletedElsewhere() throws {
    let container = try makeContainer()
    let (a, b) = (ModelContext(container), ModelContext(container))
    a.insert(Folder(name: "x"))
    try a.save()
    let here = try #require(try b.fetch(FetchDescriptor<Folder>()).first)
    for folder in try a.fetch(FetchDescriptor<Folder>()) { a.delete(folder) }
    try a.save()
    #expect(here.name == "x")
    #expect(here.isDeleted)
    #expect(here.modelContext == nil)
    #expect(try b.fetch(FetchDescriptor<Folder>()).isEmpty)
  }

  // MARK: Two contexts

  @Test("C65: another context's save shows on clean properties, and each save writes only what it changed")
  func twoContexts() throws {
    let container = try makeContainer()
    let (a, b) = (ModelContext(container), ModelContext(container))
    a.insert(Note(text: "old"))
    try a.save()
    let inA = try #require(try a.fetch(FetchDescriptor<Note>()).first)
    let inB = try #require(try b.fetch(FetchDescriptor<Note>()).first)
    inB.position = 7
    inA.text = "new"
    try a.save()
    #expect(inB.text == "new")
    #expect(inB.position == 7)
    try b.save()
    let found = try #require(try ModelContext(container).fetch(FetchDescriptor<Note>()).first)
    #expect(found.text == "new")
    #expect(found.position == 7)
    #expect(inA.position == 7)
  }

  @Test("C65: an edit of a record that another context deleted does not bring half of it back")
  func deleteAndEdit() throws {
    let container = try makeContainer()
    let (a, b) = (ModelContext(container), ModelContext(container))
    a.insert(Note(text: "n"))
    try a.save()
    let inB = try #require(try b.fetch(FetchDescriptor<Note>()).first)
    inB.text = "edited"
    for note in try a.fetch(FetchDescriptor<Note>()) { a.delete(note) }
    try a.save()
    try b.save()
    #expect(inB.isDeleted)
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Note>()) == 0)
  }

  @Test("C65: a list shows what another context added")
  func listFromElsewhere() throws {
    let container = try makeContainer()
    let (a, b) = (ModelContext(container), ModelContext(container))
    let folder = Folder(name: "a")
    a.insert(folder)
    try a.save()
    let held = try #require(try b.fetch(FetchDescriptor<Folder>()).first)
    #expect(held.notes.isEmpty)
    folder.notes.append(Note(text: "n"))
    try a.save()
    #expect(held.notes.map(\.text) == ["n"])
  }

  @Test("There is one object for each record, and its identity is the same before and after the save")
  func identity() throws {
    let context = ModelContext(try makeContainer())
    let folder = Folder(name: "a")
    let before = folder.persistentModelID
    context.insert(folder)
    try context.save()
    #expect(folder.persistentModelID == before)
    #expect(folder.persistentModelID.hashValue == before.hashValue)
    #expect(try context.fetch(FetchDescriptor<Folder>()).first === folder)
    let registered: Folder? = context.registeredModel(for: before)
    #expect(registered === folder)
    let data = try JSONEncoder().encode(folder.persistentModelID)
    let text = String(decoding: data, as: UTF8.self)
    #expect(text.hasPrefix("{\"implementation\":{"))
    #expect(try JSONDecoder().decode(PersistentIdentifier.self, from: data) == before)
  }
}
