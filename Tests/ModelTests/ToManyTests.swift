import Observation
import SwiftData
import Testing

@Model final class Crate {
  var name: String
  @Relationship(inverse: \Bottle.crate) var items: [Bottle] = []
  var loose: [Coupon]?
  var sizes: [Measure] = []
  init(_ name: String) { self.name = name }
}

@Model final class Bottle {
  var name: String
  var crate: Crate?
  @Relationship(inverse: \Sticker.items) var labels: [Sticker] = []
  init(_ name: String, _ crate: Crate? = nil) {
    self.name = name
    self.crate = crate
  }
}

@Model final class Coupon {
  var name: String
  init(_ name: String) { self.name = name }
}

@Model final class Sticker {
  var name: String
  var items: [Bottle] = []
  init(_ name: String) { self.name = name }
}

/// One way to change a list in place; applied to a plain array as well, which says what is right.
struct ListChange: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let body: @Sendable (_ list: inout [Bottle], _ other: [Bottle]) -> Void

  static let all: [ListChange] = [
    ListChange(testDescription: "append") { $0.append($1[0]) },
    ListChange(testDescription: "append three, one by one") { for item in $1 { $0.append(item) } },
    ListChange(testDescription: "append contents") { $0.append(contentsOf: $1) },
    ListChange(testDescription: "append its own contents") { list, _ in list.append(contentsOf: list) },
    ListChange(testDescription: "+=") { $0 += $1 },
    ListChange(testDescription: "append a member") { list, _ in list.append(list[1]) },
    ListChange(testDescription: "append twice") {
      $0.append($1[0])
      $0.append($1[0])
    },
    ListChange(testDescription: "insert first") { $0.insert($1[0], at: 0) },
    ListChange(testDescription: "insert a member first") { list, _ in list.insert(list[2], at: 0) },
    ListChange(testDescription: "remove in the middle") { list, _ in list.remove(at: 1) },
    ListChange(testDescription: "remove last") { list, _ in list.removeLast() },
    ListChange(testDescription: "pop last and append it") {
      if let last = $0.popLast() { $0.append($1[1]); $0.append(last) }
    },
    ListChange(testDescription: "remove all") { list, _ in list.removeAll() },
    ListChange(testDescription: "remove some") { list, _ in list.removeAll { $0.name == "1" } },
    ListChange(testDescription: "replace and append") {
      $0[0] = $1[0]
      $0.append($1[1])
    },
    ListChange(testDescription: "append and replace") {
      $0.append($1[1])
      $0[0] = $1[0]
    },
    ListChange(testDescription: "append and remove again") {
      $0.append($1[1])
      $0.removeLast()
    },
    ListChange(testDescription: "reverse") { list, _ in list.reverse() },
    ListChange(testDescription: "swap two") { list, _ in list.swapAt(0, 2) },
    ListChange(testDescription: "change a copy only") {
      var copy = $0
      copy.append($1[0])
      copy.removeLast()
    },
    ListChange(testDescription: "through a generic function") {
      func add<List: RangeReplaceableCollection>(_ list: inout List, _ element: List.Element) { list.append(element) }
      add(&$0, $1[0])
    },
  ]
}

@Suite("To-many relationships in place (C105)")
struct ToManyTests {
  private func container() throws -> ModelContainer {
    try ModelContainer(
      for: Crate.self, Bottle.self, Coupon.self, Sticker.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true))
  }

  private func address<Element>(_ list: [Element]) -> UnsafeRawPointer? {
    list.withUnsafeBufferPointer { UnsafeRawPointer($0.baseAddress) }
  }

  @Test("Appending copies the list as seldom as an array grows", .timeLimit(.minutes(1)))
  func appendsInPlace() throws {
    let context = ModelContext(try container())
    let crate = Crate("s")
    context.insert(crate)
    var copies = 0
    var known: UnsafeRawPointer?
    for index in 0..<20_000 {
      let item = index % 2 == 0 ? Bottle("\(index)") : Bottle("\(index)", crate)
      crate.items.append(item)
      let now = address(crate.items)
      if now != known { copies += 1 }
      known = now
    }
    #expect(copies < 40)
    #expect(crate.items.count == 20_000)
    #expect(crate.items.allSatisfy { $0.crate === crate && $0.modelContext === context })
    try context.save()
    let found = try ModelContext(context.container).fetch(FetchDescriptor<Crate>())[0]
    #expect(found.items.map(\.name) == crate.items.map(\.name))
    known = address(crate.items)
    copies = 0
    for _ in 0..<10_000 {
      crate.items.removeLast()
      if address(crate.items) != known { copies += 1 }
      known = address(crate.items)
    }
    #expect(copies < 5)
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Bottle>(predicate: #Predicate { $0.crate == nil })) == 10_000)
  }

  @Test("Linking and parting many from either side of a many-to-many stays in step", .timeLimit(.minutes(1)))
  func manyToMany() throws {
    let context = ModelContext(try container())
    let label = Sticker("l")
    context.insert(label)
    let items = (0..<5_000).map { Bottle("\($0)") }
    for (index, item) in items.enumerated() {
      if index % 2 == 0 { label.items.append(item) } else { item.labels.append(label) }
    }
    #expect(label.items.count == 5_000)
    #expect(items.allSatisfy { $0.labels.count == 1 })
    while label.items.count > 2_500 { label.items.removeLast() }
    try context.save()
    let found = try ModelContext(context.container).fetch(FetchDescriptor<Sticker>())[0]
    #expect(found.items.map(\.name) == items.prefix(2_500).map(\.name))
  }

  @Test("A change in place is what it is on an array, with inverses", arguments: ListChange.all, [false, true])
  func likeAnArray(_ change: ListChange, isSaved: Bool) throws {
    let context = ModelContext(try container())
    let crate = Crate("s")
    context.insert(crate)
    let members = ["0", "1", "2"].map { Bottle($0) }
    let others = ["a", "b", "c"].map { Bottle($0) }
    crate.items = members
    if isSaved { try context.save() }
    var expected = members
    change.body(&expected, others)
    var seen: [Bottle] = []
    for item in expected where !seen.contains(item) { seen.append(item) }
    change.body(&crate.items, others)
    #expect(crate.items.map(\.name) == seen.map(\.name))
    for item in members + others { #expect((item.crate === crate) == seen.contains(item)) }
    #expect(seen.allSatisfy { $0.modelContext === context })
    try context.save()
    let found = try ModelContext(context.container).fetch(FetchDescriptor<Crate>())[0]
    #expect(Set(found.items.map(\.name)) == Set(seen.map(\.name)))
  }

  @Test("Two lists can be swapped, and a member moves from one to the other")
  func twoLists() throws {
    let context = ModelContext(try container())
    let (a, b) = (Crate("a"), Crate("b"))
    context.insert(a)
    context.insert(b)
    let items = (0..<4).map { Bottle("\($0)") }
    a.items = Array(items[..<3])
    b.items = [items[3]]
    swap(&a.items, &b.items)
    #expect(a.items == [items[3]])
    #expect(b.items == Array(items[..<3]))
    a.items.append(items[1])
    #expect(b.items == [items[0], items[2]])
    #expect(items.map { $0.crate?.name } == ["b", "a", "b", "a"])
  }

  @Test("An access that ends by an error keeps what was done before it")
  func thrownAccess() throws {
    struct Stop: Error {}
    func change(_ list: inout [Bottle], _ item: Bottle) throws {
      list.append(item)
      list.swapAt(0, 1)
      throw Stop()
    }
    let crate = Crate("s")
    crate.items = [Bottle("0")]
    let item = Bottle("1")
    #expect(throws: Stop.self) { try change(&crate.items, item) }
    #expect(crate.items.map(\.name) == ["1", "0"])
    #expect(item.crate === crate)
  }

  @Test("An optional list and a list of values can be changed in place")
  func otherForms() throws {
    let context = ModelContext(try container())
    let crate = Crate("s")
    context.insert(crate)
    #expect(crate.loose == nil || crate.loose == [])
    crate.loose = [Coupon("0")]
    crate.loose?.append(Coupon("1"))
    crate.sizes.append(Measure(width: 1, height: 2))
    crate.sizes[0].width = 3
    try context.save()
    crate.sizes.append(Measure(width: 0, height: 0))
    #expect(crate.hasChanges)
    try context.save()
    let found = try ModelContext(context.container).fetch(FetchDescriptor<Crate>())[0]
    #expect(found.loose?.map(\.name) == ["0", "1"])
    #expect(found.sizes == [Measure(width: 3, height: 2), Measure(width: 0, height: 0)])
  }

  @Test("An append tells observers of both sides once")
  func observation() {
    let (crate, item) = (Crate("s"), Bottle("i"))
    nonisolated(unsafe) var told: [String] = []
    func observe() {
      withObservationTracking {
        _ = crate.items
      } onChange: {
        told.append("list")
      }
      withObservationTracking {
        _ = item.crate
      } onChange: {
        told.append("reference")
      }
    }
    observe()
    crate.items.append(item)
    #expect(told.sorted() == ["list", "reference"])
    observe()
    crate.items.append(item)
    #expect(told.count == 2)
  }

  @Test("A list that is not loaded is counted, asked, and changed without loading it")
  func withoutLoading() throws {
    let container = try container()
    let context = ModelContext(container)
    let (crate, label) = (Crate("s"), Sticker("l"))
    context.insert(crate)
    context.insert(label)
    let stored = (0..<5).map { Bottle("\($0)") }
    for item in stored {
      crate.members(of: \.items).append(item)
      if item.name != "4" { label.items.append(item) }
    }
    try context.save()

    let other = ModelContext(container)
    let found = try other.fetch(FetchDescriptor<Crate>())[0]
    let foundLabel = try other.fetch(FetchDescriptor<Sticker>())[0]
    let (members, labelled) = (found.members(of: \.items), foundLabel.members(of: \.items))
    #expect(try members.count == 5)
    #expect(try labelled.count == 4)
    let new = Bottle("new")
    members.append(new)
    members.append(new)
    labelled.append(new)
    #expect(try members.count == 6)
    #expect(try labelled.count == 5)
    #expect(new.crate === found)
    #expect(new.modelContext === other)
    #expect(other.registeredModel(for: stored[0].persistentModelID) as Bottle? == nil)

    let first = try #require(try other.existingModel(for: stored[0].persistentModelID) as Bottle?)
    let last = try #require(try other.existingModel(for: stored[4].persistentModelID) as Bottle?)
    #expect(try members.contains(first) && labelled.contains(first))
    #expect(try !labelled.contains(last))
    members.remove(first)
    labelled.remove(first)
    labelled.remove(last)
    labelled.append(last)
    #expect(try !members.contains(first) && !labelled.contains(first))
    #expect(try members.count == 5)
    #expect(try labelled.count == 5)
    #expect(first.crate == nil)
    #expect(other.registeredModel(for: stored[2].persistentModelID) as Bottle? == nil)
    // Loaded, it says the same.
    #expect(found.items.map(\.name) == ["1", "2", "3", "4", "new"])
    #expect(try members.count == 5)
    try other.save()
    #expect(try ModelContext(container).fetch(FetchDescriptor<Sticker>())[0].members(of: \.items).count == 5)
  }
}
