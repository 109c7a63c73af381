import SwiftData
import Testing

@Model final class Rack {
  @Relationship(inverse: \Volume.shelf) var volumes: [Volume] = []
  @Relationship(inverse: \Volume.readers) var favourites: [Volume] = []
  init() {}
}

/// Its properties bear every name that SQLite has for the number of a row.
@Model final class Volume {
  var rowid: Int
  var oid: Int = 0
  var _rowid_: Int = 0
  var shelf: Rack?
  var readers: [Rack] = []
  init(_ number: Int) {
    rowid = -number
    oid = -number
    _rowid_ = -number
  }
}

@Suite("The order of to-many relationships")
struct RowOrderTests {
  @Test("Members come in the order of their linking, also where a property is called rowid")
  func rowid() throws {
    let container = try ModelContainer(
      for: Rack.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(container)
    let shelf = Rack()
    context.insert(shelf)
    for number in 0..<10 {
      let volume = Volume(number)
      shelf.volumes.append(volume)
      shelf.favourites.append(volume)
      try context.save()
    }
    let right = (0..<10).map { -$0 }
    let other = ModelContext(container)
    let found = try #require(try other.fetch(FetchDescriptor<Rack>()).first)
    #expect(found.volumes.map(\.rowid) == right && found.favourites.map(\.rowid) == right)
    var descriptor = FetchDescriptor<Rack>()
    descriptor.relationshipKeyPathsForPrefetching = [\.volumes, \.favourites]
    let prefetched = try #require(try ModelContext(container).fetch(descriptor).first)
    #expect(prefetched.volumes.map(\.oid) == right && prefetched.favourites.map(\._rowid_) == right)
    found.volumes.forEach { $0._rowid_ += 100 }
    try other.save()
    #expect(
      try ModelContext(container).fetch(FetchDescriptor<Volume>(sortBy: [SortDescriptor(\.rowid)])).map(\._rowid_)
        == (91...100).map(\.self))
  }
}
