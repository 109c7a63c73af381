import SwiftData
import Testing

@Suite("C62: failed saves and rollback")
struct RollbackTests {
  /// A context with three valid inserts and one line without its required sheet.
  private func poisoned() throws -> (ModelContext, Sheet, Line) {
    let context = ModelContext(try makeContainer())
    let sheet = Sheet(title: "s")
    let line = Line(sheet: sheet, text: "l")
    context.insert(line)
    try context.save()
    for name in ["a", "b", "c"] { context.insert(Folder(name: name)) }
    context.delete(sheet)
    return (context, sheet, line)
  }

  @Test("A save that fails again and again fails alike, and succeeds once mended")
  func retry() throws {
    let (context, sheet, line) = try poisoned()
    for _ in 0..<3 {
      let error = #expect(throws: TomboloError.self) { try context.save() }
      #expect(error?.code == .deleteDenied)
      #expect(context.insertedModelsArray.count == 3 && context.deletedModelsArray.count == 1)
    }
    #expect(try ModelContext(context.container).fetchCount(FetchDescriptor<Folder>()) == 0)
    let other = Sheet(title: "t")
    context.insert(other)
    line.sheet = other
    try context.save()
    #expect(sheet.isDeleted && other.lines == [line])
    #expect(try ModelContext(context.container).fetchCount(FetchDescriptor<Folder>()) == 3)
  }

  @Test("Rolling back after a failed save leaves a clean context that saves")
  func rollbackAfterFailure() throws {
    let (context, sheet, line) = try poisoned()
    #expect(throws: TomboloError.self) { try context.save() }
    context.rollback()
    #expect(!context.hasChanges && !sheet.isDeleted && sheet.lines == [line])
    try context.save()
    context.insert(Folder(name: "later"))
    try context.save()
    #expect(try ModelContext(context.container).fetch(FetchDescriptor<Folder>()).map(\.name) == ["later"])
  }

  @Test("Rollback restores to-one, one-to-many, one-to-one and many-to-many, seen from both sides")
  func relationships() throws {
    let context = ModelContext(try makeContainer())
    let (a, b) = (Folder(name: "a"), Folder(name: "b"))
    let notes = (0..<3).map { Note(text: "\($0)", folder: a) }
    let (red, blue) = (Tag(name: "red"), Tag(name: "blue"))
    notes[0].tags = [red, blue]
    let (ann, bob) = (Person(email: "ann", name: "ann"), Person(email: "bob", name: "bob"))
    let passport = Passport(code: "p")
    ann.passport = passport
    for model in [a, b, ann, bob] as [any PersistentModel] { context.insert(model) }
    try context.save()

    b.notes = [notes[1], notes[0]]
    notes[2].folder = nil
    notes[0].tags.removeAll { $0 === red }
    notes[1].tags.append(red)
    blue.notes = []
    bob.passport = passport
    a.notes.append(Note(text: "fresh"))
    b.name = "changed"
    context.rollback()

    #expect(!context.hasChanges)
    #expect(a.notes == notes && b.notes.isEmpty)
    #expect(notes.allSatisfy { $0.folder === a })
    #expect(notes[0].tags == [red, blue] && notes[1].tags.isEmpty)
    #expect(red.notes == [notes[0]] && blue.notes == [notes[0]])
    #expect(ann.passport === passport && bob.passport == nil && passport.holder === ann)
    #expect(b.name == "b")
    let before = try StoreCounts(context.container).saves()
    try context.save()
    #expect(try StoreCounts(context.container).saves() == before)
  }

  @Test("What was inserted and rolled back keeps its values and can be inserted again")
  func insertedAgain() throws {
    let context = ModelContext(try makeContainer())
    let folder = Folder(name: "f")
    let note = Note(text: "n", folder: folder)
    context.insert(folder)
    context.rollback()
    #expect(folder.modelContext == nil && note.modelContext == nil)
    #expect(folder.notes == [note] && note.folder === folder)
    context.insert(note)
    try context.save()
    let other = ModelContext(context.container)
    #expect(try other.fetch(FetchDescriptor<Folder>()).first?.notes.count == 1)
  }

  @Test("Rollback of a deletion, of a batch deletion and of an upsert")
  func deletions() throws {
    let context = ModelContext(try makeContainer())
    let person = Person(email: "a", name: "saved")
    person.orders = [Order(number: 1)]
    context.insert(person)
    try context.save()
    context.insert(Person(email: "a", name: "new"))
    context.delete(person)
    try context.delete(model: Order.self)
    #expect(try context.fetchCount(FetchDescriptor<Order>()) == 0)
    context.rollback()
    #expect(!person.isDeleted && person.name == "saved")
    #expect(person.orders.map(\.number) == [1])
    #expect(try context.fetchCount(FetchDescriptor<Person>()) == 1)
    #expect(try context.fetchCount(FetchDescriptor<Order>()) == 1)
  }

  @Test("An observer hears of the values that rollback brings back")
  func observation() throws {
    final class Flag: @unchecked Sendable {
      // Guarded by the test's one thread.
      var isSet = false
    }
    let context = ModelContext(try makeContainer())
    let note = Note(text: "old")
    context.insert(note)
    try context.save()
    note.text = "new"
    let flag = Flag()
    withObservationTracking {
      _ = note.text
    } onChange: {
      flag.isSet = true
    }
    context.rollback()
    #expect(flag.isSet)
    #expect(note.text == "old")
  }

  // MARK: C110

  @Test("C110: nested transactions, a save without changes, and a save from within save's notification")
  func boundaries() throws {
    struct Stop: Error {}
    let container = try makeContainer()
    let context = ModelContext(container)
    try context.transaction {
      try context.transaction { context.insert(Folder(name: "inner")) }
      // Only the outer transaction saves.
      #expect(try ModelContext(container).fetchCount(FetchDescriptor<Folder>()) == 0)
    }
    #expect(throws: Stop.self) {
      try context.transaction {
        try context.transaction { context.insert(Folder(name: "inner")) }
        throw Stop()
      }
    }
    #expect(
      throws: Stop.self, "an inner block that failed half way is not saved, though the outer one caught its error"
    ) {
      try context.transaction {
        try? context.transaction {
          context.insert(Folder(name: "half"))
          throw Stop()
        }
        context.insert(Folder(name: "outer"))
      }
    }
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Folder>()) == 1)
    let saves = try StoreCounts(container).saves()
    try context.save()
    let folder = try #require(try context.fetch(FetchDescriptor<Folder>()).first)
    folder.name = folder.name
    try context.save()
    #expect(try StoreCounts(container).saves() == saves)
    #expect(!context.hasChanges)
  }

  @Test("C110: what was not saved is gone with its context")
  func unsaved() throws {
    let container = try makeContainer()
    do { ModelContext(container).insert(Folder(name: "a")) }
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Folder>()) == 0)
    #expect(try StoreCounts(container).saves() == 0)
  }

  // MARK: C61

  @Test("C61: a batch deletion takes what matches when it is called, with its cascades, and can be undone")
  func batch() throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    let (a, b) = (Folder(name: "a"), Folder(name: "b"))
    for folder in [a, b] { folder.notes = [Note(text: "\(folder.name)1"), Note(text: "\(folder.name)2")] }
    context.insert(a)
    context.insert(b)
    try context.save()
    // Pending edits decide: this one matches only by its edit, that one no more.
    b.notes[0].text = "x"
    a.notes[0].text = "y"
    try context.delete(model: Note.self, where: #Predicate { $0.text == "x" || $0.text == "a1" })
    try context.delete(model: Folder.self, where: #Predicate { $0.notes.contains { $0.text == "b2" } })
    let late = Folder(name: "c")
    context.insert(late)
    try context.save()
    #expect(b.isDeleted && !a.isDeleted)
    #expect(try ModelContext(container).fetch(FetchDescriptor<Note>()).map(\.text).sorted() == ["a2", "y"])
    try context.delete(model: Folder.self)
    context.rollback()
    #expect(try context.fetchCount(FetchDescriptor<Folder>()) == 2)
    try context.delete(model: Folder.self)
    let last = Folder(name: "d")
    context.insert(last)
    try context.save()
    #expect(try context.fetch(FetchDescriptor<Folder>()) == [last])
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Note>()) == 0)
  }
}
