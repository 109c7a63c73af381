import SwiftData
import Testing

@Suite("C63: touching a deleted object")
struct DeletedObjectTests {
  enum Way: String, CaseIterable, Sendable {
    case delete, cascade, batch, otherContext, otherContextCascade, neverSaved
  }

  private func deletedNote(_ way: Way, _ context: ModelContext) throws -> Note {
    let folder = Folder(name: "f")
    let note = Note(text: "n", folder: folder)
    note.tags = [Tag(name: "t")]
    context.insert(folder)
    if way == .neverSaved {
      context.delete(note)
      return note
    }
    try context.save()
    let other = ModelContext(context.container)
    switch way {
    case .delete: context.delete(note)
    case .cascade: context.delete(folder)
    case .batch: try context.delete(model: Note.self, where: #Predicate { $0.text == "n" })
    case .otherContext:
      for found in try other.fetch(FetchDescriptor<Note>()) { other.delete(found) }
      try other.save()
    case .otherContextCascade:
      for found in try other.fetch(FetchDescriptor<Folder>()) { other.delete(found) }
      try other.save()
    case .neverSaved: break
    }
    try context.save()
    return note
  }

  @Test("Reading and assigning never trap, the last values stay, and nothing of it is saved", arguments: Way.allCases)
  func touching(_ way: Way) throws {
    let context = ModelContext(try makeContainer())
    let note = try deletedNote(way, context)
    #expect(note.text == "n")
    #expect(note.isDeleted)
    #expect(note.modelContext == nil)
    _ = note.folder?.name
    _ = note.tags.map(\.name)
    note.text = "still"
    note.position = 3
    note.folder = nil
    note.tags = []
    note.tags.append(Tag(name: "u"))
    #expect(note.text == "still")
    #expect(note.isDeleted)
    try context.save()
    #expect(try ModelContext(context.container).fetchCount(FetchDescriptor<Note>()) == 0)
    #expect(try context.fetchCount(FetchDescriptor<Note>()) == 0)
    let identifier = note.persistentModelID
    let registered: Note? = context.registeredModel(for: identifier)
    let existing: Note? = try context.existingModel(for: identifier)
    #expect(registered == nil && existing == nil)
  }

  @Test("It can be inserted again, and is a record with its values", arguments: Way.allCases)
  func insertingAgain(_ way: Way) throws {
    let context = ModelContext(try makeContainer())
    let note = try deletedNote(way, context)
    note.text = "again"
    context.insert(note)
    #expect(!note.isDeleted && note.modelContext === context)
    try context.save()
    #expect(try context.fetch(FetchDescriptor<Note>()) == [note])
    #expect(try ModelContext(context.container).fetch(FetchDescriptor<Note>()).map(\.text) == ["again"])
  }

  @Test("Deleting twice, and deleting what another context deleted, is nothing")
  func twice() throws {
    let context = ModelContext(try makeContainer())
    let note = try deletedNote(.delete, context)
    context.delete(note)
    #expect(!context.hasChanges)
    let other = try deletedNote(.otherContext, context)
    context.delete(other)
    try context.save()
    #expect(!context.hasChanges)
  }

  @Test("A deletion that is not saved yet still shows the object's values and partners, and insert takes it back")
  func pendingDelete() throws {
    let context = ModelContext(try makeContainer())
    let folder = Folder(name: "f")
    let note = Note(text: "n", folder: folder)
    context.insert(folder)
    try context.save()
    context.delete(note)
    #expect(note.isDeleted && note.modelContext === context)
    #expect(note.folder === folder && note.text == "n")
    note.text = "edited"
    #expect(try context.fetchCount(FetchDescriptor<Note>()) == 0)
    context.insert(note)
    #expect(!note.isDeleted)
    try context.save()
    #expect(try ModelContext(context.container).fetch(FetchDescriptor<Note>()).map(\.text) == ["edited"])
  }

  @Test("An object survives its context and its container")
  func afterContext() throws {
    let note: Note = try {
      let context = ModelContext(try makeContainer())
      context.insert(Note(text: "n", folder: Folder(name: "f")))
      try context.save()
      return try #require(try ModelContext(context.container).fetch(FetchDescriptor<Note>()).first)
    }()
    #expect(note.text == "n")
    #expect(note.modelContext == nil)
    #expect(note.folder == nil)
    note.text = "x"
    note.folder = Folder(name: "g")
    #expect(note.text == "x")
  }
}
