import SwiftData
import Testing

@Suite("Delete rules and inheritance")
struct DeleteRuleTests {
  @Test("C59: cascade takes the notes along, in the store and in memory")
  func cascade() throws {
    let context = ModelContext(try makeContainer())
    let folder = Folder(name: "a")
    let notes = (0..<3).map { Note(text: "\($0)", folder: folder) }
    context.insert(folder)
    try context.save()
    context.delete(folder)
    try context.save()
    #expect(notes.allSatisfy { $0.isDeleted })
    #expect(try context.fetchCount(FetchDescriptor<Note>()) == 0)
  }

  @Test("C59: a child that was moved away in the same save is not deleted with its old owner")
  func movedAway() throws {
    let context = ModelContext(try makeContainer())
    let (a, b) = (Folder(name: "a"), Folder(name: "b"))
    let note = Note(text: "n", folder: a)
    context.insert(a)
    context.insert(b)
    try context.save()
    note.folder = b
    context.delete(a)
    try context.save()
    #expect(!note.isDeleted)
    #expect(b.notes == [note])
  }

  @Test("C59: nullify empties the reference of the record that stays")
  func nullify() throws {
    let context = ModelContext(try makeContainer())
    let person = Person(email: "a", name: "a")
    let order = Order(number: 1, person: person)
    context.insert(person)
    try context.save()
    context.delete(person)
    try context.save()
    #expect(order.person == nil)
    #expect(!order.isDeleted)
  }

  @Test("C59: deny names the relationship and changes nothing; with the partner deleted too it is satisfied")
  func deny() throws {
    let context = ModelContext(try makeContainer())
    let sheet = Sheet(title: "s")
    let line = Line(sheet: sheet, text: "l")
    context.insert(line)
    try context.save()
    context.delete(sheet)
    #expect(throws: TomboloError.self) { try context.save() }
    context.rollback()
    #expect(!sheet.isDeleted)
    #expect(sheet.lines == [line])
    context.delete(sheet)
    context.delete(line)
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Line>()) == 0)
  }

  @Test("C97: a fetch of a base class returns objects of the concrete classes")
  func inheritance() throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    let keeper = Keeper(name: "k")
    context.insert(keeper)
    for name in ["cat", "owl"] { context.insert(Animal(name: name)) }
    for name in ["rex", "max", "ace"] { context.insert(Dog(name: name, breed: name == "rex" ? "pug" : "lab")) }
    let puppy = Puppy(name: "bit")
    puppy.keeper = keeper
    puppy.weeks = 9
    context.insert(puppy)
    try context.save()
    let other = ModelContext(container)
    let animals = try other.fetch(FetchDescriptor<Animal>(sortBy: [SortDescriptor(\.name)]))
    #expect(animals.map(\.name) == ["ace", "bit", "cat", "max", "owl", "rex"])
    #expect(animals.map { "\(type(of: $0))" } == ["Dog", "Puppy", "Animal", "Dog", "Animal", "Dog"])
    #expect((animals[1] as? Puppy)?.weeks == 9)
    #expect((animals[1] as? Dog)?.breed == "mixed")
    #expect(try other.fetchCount(FetchDescriptor<Dog>()) == 4)
    #expect(try other.fetch(FetchDescriptor<Puppy>()).count == 1)
    #expect(try other.fetch(FetchDescriptor<Dog>(predicate: #Predicate { $0.breed == "lab" })).count == 2)
    #expect(try other.fetch(FetchDescriptor<Animal>(predicate: #Predicate { $0 is Dog })).count == 4)
    #expect(try other.fetch(FetchDescriptor<Dog>(predicate: #Predicate { $0.name == "rex" })).count == 1)
    let held = try #require(try other.fetch(FetchDescriptor<Keeper>()).first)
    #expect(held.animals.first is Puppy)
  }

  @Test("C97: a unique attribute of the base spans its subclasses, and a batch delete takes them along")
  func inheritanceUnique() throws {
    let context = ModelContext(try makeContainer())
    context.insert(Dog(name: "rex", breed: "pug"))
    context.insert(Animal(name: "owl"))
    try context.save()
    try context.delete(model: Animal.self)
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Animal>()) == 0)
  }
}
