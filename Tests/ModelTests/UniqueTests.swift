import SwiftData
import Testing

/// Two unique keys, one of them of two attributes.
@Model final class Seat {
  #Unique<Seat>([\.row, \.number], [\.code])
  var row: Int
  var number: Int?
  var code: String?
  var guest: String?
  @Relationship(inverse: \Ticket.seat) var tickets: [Ticket] = []
  init(row: Int, number: Int?, code: String?, guest: String? = nil) {
    self.row = row
    self.number = number
    self.code = code
    self.guest = guest
  }
}

@Model final class Ticket {
  var label: String
  var seat: Seat?
  init(label: String) { self.label = label }
}

@Suite("Unique values")
struct UniqueTests {
  private func makeSeats() throws -> ModelContainer {
    try ModelContainer(for: Seat.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
  }

  private func seat(_ row: Int, _ number: Int?, _ code: String?, _ labels: String...) -> Seat {
    let seat = Seat(row: row, number: number, code: code)
    seat.tickets = labels.map { Ticket(label: $0) }
    return seat
  }

  // MARK: C01

  @Test("C01: two pending inserts meet a saved record of the same value: one record, the last values")
  func savedAndPending() throws {
    let context = ModelContext(try makeContainer())
    let saved = Person(email: "a", name: "saved")
    context.insert(saved)
    try context.save()
    context.insert(Person(email: "a", name: "one"))
    context.insert(Person(email: "a", name: "two"))
    try context.save()
    #expect(try context.fetch(FetchDescriptor<Person>()) == [saved])
    #expect(saved.name == "two")
    #expect(!context.hasChanges)
  }

  @Test("C01: the first of two pending inserts is deleted before the save: the other one is stored")
  func firstDeleted() throws {
    let context = ModelContext(try makeContainer())
    let (one, two) = (Person(email: "a", name: "one"), Person(email: "a", name: "two"))
    context.insert(one)
    context.insert(two)
    context.delete(one)
    try context.save()
    #expect(try context.fetch(FetchDescriptor<Person>()) == [two])
    #expect(two.name == "two")
    #expect(one.isDeleted && one.modelContext == nil)
  }

  @Test("C01: a saved record is deleted and its value inserted anew in one save")
  func deletedAndInserted() throws {
    let context = ModelContext(try makeContainer())
    let old = Person(email: "a", name: "old")
    old.age = 7
    context.insert(old)
    try context.save()
    context.delete(old)
    context.insert(Person(email: "a", name: "new"))
    try context.save()
    let found = try ModelContext(context.container).fetch(FetchDescriptor<Person>())
    #expect(found.map(\.name) == ["new"])
    #expect(try context.fetch(FetchDescriptor<Person>()).map(\.name) == ["new"])
  }

  @Test("C01: united objects lead to one record, and an edit of either is saved or without effect, never a trap")
  func editAfterUnite() throws {
    let context = ModelContext(try makeContainer())
    let (one, two) = (Person(email: "a", name: "one"), Person(email: "a", name: "two"))
    one.orders = [Order(number: 1)]
    two.orders = [Order(number: 2)]
    context.insert(one)
    context.insert(two)
    try context.save()
    let stands = try #require(try context.fetch(FetchDescriptor<Person>()).first)
    #expect(stands.orders.map(\.number).sorted() == [1, 2])
    #expect(stands.orders.allSatisfy { $0.person === stands })
    one.name = "edited"
    two.name = "edited"
    try context.save()
    #expect(try ModelContext(context.container).fetch(FetchDescriptor<Person>()).map(\.name) == ["edited"])
    for order in stands.orders { order.number += 10 }
    try context.save()
    let numbers = try ModelContext(context.container).fetch(FetchDescriptor<Order>()).map(\.number)
    #expect(numbers.sorted() == [11, 12])
  }

  @Test(
    "C01: after two objects became one record, changes of the one that stands are stored, and the other is a deleted one",
    arguments: [false, true])
  func afterUnite(_ savesBetween: Bool) throws {
    let context = ModelContext(try makeContainer())
    let (one, two) = (Person(email: "a", name: "one"), Person(email: "a", name: "two"))
    context.insert(one)
    if savesBetween { try context.save() }
    context.insert(two)
    try context.save()
    #expect(try context.fetch(FetchDescriptor<Person>()) == [one])
    #expect(two.isDeleted && two.modelContext == nil)
    one.orders.append(Order(number: 1))
    try context.save()
    let other = ModelContext(context.container)
    let stored = try #require(try other.fetch(FetchDescriptor<Person>()).first)
    #expect(stored.orders.map(\.number) == [1])
    #expect(one.orders.map(\.number) == [1])
    // The other object is edited and inserted again: it is laid over the record once more.
    two.name = "three"
    two.orders.append(Order(number: 2))
    context.insert(two)
    try context.save()
    #expect(one.name == "three")
    #expect(one.orders.map(\.number).sorted() == [1, 2])
    #expect(stored.orders.map(\.number).sorted() == [1, 2])
    context.delete(two)
    try context.save()
    #expect(try other.fetchCount(FetchDescriptor<Person>()) == 1)
  }

  @Test("C01: the history holds one logical record for two pending inserts of one value")
  func oneChange() throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    context.insert(Person(email: "a", name: "one"))
    context.insert(Person(email: "a", name: "two"))
    try context.save()
    #expect(try StoreCounts(container).changes() == 1)
  }

  // MARK: C66

  @Test("C66: two unique keys that clash with two different records unite the three")
  func twoClashes() throws {
    let context = ModelContext(try makeSeats())
    let first = seat(1, 1, "a", "first")
    let second = seat(2, 2, "b", "second")
    context.insert(first)
    context.insert(second)
    try context.save()
    let third = seat(1, 1, "b", "third")
    third.guest = "guest"
    context.insert(third)
    try context.save()
    let found = try context.fetch(FetchDescriptor<Seat>())
    #expect(found.count == 1)
    let stands = try #require(found.first)
    #expect(stands.row == 1 && stands.number == 1 && stands.code == "b" && stands.guest == "guest")
    #expect(Set(stands.tickets.map(\.label)) == ["first", "second", "third"])
    #expect(stands.tickets.allSatisfy { $0.seat === stands })
    let other = ModelContext(context.container)
    let again = try #require(try other.fetch(FetchDescriptor<Seat>()).first)
    #expect(again.code == "b" && again.tickets.count == 3)
  }

  @Test("C66: a compound key collides only as a whole, and never with nil in it")
  func compound() throws {
    let context = ModelContext(try makeSeats())
    for (row, number) in [(1, 1), (1, 2), (2, 1), (1, nil), (1, nil)] as [(Int, Int?)] {
      context.insert(seat(row, number, nil))
    }
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Seat>()) == 5)
    context.insert(Seat(row: 2, number: 1, code: nil, guest: "late"))
    try context.save()
    let guests = try context.fetch(FetchDescriptor<Seat>()).compactMap(\.guest)
    #expect(guests == ["late"])
    #expect(try context.fetchCount(FetchDescriptor<Seat>()) == 5)
  }

  @Test(
    "C66: an optional that the second insert leaves nil keeps what the record has, once saved between or not",
    arguments: [true, false])
  func leftNil(_ savesBetween: Bool) throws {
    let context = ModelContext(try makeSeats())
    context.insert(Seat(row: 1, number: 1, code: "a", guest: "guest"))
    if savesBetween { try context.save() }
    context.insert(Seat(row: 1, number: 1, code: nil))
    try context.save()
    let found = try ModelContext(context.container).fetch(FetchDescriptor<Seat>())
    #expect(found.map(\.guest) == ["guest"])
    #expect(found.map(\.code) == ["a"])
  }

  @Test("C66: values are swapped within one save without a clash")
  func swap() throws {
    let context = ModelContext(try makeSeats())
    let (a, b) = (seat(1, 1, "a"), seat(2, 2, "b"))
    context.insert(a)
    context.insert(b)
    try context.save()
    (a.code, b.code) = (b.code, a.code)
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Seat>()) == 2)
    #expect(a.code == "b" && b.code == "a")
  }

  @Test("C66: many-to-many links of both records belong to the one that stands")
  func links() throws {
    let context = ModelContext(
      try ModelContainer(
        for: Reader.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
    let (shared, own, late) = (Shelf(name: "shared"), Shelf(name: "own"), Shelf(name: "late"))
    let first = Reader(card: "a")
    first.shelves = [shared, own]
    context.insert(first)
    context.insert(late)
    try context.save()
    let second = Reader(card: "a")
    second.shelves = [shared, late]
    context.insert(second)
    try context.save()
    #expect(Set(first.shelves.map(\.name)) == ["shared", "own", "late"])
    #expect(shared.readers == [first] && late.readers == [first])
  }

  @Test("C85: both spellings of one accented letter are one unique value")
  func normalization() throws {
    let context = ModelContext(try makeContainer())
    context.insert(Person(email: "caf\u{e9}", name: "one"))
    try context.save()
    context.insert(Person(email: "cafe\u{301}", name: "two"))
    try context.save()
    #expect(try context.fetch(FetchDescriptor<Person>()).map(\.name) == ["two"])
  }

  // MARK: Records that become one elsewhere

  @Test(
    "An object follows the record that its own became one with elsewhere, and takes what is pending along",
    arguments: [false, true], [false, true])
  func unitedElsewhere(isOtherProcess: Bool, isObserved: Bool) throws {
    try StoreFile.run { file in
      func open() throws -> ModelContainer { try ModelContainer(for: Seat.self, configurations: file.configuration) }
      let container = try open()
      let (here, elsewhere) = (ModelContext(container), ModelContext(isOtherProcess ? try open() : container))
      for code in ["a", "b", "c", "d"] { here.insert(Seat(row: 1, number: nil, code: code, guest: code)) }
      try here.save()
      let seats = try here.fetch(FetchDescriptor<Seat>(sortBy: [SortDescriptor(\.code)]))
      let identifiers = seats.map(\.persistentModelID)
      seats[1].guest = "pending"
      if isObserved {
        for seat in seats {
          withObservationTracking {
            _ = seat.guest
          } onChange: {
          }
        }
      }
      for seat in try elsewhere.fetch(FetchDescriptor<Seat>()) {
        if seat.code == "b" { seat.code = "a" }
        if seat.code == "d" { seat.code = "c" }
      }
      try elsewhere.save()

      // Of each two, one stands; which of them is the store's matter.
      try here.save()
      let fresh = ModelContext(try open())
      let stored = try fresh.fetch(FetchDescriptor<Seat>(sortBy: [SortDescriptor(\.code)]))
      #expect(stored.map(\.code) == ["a", "c"])
      #expect(stored.first?.guest == "pending")
      #expect(
        try here.fetch(FetchDescriptor<Seat>(sortBy: [SortDescriptor(\.code)])).map(\.guest) == stored.map(\.guest))
      for (identifier, code) in zip(identifiers, ["a", "a", "c", "c"]) {
        #expect((here.model(for: identifier) as? Seat)?.code == code)
        #expect((fresh.model(for: identifier) as? Seat)?.code == code)
        let found: Seat? = try fresh.existingModel(for: identifier)
        #expect(found?.code == code && found?.isDeleted == false)
      }
      #expect(!here.hasChanges)
    }
  }
}

@Model final class Reader {
  @Attribute(.unique) var card: String
  @Relationship(inverse: \Shelf.readers) var shelves: [Shelf] = []
  init(card: String) { self.card = card }
}

@Model final class Shelf {
  var name: String
  var readers: [Reader] = []
  init(name: String) { self.name = name }
}
