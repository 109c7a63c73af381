import Testing
import TomboloProtocol

/// A change made to the base document, and what the check must say of it.
struct EvolutionCase: Sendable, CustomTestStringConvertible {
  let testDescription: String
  /// The codes of what is expected, in order; each with its verdict.
  let expected: [(SchemaChange.Verdict, String)]
  let change: @Sendable (inout SchemaDocument) -> Void

  init(
    _ description: String, _ expected: [(SchemaChange.Verdict, String)],
    _ change: @escaping @Sendable (inout SchemaDocument) -> Void
  ) {
    testDescription = description
    self.expected = expected
    self.change = change
  }
}

extension SchemaDocument {
  fileprivate mutating func entity(_ name: String, _ change: (inout SchemaEntity) -> Void) {
    for index in entities.indices where entities[index].name == name { change(&entities[index]) }
  }

  fileprivate mutating func attribute(_ entity: String, _ name: String, _ change: (inout SchemaAttribute) -> Void) {
    self.entity(entity) { entity in
      for index in entity.attributes.indices where entity.attributes[index].name == name {
        change(&entity.attributes[index])
      }
    }
  }

  fileprivate mutating func relationship(
    _ entity: String, _ name: String, _ change: (inout SchemaRelationship) -> Void
  ) {
    self.entity(entity) { entity in
      for index in entity.relationships.indices where entity.relationships[index].name == name {
        change(&entity.relationships[index])
      }
    }
  }
}

@Suite("The additive check")
struct SchemaEvolutionTests {
  static let base = SchemaDocument(
    name: "Shop", version: SchemaVersion(1, 0, 0),
    entities: [
      SchemaEntity(
        name: "Item",
        attributes: [
          SchemaAttribute(name: "code", type: .string, defaultValue: .constant(.text(""))),
          SchemaAttribute(name: "count", type: .int32, defaultValue: .constant(.integer(0))),
          SchemaAttribute(
            name: "kind", type: .string, defaultValue: .constant(.text("a")), cases: [.text("a"), .text("b")],
            swiftType: "Kind"),
          SchemaAttribute(name: "note", type: .string, isOptional: true),
          SchemaAttribute(name: "weight", type: .float, defaultValue: .constant(.real(0))),
        ],
        relationships: [
          SchemaRelationship(name: "box", destination: "Box", inverse: "items"),
          SchemaRelationship(name: "owner", destination: "Box", isOptional: false, inverse: "owned"),
          SchemaRelationship(name: "parent", destination: "Item", inverse: "children"),
          SchemaRelationship(name: "children", destination: "Item", isToMany: true, inverse: "parent"),
        ],
        unique: [UniqueConstraint(attributes: ["code"])], indexes: [SchemaIndex(attributes: ["kind"])]),
      SchemaEntity(
        name: "Box",
        attributes: [SchemaAttribute(name: "label", type: .string, defaultValue: .constant(.text("")))],
        relationships: [
          SchemaRelationship(name: "items", destination: "Item", isToMany: true, inverse: "box"),
          SchemaRelationship(
            name: "owned", destination: "Item", isToMany: true, inverse: "owner", deleteRule: .cascade),
        ]),
      SchemaEntity(name: "BigBox", superentity: "Box"),
    ])

  static let allowed: [EvolutionCase] = [
    EvolutionCase("nothing changes", []) { _ in },
    EvolutionCase("add an entity", [(.allowed, "entity_added")]) {
      $0.entities.append(
        SchemaEntity(name: "Shelf", attributes: [SchemaAttribute(name: "required", type: .string)]))
    },
    EvolutionCase("add an optional attribute", [(.allowed, "attribute_added")]) {
      $0.entity("Item") { $0.attributes.append(SchemaAttribute(name: "color", type: .string, isOptional: true)) }
    },
    EvolutionCase("add an attribute with a default", [(.allowed, "attribute_added")]) {
      $0.entity("Item") {
        $0.attributes.append(SchemaAttribute(name: "color", type: .string, defaultValue: .constant(.text(""))))
      }
    },
    EvolutionCase("add an attribute with a generated default", [(.warning, "attribute_added")]) {
      $0.entity("Item") {
        $0.attributes.append(SchemaAttribute(name: "made", type: .date, defaultValue: .generatedNow))
      }
    },
    EvolutionCase("add a counter", [(.allowed, "attribute_added")]) {
      $0.entity("Item") {
        $0.attributes.append(
          SchemaAttribute(name: "sold", type: .int64, defaultValue: .constant(.integer(0)), merge: .counter))
      }
    },
    EvolutionCase(
      "add an optional relationship and its inverse", Array(repeating: (.allowed, "relationship_added"), count: 2)
    ) {
      $0.entity("Item") { $0.relationships.append(SchemaRelationship(name: "a", destination: "Box", inverse: "b")) }
      $0.entity("Box") {
        $0.relationships.append(SchemaRelationship(name: "b", destination: "Item", isToMany: true, inverse: "a"))
      }
    },
    EvolutionCase("add a relationship that denies deletion", [(.warning, "relationship_added")]) {
      $0.entity("Box") {
        $0.relationships.append(
          SchemaRelationship(name: "b", destination: "Item", isToMany: true, deleteRule: .deny))
      }
    },
    EvolutionCase("add a subclass", [(.allowed, "subclass_added")]) {
      $0.entities.append(SchemaEntity(name: "SmallBox", superentity: "Box"))
    },
    EvolutionCase("add an index", [(.allowed, "index_added")]) {
      $0.entity("Item") { $0.indexes.append(SchemaIndex(attributes: ["count"])) }
    },
    EvolutionCase("remove an index", [(.allowed, "index_removed")]) { $0.entity("Item") { $0.indexes = [] } },
    EvolutionCase("change a default", [(.warning, "default_changed")]) {
      $0.attribute("Item", "count") { $0.defaultValue = .constant(.integer(1)) }
    },
    EvolutionCase("remove a default", [(.warning, "default_removed")]) {
      $0.attribute("Item", "count") { $0.defaultValue = nil }
    },
    EvolutionCase("give an optional attribute a default", [(.warning, "default_added")]) {
      $0.attribute("Item", "note") { $0.defaultValue = .constant(.text("-")) }
    },
    EvolutionCase("add a case", [(.allowed, "cases_added")]) {
      $0.attribute("Item", "kind") { $0.cases.append(.text("c")) }
    },
    EvolutionCase("remove a case", [(.warning, "cases_removed")]) {
      $0.attribute("Item", "kind") { $0.cases.removeLast() }
    },
    EvolutionCase("rename a Swift type", [(.warning, "swift_type_changed")]) {
      $0.attribute("Item", "kind") { $0.swiftType = "Sort" }
    },
    EvolutionCase("keep a value in a file of its own", [(.allowed, "option_added")]) {
      $0.attribute("Item", "note") { $0.options = ["externalStorage"] }
    },
    EvolutionCase("rename the schema", [(.allowed, "schema_name_changed")]) { $0.name = "Store" },
    EvolutionCase("name an earlier name from before the first version", [(.allowed, "original_name_changed")]) {
      $0.attribute("Item", "note") { $0.originalName = "remark" }
    },
  ]

  static let refused: [EvolutionCase] = [
    EvolutionCase("add an attribute without a default", [(.refused, "attribute_added_without_default")]) {
      $0.entity("Item") { $0.attributes.append(SchemaAttribute(name: "color", type: .string)) }
    },
    EvolutionCase("add a required relationship", [(.refused, "required_relationship_added")]) {
      $0.entity("Item") {
        $0.relationships.append(SchemaRelationship(name: "a", destination: "Box", isOptional: false))
      }
    },
    EvolutionCase("add a relationship that must have members", [(.refused, "required_relationship_added")]) {
      $0.entity("Item") {
        $0.relationships.append(
          SchemaRelationship(name: "a", destination: "Box", isToMany: true, minimumCount: 1))
      }
    },
    EvolutionCase("remove an entity", [(.refused, "entity_removed")]) {
      $0.entities.removeAll { $0.name == "BigBox" }
    },
    EvolutionCase("remove an attribute", [(.refused, "attribute_removed")]) {
      $0.entity("Item") { $0.attributes.removeAll { $0.name == "note" } }
    },
    EvolutionCase("remove a relationship", [(.refused, "relationship_removed"), (.refused, "inverse_changed")]) {
      $0.entity("Item") { $0.relationships.removeAll { $0.name == "box" } }
      $0.relationship("Box", "items") { $0.inverse = nil }
    },
    EvolutionCase("rename an attribute through originalName", [(.refused, "attribute_renamed")]) {
      $0.attribute("Item", "note") {
        $0.name = "remark"
        $0.originalName = "note"
      }
    },
    EvolutionCase(
      "rename an attribute without saying so", [(.refused, "attribute_removed"), (.allowed, "attribute_added")]
    ) { $0.attribute("Item", "note") { $0.name = "remark" } },
    EvolutionCase(
      "rename a relationship through originalName", [(.refused, "relationship_renamed"), (.refused, "inverse_changed")]
    ) {
      $0.relationship("Item", "box") {
        $0.name = "crate"
        $0.originalName = "box"
      }
      $0.relationship("Box", "items") { $0.inverse = "crate" }
    },
    EvolutionCase("rename an entity", [(.refused, "entity_removed"), (.allowed, "subclass_added")]) {
      $0.entity("BigBox") { $0.name = "HugeBox" }
    },
    EvolutionCase("swap two names", [(.refused, "rename_over_existing"), (.refused, "rename_over_existing")]) {
      $0.attribute("Item", "code") { $0.originalName = "kind" }
      $0.attribute("Item", "kind") { $0.originalName = "code" }
    },
    EvolutionCase("change a type", [(.refused, "attribute_type_changed")]) {
      $0.attribute("Item", "note") { $0.type = .data }
    },
    EvolutionCase("widen an integer", [(.refused, "attribute_width_changed")]) {
      $0.attribute("Item", "count") { $0.type = .int64 }
    },
    EvolutionCase("widen a float", [(.refused, "attribute_width_changed")]) {
      $0.attribute("Item", "weight") { $0.type = .double }
    },
    EvolutionCase("to-one becomes to-many", [(.refused, "cardinality_changed")]) {
      $0.relationship("Item", "box") { $0.isToMany = true }
    },
    EvolutionCase("to-many becomes to-one", [(.refused, "cardinality_changed")]) {
      $0.relationship("Box", "items") { $0.isToMany = false }
    },
    EvolutionCase("change a destination", [(.refused, "destination_changed")]) {
      $0.relationship("Item", "parent") { $0.destination = "Box" }
    },
    EvolutionCase("change an inverse", [(.refused, "inverse_changed")]) {
      $0.relationship("Item", "parent") { $0.inverse = nil }
    },
    EvolutionCase("a required attribute becomes optional", [(.refused, "optionality_changed")]) {
      $0.attribute("Item", "count") { $0.isOptional = true }
    },
    EvolutionCase("an optional attribute becomes required", [(.refused, "optionality_changed")]) {
      $0.attribute("Item", "note") { $0.isOptional = false }
    },
    EvolutionCase("an optional relationship becomes required", [(.refused, "optionality_changed")]) {
      $0.relationship("Item", "box") { $0.isOptional = false }
    },
    EvolutionCase("a required relationship becomes optional", [(.refused, "optionality_changed")]) {
      $0.relationship("Item", "owner") { $0.isOptional = true }
    },
    EvolutionCase("change a delete rule", [(.refused, "delete_rule_changed")]) {
      $0.relationship("Box", "items") { $0.deleteRule = .cascade }
    },
    EvolutionCase("add a unique constraint", [(.refused, "unique_added")]) {
      $0.entity("Box") { $0.unique = [UniqueConstraint(attributes: ["label"])] }
    },
    EvolutionCase("remove a unique constraint", [(.refused, "unique_removed")]) {
      $0.entity("Item") { $0.unique = [] }
    },
    EvolutionCase("change what a unique constraint does", [(.refused, "unique_changed")]) {
      $0.entity("Item") { $0.unique[0].onConflict = .reject }
    },
    EvolutionCase("extend a unique constraint", [(.refused, "unique_removed"), (.refused, "unique_added")]) {
      $0.entity("Item") { $0.unique[0].attributes = ["code", "kind"] }
    },
    EvolutionCase("change a count limit", [(.refused, "count_limit_changed")]) {
      $0.relationship("Box", "items") { $0.maximumCount = 5 }
    },
    EvolutionCase("change a merge policy", [(.refused, "merge_policy_changed")]) {
      $0.attribute("Item", "count") { $0.merge = .counter }
    },
    EvolutionCase("change who wins against a deletion", [(.refused, "delete_policy_changed")]) {
      $0.entity("Item") { $0.concurrentDelete = .editWins }
    },
    EvolutionCase("order a relationship", [(.warning, "order_added")]) {
      $0.relationship("Box", "items") { $0.isOrdered = true }
    },
    EvolutionCase("forbid cycles", [(.refused, "acyclic_changed")]) {
      $0.relationship("Item", "parent") { $0.isAcyclic = true }
    },
    EvolutionCase("change the base of an entity", [(.refused, "superentity_changed")]) {
      $0.entity("BigBox") { $0.superentity = nil }
    },
    EvolutionCase("an attribute becomes a relationship", [(.refused, "property_kind_changed")]) {
      $0.entity("Item") { item in
        item.attributes.removeAll { $0.name == "note" }
        item.relationships.append(SchemaRelationship(name: "note", destination: "Box"))
      }
    },
    EvolutionCase("a relationship becomes an attribute", [(.refused, "property_kind_changed")]) {
      $0.entity("Item") { item in
        item.relationships.removeAll { $0.name == "parent" }
        item.attributes.append(SchemaAttribute(name: "parent", type: .uuid, isOptional: true))
      }
    },
    EvolutionCase("change a hash modifier", [(.refused, "hash_modifier_changed")]) {
      $0.attribute("Item", "note") { $0.hashModifier = "2" }
    },
    EvolutionCase("stop storing an attribute", [(.refused, "option_added")]) {
      $0.attribute("Item", "note") { $0.options = ["ephemeral"] }
    },
    EvolutionCase("move an attribute into a base", [(.allowed, "attribute_added"), (.refused, "attribute_removed")]) {
      $0.entity("BigBox") { $0.attributes = [] }
      $0.entity("Box") { $0.attributes.append(SchemaAttribute(name: "size", type: .int8, isOptional: true)) }
    },
  ]

  @Test("A change is judged as the table of rules says", arguments: allowed + refused)
  func verdict(row: EvolutionCase) {
    var old = Self.base
    if row.testDescription == "move an attribute into a base" {
      old.entity("BigBox") { $0.attributes = [SchemaAttribute(name: "size", type: .int8, isOptional: true)] }
    }
    var new = old
    new.version = SchemaVersion(1, 1, 0)
    row.change(&new)
    let changes = SchemaEvolution.check(from: old, to: new)
    let order = changes.map { "\($0.verdict) \($0.code)" }.sorted()
    #expect(order == row.expected.map { "\($0.0) \($0.1)" }.sorted(), "\(changes)")
    for change in changes {
      #expect(!change.text.isEmpty)
      #expect(change.verdict != .refused || !change.fix.isEmpty)
    }
    let isRefused = row.expected.contains { $0.0 == .refused }
    #expect(SchemaEvolution.isAdditive(from: old, to: new) == !isRefused)
  }

  @Test("There are at least as many refused rows as allowed ones")
  func balance() { #expect(Self.refused.count >= Self.allowed.count) }

  @Test("The versions must rise", arguments: [("1.0.0", "version_unchanged"), ("0.9.0", "version_lower")])
  func versionOrder(version: String, code: String) {
    var new = Self.base
    new.version = SchemaVersion(version)
    new.entities.append(SchemaEntity(name: "Shelf"))
    #expect(SchemaEvolution.check(from: Self.base, to: new).first?.code == code)
  }

  @Test("A successor without a version is refused")
  func missingVersion() {
    var new = Self.base
    new.version = nil
    #expect(SchemaEvolution.check(from: Self.base, to: new).map(\.code) == ["version_missing"])
  }

  @Test("Every violation of a document is reported, each with its place")
  func allViolations() throws {
    var new = Self.base
    new.version = SchemaVersion(2, 0, 0)
    for row in Self.refused.prefix(8) { row.change(&new) }
    let error = #expect(throws: TomboloError.self) { try SchemaEvolution.requireAdditive(from: Self.base, to: new) }
    #expect(error?.code == .schemaNotAdditive)
    #expect((error?.details.count ?? 0) >= 7)
    #expect(error?.details.allSatisfy { $0.entity != nil && !$0.fix.isEmpty } == true)
  }

  @Test("The check does not care for the order in which a document was written")
  func order() {
    var new = Self.base
    new.version = SchemaVersion(1, 0, 1)
    new.entities.reverse()
    for index in new.entities.indices {
      new.entities[index].attributes.reverse()
      new.entities[index].relationships.reverse()
    }
    #expect(SchemaEvolution.check(from: Self.base, to: new).isEmpty)
  }
}

@Suite("The registry of schema versions")
struct SchemaRegistrationTests {
  private let base = SchemaEvolutionTests.base

  private func version(_ text: String, _ change: (inout SchemaDocument) -> Void = { _ in }) -> SchemaDocument {
    var document = base
    document.version = SchemaVersion(text)
    change(&document)
    return document
  }

  private func code(_ document: SchemaDocument, among registered: [SchemaDocument]) -> ErrorCode? {
    do {
      _ = try SchemaRegistration.check(document, among: registered)
      return nil
    } catch let error as TomboloError {
      return error.code
    } catch { return .internalFault }
  }

  @Test("The first document is taken, and again as the same registration")
  func first() throws {
    #expect(try SchemaRegistration.check(base, among: []) == .new)
    #expect(try SchemaRegistration.check(base, among: [base]) == .known)
  }

  @Test("Indexes and cases make no other document")
  func sameButIndexes() throws {
    let other = version("1.0.0") {
      $0.entity("Item") { $0.indexes = [] }
      $0.attribute("Item", "kind") { $0.cases = [] }
    }
    #expect(try SchemaRegistration.check(other, among: [base]) == .known)
    #expect(SchemaEvolution.sameVersion(base, other).isEmpty)
  }

  @Test("Another document under the same version is refused with the difference")
  func taken() {
    let other = version("1.0.0") { $0.attribute("Item", "count") { $0.defaultValue = .constant(.integer(5)) } }
    #expect(code(other, among: [base]) == .schemaVersionTaken)
    let differences = SchemaEvolution.sameVersion(base, other)
    #expect(differences.map(\.code) == ["default_changed"])
    #expect(differences.allSatisfy { $0.verdict == .refused && !$0.fix.isEmpty })
  }

  @Test("A version between two others must fit both")
  func between() throws {
    let later = version("1.2.0") { $0.entities.append(SchemaEntity(name: "Shelf")) }
    #expect(try SchemaRegistration.check(version("1.1.0"), among: [base, later]) == .new)
    let other = version("1.1.0") { $0.entities.append(SchemaEntity(name: "Rack")) }
    #expect(code(other, among: [later, base]) == .schemaNotAdditive)
  }

  @Test("A version that takes something away is refused")
  func removal() {
    #expect(code(version("2.0.0") { $0.entities.removeLast() }, among: [base]) == .schemaNotAdditive)
  }

  @Test("A document without a version is refused with the recipe")
  func unversioned() {
    var document = base
    document.version = nil
    #expect(code(document, among: []) == .storeUnversioned)
  }

  @Test("A relationship without an inverse does not sync")
  func inverse() {
    let document = version("1.0.0") {
      $0.entity("BigBox") { $0.relationships = [SchemaRelationship(name: "lid", destination: "Item")] }
    }
    #expect(code(document, among: []) == .schemaNotSyncable)
  }

  @Test("A document with mistakes is refused before it is compared")
  func invalid() {
    let document = version("1.0.0") { $0.entity("BigBox") { $0.superentity = "Crate" } }
    #expect(code(document, among: [base]) == .invalidSchema)
  }
}

@Suite("Schema lint")
struct SchemaLintTests {
  static let offences:
    [(rules: SchemaRules, isError: Bool, code: String, change: @Sendable (inout SchemaDocument) -> Void)] = [
      (.tombolo, true, "unversioned", { $0.version = nil }),
      (.tombolo, true, "inverse_missing", { $0.relationship("A", "bs") { $0.inverse = nil } }),
      (.tombolo, false, "required_reference", { $0.relationship("B", "a") { $0.isOptional = false } }),
      (.tombolo, false, "inline_data", { $0.attribute("A", "x") { $0.type = .data } }),
      (
        .tombolo, false, "cycle_possible",
        {
          $0.entity("A") {
            $0.relationships += [
              SchemaRelationship(name: "up", destination: "A", inverse: "down"),
              SchemaRelationship(name: "down", destination: "A", isToMany: true, inverse: "up"),
            ]
          }
        }
      ),
      (.strict, true, "attribute_required", { $0.attribute("A", "x") { $0.isOptional = false } }),
      (.strict, true, "relationship_required", { $0.relationship("B", "a") { $0.isOptional = false } }),
      (.strict, true, "inverse_missing", { $0.relationship("A", "bs") { $0.inverse = nil } }),
      (.strict, true, "unique_constraint", { $0.entity("A") { $0.unique = [UniqueConstraint(attributes: ["x"])] } }),
      (.strict, true, "deny_rule", { $0.relationship("A", "bs") { $0.deleteRule = .deny } }),
      (.strict, true, "ordered_relationship", { $0.relationship("A", "bs") { $0.isOrdered = true } }),
      (.strict, false, "extension_used", { $0.attribute("A", "x") { $0.merge = .firstWriter } }),
      (.strict, false, "extension_used", { $0.entity("A") { $0.concurrentDelete = .editWins } }),
      (.strict, false, "inline_data", { $0.attribute("A", "x") { $0.type = .data } }),
    ]

  static let clean = SchemaDocument(
    name: "T", version: SchemaVersion(1, 0, 0),
    entities: [
      SchemaEntity(
        name: "A", attributes: [SchemaAttribute(name: "x", type: .string, isOptional: true)],
        relationships: [SchemaRelationship(name: "bs", destination: "B", isToMany: true, inverse: "a")]),
      SchemaEntity(name: "B", relationships: [SchemaRelationship(name: "a", destination: "A", inverse: "bs")]),
    ])

  @Test("A schema that keeps the rules has no offence", arguments: SchemaRules.allCases)
  func cleanSchema(rules: SchemaRules) { #expect(SchemaLint.check(Self.clean, rules: rules).isEmpty) }

  @Test("An offence is one line with its place, reason and fix", arguments: offences.indices)
  func offence(index: Int) {
    let row = Self.offences[index]
    var document = Self.clean
    row.change(&document)
    let found = SchemaLint.check(document, rules: row.rules)
    #expect(found.map(\.detail.code) == [row.code])
    #expect(found.first?.isError == row.isError)
    #expect(found.allSatisfy { !$0.detail.text.isEmpty && !$0.detail.fix.isEmpty })
  }

  @Test("What Tombolo allows and CloudKit does not is no offence to Tombolo")
  func difference() {
    var document = Self.clean
    document.attribute("A", "x") { $0.isOptional = false }
    document.entity("A") { $0.unique = [UniqueConstraint(attributes: ["x"])] }
    document.relationship("A", "bs") { $0.deleteRule = .deny }
    #expect(SchemaLint.check(document, rules: .tombolo).isEmpty)
    #expect(SchemaLint.check(document, rules: .strict).count == 3)
  }

  @Test("A relationship out of the synced set is an offence")
  func syncedSet() {
    let found = SchemaLint.check(Self.clean, rules: .strict, synced: ["B"])
    #expect(found.map(\.detail.code) == ["destination_not_synced"])
  }

  @Test("The refusal of an unversioned store carries the recipe")
  func recipe() {
    var document = Self.clean
    document.version = nil
    let error = #expect(throws: TomboloError.self) { try SchemaLint.requireSyncable(document) }
    #expect(error?.code == .storeUnversioned)
    #expect(error?.remedy.contains("VersionedSchema") == true)
  }
}
