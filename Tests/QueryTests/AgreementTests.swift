import Foundation
import Testing
import TomboloProtocol
import TomboloSQLite

@testable import Tombolo

/// SQL answers exactly what `Predicate.evaluate` answers in memory.
@Suite struct AgreementTests {
  @Test("There are many predicates to compare")
  func caseCount() { #expect(AgreementCases.all.count >= 120) }

  @Test("A fetch returns the rows that the predicate holds for in memory", arguments: [false, true])
  func agreement(composedOnly: Bool) throws {
    let store = try TestStore.filled(composedOnly: composedOnly)
    for test in AgreementCases.all {
      try expectAgreement(store, "Item", store.items, test.predicate, test.name)
    }
  }

  @Test("A negated predicate returns the other rows", arguments: [false, true])
  func complement(composedOnly: Bool) throws {
    let store = try TestStore.filled(composedOnly: composedOnly)
    for test in AgreementCases.all {
      let found = Set(try store.keys(store.plan("Item", test.predicate)))
      let others = Set(try store.keys(store.plan("Item", Predicates.not(test.predicate))))
      #expect(found.isDisjoint(with: others), "\(test.name)")
      #expect(found.union(others) == Set(store.items.map(\.key)), "\(test.name)")
    }
  }

  private func expectAgreement<Model: TestObject>(
    _ store: TestStore, _ entity: String, _ objects: [Model], _ predicate: Predicate<Model>,
    _ name: String = ""
  ) throws {
    let expected = try objects.filter { try predicate.evaluate($0) }.map(\.key).sorted()
    let plan = try store.plan(entity, predicate)
    #expect(try store.keys(plan) == expected, "\(name): \(plan.tail)")
    #expect(try store.count(plan) == expected.count, "\(name)")
    #expect(!store.connection.hasBusyStatement)
  }

  @Test("A fetch of a class returns its subclasses, with casts and type checks as in memory")
  func classes() throws {
    let store = try TestStore.filled(composedOnly: true)
    let animals: [PredicateCase<Animal>] = [
      PredicateCase("all", #Predicate { _ in true }),
      PredicateCase("is", #Predicate { $0 is Dog }),
      PredicateCase("is not", #Predicate { !($0 is Dog) }),
      PredicateCase("is a leaf", #Predicate { $0 is Puppy }),
      PredicateCase("as?", #Predicate { ($0 as? Dog)?.breed == "x" }),
      PredicateCase("as? differs", #Predicate { ($0 as? Dog)?.breed != "x" }),
      PredicateCase("as? contains empty", #Predicate { ($0 as? Dog)?.breed.contains("") ?? false }),
      PredicateCase("as? nil", #Predicate { ($0 as? Puppy)?.weeks == nil }),
      PredicateCase("as? object", #Predicate { ($0 as? Dog)?.mother?.name == "animal 1" }),
      PredicateCase("as? object differs", #Predicate { ($0 as? Dog)?.mother?.name != "animal 1" }),
      PredicateCase("as? object nil", #Predicate { ($0 as? Dog)?.mother == nil }),
      PredicateCase("as? object, its own too", #Predicate { ($0 as? Dog)?.mother?.name == $0.mother?.name }),
      PredicateCase("as? object twice", #Predicate { ($0 as? Puppy)?.mother?.mother?.name == "animal 0" }),
      PredicateCase("as? object, cast again", #Predicate { (($0 as? Dog)?.mother as? Dog)?.breed == "x" }),
      PredicateCase("mother is", #Predicate { $0.mother is Dog }),
      PredicateCase("mother is not", #Predicate { !($0.mother is Dog) }),
      PredicateCase("mother name", #Predicate { $0.mother?.name == "animal 1" }),
      PredicateCase("young", #Predicate { $0.young.contains { $0 is Cat } }),
      PredicateCase(
        "if let as?",
        #Predicate {
          if let dog = $0 as? Dog { dog.breed == "x" } else { $0.name == "animal 0" }
        }),
      PredicateCase("either", #Predicate { ($0 as? Dog)?.breed == "collie" || ($0 as? Cat)?.isTame == true }),
    ]
    for test in animals { try expectAgreement(store, "Animal", store.animals, test.predicate, test.name) }
    let dogs = store.animals.compactMap { $0 as? Dog }
    try expectAgreement(store, "Dog", dogs, #Predicate { _ in true })
    try expectAgreement(store, "Dog", dogs, #Predicate { $0.name == "animal 1" || $0.breed == "x" })
    try expectAgreement(store, "Dog", dogs, #Predicate { $0 is Puppy })
    try expectAgreement(store, "Puppy", dogs.compactMap { $0 as? Puppy }, #Predicate { $0.weeks == 3 })
    try expectAgreement(store, "Cat", store.animals.compactMap { $0 as? Cat }, #Predicate { $0.isTame })
  }

  @Test("Composed predicates agree, a thousand alternatives too")
  func composition() throws {
    let store = try TestStore.filled(composedOnly: true)
    let short = #Predicate<Item> { $0.name.count < 3 }
    let flagged = #Predicate<Item> { $0.flag }
    try expectAgreement(store, "Item", store.items, Predicates.all([short, flagged]))
    try expectAgreement(store, "Item", store.items, Predicates.any([short, flagged]))
    try expectAgreement(store, "Item", store.items, Predicates.not(short))
    try expectAgreement(store, "Item", store.items, Predicates.all([]))
    try expectAgreement(store, "Item", store.items, Predicates.any([]))
    let many = (0..<1_100).map { number in #Predicate<Item> { $0.count == number } }
    try expectAgreement(store, "Item", store.items, Predicates.any(many))
    try expectAgreement(store, "Item", store.items, Predicates.not(Predicates.any(many)))
  }

  @Test("The value of an expression satisfies a predicate in SQL as it does in memory")
  func expressions() throws {
    let store = try TestStore.filled(composedOnly: true)
    let tags = #Expression<Item, Int> { $0.tags.filter { $0.weight > 1 }.count }
    let folder = #Expression<Item, String?> { $0.folder?.name }
    let sum = #Expression<Item, Int> { ($0.optionalCount ?? 0) + 1 }
    let tests: [(String, Predicate<Item>)] = [
      ("count", Predicates.value(of: tags, satisfies: #Predicate { $0 > 1 })),
      ("not count", Predicates.not(Predicates.value(of: tags, satisfies: #Predicate { $0 > 1 }))),
      ("optional text", Predicates.value(of: folder, satisfies: #Predicate { $0 == "home" })),
      ("optional text differs", Predicates.value(of: folder, satisfies: #Predicate { $0 != "home" })),
      ("optional text contains", Predicates.value(of: folder, satisfies: #Predicate { $0?.contains("o") ?? true })),
      (
        "within a group",
        Predicates.all([
          #Predicate { $0.flag }, Predicates.value(of: sum, satisfies: #Predicate { (2..<5).contains($0) }),
        ])
      ),
    ]
    for (name, predicate) in tests { try expectAgreement(store, "Item", store.items, predicate, name) }
  }
}
