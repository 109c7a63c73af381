import SwiftData
import Testing

@Suite("Relationships stay in step")
struct RelationshipTests {
  enum Stage: String, CaseIterable { case beforeInsert, afterInsert, afterSave }

  private func bring(_ stage: Stage, _ context: ModelContext, _ models: [any PersistentModel]) throws {
    guard stage != .beforeInsert else { return }
    for model in models { context.insert(model) }
    if stage == .afterSave { try context.save() }
  }

  @Test("C57: setting the reference shows in the list at once", arguments: Stage.allCases)
  func referenceShowsInList(_ stage: Stage) throws {
    let context = ModelContext(try makeContainer())
    let (a, b) = (Folder(name: "a"), Folder(name: "b"))
    let note = Note(text: "n")
    try bring(stage, context, [a, b, note])
    note.folder = a
    #expect(a.notes == [note])
    note.folder = b
    #expect(a.notes.isEmpty)
    #expect(b.notes == [note])
    note.folder = nil
    #expect(b.notes.isEmpty)
  }

  @Test("C57: setting the list shows in the references at once", arguments: Stage.allCases)
  func listShowsInReferences(_ stage: Stage) throws {
    let context = ModelContext(try makeContainer())
    let (a, b) = (Folder(name: "a"), Folder(name: "b"))
    let notes = (0..<3).map { Note(text: "\($0)") }
    try bring(stage, context, [a, b] + notes)
    a.notes = [notes[0], notes[1]]
    a.notes.append(notes[2])
    #expect(notes.allSatisfy { $0.folder === a })
    a.notes.remove(at: 1)
    #expect(notes[1].folder == nil)
    b.notes = [notes[0]]
    #expect(a.notes == [notes[2]])
    a.notes = []
    #expect(notes[2].folder == nil)
    context.insert(a)
    context.insert(b)
    try context.save()
    let other = ModelContext(context.container)
    let found = try other.fetch(FetchDescriptor<Folder>(sortBy: [SortDescriptor(\.name)]))
    #expect(found.map { $0.notes.map(\.text) } == [[], ["0"]])
  }

  @Test("C57: an initializer that sets one side shows on the other")
  func initializerSetsBoth() throws {
    let folder = Folder(name: "a")
    let note = Note(text: "n", folder: folder)
    #expect(folder.notes == [note])
    let sheet = Sheet(title: "s")
    let line = Line(sheet: sheet, text: "l")
    #expect(sheet.lines == [line])
  }

  @Test("C57: a new partner of a one-to-one leaves the old one alone", arguments: Stage.allCases)
  func oneToOne(_ stage: Stage) throws {
    let context = ModelContext(try makeContainer())
    let (a, b) = (Person(email: "a", name: "a"), Person(email: "b", name: "b"))
    let (first, second) = (Passport(code: "1"), Passport(code: "2"))
    try bring(stage, context, [a, b, first, second])
    a.passport = first
    b.passport = second
    #expect(first.holder === a)
    b.passport = first
    #expect(a.passport == nil)
    #expect(second.holder == nil)
    #expect(first.holder === b)
    second.holder = b
    #expect(b.passport === second)
    #expect(first.holder == nil)
    for model in [a, b] { context.insert(model) }
    context.insert(first)
    try context.save()
    let other = ModelContext(context.container)
    let found = try other.fetch(FetchDescriptor<Person>(sortBy: [SortDescriptor(\.name)]))
    #expect(found.map { $0.passport?.code } == [nil, "2"])
  }

  @Test("C57: a many-to-many is the same from both sides", arguments: Stage.allCases)
  func manyToMany(_ stage: Stage) throws {
    let context = ModelContext(try makeContainer())
    let notes = (0..<2).map { Note(text: "\($0)") }
    let tags = (0..<3).map { Tag(name: "\($0)") }
    try bring(stage, context, notes + tags)
    notes[0].tags = [tags[0], tags[1]]
    tags[1].notes.append(notes[1])
    #expect(tags[0].notes == [notes[0]])
    #expect(tags[1].notes == [notes[0], notes[1]])
    #expect(notes[1].tags == [tags[1]])
    notes[0].tags.removeAll { $0 === tags[0] }
    #expect(tags[0].notes.isEmpty)
    for model in notes { context.insert(model) }
    try context.save()
    let other = ModelContext(context.container)
    let found = try other.fetch(FetchDescriptor<Note>(sortBy: [SortDescriptor(\.text)]))
    #expect(found.map { $0.tags.map(\.name) } == [["1"], ["1"]])
    #expect(found[0].tags[0].notes.count == 2)
  }

  @Test("Inserting a root inserts everything that it reaches; twice is as once")
  func transitiveInsert() throws {
    let context = ModelContext(try makeContainer())
    let folder = Folder(name: "a")
    let note = Note(text: "n", folder: folder)
    note.tags = [Tag(name: "t")]
    context.insert(note)
    context.insert(note)
    context.insert(folder)
    #expect(context.insertedModelsArray.count == 3)
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Tag>()) == 1)
    let late = Note(text: "late")
    folder.notes.append(late)
    #expect(late.modelContext === context)
    try context.save()
    #expect(try ModelContext(context.container).fetchCount(FetchDescriptor<Note>()) == 2)
  }

  @Test("A to-many keeps the order in which its links were made")
  func order() throws {
    let context = ModelContext(try makeContainer())
    let folder = Folder(name: "a")
    context.insert(folder)
    for index in 0..<20 { folder.notes.append(Note(text: "\(index)")) }
    try context.save()
    let other = ModelContext(context.container)
    let found = try other.fetch(FetchDescriptor<Folder>())
    #expect(found.first?.notes.map(\.text) == (0..<20).map { "\($0)" })
  }

  @Test("A change of an unloaded list is merged into what the store says")
  func unloadedList() throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    let folder = Folder(name: "a")
    let first = Note(text: "first", folder: folder)
    let second = Note(text: "second", folder: folder)
    context.insert(folder)
    try context.save()
    let other = ModelContext(container)
    let held = try #require(try other.fetch(FetchDescriptor<Folder>()).first)
    let third = Note(text: "third")
    other.insert(third)
    third.folder = held
    let moved: Note = try #require(try other.existingModel(for: first.persistentModelID))
    moved.folder = nil
    #expect(held.notes.map(\.text) == ["second", "third"])
    #expect(second.folder === folder)
  }
}
