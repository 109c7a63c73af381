import SwiftData
import Testing
import Tombolo
import TomboloProtocol
import TomboloSQLite

@Model final class Place {
  #Index<Place>(.rtree([\.latitude, \.longitude]), .rtree([\.opened, \.height]))
  var name: String
  var latitude: Double
  var longitude: Double
  var opened: Date = Date(timeIntervalSinceReferenceDate: 0)
  var height: Int?
  init(name: String, _ latitude: Double, _ longitude: Double) {
    self.name = name
    self.latitude = latitude
    self.longitude = longitude
  }
}

@Suite("#Index(.rtree)")
struct TreeIndexTests {
  private func filled() throws -> TracedStore {
    let traced = try TracedStore(Place.self)
    let context = ModelContext(traced.container)
    for row in 0..<20 {
      for column in 0..<20 {
        let place = Place(name: "\(row)/\(column)", Double(row) + 0.1, Double(column) - 0.1)
        place.height = row.isMultiple(of: 2) ? row * 10 : nil
        place.opened = Date(timeIntervalSinceReferenceDate: Double(column))
        context.insert(place)
      }
    }
    try context.save()
    return traced
  }

  private func plan(_ traced: TracedStore, _ sql: String) throws -> [String] {
    try traced.container.store.read { connection in
      var lines: [String] = []
      try connection.eachRow("EXPLAIN QUERY PLAN " + sql) { lines.append($0.string(3)) }
      return lines
    }
  }

  @Test("A predicate over ranges of its columns begins at the tree, and finds what a scan finds")
  func ranges() throws {
    let traced = try filled()
    let context = ModelContext(traced.container)
    let all = try context.fetch(FetchDescriptor<Place>())
    let (south, north, west, east) = (3.0, 6.1, 2.9, 5.0)
    let predicates: [Predicate<Place>] = [
      #Predicate { $0.latitude >= south && $0.latitude <= north && $0.longitude > west && $0.longitude < east },
      #Predicate { (south...north).contains($0.latitude) && (west..<east).contains($0.longitude) },
      #Predicate { $0.name != "4/4" && south < $0.latitude && north >= $0.latitude && $0.longitude >= west },
      #Predicate { $0.latitude < south && $0.latitude > north },
    ]
    for predicate in predicates {
      let fresh = ModelContext(traced.container)
      var found: [Place] = []
      let queries = try traced.queries { found = try fresh.fetch(FetchDescriptor(predicate: predicate)) }
      let right = try all.filter { try predicate.evaluate($0) }.map(\.name)
      #expect(Set(found.map(\.name)) == Set(right))
      let lines = try plan(traced, try #require(queries.first))
      #expect(lines.contains { $0.contains("VIRTUAL TABLE") }, "\(lines)")
      #expect(lines.contains { $0.hasPrefix("SEARCH t0") } && !lines.contains { $0.hasPrefix("SCAN t0") }, "\(lines)")
    }
  }

  @Test("Dates and integers too; a record that lacks a value is found where the predicate does not ask for it")
  func kinds() throws {
    let traced = try filled()
    let context = ModelContext(traced.container)
    let all = try context.fetch(FetchDescriptor<Place>())
    let (from, to) = (Date(timeIntervalSinceReferenceDate: 2), Date(timeIntervalSinceReferenceDate: 4))
    for predicate: Predicate<Place> in [
      #Predicate { $0.opened >= from && $0.opened <= to },
      #Predicate { $0.opened >= from && $0.opened <= to && $0.height ?? 0 < 50 },
      #Predicate { $0.opened > from && $0.opened < to || $0.latitude < 1 },
      #Predicate { !($0.latitude >= 3 && $0.latitude <= 5) && $0.longitude > 3 },
    ] {
      let found = try context.fetch(FetchDescriptor(predicate: predicate))
      #expect(try Set(found.map(\.name)) == Set(all.filter { try predicate.evaluate($0) }.map(\.name)))
    }
  }

  @Test("The tree follows changes, deletions, values that come and go, and what sqlite3 writes")
  func changes() throws {
    try StoreFile.run { file in
      let traced = try TracedStore(Place.self, url: file.url)
      let context = ModelContext(traced.container)
      let place = Place(name: "a", 10, 10)
      context.insert(place)
      try context.save()
      func names(_ latitude: Double, _ longitude: Double) throws -> [String] {
        let (l, m) = (latitude, longitude)
        return try ModelContext(traced.container).fetch(
          FetchDescriptor<Place>(
            predicate: #Predicate {
              $0.latitude >= l && $0.latitude < l + 1 && $0.longitude >= m && $0.longitude < m + 1
            })
        ).map(\.name)
      }
      #expect(try names(10, 10) == ["a"])
      place.latitude = 1e300
      place.height = 4
      try context.save()
      #expect(try names(10, 10) == [])
      place.latitude = -20.000000001
      place.height = nil
      try context.save()
      #expect(try names(-20.5, 10) == ["a"] && names(-20, 10) == [])
      try file.execute("INSERT INTO Place(name, latitude, longitude) VALUES ('b', 30, 30)")
      try file.execute("UPDATE Place SET longitude = 40 WHERE name = 'a'")
      #expect(try names(30, 30) == ["b"] && names(-20.5, 40) == ["a"])
      try file.execute("DELETE FROM Place WHERE name = 'b'")
      #expect(try names(30, 30) == [])
      try context.save()
      func findings() -> [Finding] {
        StoreExamination(
          path: file.url.path, options: Store.Options(clock: SystemClock(), randomness: SystemRandomness())
        ).findings.filter { $0.code == .trees }
      }
      #expect(findings().map(\.severity) == [.fine], "\(findings())")
      let connection = try Connection(path: file.url.path)
      connection.setTriggersEnabled(false)
      try connection.execute("UPDATE Place SET longitude = 99")
      #expect(findings().map(\.severity) == [.problem])
    }
  }

  @Test("A tree over text, or with too many dimensions, is a fault of the schema")
  func refusal() {
    let error = #expect(throws: TomboloError.self) {
      try ModelContainer(for: BadTree.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    }
    #expect(error?.code == .invalidSchema)
    #expect(error?.details.map(\.text).contains { $0.contains("BadTree.name") } == true)
    #expect(error?.details.map(\.text).contains { $0.contains("6 dimensions") } == true)
  }
}

@Model final class BadTree {
  #Index<BadTree>(.rtree([\.name]), .rtree([\.a, \.b, \.c, \.d, \.e, \.f]))
  var name: String = ""
  var a: Int = 0
  var b: Int = 0
  var c: Int = 0
  var d: Int = 0
  var e: Int = 0
  var f: Int = 0
  init() {}
}
