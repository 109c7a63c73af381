import SwiftData
import Testing

enum Payment: Codable, Hashable {
  case cash
  case card(number: String, expires: Date)
  case split([Payment])
}

struct Place2: Codable, Hashable {
  var name: String
  var at: Measure?
  var kinds: [Genre]
}

/// A property of each kind of `Codable` value that is no column type of its own.
@Model final class Assortment {
  var styled: AttributedString = AttributedString()
  var optionalStyled: AttributedString?
  var payment: Payment = Payment.cash
  var optionalPayment: Payment?
  var place: Place2?
  var tags: Set<String> = []
  var matrix: [[Int]] = []
  var byNumber: [Int: String] = [:]
  var kinds: [Genre] = []
  var optionalWords: [String]?
  var blobs: [Data] = []
  var span: ClosedRange<Int> = 0...1
  var halfOpen: Range<Date>?
  var locale: Locale?
  var zone: TimeZone?
  var components: DateComponents?
  var calendar: Calendar?
  var weight: Measurement<UnitMass>?
  var duration: Duration = Duration.zero
  var path: IndexPath?
  var indexes: IndexSet = IndexSet()
  var unit: Decimal?
  var names: PersonNameComponents?
  var set: CharacterSet?
  init() {}
}

@Suite("Codable values as attributes")
struct CodableValueTests {
  @Test("Every kind of Codable value comes back as it was, from a file and after a change")
  func values() throws {
    try StoreFile.run { file in
      var styled = AttributedString("Bold move")
      styled.link = URL(string: "https://example.org")
      do {
        let context = ModelContext(try ModelContainer(for: Assortment.self, configurations: file.configuration))
        let assortment = Assortment()
        assortment.styled = styled
        assortment.payment = .split([.cash, .card(number: "1", expires: Date(timeIntervalSinceReferenceDate: 1.5))])
        assortment.place = Place2(name: "n", at: Measure(width: 1, height: 2), kinds: [.novel])
        assortment.tags = ["a", "b"]
        assortment.matrix = [[1], [2, 3], []]
        assortment.byNumber = [1: "x"]
        assortment.kinds = [.poems, .novel, .poems]
        assortment.optionalWords = []
        assortment.blobs = [Data([1]), Data()]
        assortment.span = 2...9
        assortment.halfOpen = Date(timeIntervalSinceReferenceDate: 0)..<Date(timeIntervalSinceReferenceDate: 9)
        assortment.locale = Locale(identifier: "de_DE")
        assortment.zone = TimeZone(identifier: "Europe/Berlin")
        assortment.components = DateComponents(year: 2024, month: 2)
        assortment.weight = Measurement(value: 2, unit: UnitMass.kilograms)
        assortment.duration = .milliseconds(1_500)
        assortment.path = [1, 2]
        assortment.indexes = [1, 5]
        context.insert(assortment)
        try context.save()
        #expect(!context.hasChanges)
      }
      let context = ModelContext(try ModelContainer(for: Assortment.self, configurations: file.configuration))
      let assortment = try #require(try context.fetch(FetchDescriptor<Assortment>()).first)
      #expect(assortment.styled == styled && assortment.optionalStyled == nil)
      #expect(
        assortment.payment == .split([.cash, .card(number: "1", expires: Date(timeIntervalSinceReferenceDate: 1.5))]))
      #expect(assortment.optionalPayment == nil && assortment.place?.kinds == [.novel])
      #expect(
        assortment.tags == ["a", "b"] && assortment.matrix == [[1], [2, 3], []] && assortment.byNumber == [1: "x"])
      #expect(assortment.kinds == [.poems, .novel, .poems] && assortment.optionalWords == [])
      #expect(assortment.blobs == [Data([1]), Data()] && assortment.span == 2...9)
      #expect(assortment.locale?.identifier == "de_DE" && assortment.zone?.identifier == "Europe/Berlin")
      #expect(assortment.components == DateComponents(year: 2024, month: 2) && assortment.weight?.value == 2)
      #expect(
        assortment.duration == .milliseconds(1_500) && assortment.path == [1, 2] && assortment.indexes == [1, 5])
      assortment.styled += AttributedString("!")
      assortment.optionalStyled = styled
      try context.save()
      let again = try #require(try ModelContext(context.container).fetch(FetchDescriptor<Assortment>()).first)
      #expect(String(again.styled.characters) == "Bold move!" && again.optionalStyled == styled)
    }
  }
}
