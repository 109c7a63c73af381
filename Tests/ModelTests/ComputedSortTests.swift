import SwiftData
import Testing

enum Urgency: Int, Codable, CaseIterable {
  case low = 1
  case middle, high
  var rank: Int { -rawValue }
  var title: String { ["", "z", "m", "a"][rawValue] }
}

enum Weather: String, Codable {
  case rain, sun
  var label: String { self == .rain ? "z" : "a" }
}

@Model final class Chapter {
  var name: String
  var number: Int
  var nick: String?
  @Relationship(inverse: \Paragraph.chapter) var paragraphs: [Paragraph] = []
  var mirrored: String { String(name.reversed()) }
  var shownName: String { name.isEmpty ? "Untitled" : name }
  var descending: Int { -number }
  var shownNick: String { nick ?? "zz" }
  init(_ name: String, _ number: Int) { (self.name, self.number) = (name, number) }
}

@Model final class Paragraph {
  var position: Int
  var urgency: Urgency
  var former: Urgency?
  var weather: Weather = Weather.rain
  var chapter: Chapter?
  init(_ position: Int, _ urgency: Urgency, _ weather: Weather, _ chapter: Chapter?) {
    (self.position, self.urgency, self.weather, self.chapter) = (position, urgency, weather, chapter)
  }
}

@Suite("Sorting by what is computed")
struct ComputedSortTests {
  private func filled() throws -> ModelContext {
    let context = ModelContext(
      try ModelContainer(
        for: Chapter.self, Paragraph.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
    for (number, name) in ["az", "by", "cx"].enumerated() {
      let paragraph = Paragraph(
        number, Urgency.allCases[number], number == 0 ? .rain : .sun, Chapter(name, number))
      paragraph.former = number == 1 ? nil : Urgency.allCases[number]
      context.insert(paragraph)
    }
    try context.save()
    return ModelContext(context.container)
  }

  @Test(
    "A computed property of a related model is refused, not taken for the attribute that it reads",
    arguments: [
      SortDescriptor(\Paragraph.chapter?.mirrored), SortDescriptor(\Paragraph.chapter?.descending),
      SortDescriptor(\Paragraph.chapter?.shownName), SortDescriptor(\Paragraph.chapter?.shownNick),
      SortDescriptor(\Paragraph.chapter?.mirrored, comparator: .localizedStandard),
    ])
  func refused(order: SortDescriptor<Paragraph>) throws {
    let context = try filled()
    let error = #expect(throws: TomboloError.self) {
      try context.fetch(FetchDescriptor<Paragraph>(sortBy: [order]))
    }
    #expect(error?.code == .unsupportedSort)
  }

  @Test("A member of an enum is a key, and is not taken for the raw value")
  func enumMembers() throws {
    let context = try filled()
    let orders: [(SortDescriptor<Paragraph>, [Int])] = [
      (SortDescriptor(\.urgency.rawValue), [0, 1, 2]), (SortDescriptor(\.urgency.rank), [2, 1, 0]),
      (SortDescriptor(\.urgency.title), [2, 1, 0]), (SortDescriptor(\.former?.rank), [1, 2, 0]),
      (SortDescriptor(\.weather.rawValue), [0, 1, 2]), (SortDescriptor(\.weather.label), [1, 2, 0]),
    ]
    for (order, expected) in orders {
      for isPending in [false, true] {
        let fetching = isPending ? ModelContext(context.container) : context
        if isPending { fetching.insert(Paragraph(9, .low, .rain, nil)) }
        let sortBy = [order, SortDescriptor(\.position)]
        let found = try fetching.fetch(FetchDescriptor(sortBy: sortBy)).map(\.position).filter { $0 != 9 }
        #expect(found == expected, "\(order)")
      }
    }
  }

  @Test("A stored attribute of a related model stays a key in every form")
  func stored() throws {
    let context = try filled()
    for order in [
      SortDescriptor(\Paragraph.chapter?.name, order: .reverse), SortDescriptor(\.chapter?.number, order: .reverse),
      SortDescriptor(\.chapter?.name, comparator: .localizedStandard, order: .reverse),
    ] {
      #expect(try context.fetch(FetchDescriptor<Paragraph>(sortBy: [order])).map(\.position) == [2, 1, 0])
    }
  }
}
