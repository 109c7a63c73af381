import SwiftData
import Testing

@Model final class Parcel {
  @Attribute(.unique) var code: String
  var weight: Double = 1
  var label: String = "none"
  var genre: Genre = Genre.novel
  var size: Measure
  var contents: Measure?
  var sent: Date?
  var depot: Depot?
  @Relationship(inverse: \Stamp.parcels) var stamps: [Stamp] = []
  @Relationship(inverse: \Receipt.parcel) var receipt: Receipt?
  init(code: String) {
    self.code = code
    size = Measure(width: 1, height: 1)
  }
}

@Model final class Depot {
  var name: String
  @Relationship(inverse: \Parcel.depot) var parcels: [Parcel] = []
  init(name: String) { self.name = name }
}

@Model final class Stamp {
  var value: Int
  var parcels: [Parcel] = []
  init(value: Int) { self.value = value }
}

@Model final class Receipt {
  var number: Int
  var parcel: Parcel?
  init(number: Int) { self.number = number }
}

@Suite("propertiesToFetch and prefetching")
struct PartialFetchTests {
  private func filled(_ count: Int = 10) throws -> TracedStore {
    let traced = try TracedStore(Parcel.self)
    let context = ModelContext(traced.container)
    let depots = [Depot(name: "north"), Depot(name: "south")]
    let stamps = [Stamp(value: 1), Stamp(value: 2)]
    for number in 0..<count {
      let parcel = Parcel(code: "p\(number)")
      parcel.weight = Double(number)
      parcel.label = "label \(number)"
      parcel.genre = .poems
      parcel.size = Measure(width: Double(number), height: 2)
      parcel.contents = Measure(width: 3, height: 4)
      parcel.sent = Date(timeIntervalSinceReferenceDate: 5)
      parcel.depot = depots[number % 2]
      parcel.stamps = number.isMultiple(of: 2) ? stamps : [stamps[1]]
      parcel.receipt = Receipt(number: number)
      context.insert(parcel)
    }
    try context.save()
    return traced
  }

  private func descriptor(_ properties: [PartialKeyPath<Parcel>]) -> FetchDescriptor<Parcel> {
    var descriptor = FetchDescriptor<Parcel>(sortBy: [SortDescriptor(\.weight)])
    descriptor.propertiesToFetch = properties
    return descriptor
  }

  @Test(
    "Only the named columns are read, with keys of references and what has no neutral value; the rest by one query for all"
  )
  func columns() throws {
    let traced = try filled()
    let context = ModelContext(traced.container)
    var parcels: [Parcel] = []
    let fetch = try traced.queries { parcels = try context.fetch(descriptor([\.code, \.weight])) }
    #expect(fetch.count == 1)
    let columns = try #require(fetch.first?.components(separatedBy: " FROM ").first)
    for name in ["code", "weight", "depot", "size"] { #expect(columns.contains("\"\(name)\""), "\(name)") }
    for name in ["label", "genre", "contents", "sent"] { #expect(!columns.contains("\"\(name)\""), "\(name)") }
    let known = traced.queries {
      #expect(parcels.map(\.code) == (0..<10).map { "p\($0)" })
      #expect(parcels.map(\.weight) == (0..<10).map(Double.init))
    }
    #expect(known.isEmpty)
    let rest = traced.queries {
      #expect(parcels[3].label == "label 3")
      for (number, parcel) in parcels.enumerated() {
        #expect(parcel.label == "label \(number)" && parcel.genre == .poems && parcel.size.width == Double(number))
        #expect(parcel.contents == Measure(width: 3, height: 4))
        #expect(parcel.sent == Date(timeIntervalSinceReferenceDate: 5))
      }
    }
    #expect(rest.count == 1, "\(rest)")
    #expect(rest.first?.contains("\"code\"") == false)
    #expect(!context.hasChanges)
  }

  @Test("Many objects are filled some hundred at a time")
  func batches() throws {
    let traced = try filled(1_200)
    let context = ModelContext(traced.container)
    let parcels = try context.fetch(descriptor([\.code]))
    let queries = traced.queries { for parcel in parcels { #expect(parcel.label.hasPrefix("label ")) } }
    #expect(queries.count == 3)
  }

  @Test("What was assigned before it was read is saved and stays, and what was not is not written")
  func edits() throws {
    let traced = try filled(4)
    let context = ModelContext(traced.container)
    let parcels = try context.fetch(descriptor([\.code]))
    parcels[1].label = "mine"
    #expect(parcels[0].label == "label 0")
    #expect(parcels[1].label == "mine" && parcels[1].genre == .poems)
    parcels[2].weight = 100
    try context.save()
    let other = ModelContext(traced.container)
    let stored = try other.fetch(FetchDescriptor<Parcel>(sortBy: [SortDescriptor(\.code)]))
    #expect(stored.map(\.label) == ["label 0", "mine", "label 2", "label 3"])
    #expect(stored.map(\.weight) == [0, 1, 100, 3])
    #expect(stored.allSatisfy { $0.genre == .poems })
    context.insert(Parcel(code: "p3"))
    try context.save()
    #expect(parcels[3].label == "label 3" && parcels[3].genre == .poems)
  }

  @Test("Predicates, orders and pending changes see what was left out; a rollback reads it")
  func queries() throws {
    let traced = try filled(4)
    let context = ModelContext(traced.container)
    let parcels = try context.fetch(descriptor([\.code]))
    parcels[0].weight = 50
    let found = try context.fetch(
      FetchDescriptor<Parcel>(
        predicate: #Predicate { $0.label != "label 1" }, sortBy: [SortDescriptor(\.label, order: .reverse)]))
    #expect(found.map(\.code) == ["p3", "p2", "p0"])
    context.rollback()
    #expect(parcels[0].weight == 0 && parcels[0].label == "label 0")
  }

  @Test("An observer of an attribute is not told that it was read; another context's save shows")
  func observation() throws {
    let traced = try filled(2)
    let context = ModelContext(traced.container)
    let parcels = try context.fetch(descriptor([\.code]))
    nonisolated(unsafe) var calls = 0
    withObservationTracking {
      _ = parcels[0].code
    } onChange: {
      calls += 1
    }
    #expect(parcels[1].label == "label 1" && calls == 0)
    let other = ModelContext(traced.container)
    let stored = try #require(try other.fetch(FetchDescriptor<Parcel>(predicate: #Predicate { $0.code == "p0" })).first)
    stored.label = "theirs"
    try other.save()
    #expect(parcels[0].label == "theirs" && parcels[0].genre == .poems)
  }

  @Test("A key path that is no stored property, or no relationship, is an error that says so")
  func refusals() throws {
    let context = ModelContext(try filled(1).container)
    let property = #expect(throws: TomboloError.self) { try context.fetch(descriptor([\.hasChanges])) }
    #expect(property?.code == .unknownAttribute)
    var prefetching = FetchDescriptor<Parcel>()
    prefetching.relationshipKeyPathsForPrefetching = [\.label]
    let relationship = #expect(throws: TomboloError.self) { try context.fetch(prefetching) }
    #expect(relationship?.code == .unknownRelationship)
  }

  @Test("Subclasses too: their own attributes are read when they are asked for")
  func hierarchy() throws {
    let traced = try TracedStore(Animal.self, Dog.self, Puppy.self)
    let writing = ModelContext(traced.container)
    writing.insert(Dog(name: "d", breed: "hound"))
    writing.insert(Puppy(name: "p"))
    writing.insert(Animal(name: "a"))
    try writing.save()
    let context = ModelContext(traced.container)
    var descriptor = FetchDescriptor<Animal>(sortBy: [SortDescriptor(\.name)])
    descriptor.propertiesToFetch = [\.name]
    let found = try context.fetch(descriptor)
    let queries = traced.queries { #expect(found.map { ($0 as? Dog)?.breed } == [nil, "hound", "mixed"]) }
    #expect(queries.count == 2)
  }

  @Test("Prefetching loads a to-one, a to-many, a many-to-many and a one-to-one by one query each")
  func prefetching() throws {
    let traced = try filled()
    let context = ModelContext(traced.container)
    var descriptor = FetchDescriptor<Parcel>(sortBy: [SortDescriptor(\.weight)])
    descriptor.relationshipKeyPathsForPrefetching = [\.depot, \.stamps, \.receipt]
    var parcels: [Parcel] = []
    let fetch = try traced.queries { parcels = try context.fetch(descriptor) }
    #expect(fetch.count == 4)
    let access = traced.queries {
      #expect(parcels.map { $0.depot?.name } == (0..<10).map { $0 % 2 == 0 ? "north" : "south" })
      #expect(parcels.map { $0.stamps.count } == (0..<10).map { $0 % 2 == 0 ? 2 : 1 })
      #expect(parcels.map { $0.receipt?.number } == (0..<10).map(Optional.some))
    }
    #expect(access.isEmpty, "\(access)")

    var depots = FetchDescriptor<Depot>(sortBy: [SortDescriptor(\.name)])
    depots.relationshipKeyPathsForPrefetching = [\.parcels]
    let other = ModelContext(traced.container)
    var found: [Depot] = []
    #expect(try traced.queries { found = try other.fetch(depots) }.count == 2)
    let members = traced.queries {
      #expect(found.map { $0.parcels.map(\.weight) } == [[0, 2, 4, 6, 8], [1, 3, 5, 7, 9]])
    }
    #expect(members.isEmpty)
  }

  @Test("Five thousand objects that each read a to-one cost two queries with prefetching (C105)")
  func many() throws {
    let traced = try TracedStore(Depot.self)
    let writing = ModelContext(traced.container)
    let depots = (0..<50).map { Depot(name: "\($0)") }
    for number in 0..<5_000 {
      let receipt = Parcel(code: "\(number)")
      receipt.depot = depots[number % 50]
      writing.insert(receipt)
    }
    try writing.save()
    let context = ModelContext(traced.container)
    var descriptor = FetchDescriptor<Parcel>()
    descriptor.relationshipKeyPathsForPrefetching = [\.depot]
    let queries = try traced.queries {
      let parcels = try context.fetch(descriptor)
      #expect(parcels.count == 5_000 && parcels.allSatisfy { $0.depot != nil })
    }
    #expect(queries.count == 2)
  }

  @Test("Prefetched lists have pending members, and follow what others save")
  func prefetchedChanges() throws {
    let traced = try filled(4)
    let context = ModelContext(traced.container)
    let parcels = try context.fetch(FetchDescriptor<Parcel>(sortBy: [SortDescriptor(\.weight)]))
    let south = try #require(parcels[1].depot)
    parcels[0].depot = south
    var depots = FetchDescriptor<Depot>(sortBy: [SortDescriptor(\.name)])
    depots.relationshipKeyPathsForPrefetching = [\.parcels]
    let found = try context.fetch(depots)
    #expect(found.map { Set($0.parcels.map(\.code)) } == [["p2"], ["p0", "p1", "p3"]])
    try context.save()
    let other = ModelContext(traced.container)
    let moved = try #require(try other.fetch(FetchDescriptor<Parcel>(predicate: #Predicate { $0.code == "p3" })).first)
    moved.depot = nil
    try other.save()
    #expect(Set(found[1].parcels.map(\.code)) == ["p0", "p1"])
  }
}
