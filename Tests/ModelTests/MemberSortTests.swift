import SwiftData
import Testing

struct PostalAddress: Codable, Hashable {
  struct Place: Codable, Hashable {
    var latitude: Double
    var price: Decimal?
  }
  enum CodingKeys: String, CodingKey {
    case city = "c"
    case genre, place, isOpen, opened
  }
  var city: String
  var genre: Genre
  var place: Place
  var isOpen: Bool
  var opened: Date?
  var label: String { "\(genre.rawValue) \(city)" }
}

@Model final class Branch {
  private(set) var number: Int
  var address: PostalAddress
  var former: PostalAddress?
  private(set) var company: Company?
  init(_ number: Int, _ address: PostalAddress, former: PostalAddress?, company: Company?) {
    self.number = number
    self.address = address
    self.former = former
    self.company = company
  }
}

@Model final class Company {
  var seat: PostalAddress
  var isOld: Bool
  var name: String
  @Relationship(inverse: \Branch.company) var branches: [Branch] = []
  init(_ seat: PostalAddress) {
    self.seat = seat
    isOld = seat.isOpen
    name = seat.city
  }
}

@Suite("Sorting by a member of a Codable attribute")
struct MemberSortTests {
  enum State: String, CaseIterable { case saved, pending }

  private static func address(_ number: Int) -> PostalAddress {
    PostalAddress(
      city: ["b", "cafe\u{301}", "A10", "a2", "café"][number % 5], genre: Genre.allCases[number % 3],
      place: PostalAddress.Place(
        latitude: Double(7 - number) / 3, price: number % 4 == 0 ? nil : Decimal(number * 37 % 100) / 10),
      isOpen: number % 2 == 0,
      opened: number % 3 == 0 ? nil : Date(timeIntervalSinceReferenceDate: Double(number * 5 % 7)))
  }

  private func filled(_ state: State) throws -> ModelContext {
    let context = ModelContext(
      try ModelContainer(for: Branch.self, Company.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    )
    let companies = (0..<3).map { Company(Self.address($0)) }
    companies.forEach { context.insert($0) }
    for number in 0..<13 {
      context.insert(
        Branch(
          number, Self.address(number), former: number % 4 == 0 ? nil : Self.address(number + 2),
          company: number % 5 == 0 ? nil : companies[number % 3]))
    }
    guard state == .saved else { return context }
    try context.save()
    return ModelContext(context.container)
  }

  @Test(
    "A member is a key as an attribute is: texts, numbers, dates, enums, computed ones, through optionals and to-ones")
  func orders() throws {
    let orders: [SortDescriptor<Branch>] = [
      SortDescriptor(\.address.city), SortDescriptor(\.address.city, order: .reverse),
      SortDescriptor(\.address.city, comparator: .localizedStandard), SortDescriptor(\.address.genre.rawValue),
      SortDescriptor(\.address.place.latitude), SortDescriptor(\.address.place.price, order: .reverse),
      SortDescriptor(\.address.isOpen), SortDescriptor(\.address.opened), SortDescriptor(\.address.label),
      SortDescriptor(\.former?.city), SortDescriptor(\.former?.place.price), SortDescriptor(\.former?.opened),
      SortDescriptor(\.company?.seat.city), SortDescriptor(\.company?.seat.place.latitude, order: .reverse),
      SortDescriptor(\.former?.city, comparator: .localizedStandard), SortDescriptor(\.former?.isOpen),
      SortDescriptor(\.company?.isOld, order: .reverse),
      SortDescriptor(\.company?.name, comparator: .localizedStandard),
    ]
    for order in orders {
      func numbers(_ state: State) throws -> [Int] {
        let descriptor = FetchDescriptor<Branch>(sortBy: [order, SortDescriptor(\.number)])
        return try filled(state).fetch(descriptor).map(\.number)
      }
      let saved = try numbers(.saved)
      #expect(try numbers(.pending) == saved, "\(order)")
      #expect(saved != Array(0..<13), "\(order)")
    }
    let cities = FetchDescriptor<Branch>(sortBy: [SortDescriptor(\.address.city), SortDescriptor(\.number)])
    #expect(try filled(.saved).fetch(cities).map(\.number) == [2, 7, 12, 3, 8, 0, 5, 10, 1, 4, 6, 9, 11])
  }

  @Test("A page of them is cut from the whole order")
  func pages() throws {
    let context = try filled(.saved)
    var descriptor = FetchDescriptor<Branch>(
      sortBy: [SortDescriptor(\.address.place.latitude, order: .reverse), SortDescriptor(\.number)])
    descriptor.fetchLimit = 2
    descriptor.fetchOffset = 1
    #expect(try context.fetch(descriptor).map(\.number) == [1, 2])
  }
}
