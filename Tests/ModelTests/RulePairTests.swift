import SwiftData
import Testing

@Suite("C59: every pair of delete rules, deleted from either side")
struct RulePairTests {
  private func makeContext(_ type: any PersistentModel.Type) throws -> ModelContext {
    ModelContext(
      try ModelContainer(for: Schema([type]), configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
  }

  private func count<Model: PersistentModel>(_ type: Model.Type, _ context: ModelContext) throws -> Int {
    let stored = try ModelContext(context.container).fetchCount(FetchDescriptor<Model>())
    #expect(try context.fetchCount(FetchDescriptor<Model>()) == stored)
    return stored
  }

  private func expectDenied(_ context: ModelContext, _ property: String) {
    let error = #expect(throws: TomboloError.self) { try context.save() }
    #expect(error?.code == .deleteDenied)
    #expect(error?.message.contains("." + property) == true)
    #expect(context.hasChanges)
  }

  // MARK: One to one

  private func single<Owner: SingleOwner>(_ type: Owner.Type) throws -> (ModelContext, Owner, Owner.Part) {
    let context = try makeContext(type)
    let (owner, part) = (Owner(), Owner.Part())
    owner.part = part
    context.insert(owner)
    try context.save()
    return (context, owner, part)
  }

  @Test("One to one, the owner deleted", arguments: Rule.allCases, Rule.allCases)
  func singleOwner(_ rule: Rule, _ other: Rule) throws { try deleteOwner(RulePairs.single(rule, other), rule) }

  private func deleteOwner<Owner: SingleOwner>(_ type: Owner.Type, _ rule: Rule) throws {
    let (context, owner, part) = try single(type)
    context.delete(owner)
    if rule == .deny {
      expectDenied(context, "part")
      let other = ModelContext(context.container)
      #expect(try other.fetch(FetchDescriptor<Owner>()).first?.part != nil)
      context.rollback()
      #expect(!context.hasChanges && !owner.isDeleted)
      #expect(owner.part === part && part.owner === owner)
      return
    }
    try context.save()
    #expect(try count(Owner.self, context) == 0)
    #expect(try count(Owner.Part.self, context) == (rule == .cascade ? 0 : 1))
    #expect(part.isDeleted == (rule == .cascade))
    if rule == .cascade { return }
    #expect(part.owner == nil)
    let other = ModelContext(context.container)
    let stored = try other.fetch(FetchDescriptor<Owner.Part>())
    #expect(stored.map { $0.owner == nil } == [true])
    context.delete(part)
    try context.save()
    #expect(try count(Owner.Part.self, context) == 0)
  }

  @Test("One to one, the part deleted", arguments: Rule.allCases, Rule.allCases)
  func singlePart(_ other: Rule, _ rule: Rule) throws { try deletePart(RulePairs.single(other, rule), rule) }

  private func deletePart<Owner: SingleOwner>(_ type: Owner.Type, _ rule: Rule) throws {
    let (context, owner, part) = try single(type)
    context.delete(part)
    if rule == .deny {
      expectDenied(context, "owner")
      context.rollback()
      #expect(owner.part === part && part.owner === owner)
      return
    }
    try context.save()
    #expect(try count(Owner.Part.self, context) == 0)
    #expect(try count(Owner.self, context) == (rule == .cascade ? 0 : 1))
    #expect(owner.isDeleted == (rule == .cascade))
    if rule == .cascade { return }
    #expect(owner.part == nil)
    let other = ModelContext(context.container)
    let stored = try other.fetch(FetchDescriptor<Owner>())
    #expect(stored.map { $0.part == nil } == [true])
    owner.part = Owner.Part()
    try context.save()
    #expect(try other.fetch(FetchDescriptor<Owner>()).first?.part != nil)
  }

  @Test("One to one, both deleted, or parted before", arguments: Rule.allCases, Rule.allCases)
  func singleBoth(_ rule: Rule, _ other: Rule) throws { try deleteBoth(RulePairs.single(rule, other)) }

  private func deleteBoth<Owner: SingleOwner>(_ type: Owner.Type) throws {
    for ownerFirst in [true, false] {
      let (context, owner, part) = try single(type)
      if ownerFirst { context.delete(owner) }
      context.delete(part)
      if !ownerFirst { context.delete(owner) }
      try context.save()
      #expect(owner.isDeleted && part.isDeleted)
      #expect(try count(Owner.self, context) == 0)
      #expect(try count(Owner.Part.self, context) == 0)
    }
    do {
      let (context, owner, part) = try single(type)
      part.owner = nil
      context.delete(owner)
      try context.save()
      #expect(try count(Owner.self, context) == 0)
      #expect(!part.isDeleted && part.owner == nil)
    }
    do {
      let (context, owner, part) = try single(type)
      let next = Owner()
      context.insert(next)
      part.owner = next
      context.delete(owner)
      try context.save()
      #expect(try count(Owner.self, context) == 1)
      #expect(next.part === part && !part.isDeleted)
    }
    do {
      let (context, owner, part) = try single(type)
      owner.part = Owner.Part()
      context.delete(part)
      try context.save()
      #expect(!owner.isDeleted && owner.part != nil)
      #expect(try count(Owner.Part.self, context) == 1)
    }
  }

  // MARK: One to many

  private func group<Owner: GroupOwner>(_ type: Owner.Type) throws -> (ModelContext, Owner, [Owner.Part]) {
    let context = try makeContext(type)
    let (owner, parts) = (Owner(), [Owner.Part(), Owner.Part()])
    owner.parts = parts
    context.insert(owner)
    try context.save()
    return (context, owner, parts)
  }

  @Test("One to many, the owner deleted", arguments: Rule.allCases, Rule.allCases)
  func groupOwner(_ rule: Rule, _ other: Rule) throws { try deleteGroup(RulePairs.group(rule, other), rule) }

  private func deleteGroup<Owner: GroupOwner>(_ type: Owner.Type, _ rule: Rule) throws {
    let (context, owner, parts) = try group(type)
    context.delete(owner)
    if rule == .deny {
      expectDenied(context, "parts")
      context.rollback()
      #expect(owner.parts == parts)
      #expect(parts.allSatisfy { $0.owner === owner })
      return
    }
    try context.save()
    #expect(try count(Owner.self, context) == 0)
    #expect(try count(Owner.Part.self, context) == (rule == .cascade ? 0 : 2))
    #expect(parts.allSatisfy { $0.isDeleted == (rule == .cascade) })
    if rule == .cascade { return }
    #expect(parts.allSatisfy { $0.owner == nil })
    let other = ModelContext(context.container)
    let stored = try other.fetch(FetchDescriptor<Owner.Part>())
    #expect(stored.map { $0.owner == nil } == [true, true])
  }

  @Test("One to many, one part deleted", arguments: Rule.allCases, Rule.allCases)
  func groupPart(_ other: Rule, _ rule: Rule) throws { try deleteMember(RulePairs.group(other, rule), other, rule) }

  private func deleteMember<Owner: GroupOwner>(_ type: Owner.Type, _ ownerRule: Rule, _ rule: Rule) throws {
    let (context, owner, parts) = try group(type)
    context.delete(parts[0])
    // A cascade reaches the owner, and then the owner's rule judges the part that is left.
    if rule == .deny || (rule == .cascade && ownerRule == .deny) {
      expectDenied(context, rule == .deny ? "owner" : "parts")
      context.rollback()
      #expect(owner.parts == parts)
      return
    }
    try context.save()
    #expect(try count(Owner.self, context) == (rule == .cascade ? 0 : 1))
    #expect(try count(Owner.Part.self, context) == (rule == .cascade && ownerRule == .cascade ? 0 : 1))
    if rule == .cascade {
      #expect(owner.isDeleted && parts[1].isDeleted == (ownerRule == .cascade))
      if ownerRule != .cascade { #expect(parts[1].owner == nil) }
      return
    }
    #expect(owner.parts == [parts[1]])
    let other = ModelContext(context.container)
    #expect(try other.fetch(FetchDescriptor<Owner>()).map(\.parts.count) == [1])
  }

  @Test("One to many, all deleted, or the parts moved away before", arguments: Rule.allCases, Rule.allCases)
  func groupBoth(_ rule: Rule, _ other: Rule) throws { try deleteAll(RulePairs.group(rule, other)) }

  private func deleteAll<Owner: GroupOwner>(_ type: Owner.Type) throws {
    for ownerFirst in [true, false] {
      let (context, owner, parts) = try group(type)
      if ownerFirst { context.delete(owner) }
      for part in parts { context.delete(part) }
      if !ownerFirst { context.delete(owner) }
      try context.save()
      #expect(try count(Owner.self, context) == 0)
      #expect(try count(Owner.Part.self, context) == 0)
    }
    for byList in [true, false] {
      let (context, owner, parts) = try group(type)
      let next = Owner()
      context.insert(next)
      if byList { next.parts = parts } else { for part in parts { part.owner = next } }
      context.delete(owner)
      try context.save()
      #expect(try count(Owner.self, context) == 1)
      #expect(next.parts == parts)
      #expect(parts.allSatisfy { !$0.isDeleted && $0.owner === next })
    }
  }

  @Test("Nullify meets a required reference: the save throws, names it, and changes nothing")
  func nullifyOfRequired() throws {
    let context = try makeContext(Cover.self)
    let cover = Cover()
    let page = Page(cover: cover)
    context.insert(page)
    try context.save()
    context.delete(cover)
    let error = #expect(throws: TomboloError.self) { try context.save() }
    #expect(error?.code == .requiredReference)
    #expect(error?.message.contains("Page.cover") == true)
    context.rollback()
    #expect(page.cover === cover && cover.pages == [page])
    let other = Cover()
    context.insert(other)
    page.cover = other
    context.delete(cover)
    try context.save()
    #expect(other.pages == [page])
    context.delete(page)
    context.delete(other)
    try context.save()
    #expect(try count(Cover.self, context) == 0)
  }
}

@Model final class Cover {
  @Relationship(deleteRule: .nullify, inverse: \Page.cover) var pages: [Page] = []
  init() {}
}

@Model final class Page {
  var cover: Cover
  init(cover: Cover) { self.cover = cover }
}
