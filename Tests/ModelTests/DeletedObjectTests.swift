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

  @Test(
    "A list and a required reference are read after their context has gone, loaded before or not",
    arguments: [true, false])
  func listsWithoutContext(_ isLoaded: Bool) throws {
    let container = try makeContainer()
    let first = ModelContext(container)
    first.insert(Line(sheet: Sheet(title: "s"), text: "l"))
    try first.save()
    let sheet: Sheet = try {
      let context = ModelContext(container)
      let sheet = try #require(try context.fetch(FetchDescriptor<Sheet>()).first)
      if isLoaded { #expect(sheet.lines.count == 1) }
      return sheet
    }()
    #expect(sheet.lines.map(\.text) == ["l"])
    #expect(sheet.lines.first?.sheet.title == "s")
    let line: Line = try {
      let context = ModelContext(container)
      let line = try #require(try context.fetch(FetchDescriptor<Line>()).first)
      if isLoaded { #expect(line.sheet.lines == [line]) }
      return line
    }()
    #expect(line.sheet.title == "s")
    #expect(line.sheet.lines.count == 1)
  }

  @Test("A record that is not there is a deleted object, and a required reference to one as well")
  func missingRecords() throws {
    try StoreFile.run { file in
      let container = try ModelContainer(for: Line.self, Sample.self, configurations: file.configuration)
      let context = ModelContext(container)
      let (line, sample) = (Line(sheet: Sheet(title: "s"), text: "l"), Sample())
      context.insert(line)
      context.insert(sample)
      try context.save()
      context.delete(sample)
      try context.save()
      for identifier in [sample.persistentModelID, Sample().persistentModelID] {
        let missing = context.model(for: identifier)
        #expect(missing.isDeleted && missing.modelContext == nil)
        #expect((missing as? Sample)?.genre == .novel)
      }
      #expect(context.model(for: line.persistentModelID) === line)
      try file.execute("DELETE FROM Sheet")
      let other = ModelContext(container)
      let found = try #require(try other.fetch(FetchDescriptor<Line>()).first)
      #expect(found.text == "l")
      #expect(found.sheet.isDeleted && found.sheet.title == "")
    }
  }

  @Test("An object that outlives its context and its container still reads its values and relationships")
  func afterContext() throws {
    let note: Note = try {
      let context = ModelContext(try makeContainer())
      context.insert(Note(text: "n", folder: Folder(name: "f")))
      try context.save()
      return try #require(try ModelContext(context.container).fetch(FetchDescriptor<Note>()).first)
    }()
    #expect(note.text == "n")
    #expect(note.modelContext == nil)
    #expect(note.folder?.name == "f")
    #expect(note.folder?.notes.map(\.text) == ["n"])
    note.text = "x"
    note.folder = Folder(name: "g")
    #expect(note.text == "x")
  }
}
