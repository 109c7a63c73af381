import SwiftData
import Testing

func makeContainer() throws -> ModelContainer {
  try ModelContainer(
    for: Folder.self, Person.self, Sample.self, Animal.self, Dog.self, Puppy.self, Watched.self, Sheet.self,
    configurations: ModelConfiguration(isStoredInMemoryOnly: true))
}

@Suite("Saving and fetching")
struct BasicTests {
  @Test("What was inserted and saved is fetched by another context")
  func roundTrip() throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    let folder = Folder(name: "Letters")
    let note = Note(text: "Hello", folder: folder)
    context.insert(folder)
    #expect(context.hasChanges)
    try context.save()
    #expect(!context.hasChanges)
    let other = ModelContext(container)
    let found = try other.fetch(FetchDescriptor<Folder>())
    #expect(found.map(\.name) == ["Letters"])
    #expect(found.first?.notes.map(\.text) == ["Hello"])
    #expect(found.first?.notes.first?.folder === found.first)
    #expect(found.first?.persistentModelID == folder.persistentModelID)
    #expect(note.modelContext === context)
  }

  @Test("A predicate, an order and a limit select records")
  func query() throws {
    let context = ModelContext(try makeContainer())
    for index in 0..<20 { context.insert(Person(email: "p\(index)", name: "Name \(index % 5)")) }
    try context.save()
    var descriptor = FetchDescriptor<Person>(
      predicate: #Predicate { $0.name == "Name 3" }, sortBy: [SortDescriptor(\.email, order: .reverse)])
    descriptor.fetchLimit = 2
    #expect(try context.fetch(descriptor).map(\.email) == ["p8", "p3"])
  }

  @Test("Every attribute type comes back as it was stored")
  func types() throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    let sample = Sample()
    sample.flag = true
    sample.int = .min
    sample.int8 = .max
    sample.unsigned = UInt64(Int64.max)
    sample.float = 1.5
    sample.double = -.infinity
    sample.decimal = Decimal(string: "12345678901234567890.12345") ?? 0
    sample.text = "Ünïcode"
    sample.date = .distantPast
    sample.data = Data([1, 2, 3])
    sample.link = URL(string: "https://example.org/a?b=c")
    sample.genre = .poems
    sample.optionalGenre = .essays
    sample.measure = Measure(width: 1, height: 2)
    sample.words = ["b", "a", "b"]
    sample.counts = ["x": 1]
    sample.scratch = 99
    context.insert(sample)
    try context.save()
    let found = try #require(try ModelContext(container).fetch(FetchDescriptor<Sample>()).first)
    #expect(found.flag)
    #expect(found.int == .min)
    #expect(found.int8 == .max)
    #expect(found.unsigned == UInt64(Int64.max))
    #expect(found.float == 1.5)
    #expect(found.double == -.infinity)
    #expect(found.decimal == Decimal(string: "12345678901234567890.12345"))
    #expect(found.text == "Ünïcode")
    #expect(found.date == .distantPast)
    #expect(found.data == Data([1, 2, 3]))
    #expect(found.identifier == sample.identifier)
    #expect(found.link == sample.link)
    #expect(found.genre == .poems)
    #expect(found.optionalGenre == .essays)
    #expect(found.measure == Measure(width: 1, height: 2))
    #expect(found.words == ["b", "a", "b"])
    #expect(found.counts == ["x": 1])
    #expect(found.scratch == 7)
    #expect(sample.scratch == 99)
  }
}
