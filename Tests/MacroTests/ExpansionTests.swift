import Testing

@testable import TomboloMacros

@Suite("What the macros write")
struct ExpansionTests {
  private func expect(_ text: String, in expansion: Expansion, _ location: SourceLocation = #_sourceLocation) {
    #expect(expansion.text.contains(text), "\(expansion.text)", sourceLocation: location)
  }

  @Test("A plain property has typed storage and three accessors")
  func plainProperty() {
    let expansion = Expansion("@Model final class Book { var title: String = \"\" }")
    expect("private var _title: String", in: expansion)
    expect("@storageRestrictions(initializes: _title)", in: expansion)
    expect("_$state._$access(self, \\Book.title)", in: expansion)
    expect("_$state._$willSet(self, Book._$firstProperty + 0, \\Book.title)", in: expansion)
    expect("extension Book: PersistentModel", in: expansion)
    expect("init() {", in: expansion)
  }

  @Test("A property that may be a model lies in a slot that is spelled out")
  func slots() {
    let expansion = Expansion(
      "@Model final class Note { var book: Book; var a: Author?; var t: Int; init(b: Book) { self.book = b; t = 1 } }")
    expect("private var _book: Swift.Optional<Book>\n", in: expansion)
    expect("initializes: _book", in: expansion)
    expect("private var _a: Swift.Optional<Author> = nil", in: expansion)
  }

  @Test("A list that may be a to-many is changed in place, unless the property is observed")
  func inPlace() {
    let expansion = Expansion("@Model final class Folder { var notes: [Note] = []; var words: [String] = [] }")
    expect("_$state._$modify(self, Folder._$firstProperty + 0, \\Folder.notes, \\Folder._notes)", in: expansion)
    expect("yield &access._$pointer.pointee", in: expansion)
    #expect(!expansion.text.contains("\\Folder._words)"))
    let observed = Expansion("@Model final class Folder { var notes: [Note] = [] { didSet { print(1) } } }")
    #expect(!observed.text.contains("_modify"))
  }

  @Test("A required relationship that is assigned last goes through its setter, which knows the object")
  func assignedLast() {
    let expansion = Expansion(
      "@Model final class Note { var t: Int; var book: Book; init(b: Book) { self.t = 1; self.book = b } }")
    expect("private var _book: Swift.Optional<Book> = nil", in: expansion)
    #expect(!expansion.text.contains("initializes: _book"))
  }

  @Test("UUID() is not made in initializers, unless one assigns the property early")
  func uuidDefaults() {
    let late = Expansion("@Model final class Book { var key: UUID = UUID(); var a: Int; init(a: Int) { self.a = a } }")
    expect("private var _key: Swift.Optional<UUID> = nil", in: late)
    #expect(!late.text.contains("initializes: _key"))
    let early = Expansion(
      "@Model final class Book { var key: UUID = UUID(); var a: Int; init(a: Int, k: UUID) { self.key = k; self.a = a } }"
    )
    expect("@storageRestrictions(initializes: _key)", in: early)
    let before = Expansion(
      "@Model final class Dog: Animal { var key: UUID = UUID(); init(k: UUID) { key = k; super.init(name: \"\") } }",
      isSubclass: true)
    expect("@storageRestrictions(initializes: _key)", in: before)
  }

  @Test("A subclass calls its base, and has no state of its own")
  func subclass() {
    let expansion = Expansion(
      "@Model class Dog: Animal { var breed: String = \"\"; init() { super.init(name: \"\") } }", isSubclass: true)
    #expect(!expansion.text.contains("let _$state"))
    expect("try super.init(_$row: _$row)", in: expansion)
    expect("override class var _$propertyCount", in: expansion)
    expect("Animal._$describe(S.self, _$schema)", in: expansion)
  }

  @Test("Members take the class's access level; what is overridden in an open class is open")
  func access() {
    let expansion = Expansion("@Model open class Book { public var title: String = \"\" }")
    expect("open class var _$propertyCount", in: expansion)
    expect("public required init(_$row", in: expansion)
    expect("public let _$state", in: expansion)
  }

  @Test("Options, constraints and the delete policy are copied into the description")
  func description() {
    let expansion = Expansion(
      """
      @Model final class Book {
        #Unique<Book>([\\.isbn], onConflict: .reject)
        #Index<Book>([\\.title])
        static var concurrentDelete: DeletePolicy { .editWins }
        @Attribute(.unique, originalName: "code") var isbn: String = ""
        @Relationship(deleteRule: .cascade, inverse: \\Note.book) var notes: [Note] = []
        var made: Date = Date.now
        override var shared: Int = 0
      }
      """)
    expect("_$schema._$unique(Book.self, [\\.isbn], onConflict: .reject)", in: expansion)
    expect("_$schema._$index(Book.self, [\\.title])", in: expansion)
    expect("_$schema._$concurrentDelete(Book.concurrentDelete)", in: expansion)
    expect("attribute: .init(.unique, originalName: \"code\")", in: expansion)
    expect("relationship: .init(deleteRule: .cascade, inverse: \\Note.book)", in: expansion)
    expect("generated: .now", in: expansion)
    expect("_$schema._$override(\"shared\", \\S.shared)", in: expansion)
  }

  @Test("Observers become functions that do not call themselves")
  func observers() {
    let expansion = Expansion("@Model final class Book { var pages: Int = 0 { didSet { print(oldValue) } } }")
    expect("func _$didSet_pages(_ oldValue: Int)", in: expansion)
    expect("_$didSet_pages(_$old)", in: expansion)
  }

  @Test("A transient or computed property is left alone")
  func transient() {
    let expansion = Expansion(
      "@Model final class Book { @Transient var cache: Int = 0; var double: Int { cache * 2 } }")
    #expect(!expansion.text.contains("_cache"))
    #expect(!expansion.text.contains("_double"))
  }

  @Test("An implicitly unwrapped type is stored as an optional, and a raw identifier keeps its backticks")
  func spelling() {
    let expansion = Expansion("@Model final class Book { var title: String!; var `default`: Int = 0 }")
    expect("_title: String? = nil", in: expansion)
    expect("_default: Int", in: expansion)
    expect("\\Book.`default`", in: expansion)
  }

  @Test("A default value that names its type needs no annotation")
  func inferredTypes() {
    let expansion = Expansion(
      "@Model final class Book { var genre = Genre.novel; var size = Shapes.Measure(); var words = [\"a\", \"b\"] }")
    expect("_genre: Swift.Optional<Genre>", in: expansion)
    expect("_size: Swift.Optional<Shapes.Measure>", in: expansion)
    expect("_words: [String]", in: expansion)
  }

  @Test("A model actor gets container, executor and initializer, each unless it has them")
  func modelActor() {
    let plain = Expansion("@ModelActor public actor Importer { var count = 0; lazy var cache = make() }")
    expect("nonisolated public let modelExecutor: any ModelExecutor", in: plain)
    expect("nonisolated public let modelContainer: ModelContainer", in: plain)
    expect("public init(modelContainer: ModelContainer)", in: plain)
    let own = Expansion("@ModelActor actor Importer { init(modelContainer: ModelContainer) {} }")
    #expect(!own.text.contains("DefaultSerialModelExecutor"))
    let needing = Expansion("@ModelActor actor Importer { let name: String; init(name: String) {} }")
    #expect(!needing.text.contains("DefaultSerialModelExecutor"))
  }
}
