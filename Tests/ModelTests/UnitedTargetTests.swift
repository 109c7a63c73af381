import Foundation
import SwiftData
import Testing

@Suite("References to records that become one with another")
struct UnitedTargetTests {
  /// When and where somebody unites the two records.
  enum Union: CaseIterable {
    /// Another context or process, while the reference is pending.
    case otherContext, otherProcess
    /// The same, after the save has begun and before its transaction.
    case otherContextAtSave, otherProcessAtSave
    /// The save itself.
    case sameSave

    var isElsewhere: Bool { self != .sameSave }
    var isAtSave: Bool { self == .otherContextAtSave || self == .otherProcessAtSave }
    var isOtherProcess: Bool { self == .otherProcess || self == .otherProcessAtSave }
  }

  /// Runs work before a context's next save takes its transaction.
  private static func save(_ context: ModelContext, after work: @escaping () throws -> Void) throws {
    nonisolated(unsafe) let work = work
    let observer = NotificationCenter.default.addObserver(
      forName: ModelContext.willSave, object: context, queue: nil
    ) { _ in
      do { try work() } catch { Issue.record(error) }
    }
    defer { NotificationCenter.default.removeObserver(observer) }
    try context.save()
  }

  private static func save(_ here: ModelContext, _ union: Union, _ unite: @escaping () throws -> Void) throws {
    if union.isAtSave { return try save(here, after: unite) }
    try unite()
    try here.save()
  }

  @Test("A pending reference leads to the record that stands", arguments: Union.allCases, [false, true])
  func pendingReference(union: Union, knowsSurvivor: Bool) throws {
    try StoreFile.run { file in
      func open() throws -> ModelContainer {
        try ModelContainer(for: Seat.self, Ticket.self, configurations: file.configuration)
      }
      let container = try open()
      let setup = ModelContext(container)
      for code in ["a", "b"] { setup.insert(Seat(row: 1, number: nil, code: code)) }
      setup.insert(Ticket(label: "saved"))
      try setup.save()

      let (here, elsewhere) = (ModelContext(container), ModelContext(union.isOtherProcess ? try open() : container))
      let gone = try #require(try here.fetch(FetchDescriptor<Seat>(predicate: #Predicate { $0.code == "b" })).first)
      let identifier = gone.persistentModelID
      let survivor =
        knowsSurvivor ? try here.fetch(FetchDescriptor<Seat>(predicate: #Predicate { $0.code == "a" })).first : nil
      let saved = try #require(try here.fetch(FetchDescriptor<Ticket>()).first)
      let new = Ticket(label: "new")
      here.insert(new)
      new.seat = gone
      saved.seat = gone
      let added = Ticket(label: "added")
      gone.tickets.append(added)
      try Self.save(here, union) {
        let context = union.isElsewhere ? elsewhere : here
        let seat = try context.fetch(FetchDescriptor<Seat>(predicate: #Predicate { $0.code == "b" })).first
        seat?.code = "a"
        if union.isElsewhere { try context.save() }
      }

      let fresh = ModelContext(try open())
      let seats = try fresh.fetch(FetchDescriptor<Seat>())
      #expect(seats.map(\.code) == ["a"])
      let tickets = try fresh.fetch(FetchDescriptor<Ticket>(sortBy: [SortDescriptor(\.label)]))
      #expect(tickets.map(\.seat?.code) == ["a", "a", "a"])
      #expect(Set(seats.first?.tickets.map(\.label) ?? []) == ["added", "new", "saved"])
      // And the context shows the same.
      #expect(!here.hasChanges)
      for ticket in [new, saved, added] { #expect(ticket.seat?.code == "a" && ticket.seat?.isDeleted == false) }
      if let survivor { #expect(Set(survivor.tickets.map(\.label)) == ["added", "new", "saved"]) }
      let registered: Seat? = here.registeredModel(for: identifier)
      #expect(registered != nil && registered === new.seat)
    }
  }

  @Test("A pending pair leads to the record that stands", arguments: Union.allCases, [false, true])
  func pendingPair(union: Union, knowsSurvivor: Bool) throws {
    try StoreFile.run { file in
      func open() throws -> ModelContainer {
        try ModelContainer(for: Reader.self, Shelf.self, configurations: file.configuration)
      }
      let container = try open()
      let setup = ModelContext(container)
      for card in ["a", "b"] { setup.insert(Reader(card: card)) }
      setup.insert(Shelf(name: "from shelf"))
      setup.insert(Shelf(name: "from reader"))
      try setup.save()

      let (here, elsewhere) = (ModelContext(container), ModelContext(union.isOtherProcess ? try open() : container))
      let gone = try #require(try here.fetch(FetchDescriptor<Reader>(predicate: #Predicate { $0.card == "b" })).first)
      let survivor =
        knowsSurvivor ? try here.fetch(FetchDescriptor<Reader>(predicate: #Predicate { $0.card == "a" })).first : nil
      let shelves = try here.fetch(FetchDescriptor<Shelf>(sortBy: [SortDescriptor(\.name)]))
      gone.shelves.append(shelves[0])
      shelves[1].readers.append(gone)
      try Self.save(here, union) {
        let context = union.isElsewhere ? elsewhere : here
        let reader = try context.fetch(FetchDescriptor<Reader>(predicate: #Predicate { $0.card == "b" })).first
        reader?.card = "a"
        if union.isElsewhere { try context.save() }
      }

      let fresh = ModelContext(try open())
      let readers = try fresh.fetch(FetchDescriptor<Reader>())
      #expect(readers.map(\.card) == ["a"])
      #expect(Set(readers.first?.shelves.map(\.name) ?? []) == ["from reader", "from shelf"])
      #expect(!here.hasChanges)
      for shelf in shelves { #expect(shelf.readers.map(\.card) == ["a"]) }
      if let survivor { #expect(survivor.shelves.count == 2) }
    }
  }

  @Test(
    "An order that is pending has the record that stands in the place of the one that is gone",
    arguments: [false, true])
  func pendingOrder(isOtherProcess: Bool) throws {
    try StoreFile.run { file in
      func open() throws -> ModelContainer { try ModelContainer(for: Lane.self, configurations: file.configuration) }
      let container = try open()
      let setup = ModelContext(container)
      let lane = Lane()
      setup.insert(lane)
      lane.runners = ["a", "b", "c", "d"].map { Runner(number: $0) }
      try setup.save()

      let (here, elsewhere) = (ModelContext(container), ModelContext(isOtherProcess ? try open() : container))
      let shown = try #require(try here.fetch(FetchDescriptor<Lane>()).first)
      let last = shown.runners[3]
      shown.runners = [last] + shown.runners.dropLast()
      try Self.save(
        here,
        after: {
          let runners = try elsewhere.fetch(FetchDescriptor<Runner>())
          let first = try #require(runners.first { $0.number == "b" })
          first.number = "d"
          try elsewhere.save()
        })
      let fresh = ModelContext(try open())
      #expect(try fresh.fetch(FetchDescriptor<Lane>()).first?.runners.map(\.number) == ["d", "a", "c"])
      #expect(shown.runners.map(\.number) == ["d", "a", "c"])
    }
  }
}

/// A list in an order of its own, whose members have a unique value.
@Model final class Lane {
  @Relationship(.ordered, inverse: \Runner.lane) var runners: [Runner] = []
  init() {}
}

@Model final class Runner {
  @Attribute(.unique) var number: String
  var lane: Lane?
  init(number: String) { self.number = number }
}
