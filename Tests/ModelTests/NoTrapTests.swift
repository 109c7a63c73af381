import SwiftData
import Testing

@Suite("Where others trap")
struct NoTrapTests {
  private func code(_ body: () throws -> Void) -> ErrorCode? {
    let error = #expect(throws: TomboloError.self) { try body() }
    return error?.code
  }

  @Test(
    "Arithmetic in closures over to-many fails as an error, and only where it is reached", arguments: [true, false])
  func closures(_ isSaved: Bool) throws {
    let context = ModelContext(try makeContainer())
    let folder = Folder(name: "f")
    let (first, second) = (Note(text: "a", folder: folder), Note(text: "b", folder: folder))
    (first.position, second.position) = (4, 0)
    context.insert(folder)
    if isSaved { try context.save() }
    let lowest = Int.min
    let failing: [Predicate<Folder>] = [
      #Predicate { $0.notes.contains { 10 / $0.position > 5 } },
      #Predicate { $0.notes.allSatisfy { 10 / $0.position > 1 } },
      #Predicate { $0.notes.filter { 10 % $0.position == 2 }.count == 1 },
      #Predicate { $0.notes.contains { $0.position + lowest - 5 < 0 } },
      #Predicate { !$0.notes.filter { 10 / $0.position > 100 }.isEmpty },
    ]
    for predicate in failing {
      #expect(code { _ = try context.fetchCount(FetchDescriptor(predicate: predicate)) } == .predicateFailed)
    }
    let guarded: [Predicate<Folder>] = [
      #Predicate { $0.notes.contains { $0.position != 0 && 10 / $0.position > 1 } },
      #Predicate { $0.notes.allSatisfy { $0.position == 0 || 10 / $0.position > 1 } },
      #Predicate { $0.notes.filter { $0.position + 1 > 0 }.count == 2 },
    ]
    for predicate in guarded { #expect(try context.fetchCount(FetchDescriptor(predicate: predicate)) == 1) }
  }

  @Test("A range of a pending object that ends before it begins is an error")
  func ranges() throws {
    let context = ModelContext(try makeContainer())
    let note = Note(text: "a")
    note.position = 7
    context.insert(note)
    let (end, wide) = (5, 9)
    let empty = #Predicate<Note> { ($0.position...end).contains(5) }
    #expect(code { _ = try context.fetch(FetchDescriptor(predicate: empty)) } == .predicateFailed)
    let whole = #Predicate<Note> { ($0.position..<wide).contains(8) }
    #expect(try context.fetchCount(FetchDescriptor(predicate: whole)) == 1)
  }

  @Test("The object for an identity of a model outside the schema is a deleted one of no model")
  func modelOutsideTheSchema() throws {
    let context = ModelContext(try makeContainer())
    let note = Note(text: "a")
    context.insert(note)
    try context.save()
    let other = ModelContext(
      try ModelContainer(for: Sample.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
    let found = other.model(for: note.persistentModelID)
    #expect(found.isDeleted && found.modelContext == nil && !found.hasChanges)
    #expect(!(found is Note) && !(found is Sample))
    #expect(found.persistentModelID.hashValue == found.persistentModelID.hashValue)
    let existing: Note? = try? other.existingModel(for: note.persistentModelID)
    #expect(existing == nil)
    try other.save()
  }

  @Test(
    "A required reference that the other side cleared shows what it had, and is refused at the save",
    arguments: [true, false])
  func clearedReference(_ isSaved: Bool) throws {
    let context = ModelContext(try makeContainer())
    let (sheet, next) = (Sheet(title: "s"), Sheet(title: "t"))
    let line = Line(sheet: sheet, text: "l")
    context.insert(line)
    context.insert(next)
    if isSaved { try context.save() }
    sheet.lines = []
    #expect(line.sheet === sheet && line.sheet.title == "s")
    #expect(sheet.lines.isEmpty)
    #expect(code { try context.save() } == .requiredReference)
    #expect(line.sheet === sheet)
    #expect(code { try context.save() } == .requiredReference)
    // The same one again is an assignment.
    line.sheet = sheet
    #expect(sheet.lines == [line])
    try context.save()
    sheet.lines = []
    _ = line.sheet
    next.lines.append(line)
    #expect(line.sheet === next && sheet.lines.isEmpty)
    try context.save()
    #expect(try ModelContext(context.container).fetch(FetchDescriptor<Line>()).map(\.sheet.title) == ["t"])
  }

  @Test("A rollback gives a cleared reference back to both sides")
  func clearedAndRolledBack() throws {
    let context = ModelContext(try makeContainer())
    let sheet = Sheet(title: "s")
    let line = Line(sheet: sheet, text: "l")
    context.insert(line)
    try context.save()
    sheet.lines.removeAll()
    _ = line.sheet
    context.rollback()
    #expect(line.sheet === sheet && sheet.lines == [line])
    #expect(!context.hasChanges)
    line.text = "m"
    try context.save()
    #expect(try ModelContext(context.container).fetch(FetchDescriptor<Line>()).map(\.sheet.title) == ["s"])
  }

  @Test("A cleared reference whose holder is deleted is no obstacle")
  func clearedAndDeleted() throws {
    let context = ModelContext(try makeContainer())
    let sheet = Sheet(title: "s")
    let line = Line(sheet: sheet, text: "l")
    context.insert(line)
    try context.save()
    sheet.lines = []
    context.delete(line)
    try context.save()
    #expect(line.isDeleted && line.sheet.title == "s")
    context.delete(sheet)
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Line>()) == 0)
  }
}
