import SwiftData
import Testing

@Suite("Fetches of one shape, which share their SQL")
struct RepeatedFetchTests {
  private func people(_ context: ModelContext) throws -> [Person] {
    let all = (0..<20).map { number -> Person in
      let person = Person(email: number % 3 == 0 ? nil : "\(number)@example.org", name: "n\(number % 4)")
      person.age = number
      context.insert(person)
      return person
    }
    try context.save()
    return all
  }

  private func ages(_ context: ModelContext, _ descriptor: FetchDescriptor<Person>) throws -> [Int] {
    try ModelContext(context.container).fetch(descriptor).map(\.age)
  }

  @Test("Other values, limits and orders give other answers")
  func values() throws {
    let context = ModelContext(try makeContainer())
    let all = try people(context)
    for _ in 0..<2 {
      for (age, name) in [(0, "n0"), (7, "n1"), (19, "n3"), (3, "none"), (2, "né")] {
        var descriptor = FetchDescriptor<Person>(
          predicate: #Predicate { $0.age >= age && $0.name == name }, sortBy: [SortDescriptor(\.age)])
        let right = all.filter { $0.age >= age && $0.name == name }.map(\.age)
        #expect(try ages(context, descriptor) == right)
        descriptor.fetchLimit = 2
        #expect(try ages(context, descriptor) == Array(right.prefix(2)))
        descriptor.fetchOffset = 1
        #expect(try ages(context, descriptor) == Array(right.dropFirst().prefix(2)))
        descriptor.fetchLimit = nil
        #expect(try ages(context, descriptor) == Array(right.dropFirst()))
        descriptor.fetchLimit = 0
        #expect(try ages(context, descriptor).isEmpty)
        descriptor = FetchDescriptor(
          predicate: #Predicate { $0.age <= age || $0.name != name }, sortBy: [SortDescriptor(\.age, order: .reverse)])
        #expect(
          try ages(context, descriptor) == all.filter { $0.age <= age || $0.name != name }.map(\.age).reversed())
      }
    }
  }

  @Test("A captured nil, a Boolean and NaN are not taken for the value before")
  func specialValues() throws {
    let context = ModelContext(try makeContainer())
    let all = try people(context)
    for email in ["1@example.org", nil, "2@example.org", nil] {
      let descriptor = FetchDescriptor<Person>(
        predicate: #Predicate { $0.email == email }, sortBy: [SortDescriptor(\.age)])
      #expect(try ages(context, descriptor) == all.filter { $0.email == email }.map(\.age))
    }
    for value in [1.5, -1, 0] {
      let sample = Sample()
      sample.double = value
      sample.flag = value > 0
      context.insert(sample)
    }
    try context.save()
    let fresh = ModelContext(context.container)
    for flag in [true, false, true] {
      #expect(
        try fresh.fetch(FetchDescriptor<Sample>(predicate: #Predicate { $0.flag == flag })).count == (flag ? 1 : 2))
    }
    for (bound, count) in [(0.0, 2), (.nan, 0), (-0.0, 2), (1.5, 1), (.infinity, 0)] {
      let descriptor = FetchDescriptor<Sample>(predicate: #Predicate { $0.double >= bound })
      #expect(try fresh.fetch(descriptor).count == count)
    }
    let (identifier, other) = (all[3].persistentModelID, all[4].persistentModelID)
    for wanted in [identifier, other] {
      let descriptor = FetchDescriptor<Person>(predicate: #Predicate { $0.persistentModelID == wanted })
      #expect(try ModelContext(context.container).fetch(descriptor).map(\.persistentModelID) == [wanted])
    }
  }

  @Test("A plan that was kept learns that a column holds text in another form")
  func textForms() throws {
    let context = ModelContext(try makeContainer())
    context.insert(Tag(name: "\u{E9}"))
    try context.save()
    func found(_ name: String) throws -> Int {
      try ModelContext(context.container).fetch(FetchDescriptor<Tag>(predicate: #Predicate { $0.name == name })).count
    }
    for name in ["\u{E9}", "e", "\u{E9}", "e"] { #expect(try found(name) == (name == "e" ? 0 : 1)) }
    context.insert(Tag(name: "e\u{301}"))
    try context.save()
    #expect(try found("\u{E9}") == 2)
    #expect(try found("e") == 0)
    #expect(try found("e\u{301}") == 2)
  }
}
