import Testing
import Tombolo
import TomboloClient
import TomboloProtocol
import TomboloServer
import TomboloSimulation

@Suite("Scenarios: unique values")
struct UniqueScenarios {
  private func pair() throws -> (World, Replica, Replica) {
    let world = try World()
    return (world, try world.replica("a"), try world.replica("b"))
  }

  @Test("60, 61, C44: the same unique value made twice becomes one record, with the children of both")
  func twins() throws {
    let (world, a, b) = try pair()
    let one = try a.inserts("Person", ["email": "x@y", "name": "A"])
    let two = try b.inserts("Person", ["email": "x@y", "name": "B"])
    let (rex, tom) = (
      try a.inserts("Pet", ["owner": Value(reference: one)]), try b.inserts("Pet", ["owner": Value(reference: two)])
    )
    try world.expectAllEqual()
    #expect(try a.ids("Person") == [one])
    #expect(try a.value("Person", one, "name") == "B")
    for pet in [rex, tom] { #expect(try a.value("Pet", pet, "owner") == Value(reference: one)) }
  }

  @Test(
    "a save unites two records, and the server had united a third with the one that goes: the third's author is told",
    arguments: [false, true])
  func thirdOfThree(isThirdTheFirst: Bool) throws {
    let (world, a, b) = try pair()
    var third = RecordID(high: 0, low: 0)
    if isThirdTheFirst {
      third = try b.inserts("Person", ["email": "3@y", "name": "Third"])
      for replica in [b, a] { try replica.syncs() }
    }
    let (one, two) = (try a.inserts("Person", ["email": "1@y"]), try a.inserts("Person", ["email": "2@y"]))
    if isThirdTheFirst {
      try b.sets("Person", third, "email", to: "2@y")
    } else {
      third = try b.inserts("Person", ["email": "2@y", "name": "Third"])
    }
    try a.sets("Person", one, "name", to: "One")
    try a.syncs()
    try b.pushes()
    try a.sets("Person", two, "email", to: "1@y")
    try a.pushes()
    try world.expectAllEqual()
    #expect(try a.ids("Person") == [one])
    #expect(try a.value("Person", one, "name") == "One")
    #expect(try b.conflicts.contains { $0.rule == .uniqueMerge && $0.lost.value == "Third" })
    #expect(try a.conflicts.isEmpty)
  }

  @Test("60: under reject the later one is refused, parked with its reason, and can be discarded")
  func rejected() throws {
    let (world, a, b) = try pair()
    let first = try a.inserts("Badge", ["code": "7"])
    try b.inserts("Badge", ["code": "7"])
    try world.expectAllEqual()
    #expect(try b.ids("Badge") == [first])
    let save = try #require(try b.parked.first)
    #expect(save.code == .uniqueViolation)
    #expect(throws: TomboloError.self) { try b.store.retryParked(save.changeSet.number) }
    #expect(try b.parked.count == 1)
    try b.store.discardParked(save.changeSet.number)
    #expect(try b.parked.isEmpty && b.store.replicaState()?.parked == 0)
    try b.inserts("Badge", ["code": "8"])
    try world.expectAllEqual()
    #expect(try a.count("Badge") == 2)
  }

  @Test("62: values swapped in one save are applied, here and there")
  func swapped() throws {
    let (world, a, b) = try pair()
    let (x, y) = (try a.inserts("Badge", ["code": "1"]), try a.inserts("Badge", ["code": "2"]))
    try world.settles()
    let badge = try #require(a.store.schema.entity("Badge"))
    try a.store.save { writer in
      for (id, code) in [(x, "2"), (y, "1")] {
        let row = try ValueRow(badge, ["code": .text(code)])
        _ = try writer.update(badge, id, changed: row.assigned, from: row)
      }
    }
    try world.expectAllEqual()
    #expect(try b.value("Badge", x, "code") == "2" && b.value("Badge", y, "code") == "1")
  }

  @Test("64: a pending row that clashes with one that comes in is settled by the rule, and both sides agree")
  func pendingClash() throws {
    let (world, a, b) = try pair()
    let one = try a.inserts("Person", ["email": "x@y", "name": "A"])
    try a.syncs()
    let two = try b.inserts("Person", ["email": "x@y"])
    try b.sets("Person", two, "name", to: "B")
    try b.syncs()
    #expect(try b.ids("Person") == [one])
    try world.expectAllEqual()
    #expect(try a.value("Person", one, "name") == "B")
  }

  @Test("65: an edit of the identity that was merged away reaches the record that stands")
  func editThroughAlias() throws {
    let world = try World()
    let (a, b, c) = (try world.replica("a"), try world.replica("b"), try world.replica("c"))
    let one = try a.inserts("Person", ["email": "x@y", "name": "A"])
    let two = try b.inserts("Person", ["name": "B"])
    try b.syncs()
    try c.syncs()
    try b.sets("Person", two, "email", to: "x@y")
    try a.syncs()
    try b.syncs()
    try c.sets("Person", two, "name", to: "C")
    try world.expectAllEqual()
    #expect(try a.value("Person", one, "name") == "C")
    #expect(try c.count("Person") == 1)
  }

  @Test("66: a renamed unique value is one edit: identity and relationships stay")
  func renamedKey() throws {
    let (world, a, b) = try pair()
    let person = try a.inserts("Person", ["email": "old@y"])
    let pet = try a.inserts("Pet", ["owner": Value(reference: person)])
    try world.settles()
    try b.sets("Person", person, "email", to: "new@y")
    try world.expectAllEqual()
    #expect(try a.value("Person", person, "email") == "new@y")
    #expect(try a.value("Pet", pet, "owner") == Value(reference: person))
  }

  @Test("68: in a compound key nulls differ from each other")
  func compoundNull() throws {
    let (world, a, b) = try pair()
    for replica in [a, b] {
      try replica.inserts("Seat", ["row": .integer(1)])
      try replica.inserts("Seat", ["row": .integer(1), "number": .integer(2)])
    }
    try world.expectAllEqual()
    #expect(try a.count("Seat") == 3)
  }
}
