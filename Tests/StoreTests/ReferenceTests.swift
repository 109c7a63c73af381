import Testing
import Tombolo
import TomboloProtocol
import TomboloSQLite

@Suite("References that are guarded, and merge policies at a local save")
struct ReferenceTests {
  private static let document = SchemaDocument(
    name: "Guarded", version: nil,
    entities: [
      SchemaEntity(
        name: "Node",
        relationships: [
          SchemaRelationship(name: "children", destination: "Node", isToMany: true, inverse: "parent"),
          SchemaRelationship(name: "parent", destination: "Node", inverse: "children", isAcyclic: true),
        ]),
      SchemaEntity(
        name: "Passport", relationships: [SchemaRelationship(name: "owner", destination: "Person", inverse: "passport")]
      ),
      SchemaEntity(
        name: "Person",
        attributes: [
          SchemaAttribute(name: "best", type: .int64, defaultValue: .constant(.integer(0)), merge: .max),
          SchemaAttribute(name: "visits", type: .int64, defaultValue: .constant(.integer(0)), merge: .counter),
        ],
        relationships: [SchemaRelationship(name: "passport", destination: "Passport", inverse: "owner")]),
    ])

  @Test("The later claim on a one-to-one partner stands, and the earlier holder loses it, recorded")
  func oneToOne() throws {
    try StoreFixture.run { fixture in
      let store = try fixture.memory(Self.document)
      let person = try store.insert("Person", [:])
      let first = try store.insert("Passport", ["owner": Value(reference: person)])
      let second = try store.insert("Passport", ["owner": Value(reference: person)])
      #expect(try store.values("Passport", first)?["owner"] == .null)
      #expect(try store.values("Passport", second)?["owner"] == Value(reference: person))
      #expect(try store.changes().count == 4)
      let passport = try store.plan("Passport")
      let third = store.makeRecordID()
      try store.save { writer in
        let claim = try ValueRow(passport, ["owner": Value(reference: person)])
        try writer.update(passport, first, changed: claim.assigned, from: claim)
        try writer.insert(passport, third, assigned: claim.assigned, from: claim)
      }
      #expect(try store.values("Passport", first)?["owner"] == .null)
      #expect(try store.values("Passport", second)?["owner"] == .null)
      #expect(try store.values("Passport", third)?["owner"] == Value(reference: person))
    }
  }

  @Test("A move that closes a tree declared acyclic refuses the save, and a swap within one save is judged at its end")
  func acyclic() throws {
    try StoreFixture.run { fixture in
      let store = try fixture.memory(Self.document)
      let root = try store.insert("Node", [:])
      let child = try store.insert("Node", ["parent": Value(reference: root)])
      let grandchild = try store.insert("Node", ["parent": Value(reference: child)])
      #expect(
        StoreFixture.code { try store.set("Node", root, ["parent": Value(reference: grandchild)]) } == .cyclicReference)
      #expect(StoreFixture.code { try store.set("Node", root, ["parent": Value(reference: root)]) } == .cyclicReference)
      let node = try store.plan("Node")
      try store.save { writer in
        let down = try ValueRow(node, ["parent": Value(reference: grandchild)])
        try writer.update(node, root, changed: down.assigned, from: down)
        let up = try ValueRow(node, ["parent": .null])
        try writer.update(node, child, changed: up.assigned, from: up)
      }
      #expect(try store.values("Node", root)?["parent"] == Value(reference: grandchild))
    }
  }

  @Test(
    "With a remote, an attribute declared max keeps the greater value, as the server does; a counter records its delta")
  func policies() throws {
    try StoreFixture.run { fixture in
      let store = try fixture.memory(Self.document)
      try store.beginStamps()
      let person = try store.insert("Person", ["best": .integer(5), "visits": .integer(1)])
      try store.set("Person", person, ["best": .integer(3), "visits": .integer(4)])
      #expect(try store.values("Person", person) == ["best": .integer(5), "visits": .integer(4)])
      guard case .update(let detail) = try #require(try store.changes().last).detail else {
        Issue.record("not an update")
        return
      }
      #expect(detail.fields.map(\.delta) == [3])
      try store.set("Person", person, ["best": .integer(7)])
      #expect(try store.values("Person", person)?["best"] == .integer(7))
    }
  }
}
