import SwiftData
import Testing

@Model final class Trip {
  @Attribute(.unique, .preserveValueOnDeletion) var name: String
  @Attribute(.preserveValueOnDeletion) var start: Date?
  @Attribute(.preserveValueOnDeletion) var kind: Genre = Genre.novel
  var notes: String = ""
  @Relationship(inverse: \Stop.trip) var stops: [Stop] = []
  @Relationship(inverse: \Guide.trips) var guides: [Guide] = []
  init(name: String) { self.name = name }
}

@Model final class Stop {
  var place: String
  var trip: Trip?
  init(place: String) { self.place = place }
}

@Model final class Guide {
  var name: String
  var trips: [Trip] = []
  init(name: String) { self.name = name }
}

@Suite("History")
struct HistoryTests {
  private func makeContainer(recordsHistory: Bool = true) throws -> ModelContainer {
    try ModelContainer(
      for: Trip.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true, recordsHistory: recordsHistory))
  }
  private typealias Descriptor = HistoryDescriptor<DefaultHistoryTransaction>

  @Test("fetchHistory: a transaction a save, with inserts, updates and deletes of their classes")
  func transactions() throws {
    let context = ModelContext(try makeContainer())
    let (trip, stop) = (Trip(name: "North"), Stop(place: "Quay"))
    context.insert(trip)
    context.insert(stop)
    try context.save()
    context.author = "editor"
    trip.notes = "pack"
    stop.trip = trip
    try context.save()
    context.delete(trip)
    try context.save()
    let all = try context.fetchHistory(Descriptor())
    #expect(all.map(\.author) == [nil, "editor", "editor"])
    #expect(all.map(\.changes.count) == [2, 2, 2])
    guard case .insert(let insert as DefaultHistoryInsert<Trip>) = all[0].changes.first else {
      Issue.record("no insert")
      return
    }
    #expect(insert.changedPersistentIdentifier == trip.persistentModelID)
    let updates = all[1].changes.compactMap { change -> DefaultHistoryUpdate<Trip>? in
      guard case .update(let update) = change else { return nil }
      return update as? DefaultHistoryUpdate<Trip>
    }
    #expect(updates.count == 1)
    #expect(updates[0].updatedAttributes == [\Trip.notes])
    #expect(all[2].changes.contains { if case .delete(_ as DefaultHistoryDelete<Trip>) = $0 { true } else { false } })
    #expect(abs(all[2].timestamp.timeIntervalSinceNow) < 600)
  }

  @Test("A link of a many-to-many is an update of its relationship")
  func links() throws {
    let context = ModelContext(try makeContainer())
    let (trip, guide) = (Trip(name: "North"), Guide(name: "Ada"))
    context.insert(trip)
    context.insert(guide)
    try context.save()
    trip.guides.append(guide)
    try context.save()
    let changes = try #require(try context.fetchHistory(Descriptor()).last).changes
    let paths = changes.flatMap { change -> [AnyKeyPath] in
      guard case .update(let update) = change else { return [] }
      if let update = update as? DefaultHistoryUpdate<Trip> { return update.updatedAttributes }
      return (update as? DefaultHistoryUpdate<Guide>)?.updatedAttributes ?? []
    }
    #expect(paths == [\Trip.guides] || paths == [\Guide.trips])
  }

  @Test("A tombstone has the values that are preserved, in their types, and no others")
  func tombstone() throws {
    let context = ModelContext(try makeContainer())
    let trip = Trip(name: "North")
    trip.start = Date(timeIntervalSinceReferenceDate: 12.25)
    trip.kind = .poems
    trip.notes = "secret"
    context.insert(trip)
    try context.save()
    context.delete(trip)
    try context.save()
    let change = try #require(try context.fetchHistory(Descriptor()).last?.changes.first)
    guard case .delete(let any) = change, let delete = any as? DefaultHistoryDelete<Trip> else {
      Issue.record("no delete")
      return
    }
    #expect(delete.tombstone[\.name] as? String == "North")
    #expect(delete.tombstone[\.start] as? Date == Date(timeIntervalSinceReferenceDate: 12.25))
    #expect(delete.tombstone[\.kind] as? Genre == .poems)
    #expect(delete.tombstone[\.notes] == nil)
    #expect(Set(delete.tombstone.map(\.keyPath)) == [\.name, \.start, \.kind])
  }

  @Test("Predicates over token and author, orders and limits select transactions; a token survives JSON")
  func predicates() throws {
    let context = ModelContext(try makeContainer())
    for index in 0..<4 {
      context.author = index.isMultiple(of: 2) ? "even" : "odd"
      context.insert(Trip(name: "\(index)"))
      try context.save()
    }
    let all = try context.fetchHistory(Descriptor())
    let kept = try JSONEncoder().encode(all[1].token)
    let token = try JSONDecoder().decode(DefaultHistoryToken.self, from: kept)
    #expect(token == all[1].token)
    var descriptor = Descriptor(predicate: #Predicate { $0.token > token })
    #expect(try context.fetchHistory(descriptor) == Array(all[2...]))
    let author = "odd"
    descriptor.predicate = #Predicate { $0.token > token && $0.author == author }
    #expect(try context.fetchHistory(descriptor) == [all[3]])
    descriptor = Descriptor(sortBy: [SortDescriptor(\.transactionIdentifier, order: .reverse)])
    descriptor.fetchLimit = 2
    #expect(try context.fetchHistory(descriptor) == [all[3], all[2]])
  }

  @Test("deleteHistory: what matches is gone, the data stays, and older tokens have expired")
  func deletion() throws {
    let context = ModelContext(try makeContainer())
    for index in 0..<3 {
      context.insert(Trip(name: "\(index)"))
      try context.save()
    }
    let all = try context.fetchHistory(Descriptor())
    let (first, second) = (all[0].token, all[1].token)
    try context.deleteHistory(Descriptor(predicate: #Predicate { $0.token <= second }))
    #expect(try context.fetchHistory(Descriptor()) == [all[2]])
    #expect(try context.fetchCount(FetchDescriptor<Trip>()) == 3)
    #expect(try context.fetchHistory(Descriptor(predicate: #Predicate { $0.token > second })) == [all[2]])
    do {
      _ = try context.fetchHistory(Descriptor(predicate: #Predicate { $0.token > first }))
      Issue.record("an expired token was taken")
    } catch SwiftDataError.historyTokenExpired {
      context.insert(Trip(name: "more"))
      try context.save()
    }
    #expect(try context.fetchHistory(Descriptor()).count == 2)
  }

  @Test("A store that records nothing says so; so does a transaction type that is not ours")
  func refusals() throws {
    let context = ModelContext(try makeContainer(recordsHistory: false))
    let error = #expect(throws: TomboloError.self) { try context.fetchHistory(Descriptor()) }
    #expect(error?.code == .historyDisabled)
  }

  @Test("What a person writes in the sqlite3 shell is a transaction by sqlite3")
  func shell() throws {
    try StoreFile.run { file in
      let container = try ModelContainer(for: Trip.self, configurations: file.configuration)
      let context = ModelContext(container)
      try file.execute("INSERT INTO Guide(name) VALUES ('Bo')")
      let all = try context.fetchHistory(Descriptor())
      #expect(all.map(\.author) == ["sqlite3"])
      #expect(all.first?.changes.count == 1)
    }
  }
}
