import SwiftData
import Testing

struct Packaging: Codable, Hashable {
  struct Size: Codable, Hashable {
    var width: Int
    var height: Double?
    var area: Double { Double(width) * (height ?? 0) }
  }
  enum CodingKeys: String, CodingKey {
    case label = "l"
    case size, genre, tags, made, identifier
  }
  var label: String
  var size: Size?
  var genre: Genre = .novel
  var tags: [String] = []
  var made = Date(timeIntervalSinceReferenceDate: 0)
  var identifier: UUID?
}

@Model final class Shipment {
  var number: Int
  var crate: Packaging?
  var spare: Packaging = Packaging(label: "none")
  var words: [String] = []
  var numbers: Set<Int> = []
  var genres: [Genre] = []
  var counts: [String: Int] = [:]
  var weights: [String: Double] = [:]
  var places: [Int: Packaging] = [:]
  var days: [Date] = []
  var sizes: [Packaging.Size]?
  init(_ number: Int) { self.number = number }
}

@Suite("Predicates inside Codable values, arrays and dictionaries")
struct CodableQueryTests {
  enum State: String, CaseIterable { case saved, pending }

  private func filled(_ state: State) throws -> ModelContext {
    let context = ModelContext(
      try ModelContainer(for: Shipment.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
    for number in 0..<12 {
      let shipment = Shipment(number)
      if number % 4 != 0 {
        let size = Packaging.Size(width: number, height: number % 3 == 0 ? nil : Double(number) / 2)
        shipment.crate = Packaging(
          label: ["a", "cafe\u{301}", "B"][number % 3], size: number % 2 == 0 ? nil : size,
          genre: Genre.allCases[number % 3], tags: Array(["x", "y", "z"].prefix(number % 4)),
          made: Date(timeIntervalSinceReferenceDate: Double(number)), identifier: number == 5 ? Self.identifier : nil)
      }
      shipment.words = Array(["über", "b", "café"].prefix(number % 4))
      shipment.numbers = Set(0..<number % 5)
      shipment.genres = Array(Genre.allCases.prefix(number % 4))
      shipment.counts = ["a": number, "é": number % 3].filter { $0.value != 2 }
      shipment.weights = ["é": Double(number) / 3].filter { _ in number % 2 == 0 }
      shipment.places = [number: Packaging(label: "p\(number % 2)")]
      shipment.days = (0..<number % 3).map { Date(timeIntervalSinceReferenceDate: Double($0) / 10) }
      shipment.sizes = number % 3 == 0 ? nil : [Packaging.Size(width: number, height: nil)]
      context.insert(shipment)
    }
    guard state == .saved else { return context }
    try context.save()
    return ModelContext(context.container)
  }

  private static let identifier = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))

  @Test("They answer alike, saved or pending, and as the predicate does in memory", arguments: State.allCases)
  func agreement(_ state: State) throws {
    let context = try filled(state)
    let (genre, date, identifier) = (Genre.poems, Date(timeIntervalSinceReferenceDate: 6), Self.identifier)
    let size = Packaging.Size(width: 1, height: 0.5)
    let (third, earlier) = (2.0 / 3, Date(timeIntervalSinceReferenceDate: 0.05))
    let predicates: [(String, Predicate<Shipment>)] = [
      ("member ==", #Predicate { $0.crate?.label == "café" }), ("member !=", #Predicate { $0.crate?.label != "café" }),
      ("required member", #Predicate { $0.spare.label == "none" }),
      ("member contains", #Predicate { $0.crate?.label.contains("f") ?? true }),
      ("inner member", #Predicate { $0.crate?.size?.width == 5 }),
      ("inner member order", #Predicate { ($0.crate?.size?.width ?? 0) > 4 }),
      ("inner optional member", #Predicate { $0.crate?.size?.height == nil }),
      ("inner optional member ??", #Predicate { ($0.crate?.size?.height ?? 9) < 2 }),
      ("computed member", #Predicate { ($0.crate?.size?.area ?? 0) > 10 }),
      ("whole inner value", #Predicate { $0.crate?.size == size }), ("no value", #Predicate { $0.crate == nil }),
      ("no inner value", #Predicate { $0.crate?.size == nil }), ("enum", #Predicate { $0.crate?.genre == genre }),
      ("enum raw value", #Predicate { $0.crate?.genre.rawValue == "poems" }),
      ("date", #Predicate { ($0.crate?.made ?? date) > date }),
      ("identifier", #Predicate { $0.crate?.identifier == identifier }),
      ("array inside", #Predicate { $0.crate?.tags.contains("y") ?? false }),
      ("array inside, count", #Predicate { $0.crate?.tags.count == 2 }),
      ("array inside, test", #Predicate { $0.crate?.tags.contains { $0 > "x" } ?? false }),
      (
        "if let",
        #Predicate {
          if let crate = $0.crate { crate.label == "a" && crate.tags.isEmpty == false } else { false }
        }
      ),
      ("negated", #Predicate { !($0.crate?.label == "a") }),
      ("words", #Predicate { $0.words.contains { $0.starts(with: "u\u{308}b") } }),
      ("set", #Predicate { $0.numbers.contains(3) }), ("set count", #Predicate { $0.numbers.count > 2 }),
      ("set max", #Predicate { $0.numbers.max() == 2 }), ("set empty", #Predicate { $0.numbers.isEmpty }),
      ("enums", #Predicate { $0.genres.contains(genre) }),
      ("enums, test", #Predicate { $0.genres.allSatisfy { $0 != genre } }),
      ("dictionary", #Predicate { $0.counts["a"] == 3 }),
      ("dictionary nil", #Predicate { $0.counts["e\u{301}"] == nil }),
      ("dictionary ??", #Predicate { ($0.counts["é"] ?? 7) < 2 }),
      ("dictionary count", #Predicate { $0.counts.count == 1 }),
      ("dictionary default", #Predicate { $0.counts["e\u{301}", default: 7] > 1 }),
      ("dictionary computed default", #Predicate { $0.counts["é", default: $0.number] > 1 }),
      ("dictionary of reals", #Predicate { $0.weights["e\u{301}", default: 1] < third }),
      ("dictionary by integers", #Predicate { $0.places[3]?.label == "p1" }),
      ("dictionary by its own number", #Predicate { $0.places[$0.number]?.label == "p0" }),
      ("index", #Predicate { $0.words.isEmpty == false && $0.words[0] == "u\u{308}ber" }),
      ("computed index", #Predicate { $0.words.count == 3 && $0.words[$0.words.count - 1] == "café" }),
      ("index of enums", #Predicate { $0.genres.count > 1 && $0.genres[1] == genre }),
      ("index of dates", #Predicate { $0.days.count > 1 && $0.days[1] > earlier }),
      ("index of values", #Predicate { $0.sizes.flatMap { $0[0].width > 4 } ?? true }),
      ("index of an optional array", #Predicate { $0.sizes?[0].width == 5 }),
      (
        "index of a member",
        #Predicate { if let crate = $0.crate { crate.tags.isEmpty ? false : crate.tags[0] == "x" } else { false } }
      ),
      ("first", #Predicate { $0.words.first == "über" }), ("last", #Predicate { $0.words.last != "b" }),
    ]
    let all = try context.fetch(FetchDescriptor<Shipment>())
    for (name, predicate) in predicates {
      let expected = try all.filter { try predicate.evaluate($0) }.map(\.number).sorted()
      let order = [SortDescriptor(\Shipment.number)]
      #expect(
        try context.fetch(FetchDescriptor(predicate: predicate, sortBy: order)).map(\.number) == expected, "\(name)")
      #expect(
        try context.fetchCount(FetchDescriptor(predicate: Predicates.not(predicate))) == 12 - expected.count, "\(name)")
    }
  }

  @Test("An index outside of a stored array fails the fetch, saved or pending", arguments: State.allCases)
  func outside(_ state: State) throws {
    let context = try filled(state)
    for predicate in [
      #Predicate<Shipment> { $0.words[1] == "b" }, #Predicate<Shipment> { $0.words[$0.number - 100] == "b" },
      #Predicate<Shipment> { $0.words[0] == "b" },
    ] {
      let error = #expect(throws: TomboloError.self) {
        try context.fetch(FetchDescriptor<Shipment>(predicate: predicate))
      }
      #expect(error?.code == .predicateFailed)
    }
  }

  @Test("A stored value that cannot be read makes the fetch throw")
  func damaged() throws {
    try StoreFile.run { file in
      let container = try ModelContainer(for: Shipment.self, configurations: file.configuration)
      let context = ModelContext(container)
      let shipment = Shipment(1)
      shipment.crate = Packaging(label: "a")
      context.insert(shipment)
      try context.save()
      try file.execute("UPDATE Shipment SET crate = '{\"l\":7}'")
      let error = #expect(throws: TomboloError.self) {
        try ModelContext(container).fetchCount(
          FetchDescriptor<Shipment>(predicate: #Predicate { $0.crate?.label == "a" }))
      }
      #expect(error?.code == .predicateFailed)
    }
  }
}
