import SwiftData
import Testing

@Model final class Hamper {
  var name: String
  var things: [HamperThing] = []
  @Relationship(inverse: \HamperLabel.hamper) var labels: [HamperLabel] = []
  init(_ name: String) { self.name = name }
}
@Model final class HamperThing {
  var name: String
  init(_ name: String) { self.name = name }
}
@Model final class HamperLabel {
  var name: String
  var hamper: Hamper?
  init(_ name: String) { self.name = name }
}

@Suite("Lists whose members went away before the save")
struct ForgottenMemberTests {
  private func makeContext() throws -> ModelContext {
    ModelContext(
      try ModelContainer(
        for: Hamper.self, HamperThing.self, HamperLabel.self,
        configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
  }

  @Test("A new object that was deleted before the save is in no list after it, also where the list has no inverse")
  func newAndDeleted() throws {
    let context = try makeContext()
    let hamper = Hamper("a")
    context.insert(hamper)
    try context.save()
    let (gone, kept) = (HamperThing("gone"), HamperThing("kept"))
    hamper.things = [gone, kept]
    context.delete(gone)
    try context.save()
    #expect(hamper.things.map(\.name) == ["kept"])
    #expect(
      try ModelContext(context.container).fetch(FetchDescriptor<Hamper>()).flatMap(\.things).map(\.name) == ["kept"])
  }

  @Test("C65: what another context deleted is in no list of a new object after the save")
  func deletedElsewhere() throws {
    let context = try makeContext()
    let label = HamperLabel("l")
    context.insert(label)
    try context.save()
    let other = ModelContext(context.container)
    let same = try #require(try other.fetch(FetchDescriptor<HamperLabel>()).first)
    let hamper = Hamper("new")
    hamper.labels = [same]
    other.insert(hamper)
    context.delete(label)
    try context.save()
    try other.save()
    #expect(hamper.labels.isEmpty)
    #expect(try other.fetch(FetchDescriptor<Hamper>()).map(\.labels) == [[]])
  }
}
