import SwiftData
import Testing

/// Property names that SQL or the store's own columns use, or that no SQL identifier has.
@Model final class Oddities {
  var order: String = ""
  var group: Int = 0
  var index: Int?
  var select: String?
  var values: [Int] = []
  var table: Bool = false
  var rowid: Int = 0
  var oid: Int = 0
  var version: Int = 0
  var _pk: Int = 0
  var tombolo_id: Int = 0
  var tombolo_stamps: String = ""
  var source: String = ""
  var target: String = ""
  var name: String = ""
  var Name: String = ""
  var größe: Double = 0
  var 🦊: Int = 0
  var `default`: String = ""
  var `where`: String = ""
  var from: Oddities?
  @Relationship(inverse: \Oddities.from) var join: [Oddities] = []
  @Relationship(inverse: \Oddities.union) var having: [Oddities] = []
  var union: [Oddities] = []
  // swift-format-ignore
  var aNameOfTwoHundredCharactersaNameOfTwoHundredCharactersaNameOfTwoHundredCharactersaNameOfTwoHundredCharactersaNameOfTwoHundredCharactersaNameOfTwoHundredCharactersaNameOfTwoHundredCharacters0123456789: Int = 0
  init() {}
}

@Suite("Queries through a context: what is saved and what is pending answer alike")
struct QueryThroughContextTests {
  enum State: String, CaseIterable, Sendable { case saved, pendingInsert, pendingEdit }

  /// Notes in three folders, two without, with tags; saved, only inserted, or saved otherwise and edited.
  private func library(_ state: State) throws -> ModelContext {
    let context = ModelContext(try makeContainer())
    let folders = ["x", "", "y"].map { Folder(name: $0) }
    var notes: [Note] = []
    for (index, text) in ["Über", "CAFÉ", "cafe\u{301}", "Straße", "7% rise", "a_c", "abc", "x\\y", ""].enumerated() {
      let note = Note(text: text)
      note.position = index
      notes.append(note)
    }
    let tags = ["red", "blue"].map { Tag(name: $0) }
    if state == .pendingEdit {
      let texts = notes.map(\.text)
      for note in notes { note.text = "before" }
      for model in folders + notes + tags as [any PersistentModel] { context.insert(model) }
      try context.save()
      for (note, text) in zip(notes, texts) { note.text = text }
    }
    for (index, note) in notes.enumerated() {
      if index < 6 { note.folder = folders[index % 3] }
      if index % 2 == 0 { note.tags = index == 0 ? tags : [tags[0]] }
    }
    for model in folders + notes + tags as [any PersistentModel] { context.insert(model) }
    if state == .saved {
      try context.save()
      return ModelContext(context.container)
    }
    return context
  }

  private func expectAgreement(_ context: ModelContext, _ cases: [(String, Predicate<Note>)]) throws {
    let all = try context.fetch(FetchDescriptor<Note>(sortBy: [SortDescriptor(\.position)]))
    #expect(all.count == 9)
    for (name, predicate) in cases {
      let expected = try all.filter { try predicate.evaluate($0) }.map(\.position)
      let descriptor = FetchDescriptor<Note>(predicate: predicate, sortBy: [SortDescriptor(\.position)])
      #expect(try context.fetch(descriptor).map(\.position) == expected, "\(name)")
      #expect(try context.fetchCount(descriptor) == expected.count, "\(name)")
      #expect(try context.fetchIdentifiers(descriptor).count == expected.count, "\(name)")
    }
  }

  @Test("C90: optional to-one relationships, one and two levels deep, each negated", arguments: State.allCases)
  func optionalRelationships(_ state: State) throws {
    let context = try library(state)
    let folder = try #require(
      try context.fetch(FetchDescriptor<Folder>(predicate: #Predicate { $0.name == "x" })).first)
    let identifier = folder.persistentModelID
    try expectAgreement(
      context,
      [
        ("== nil", #Predicate { $0.folder == nil }),
        ("!= nil", #Predicate { $0.folder != nil }),
        ("name ==", #Predicate { $0.folder?.name == "x" }),
        ("name !=", #Predicate { $0.folder?.name != "x" }),
        ("not name ==", #Predicate { !($0.folder?.name == "x") }),
        ("name == nil", #Predicate { $0.folder?.name == nil }),
        ("coalesced", #Predicate { ($0.folder?.name ?? "") == "" }),
        ("identifier", #Predicate { $0.folder?.persistentModelID == identifier }),
        ("not identifier", #Predicate { $0.folder?.persistentModelID != identifier }),
        ("to-many through to-one", #Predicate { $0.folder?.notes.contains { $0.position > 4 } ?? false }),
        ("flatMap", #Predicate { $0.folder.flatMap { $0.name == "y" } ?? false }),
        ("if let", #Predicate { if let folder = $0.folder { folder.name == "y" } else { true } }),
      ])
  }

  @Test("C92: counts and quantifiers over to-many, without duplicate parents", arguments: State.allCases)
  func quantifiers(_ state: State) throws {
    let context = try library(state)
    try expectAgreement(
      context,
      [
        ("isEmpty", #Predicate { $0.tags.isEmpty }),
        ("not isEmpty", #Predicate { !$0.tags.isEmpty }),
        ("isEmpty == false", #Predicate { $0.tags.isEmpty == false }),
        ("count", #Predicate { $0.tags.count > 1 }),
        ("filter count", #Predicate { $0.tags.filter { $0.name == "red" }.count == 1 }),
        ("contains", #Predicate { $0.tags.contains { $0.name == "red" || $0.name == "blue" } }),
        ("allSatisfy", #Predicate { $0.tags.allSatisfy { $0.name == "red" } }),
        ("nested", #Predicate { $0.tags.contains { $0.notes.contains { $0.text == "" } } }),
      ])
    var descriptor = FetchDescriptor<Note>(
      predicate: #Predicate { $0.tags.contains { $0.name != "" } },
      sortBy: [SortDescriptor(\.position, order: .reverse)]
    )
    descriptor.fetchLimit = 2
    #expect(try context.fetch(descriptor).map(\.position) == [8, 6])
  }

  @Test("C21, C22: text is found per Unicode and literally, saved or pending", arguments: State.allCases)
  func text(_ state: State) throws {
    let context = try library(state)
    var cases: [(String, Predicate<Note>)] = []
    for text in ["%", "_", "\\", "", "é", "e", "CAFÉ", "caf\u{e9}", "ü", "strasse"] {
      cases += [
        ("contains \(text)", #Predicate { $0.text.contains(text) }),
        ("starts \(text)", #Predicate { $0.text.starts(with: text) }),
        ("localized \(text)", #Predicate { $0.text.localizedStandardContains(text) }),
        ("== \(text)", #Predicate { $0.text == text }),
        ("!= \(text)", #Predicate { $0.text != text }),
      ]
    }
    try expectAgreement(context, cases)
    let cafe = FetchDescriptor<Note>(predicate: #Predicate { $0.text.localizedStandardContains("cafe") })
    #expect(try context.fetchCount(cafe) == 2)
  }

  @Test("C08: a comparison of an optional with nil in it follows Swift, saved or pending", arguments: State.allCases)
  func threeValues(_ state: State) throws {
    let context = ModelContext(try makeContainer())
    let people = ["a", "b", nil].map { Person(email: $0, name: "n") }
    for person in people { context.insert(person) }
    if state != .pendingInsert { try context.save() }
    if state == .pendingEdit { for person in people { person.name = "m" } }
    let list: [String?] = ["b", nil]
    let predicates: [(Predicate<Person>, [String?])] = [
      (#Predicate { $0.email != "b" }, ["a", nil]), (#Predicate { !($0.email == "b") }, ["a", nil]),
      (#Predicate { !list.contains($0.email) }, ["a"]), (#Predicate { list.contains($0.email) }, ["b", nil]),
      (#Predicate { ($0.email ?? "b") == "b" }, ["b", nil]),
    ]
    for (predicate, expected) in predicates {
      let descriptor = FetchDescriptor<Person>(predicate: predicate)
      #expect(Set(try context.fetch(descriptor).map(\.email)) == Set(expected))
      #expect(try context.fetchCount(descriptor) == expected.count)
    }
  }

  @Test(
    "C91: a forced unwrap of nil is a thrown error from the store and from pending objects", arguments: State.allCases)
  func forcedUnwrap(_ state: State) throws {
    let context = ModelContext(try makeContainer())
    let samples = [nil, 0.5, 2].map { value in
      let sample = Sample()
      sample.optionalDouble = value
      return sample
    }
    for sample in samples { context.insert(sample) }
    if state != .pendingInsert { try context.save() }
    if state == .pendingEdit { for sample in samples { sample.text = "x" } }
    let unguarded = FetchDescriptor<Sample>(predicate: #Predicate { $0.optionalDouble! > 1 })
    #expect(throws: (any Error).self) { try context.fetch(unguarded) }
    let guarded = FetchDescriptor<Sample>(predicate: #Predicate { $0.optionalDouble == nil || $0.optionalDouble! > 1 })
    #expect(try context.fetchCount(guarded) == 2)
  }

  @Test("Arithmetic that overflows or divides by zero is a thrown error, saved or pending", arguments: State.allCases)
  func arithmetic(_ state: State) throws {
    let context = ModelContext(try makeContainer())
    let sample = Sample()
    (sample.int, sample.int8, sample.int64, sample.optionalDouble) = (.max, 100, .min, nil)
    context.insert(sample)
    if state != .pendingInsert { try context.save() }
    if state == .pendingEdit { sample.text = "x" }
    let zero = 0
    let failing: [Predicate<Sample>] = [
      #Predicate { $0.int + 1 > 0 }, #Predicate { $0.int8 * 2 > 0 }, #Predicate { $0.int64 - 1 < 0 },
      #Predicate { 10 / ($0.int16 - $0.int16) > 1 }, #Predicate { $0.int % zero == 1 }, #Predicate { -$0.int64 > 0 },
      #Predicate { $0.text == "none" || !($0.int * 2 == 4) },
    ]
    for predicate in failing {
      let error = #expect(throws: TomboloError.self) { try context.fetchCount(FetchDescriptor(predicate: predicate)) }
      #expect(error?.code == .predicateFailed)
    }
    let sum = #Expression<Sample, Int> { $0.int + 1 }
    let composed: [Predicate<Sample>] = [
      Predicates.all([failing[0]]), Predicates.any([#Predicate { $0.flag }, failing[1]]), Predicates.not(failing[2]),
      Predicates.value(of: sum, satisfies: #Predicate { $0 > 0 }),
    ]
    for predicate in composed {
      let error = #expect(throws: TomboloError.self) { try context.fetchCount(FetchDescriptor(predicate: predicate)) }
      #expect(error?.code == .predicateFailed)
    }
    #expect(
      try context.fetchCount(FetchDescriptor(predicate: Predicates.all([#Predicate { $0.flag }, failing[0]]))) == 0)
    let guarded: [Predicate<Sample>] = [
      #Predicate { $0.int < 100 && $0.int + 1 > 0 }, #Predicate { $0.int16 != 0 && 10 / $0.int16 > 1 },
      #Predicate { $0.int > 100 ? false : $0.int + 1 > 0 },
    ]
    for predicate in guarded {
      #expect(try context.fetchCount(FetchDescriptor(predicate: predicate)) == 0)
      #expect(try context.fetchCount(FetchDescriptor(predicate: Predicates.not(predicate))) == 1)
    }
    #expect(try context.fetchCount(FetchDescriptor<Sample>(predicate: #Predicate { $0.int8 + 27 == 127 })) == 1)
  }

  @Test("C93: enums and their raw values, optional, in lists, and as an order", arguments: State.allCases)
  func enums(_ state: State) throws {
    let context = ModelContext(try makeContainer())
    let genres: [(Genre, Genre?)] = [(.novel, nil), (.poems, .poems), (.essays, .novel)]
    let samples = genres.map { genre, other in
      let sample = Sample()
      sample.genre = genre
      sample.optionalGenre = other
      return sample
    }
    for sample in samples { context.insert(sample) }
    if state != .pendingInsert { try context.save() }
    if state == .pendingEdit { for sample in samples { sample.text = "x" } }
    let (poems, list) = (Genre.poems, [Genre.novel, .essays])
    let optional: Genre? = nil
    func count(_ predicate: Predicate<Sample>) throws -> Int {
      let found = try context.fetch(FetchDescriptor<Sample>(predicate: predicate)).count
      #expect(try context.fetchCount(FetchDescriptor<Sample>(predicate: predicate)) == found)
      return found
    }
    #expect(try count(#Predicate { $0.genre == poems }) == 1)
    #expect(try count(#Predicate { $0.genre != poems }) == 2)
    #expect(try count(#Predicate { $0.genre.rawValue == "poems" }) == 1)
    #expect(try count(#Predicate { list.contains($0.genre) }) == 2)
    #expect(try count(#Predicate { $0.optionalGenre == poems }) == 1)
    #expect(try count(#Predicate { $0.optionalGenre == optional }) == 1)
    #expect(try count(#Predicate { $0.optionalGenre != poems }) == 2)
    let sorted = try context.fetch(FetchDescriptor<Sample>(sortBy: [SortDescriptor(\.genre.rawValue)]))
    #expect(sorted.map(\.genre) == [.essays, .novel, .poems])
  }

  @Test("Sorting through a relationship, by Boolean, by raw value and localized; what is computed is refused unrun")
  func sortPaths() throws {
    let context = try library(.saved)
    func positions(_ order: SortDescriptor<Note>...) throws -> [Int] {
      try context.fetch(FetchDescriptor(sortBy: order + [SortDescriptor(\.position)])).map(\.position)
    }
    #expect(try positions(SortDescriptor(\.folder?.name)) == [6, 7, 8, 1, 4, 0, 3, 2, 5])
    #expect(try positions(SortDescriptor(\.folder?.name, order: .reverse)) == [2, 5, 0, 3, 1, 4, 6, 7, 8])
    #expect(try positions(SortDescriptor(\.text, comparator: .localizedStandard)).first == 8)
    let samples = (0..<3).map { number in
      let sample = Sample()
      (sample.int, sample.flag) = (number, number == 1)
      return sample
    }
    let other = ModelContext(context.container)
    for sample in samples { other.insert(sample) }
    try other.save()
    let flags = FetchDescriptor<Sample>(sortBy: [SortDescriptor(\.flag, order: .reverse), SortDescriptor(\.int)])
    #expect(try other.fetch(flags).map(\.int) == [1, 0, 2])
    for refused in [SortDescriptor(\Note.text.count), SortDescriptor(\Note.text.hashValue)] {
      let error = #expect(throws: TomboloError.self) { try context.fetch(FetchDescriptor<Note>(sortBy: [refused])) }
      #expect(error?.code == .unsupportedSort)
      #expect(error?.message.contains("0x") == false)
    }
    var negative = FetchDescriptor<Note>()
    negative.fetchLimit = -1
    #expect(try context.fetch(negative).isEmpty)
    context.insert(Note(text: "pending"))
    #expect(try context.fetch(negative).isEmpty)
  }

  @Test("C95: pages are a partition in every order, with pending objects among the saved ones")
  func pages() throws {
    let context = ModelContext(try makeContainer())
    let texts = ["a2", "a10", "A1", "é", "e\u{301}", "\u{FF21}", "🦊", "", "e", "z", "Z"]
    var notes: [Note] = []
    for index in 0..<44 {
      let note = Note(text: texts[index % texts.count])
      note.position = index
      note.at = index % 3 == 0 ? nil : Date(timeIntervalSinceReferenceDate: Double(index % 4))
      notes.append(note)
    }
    for note in notes.prefix(30) { context.insert(note) }
    try context.save()
    for note in notes.dropFirst(30) { context.insert(note) }
    for index in stride(from: 0, to: 30, by: 5) { notes[index].text = texts[(index + 3) % texts.count] }
    context.delete(notes[7])
    let orders: [[SortDescriptor<Note>]] = [
      [], [SortDescriptor(\.text)], [SortDescriptor(\.text, order: .reverse)],
      [SortDescriptor(\.at), SortDescriptor(\.text, order: .reverse)], [SortDescriptor(\.at, order: .reverse)],
      [SortDescriptor(\.text, comparator: .localizedStandard)],
    ]
    for order in orders {
      let whole = try context.fetch(FetchDescriptor<Note>(sortBy: order)).map(\.position)
      #expect(whole.count == 43 && Set(whole).count == 43)
      var paged: [Int] = []
      for offset in stride(from: 0, to: 50, by: 10) {
        var page = FetchDescriptor<Note>(sortBy: order)
        page.fetchLimit = 10
        page.fetchOffset = offset
        paged += try context.fetch(page).map(\.position)
      }
      #expect(paged == whole)
    }
    let pending = try context.fetch(FetchDescriptor<Note>(sortBy: [SortDescriptor(\.text)])).map(\.text)
    try context.save()
    let saved = try ModelContext(context.container).fetch(FetchDescriptor<Note>(sortBy: [SortDescriptor(\.text)]))
    #expect(saved.map(\.text) == pending)
    for bound in texts {
      let below = FetchDescriptor<Note>(predicate: #Predicate { $0.text < bound })
      #expect(try ModelContext(context.container).fetchCount(below) == saved.filter { $0.text < bound }.count)
    }
  }

  @Test("C96: lists of up to 300 000 values, and a save that deletes thousands")
  func longLists() throws {
    let context = ModelContext(try makeContainer())
    let people = (0..<5_000).map { Person(email: nil, name: "\($0)") }
    for (index, person) in people.enumerated() {
      person.age = index
      context.insert(person)
    }
    try context.save()
    let other = ModelContext(context.container)
    let numbers = Array(2_500..<302_500)
    #expect(try other.fetchCount(FetchDescriptor<Person>(predicate: #Predicate { numbers.contains($0.age) })) == 2_500)
    #expect(try other.fetchCount(FetchDescriptor<Person>(predicate: #Predicate { !numbers.contains($0.age) })) == 2_500)
    let identifiers = people.map(\.persistentModelID)
    let all = FetchDescriptor<Person>(predicate: #Predicate { identifiers.contains($0.persistentModelID) })
    #expect(try other.fetchCount(all) == 5_000)
    let none: [Int] = []
    #expect(try other.fetchCount(FetchDescriptor<Person>(predicate: #Predicate { none.contains($0.age) })) == 0)
    #expect(try other.fetchCount(FetchDescriptor<Person>(predicate: #Predicate { !none.contains($0.age) })) == 5_000)
    for person in people { context.delete(person) }
    try context.save()
    #expect(try other.fetchCount(FetchDescriptor<Person>()) == 0)
  }

  @Test("C112: property names that SQL, the store or no language uses are all usable, and survive the file")
  func oddNames() throws {
    try StoreFile.run { file in
      do {
        let context = ModelContext(try ModelContainer(for: Oddities.self, configurations: file.configuration))
        for number in 0..<4 {
          let odd = Oddities()
          odd.order = "order"
          odd.group = number
          odd.index = number == 0 ? nil : number
          odd.select = "nosuch"
          (odd.rowid, odd.oid, odd.version, odd._pk) = (number + 1, number + 2, number + 3, number + 4)
          (odd.tombolo_id, odd.tombolo_stamps) = (number + 5, "s\(number)")
          (odd.name, odd.Name) = ("lower\(number)", "upper\(number)")
          (odd.größe, odd.🦊) = (Double(number) / 2, number)
          (odd.default, odd.where) = ("d\(number)", "w\(number)")
          context.insert(odd)
        }
        try context.save()
        let all = try context.fetch(FetchDescriptor<Oddities>(sortBy: [SortDescriptor(\.group)]))
        all[0].join = [all[1], all[2]]
        all[3].having = [all[0], all[1]]
        try context.save()
      }
      let context = ModelContext(try ModelContainer(for: Oddities.self, configurations: file.configuration))
      func groups(_ predicate: Predicate<Oddities>) throws -> [Int] {
        try context.fetch(
          FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.order), SortDescriptor(\.group)])
        )
        .map(\.group)
      }
      #expect(try groups(#Predicate { $0.order == "order" }) == [0, 1, 2, 3])
      #expect(try groups(#Predicate { $0.order == "nosuch" }) == [])
      #expect(try groups(#Predicate { $0.index == nil }) == [0])
      #expect(try groups(#Predicate { $0.rowid == 2 }) == [1])
      #expect(try groups(#Predicate { $0.tombolo_id == 7 && $0.tombolo_stamps == "s2" }) == [2])
      #expect(try groups(#Predicate { $0.name == "lower1" && $0.Name == "upper1" }) == [1])
      #expect(try groups(#Predicate { $0.größe > 0.9 && $0.🦊 < 3 }) == [2])
      #expect(try groups(#Predicate { $0.default == "d3" || $0.where == "w0" }) == [0, 3])
      #expect(try groups(#Predicate { $0.from?.group == 0 }) == [1, 2])
      #expect(try groups(#Predicate { $0.join.contains { $0.group == 2 } }) == [0])
      #expect(try groups(#Predicate { $0.union.contains { $0.group == 3 } }) == [0, 1])
    }
  }

  // MARK: C97

  @Test("C97: a relationship to a base class, orders, limits and batch deletion by class, after reopening")
  func inheritance() throws {
    try StoreFile.run { file in
      func open() throws -> ModelContext {
        ModelContext(try ModelContainer(for: Puppy.self, Animal.self, configurations: file.configuration))
      }
      do {
        let context = try open()
        let keeper = Keeper(name: "k")
        keeper.animals = [
          Animal(name: "owl"), Dog(name: "rex", breed: "x"), Puppy(name: "bit"), Animal(name: "cat"),
          Dog(name: "ace", breed: "y"), Dog(name: "max", breed: "x"),
        ]
        context.insert(keeper)
        try context.save()
      }
      let context = try open()
      let keeper = try #require(try context.fetch(FetchDescriptor<Keeper>()).first)
      #expect(keeper.animals.map { "\(type(of: $0))" } == ["Animal", "Dog", "Puppy", "Animal", "Dog", "Dog"])
      #expect(keeper.animals.allSatisfy { $0.keeper === keeper })
      var sorted = FetchDescriptor<Dog>(sortBy: [SortDescriptor(\Dog.name, order: .reverse)])
      sorted.fetchLimit = 2
      #expect(try context.fetch(sorted).map(\.name) == ["rex", "max"])
      let cast = FetchDescriptor<Animal>(predicate: #Predicate { ($0 as? Dog)?.breed == "x" })
      #expect(try context.fetchCount(cast) == 2)
      #expect(try context.fetchCount(FetchDescriptor<Animal>(predicate: #Predicate { $0 is Dog })) == 4)
      #expect(try context.fetchIdentifiers(FetchDescriptor<Animal>()).map(\.entityName).sorted().last == "Puppy")

      // One name in the whole family: the record that stands keeps its class.
      context.insert(Animal(name: "ace"))
      try context.save()
      #expect(try context.fetchCount(FetchDescriptor<Animal>()) == 6)
      #expect(try context.fetchCount(FetchDescriptor<Dog>()) == 4)

      try context.delete(model: Dog.self, includeSubclasses: false)
      try context.save()
      #expect(keeper.animals.map(\.name) == ["owl", "bit", "cat"])
      try context.delete(model: Dog.self)
      try context.save()
      #expect(
        try open().fetch(FetchDescriptor<Animal>(sortBy: [SortDescriptor(\.name)])).map(\.name) == ["cat", "owl"])
      try context.delete(model: Animal.self)
      try context.save()
      #expect(keeper.animals.isEmpty)
      #expect(try open().fetchCount(FetchDescriptor<Animal>()) == 0)
    }
  }
}
