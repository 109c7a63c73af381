import SwiftData
import Testing

@Model class Event {
  #Unique<Event>([\.code])
  var code: String
  var date: Date
  var host: Host?
  init(code: String, date: Date = Date(timeIntervalSinceReferenceDate: 0)) {
    self.code = code
    self.date = date
  }
}

@Model class Concert: Event {
  var band: String
  init(code: String, band: String) {
    self.band = band
    super.init(code: code)
  }
}

@Model final class Festival: Concert {
  var stages: Int
  init(code: String, band: String, stages: Int) {
    self.stages = stages
    super.init(code: code, band: band)
  }
}

@Model final class Meeting: Event {
  var agenda: [String] = []
  init(code: String) { super.init(code: code) }
}

@Model final class Host {
  var name: String
  @Relationship(deleteRule: .cascade, inverse: \Event.host) var events: [Event] = []
  var favourite: Event?
  init(name: String) { self.name = name }
}

@Suite("Inheritance")
struct InheritanceTests {
  private func makeContext() throws -> ModelContext {
    let context = ModelContext(
      try ModelContainer(
        for: Host.self, Festival.self, Meeting.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
    let host = Host(name: "h")
    host.events = [
      Event(code: "e"), Concert(code: "c", band: "b"), Festival(code: "f", band: "a", stages: 3), Meeting(code: "m"),
    ]
    host.favourite = host.events[2]
    context.insert(host)
    try context.save()
    return ModelContext(context.container)
  }

  @Test("A fetch of a base class returns instances of the concrete classes, three levels deep, with their own values")
  func concreteInstances() throws {
    let context = try makeContext()
    let all = try context.fetch(FetchDescriptor<Event>(sortBy: [SortDescriptor(\.code)]))
    #expect(all.map { "\(type(of: $0))" } == ["Concert", "Event", "Festival", "Meeting"])
    #expect((all[2] as? Festival)?.stages == 3)
    #expect((all[2] as? Concert)?.band == "a")
    #expect(try context.fetch(FetchDescriptor<Concert>()).count == 2)
    #expect(try context.fetchCount(FetchDescriptor<Festival>()) == 1)
    #expect(
      try context.fetchIdentifiers(FetchDescriptor<Event>()).map(\.entityName).sorted() == [
        "Concert", "Event", "Festival", "Meeting",
      ])
  }

  @Test("is, as? and inherited properties work in predicates and sorts of any level")
  func queries() throws {
    let context = try makeContext()
    #expect(try context.fetchCount(FetchDescriptor<Event>(predicate: #Predicate { $0 is Concert })) == 2)
    let band = FetchDescriptor<Event>(predicate: #Predicate { ($0 as? Concert)?.band == "a" })
    #expect(try context.fetch(band).map(\.code) == ["f"])
    let inherited = FetchDescriptor<Festival>(
      predicate: #Predicate { $0.code == "f" && $0.stages > 2 },
      sortBy: [SortDescriptor(\.band), SortDescriptor(\.date)])
    #expect(try context.fetch(inherited).count == 1)
    let sorted = FetchDescriptor<Concert>(sortBy: [SortDescriptor(\.code, order: .reverse)])
    #expect(try context.fetch(sorted).map(\.code) == ["f", "c"])
  }

  @Test("A relationship to a base class returns concrete instances, to-many and to-one")
  func relationships() throws {
    let context = try makeContext()
    let host = try #require(try context.fetch(FetchDescriptor<Host>()).first)
    #expect(host.events.map { "\(type(of: $0))" } == ["Event", "Concert", "Festival", "Meeting"])
    #expect((host.favourite as? Festival)?.stages == 3)
    #expect(host.favourite === host.events[2])
  }

  @Test("A unique key of the base spans its subclasses")
  func unique() throws {
    let context = try makeContext()
    let again = Concert(code: "c", band: "new")
    context.insert(again)
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Event>()) == 4)
    #expect(try context.fetch(FetchDescriptor<Concert>()).contains { $0.band == "new" })
  }

  @Test("delete(model:where:includeSubclasses:) leaves subclasses alone, or takes them along")
  func batchDelete() throws {
    let context = try makeContext()
    try context.delete(model: Concert.self, includeSubclasses: false)
    try context.save()
    #expect(Set(try context.fetch(FetchDescriptor<Event>()).map(\.code)) == ["e", "f", "m"])
    try context.delete(model: Concert.self, where: #Predicate { $0.band == "a" })
    try context.save()
    #expect(Set(try context.fetch(FetchDescriptor<Event>()).map(\.code)) == ["e", "m"])
    let host = try #require(try context.fetch(FetchDescriptor<Host>()).first)
    #expect(host.favourite == nil)
    context.delete(host)
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Event>()) == 0)
  }
}
