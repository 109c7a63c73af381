import SwiftData
import Testing
import Tombolo
import TomboloSQLite

/// Not `Codable`: only a transformer can store it.
struct Colour: Equatable {
  var red: UInt8
  var green: UInt8
}

final class ColourTransformer: ValueTransformer {
  override func transformedValue(_ value: Any?) -> Any? {
    (value as? Colour).map { Data([$0.red, $0.green]) }
  }
  override func reverseTransformedValue(_ value: Any?) -> Any? {
    guard let data = value as? Data, data.count == 2 else { return nil }
    return Colour(red: data[data.startIndex], green: data[data.startIndex + 1])
  }
}

@Model final class Swatch {
  @Attribute(.unique, originalName: "label") var name: String
  @Attribute(.transformable(by: ColourTransformer.self)) var colour: Colour
  @Attribute(.transformable(by: "Reversed")) var secret: String?
  @Attribute(.ephemeral) var isSelected: Bool = false
  @Attribute(.ephemeral) var draft: String?
  @Attribute(.externalStorage) var picture: Data?
  @Attribute(.allowsCloudEncryption) var note: String = ""
  @Attribute(.preserveValueOnDeletion, .spotlight, hashModifier: "2") var text: String = ""
  @Attribute(.codable) var size: Measure?
  init(name: String, colour: Colour) {
    self.name = name
    self.colour = colour
  }
}

@Model final class Team {
  var name: String
  @Relationship(minimumModelCount: 1, maximumModelCount: 3, inverse: \Member.team) var members: [Member] = []
  @Relationship(maximumModelCount: 2, inverse: \Skill.teams) var skills: [Skill] = []
  init(name: String) { self.name = name }
}

@Model final class Member {
  var name: String
  var team: Team?
  init(_ name: String) { self.name = name }
}

@Model final class Skill {
  var name: String
  var teams: [Team] = []
  init(_ name: String) { self.name = name }
}

@Suite("Attribute and relationship options")
struct AttributeOptionTests {
  private func makeContainer() throws -> ModelContainer {
    try ModelContainer(
      for: Swatch.self, Team.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
  }

  @Test(".transformable: a value that is not Codable is stored by its transformer, and observed as any other")
  func transformable() throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    let swatch = Swatch(name: "moss", colour: Colour(red: 1, green: 200))
    context.insert(swatch)
    try context.save()
    let other = ModelContext(container)
    let stored = try #require(try other.fetch(FetchDescriptor<Swatch>()).first)
    #expect(stored.colour == Colour(red: 1, green: 200))
    #expect(stored.secret == nil)
    swatch.colour = Colour(red: 2, green: 3)
    #expect(context.hasChanges)
    try context.save()
    #expect(stored.colour == Colour(red: 2, green: 3))
    #expect(container.schema.entity(for: Swatch.self)?.attributesByName["colour"]?.isTransformable == true)
  }

  @Test(".transformable: a transformer that is not registered is an error that names it")
  func unregisteredTransformer() throws {
    let context = ModelContext(try makeContainer())
    let swatch = Swatch(name: "moss", colour: Colour(red: 1, green: 1))
    swatch.secret = "x"
    context.insert(swatch)
    let error = #expect(throws: TomboloError.self) { try context.save() }
    #expect(error?.message.contains("Swatch.secret") == true)
    #expect(error?.message.contains("Reversed") == true)
    swatch.secret = nil
    try context.save()
  }

  @Test("ValueTransformer: registered by name, found by name, listed")
  func registry() {
    final class Doubling: ValueTransformer {
      override func transformedValue(_ value: Any?) -> Any? { (value as? Int).map { $0 * 2 } }
    }
    let name = NSValueTransformerName("Doubling")
    #expect(ValueTransformer(forName: name) == nil)
    ValueTransformer.setValueTransformer(Doubling(), forName: name)
    #expect(ValueTransformer(forName: name)?.transformedValue(4) as? Int == 8)
    #expect(ValueTransformer.valueTransformerNames().contains(name))
    ValueTransformer.setValueTransformer(nil, forName: name)
    #expect(ValueTransformer(forName: name) == nil)
  }

  @Test(".ephemeral: tracked and kept while the object lives, in no store, refused in a predicate")
  func ephemeral() throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    let swatch = Swatch(name: "moss", colour: Colour(red: 1, green: 1))
    context.insert(swatch)
    try context.save()
    let saves = try StoreCounts(container).saves()
    swatch.isSelected = true
    swatch.draft = "d"
    #expect(swatch.hasChanges && context.hasChanges)
    try context.save()
    #expect(try StoreCounts(container).saves() == saves)
    #expect(swatch.isSelected && swatch.draft == "d")
    let other = ModelContext(container)
    let stored = try #require(try other.fetch(FetchDescriptor<Swatch>()).first)
    #expect(!stored.isSelected && stored.draft == nil)
    let columns = try container.store.read { connection in
      try connection.firstRow("SELECT group_concat(name) FROM pragma_table_info('Swatch')") { $0.string(0) }
    }
    #expect(columns?.contains("isSelected") == false)
    let error = #expect(throws: TomboloError.self) {
      try other.fetch(FetchDescriptor<Swatch>(predicate: #Predicate { $0.isSelected }))
    }
    #expect(error?.code == .unsupportedPredicate)
  }

  @Test(".externalStorage, .allowsCloudEncryption, .spotlight, .codable: the value comes back as it was")
  func others() throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    let swatch = Swatch(name: "moss", colour: Colour(red: 1, green: 1))
    let picture = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    swatch.picture = picture
    swatch.size = Measure(width: 1, height: 2)
    context.insert(swatch)
    try context.save()
    let stored = try #require(try ModelContext(container).fetch(FetchDescriptor<Swatch>()).first)
    #expect(stored.picture == picture)
    #expect(stored.size == Measure(width: 1, height: 2))
    let attributes = try #require(container.schema.entity(for: Swatch.self)).attributesByName
    #expect(attributes["picture"]?.options == [.externalStorage])
    #expect(attributes["note"]?.options == [.allowsCloudEncryption])
    #expect(attributes["text"]?.hashModifier == "2")
    #expect(attributes["name"]?.originalName == "label")
  }

  // MARK: Counts

  @Test("minimumModelCount and maximumModelCount are checked at save, whoever changes the number")
  func counts() throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    let team = Team(name: "t")
    context.insert(team)
    let tooFew = #expect(throws: TomboloError.self) { try context.save() }
    #expect(tooFew?.code == .countOutOfRange)
    #expect(tooFew?.message.contains("Team.members") == true)
    let members = (0..<4).map { Member("\($0)") }
    team.members = members
    #expect(throws: TomboloError.self) { try context.save() }
    members[3].team = nil
    try context.save()
    #expect(try ModelContext(container).fetch(FetchDescriptor<Team>()).first?.members.count == 3)
    let late = Member("late")
    context.insert(late)
    late.team = team
    #expect(throws: TomboloError.self) { try context.save() }
    context.rollback()
    for member in members[..<3] { context.delete(member) }
    let emptied = #expect(throws: TomboloError.self) { try context.save() }
    #expect(emptied?.code == .countOutOfRange)
    context.delete(team)
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Team>()) == 0)
  }

  @Test("maximumModelCount of a many-to-many counts pairs made from either side")
  func countsOfPairs() throws {
    let context = ModelContext(try makeContainer())
    let team = Team(name: "t")
    team.members = [Member("m")]
    let skills = (0..<3).map { Skill("\($0)") }
    context.insert(team)
    for skill in skills { context.insert(skill) }
    skills[0].teams = [team]
    team.skills.append(skills[1])
    try context.save()
    skills[2].teams = [team]
    let error = #expect(throws: TomboloError.self) { try context.save() }
    #expect(error?.message.contains("Team.skills") == true)
  }
}
