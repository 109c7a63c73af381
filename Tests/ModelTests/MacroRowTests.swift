import SwiftData
import Testing

protocol Titled { var title: String { get } }

enum ShelfV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Shelf.self, Item.self] }

  @Model
  final class Shelf: Titled {
    #Index<Shelf>([\.title], [\.title, \.rank])
    #Index<Shelf>(.binary([\.rank]), .rtree([\.width, \.rank]))
    #Unique<Shelf>([\.title, \.rank], [\.code])

    struct Place: Codable, Hashable {
      var room = "hall"
      var wall = 1
    }
    enum State: Int, Codable { case open, closed }

    static let limit = 3
    @Attribute(.unique) private(set) var code: String
    @Attribute var title: String
    var rank = 0
    var width: Double = 1.5
    var state = State.open
    var place = Place()
    var marks = ["a", "b"]
    var names: Set<String> = []
    private var secret: String?
    @Relationship var items: [Item]? = []
    @Relationship(.unique, deleteRule: .cascade) var cover: Item?
    @Transient var cache = [String: Int]()
    @Transient var visits: Int?

    var label: String { "\(code) \(title)" }
    var doubled: Int {
      get { rank * 2 }
      set { rank = newValue / 2 }
    }
    init(code: String, title: String) {
      self.code = code
      self.title = title
    }
    convenience init(_ code: String) { self.init(code: code, title: code) }
    init?(checked: String) {
      if checked.isEmpty { return nil }
      code = checked
      title = checked
    }
    func recode(_ code: String) {
      self.code = code
      secret = code
    }
    func hasSecret(_ value: String) -> Bool { secret == value }
  }

  @Model
  final class Item {
    var name: String
    var shelf: Shelf?
    init(name: String, shelf: Shelf? = nil) {
      self.name = name
      self.shelf = shelf
    }
  }
}

@Suite("Macros, as users write them")
struct MacroRowTests {
  private typealias Shelf = ShelfV1.Shelf
  private func makeContainer() throws -> ModelContainer {
    try ModelContainer(
      for: Schema(versionedSchema: ShelfV1.self), configurations: ModelConfiguration(isStoredInMemoryOnly: true))
  }

  @Test("@Model in a VersionedSchema: access levels, computed properties, methods, nested types, inferred types, inits")
  func nestedModel() throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    let shelf = Shelf("s1")
    shelf.recode("s2")
    shelf.doubled = 8
    shelf.state = .closed
    shelf.place.wall = 4
    shelf.marks.append("b")
    shelf.names = ["x", "y"]
    context.insert(shelf)
    #expect(Shelf(checked: "") == nil)
    try context.save()
    let stored = try #require(try ModelContext(container).fetch(FetchDescriptor<Shelf>()).first)
    #expect(stored.label == "s2 s1")
    #expect(stored.rank == 4 && stored.doubled == 8)
    #expect(stored.state == .closed)
    #expect(stored.place == Shelf.Place(room: "hall", wall: 4))
    #expect(stored.marks == ["a", "b", "b"])
    #expect(stored.names == ["x", "y"])
    #expect(stored.hasSecret("s2"))
    let titled: any Titled = stored
    #expect(titled.title == "s1")
  }

  @Test("#Unique and #Index: compound, several a class, both kinds; the indexes are in the store")
  func constraints() throws {
    let container = try makeContainer()
    let entity = try #require(container.schema.entity(for: Shelf.self))
    #expect(Set(entity.uniquenessConstraints) == [["code"], ["title", "rank"]])
    #expect(Set(entity.indices) == [["title"], ["title", "rank"], ["rank"], ["width", "rank"]])
    let context = ModelContext(container)
    context.insert(Shelf(code: "a", title: "t"))
    try context.save()
    let twin = Shelf(code: "b", title: "t")
    context.insert(twin)
    try context.save()
    #expect(try context.fetch(FetchDescriptor<Shelf>()).map(\.code) == ["b"])
  }

  @Test("@Relationship: bare, optional to-many, to-one with a rule")
  func relationships() throws {
    let context = ModelContext(try makeContainer())
    let shelf = Shelf("s")
    shelf.items?.append(ShelfV1.Item(name: "i"))
    context.insert(shelf)
    try context.save()
    let stored = try #require(try ModelContext(context.container).fetch(FetchDescriptor<Shelf>()).first)
    #expect(stored.cover == nil)
    #expect(stored.items != nil)
  }

  @Test("C109: @Transient has its default again after a fetch, and keeps its value while the object lives")
  func transient() throws {
    let context = ModelContext(try makeContainer())
    let shelf = Shelf("s")
    shelf.cache["a"] = 1
    shelf.visits = 3
    context.insert(shelf)
    try context.save()
    context.rollback()
    #expect(shelf.cache == ["a": 1] && shelf.visits == 3)
    let other = ModelContext(context.container)
    let stored = try #require(try other.fetch(FetchDescriptor<Shelf>()).first)
    #expect(stored.cache.isEmpty && stored.visits == nil)
  }

  @Test("#Predicate and #Expression are Foundation's, used as they are")
  func foundationMacros() throws {
    let context = ModelContext(try makeContainer())
    for code in ["a", "bb", "ccc"] { context.insert(Shelf(code: code, title: code + code)) }
    try context.save()
    let length = #Expression<String, Int> { $0.count }
    #expect(try length.evaluate("abc") == 3)
    let least = 3
    let found = try context.fetch(
      FetchDescriptor<Shelf>(predicate: #Predicate { $0.title.count > least }, sortBy: [SortDescriptor(\.code)]))
    #expect(found.map(\.code) == ["bb", "ccc"])
  }
}
