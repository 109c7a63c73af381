import SwiftData
import Testing

@Suite("C65: several contexts on one record")
struct SeveralContextTests {
  private func noteInThree() throws -> (ModelContext, ModelContext, ModelContext, [Note]) {
    let container = try makeContainer()
    let contexts = (0..<3).map { _ in ModelContext(container) }
    let note = Note(text: "old", folder: Folder(name: "f"))
    contexts[0].insert(note)
    try contexts[0].save()
    let notes = try contexts.map { try #require(try $0.fetch(FetchDescriptor<Note>()).first) }
    return (contexts[0], contexts[1], contexts[2], notes)
  }

  @Test("Edits of different columns in three contexts all survive")
  func differentColumns() throws {
    let (a, b, c, notes) = try noteInThree()
    notes[0].text = "a"
    notes[1].position = 2
    notes[2].at = Date(timeIntervalSinceReferenceDate: 3)
    for context in [a, b, c] { try context.save() }
    let fresh = ModelContext(a.container)
    for note in notes + (try fresh.fetch(FetchDescriptor<Note>())) {
      #expect(note.text == "a" && note.position == 2)
      #expect(note.at == Date(timeIntervalSinceReferenceDate: 3))
    }
  }

  @Test("Edits of one column: the save that comes last wins everywhere")
  func sameColumn() throws {
    let (a, b, c, notes) = try noteInThree()
    defer { withExtendedLifetime(c) {} }
    notes[0].text = "a"
    notes[1].text = "b"
    try a.save()
    #expect(notes[1].text == "b" && notes[2].text == "a")
    try b.save()
    #expect(notes.map(\.text) == ["b", "b", "b"])
    #expect(try ModelContext(a.container).fetch(FetchDescriptor<Note>()).map(\.text) == ["b"])
  }

  @Test("A deletion elsewhere takes a pending edit along, and a deletion here meets one elsewhere")
  func deletions() throws {
    let (a, b, c, notes) = try noteInThree()
    notes[1].text = "edited"
    c.delete(notes[2])
    a.delete(notes[0])
    try a.save()
    try b.save()
    try c.save()
    #expect(notes.allSatisfy { $0.isDeleted && $0.modelContext == nil })
    for context in [a, b, c] {
      #expect(!context.hasChanges)
      #expect(try context.fetchCount(FetchDescriptor<Note>()) == 0)
    }
  }

  @Test("A child added to an owner that another context has deleted: the save says so or drops the reference, no trap")
  func childOfDeleted() throws {
    let (a, b, c, notes) = try noteInThree()
    defer { withExtendedLifetime(c) {} }
    let held = try #require(notes[1].folder)
    a.delete(try #require(notes[0].folder))
    let child = Note(text: "child")
    b.insert(child)
    child.folder = held
    try a.save()
    try b.save()
    let fresh = ModelContext(a.container)
    let stored = try fresh.fetch(FetchDescriptor<Note>())
    #expect(stored.map(\.text) == ["child"])
    #expect(stored.first?.folder == nil)
    #expect(child.folder == nil)
    #expect(held.isDeleted)
  }

  @Test("Moves of one child to two owners in two contexts leave it with the last, seen from every side")
  func moves() throws {
    let (a, b, c, notes) = try noteInThree()
    let (one, two) = (Folder(name: "one"), Folder(name: "two"))
    a.insert(one)
    b.insert(two)
    notes[0].folder = one
    notes[1].folder = two
    try a.save()
    try b.save()
    #expect(notes.map { $0.folder?.name } == ["two", "two", "two"])
    #expect(one.notes.isEmpty && two.notes == [notes[1]])
    let folders = try c.fetch(FetchDescriptor<Folder>(sortBy: [SortDescriptor(\.name)]))
    #expect(folders.map(\.notes.count) == [0, 0, 1])
  }

  @Test("Two contexts change one many-to-many list: both changes survive")
  func links() throws {
    let (a, b, c, notes) = try noteInThree()
    defer { withExtendedLifetime(c) {} }
    notes[0].tags.append(Tag(name: "a"))
    notes[1].tags.append(Tag(name: "b"))
    try a.save()
    #expect(Set(notes[1].tags.map(\.name)) == ["a", "b"])
    try b.save()
    for note in notes { #expect(Set(note.tags.map(\.name)) == ["a", "b"]) }
    notes[0].tags.removeAll { $0.name == "b" }
    notes[1].tags.append(Tag(name: "c"))
    try a.save()
    try b.save()
    for note in notes { #expect(Set(note.tags.map(\.name)) == ["a", "c"]) }
  }

  @Test("A context that has saved and not fetched shows what another container, as another process, has committed")
  func otherContainer() throws {
    try StoreFile.run { file in
      let contexts = try (0..<2).map { _ in
        ModelContext(try ModelContainer(for: Person.self, configurations: file.configuration))
      }
      let person = Person(email: "a", name: "old")
      contexts[0].insert(person)
      try contexts[0].save()
      let found = try #require(try contexts[1].fetch(FetchDescriptor<Person>()).first)
      for age in 9...11 {
        found.age = age
        try contexts[1].save()
        #expect(try contexts[0].fetch(FetchDescriptor<Person>()).map(\.age) == [age])
        #expect(person.age == age)
      }
    }
  }

  @Test("An object of another context is refused by the save, which names it")
  func otherContext() throws {
    let (a, b, c, notes) = try noteInThree()
    defer { withExtendedLifetime(c) {} }
    b.insert(notes[0])
    var error = #expect(throws: TomboloError.self) { try b.save() }
    #expect(error?.code == .otherContext)
    b.rollback()
    b.delete(notes[0])
    error = #expect(throws: TomboloError.self) { try b.save() }
    #expect(error?.code == .otherContext)
    b.rollback()
    try b.save()
    let here = try #require(try b.fetch(FetchDescriptor<Note>()).first)
    here.folder = notes[0].folder
    #expect(throws: TomboloError.self) { try b.save() }
    b.rollback()
    #expect(here.folder?.name == "f")
    try a.save()
  }

  @Test("C114: an observed object shows what another context saved at once")
  func observed() throws {
    final class Flag: @unchecked Sendable {
      // Guarded by the test's one thread.
      var isSet = false
    }
    let (a, b, c, notes) = try noteInThree()
    defer { withExtendedLifetime(c) {} }
    let flag = Flag()
    withObservationTracking {
      _ = notes[1].text
    } onChange: {
      flag.isSet = true
    }
    notes[0].text = "new"
    try a.save()
    b.processPendingChanges()
    #expect(flag.isSet)
    #expect(notes[1].text == "new")
  }

  @Test("What a fetch returns is of one moment: objects that were known show no later save than new ones")
  func oneMoment() throws {
    try StoreFile.run { file in
      let contexts = try (0..<2).map { _ in
        ModelContext(try ModelContainer(for: Person.self, configurations: file.configuration))
      }
      let people = ["a", "b"].map { Person(email: $0, name: "one") }
      func write(_ name: String) throws {
        for person in people { person.name = name }
        try contexts[0].save()
      }
      for person in people { contexts[0].insert(person) }
      try contexts[0].save()
      let known = try #require(
        try contexts[1].fetch(FetchDescriptor<Person>(predicate: #Predicate { $0.email == "a" })).first)
      try write("two")
      let found = try contexts[1].fetch(FetchDescriptor<Person>(sortBy: [SortDescriptor(\.email)]))
      try write("three")
      #expect(found.map(\.name) == ["two", "two"])
      #expect(found.first === known)
      #expect(try contexts[1].fetch(FetchDescriptor<Person>()).map(\.name) == ["three", "three"])
    }
  }
}
