import Testing
import TomboloProtocol

@Suite("Schema documents")
struct SchemaDocumentTests {
  /// The example of the documentation, with what has a default left out.
  static let library = """
    {"name":"Library","version":"1.0.0","entities":[
      {"name":"Book",
       "attributes":[{"name":"title","type":"string","default":""},
                     {"name":"isbn","type":"string","optional":true},
                     {"name":"stock","type":"int64","default":0,"merge":"counter"}],
       "relationships":[{"name":"notes","destination":"Note","toMany":true,"inverse":"book","deleteRule":"cascade"}],
       "unique":[["isbn"]],"indexes":[["title"]]},
      {"name":"Note",
       "attributes":[{"name":"text","type":"string","default":""},{"name":"at","type":"date","optional":true}],
       "relationships":[{"name":"book","destination":"Book","inverse":"notes"}]}]}
    """

  static func parse(_ text: String) throws -> SchemaDocument { try SchemaDocument(parsing: Array(text.utf8)) }

  /// A document with one entity `E` and an `F`, into which a test puts its parts.
  static func document(attributes: String = "", relationships: String = "", more: String = "") -> String {
    """
    {"name":"T","entities":[{"name":"E","attributes":[\(attributes)],"relationships":[\(relationships)]\(more)},
    {"name":"F","relationships":[{"name":"e","destination":"E"}]}]}
    """
  }

  static func problems(_ text: String) -> [TomboloError.Detail] {
    do {
      _ = try parse(text)
      return []
    } catch let error as TomboloError {
      return error.details
    } catch {
      return []
    }
  }

  @Test("A document that a person wrote is read with its defaults")
  func handWritten() throws {
    let document = try Self.parse(Self.library)
    #expect(document.version == SchemaVersion(1, 0, 0))
    #expect(document.entities.map(\.name) == ["Book", "Note"])
    #expect(document.entities[0].attributes.map(\.name) == ["isbn", "stock", "title"])
    #expect(document.entities[0].attributes[1].merge == .counter)
    #expect(document.entities[0].attributes[2].defaultValue == .constant(.text("")))
    #expect(document.entities[1].relationships[0].isOptional)
    #expect(document.entities[0].unique == [UniqueConstraint(attributes: ["isbn"])])
  }

  @Test("The canonical form is sorted, has no whitespace and leaves defaults out")
  func canonicalForm() throws {
    let canonical = String(decoding: try Self.parse(Self.library).canonicalJSON, as: UTF8.self)
    #expect(
      canonical == """
        {"entities":[{"attributes":[{"name":"isbn","optional":true,"type":"string"},\
        {"default":0,"merge":"counter","name":"stock","type":"int64"},{"default":"","name":"title","type":"string"}],\
        "indexes":[{"attributes":["title"]}],"name":"Book","relationships":[{"deleteRule":"cascade",\
        "destination":"Note","inverse":"book","name":"notes","toMany":true}],"unique":[{"attributes":["isbn"]}]},\
        {"attributes":[{"name":"at","optional":true,"type":"date"},{"default":"","name":"text","type":"string"}],\
        "name":"Note","relationships":[{"destination":"Book","inverse":"notes","name":"book"}]}],\
        "name":"Library","version":"1.0.0"}
        """)
  }

  static let full: SchemaDocument = {
    let types = AttributeType.allCases.map { type in
      SchemaAttribute(name: "a\(type.rawValue)", type: type, isOptional: true)
    }
    let defaults: [(AttributeType, Value)] = [
      (.bool, .integer(1)), (.int8, .integer(-128)), (.uint64, .integer(.max)), (.float, .real(0.5)),
      (.double, .real(1)), (.double, .real(1e300)), (.double, .real(.infinity)), (.double, .real(-0.1)),
      (.decimal, .text("12.5")), (.string, .text("é\n\"")), (.date, .real(123.25)), (.data, .blob([0, 255])),
      (.uuid, .blob([UInt8](repeating: 7, count: 16))), (.url, .text("https://example.org/a?b#c")),
      (.codable, .text("{\"a\":[1]}")),
    ]
    var attributes = types
    for (index, (type, value)) in defaults.enumerated() {
      attributes.append(SchemaAttribute(name: "d\(index)", type: type, defaultValue: .constant(value)))
    }
    attributes.append(SchemaAttribute(name: "g1", type: .uuid, defaultValue: .generatedUUID))
    attributes.append(SchemaAttribute(name: "g2", type: .date, defaultValue: .generatedNow))
    attributes.append(
      SchemaAttribute(
        name: "z", type: .string, isOptional: true, merge: .firstWriter, options: ["spotlight", "externalStorage"],
        originalName: "y", hashModifier: "m", cases: [.text("b"), .text("a")], swiftType: "Kind"))
    let relationships = [
      SchemaRelationship(
        name: "parent", destination: "Everything", inverse: "children", isAcyclic: true, originalName: "up",
        hashModifier: "h"),
      SchemaRelationship(
        name: "children", destination: "Everything", isToMany: true, inverse: "parent", deleteRule: .deny,
        isOrdered: true, minimumCount: 1, maximumCount: 9),
      SchemaRelationship(name: "owner", destination: "Part", isOptional: false, deleteRule: .noAction),
    ]
    return SchemaDocument(
      name: "Full", version: SchemaVersion(2, 10, 3),
      entities: [
        SchemaEntity(name: "Part", superentity: "Everything", concurrentDelete: .editWins),
        SchemaEntity(
          name: "Everything", attributes: attributes, relationships: relationships,
          unique: [
            UniqueConstraint(attributes: ["z", "aint8"], onConflict: .reject),
            UniqueConstraint(attributes: ["astring"]),
          ], indexes: [SchemaIndex(attributes: ["d3", "d4"], kind: .rtree), SchemaIndex(attributes: ["z"])]),
      ])
  }()

  @Test("Everything a document can say survives being written and read")
  func roundTrip() throws {
    #expect(SchemaValidation.problems(in: Self.full) == [])
    let canonical = Self.full.canonicalJSON
    let read = try SchemaDocument(parsing: canonical)
    #expect(read == Self.full.normalized)
    #expect(read.canonicalJSON == canonical)
    #expect(try SchemaDocument(parsing: Self.full.readableJSON) == read)
  }

  @Test("The fingerprint is that of the shape, whatever the document is called and indexed by")
  func fingerprint() throws {
    let document = try Self.parse(Self.library)
    var other = document
    other.name = "Other"
    other.version = SchemaVersion(9, 0, 0)
    other.entities.reverse()
    other.entities[0].attributes[0].swiftType = "Day"
    other.entities[0].attributes[0].defaultValue = .generatedNow
    other.entities[1].indexes = []
    #expect(other.fingerprint == document.fingerprint)
    // Computed by another implementation of BLAKE2b; it stands in every versioned store.
    #expect(
      document.fingerprint.description == "3d24d6a4ff09eafedf12890c97d998645adc9d5ebf3b4534b2c45e96b100f943")
    #expect(SchemaFingerprint(bytes: document.fingerprint.bytes) == document.fingerprint)
  }

  static let shapes: [@Sendable (inout SchemaDocument) -> Void] = [
    { $0.entities[0].name = "Boek" }, { $0.entities[0].attributes[0].name = "isbn13" },
    { $0.entities[0].attributes[0].type = .int64 }, { $0.entities[0].attributes[0].isOptional = false },
    { $0.entities[0].attributes[1].merge = .lastWriter }, { $0.entities[0].unique[0].onConflict = .reject },
    { $0.entities[0].relationships[0].deleteRule = .deny }, { $0.entities[0].relationships[0].isOrdered = true },
    { $0.entities[0].concurrentDelete = .editWins }, { $0.entities[1].superentity = "Book" },
    { $0.entities[0].attributes[0].originalName = "code" },
  ]

  @Test("The fingerprint changes with every part of the shape", arguments: shapes.indices)
  func fingerprintChanges(index: Int) throws {
    var document = try Self.parse(Self.library)
    let before = document.fingerprint
    Self.shapes[index](&document)
    #expect(document.fingerprint != before)
  }

  static let mistakes: [(code: String, property: String?, text: String)] = [
    ("not_json", nil, "{\"name\":"),
    ("wrong_value", nil, "[]"),
    ("missing_key", nil, "{\"entities\":[]}"),
    ("wrong_value", nil, "{\"name\":\"T\",\"version\":\"one\"}"),
    ("unknown_key", nil, "{\"name\":\"T\",\"entitys\":[]}"),
    ("wrong_value", nil, "{\"name\":\"T\",\"entities\":{}}"),
    ("unknown_key", "a", document(attributes: "{\"name\":\"a\",\"type\":\"string\",\"optionl\":true}")),
    ("missing_key", "a", document(attributes: "{\"name\":\"a\"}")),
    ("wrong_value", "a", document(attributes: "{\"name\":\"a\",\"type\":\"text\"}")),
    ("wrong_value", "a", document(attributes: "{\"name\":\"a\",\"type\":\"bool\",\"optional\":1}")),
    ("wrong_value", "a", document(attributes: "{\"name\":\"a\",\"type\":\"string\",\"merge\":\"counters\"}")),
    ("unknown_option", "a", document(attributes: "{\"name\":\"a\",\"type\":\"string\",\"options\":[\"spotligt\"]}")),
    ("default_type", "a", document(attributes: "{\"name\":\"a\",\"type\":\"bool\",\"default\":1}")),
    ("default_type", "a", document(attributes: "{\"name\":\"a\",\"type\":\"int8\",\"default\":128}")),
    ("default_type", "a", document(attributes: "{\"name\":\"a\",\"type\":\"int64\",\"default\":1.5}")),
    ("default_type", "a", document(attributes: "{\"name\":\"a\",\"type\":\"string\",\"default\":0}")),
    ("default_type", "a", document(attributes: "{\"name\":\"a\",\"type\":\"date\",\"default\":\"yesterday\"}")),
    (
      "default_type", "a",
      document(attributes: "{\"name\":\"a\",\"type\":\"uuid\",\"default\":{\"generated\":\"now\"}}")
    ),
    ("default_type", "a", document(attributes: "{\"name\":\"a\",\"type\":\"decimal\",\"default\":\"1,5\"}")),
    ("counter_type", "a", document(attributes: "{\"name\":\"a\",\"type\":\"double\",\"merge\":\"counter\"}")),
    (
      "counter_optional", "a",
      document(attributes: "{\"name\":\"a\",\"type\":\"int64\",\"optional\":true,\"merge\":\"counter\"}")
    ),
    ("extremum_type", "a", document(attributes: "{\"name\":\"a\",\"type\":\"bool\",\"merge\":\"max\"}")),
    ("wrong_name", "a.b", document(attributes: "{\"name\":\"a.b\",\"type\":\"bool\"}")),
    ("wrong_name", " a", document(attributes: "{\"name\":\" a\",\"type\":\"bool\"}")),
    ("wrong_name", "", document(attributes: "{\"name\":\"\",\"type\":\"bool\"}")),
    ("wrong_name", "a\u{7}", document(attributes: "{\"name\":\"a\\u0007\",\"type\":\"bool\"}")),
    ("reserved_name", "_Tombolo_x", document(attributes: "{\"name\":\"_Tombolo_x\",\"type\":\"bool\"}")),
    (
      "duplicate_name", "a",
      document(
        attributes: "{\"name\":\"a\",\"type\":\"bool\"}", relationships: "{\"name\":\"a\",\"destination\":\"F\"}")
    ),
    ("unknown_destination", "r", document(relationships: "{\"name\":\"r\",\"destination\":\"G\"}")),
    ("missing_key", "r", document(relationships: "{\"name\":\"r\"}")),
    ("unknown_inverse", "r", document(relationships: "{\"name\":\"r\",\"destination\":\"F\",\"inverse\":\"f\"}")),
    ("inverse_mismatch", "r", document(relationships: "{\"name\":\"r\",\"destination\":\"F\",\"inverse\":\"e\"}")),
    ("inverse_of_itself", "r", document(relationships: "{\"name\":\"r\",\"destination\":\"E\",\"inverse\":\"r\"}")),
    ("ordered_to_one", "r", document(relationships: "{\"name\":\"r\",\"destination\":\"F\",\"ordered\":true}")),
    (
      "ordered_many_to_many", "r",
      document(relationships: "{\"name\":\"r\",\"destination\":\"F\",\"toMany\":true,\"ordered\":true}")
    ),
    ("acyclic_shape", "r", document(relationships: "{\"name\":\"r\",\"destination\":\"F\",\"acyclic\":true}")),
    (
      "acyclic_shape", "r",
      document(relationships: "{\"name\":\"r\",\"destination\":\"E\",\"toMany\":true,\"acyclic\":true}")
    ),
    (
      "count_limits", "r",
      document(
        relationships: "{\"name\":\"r\",\"destination\":\"F\",\"toMany\":true,\"minimumCount\":3,\"maximumCount\":2}")
    ),
    ("wrong_value", "r", document(relationships: "{\"name\":\"r\",\"destination\":\"F\",\"minimumCount\":-1}")),
    (
      "required_to_many", "r",
      document(relationships: "{\"name\":\"r\",\"destination\":\"F\",\"toMany\":true,\"optional\":false}")
    ),
    ("unknown_superentity", nil, document(more: ",\"superentity\":\"G\"")),
    ("superentity_cycle", nil, document(more: ",\"superentity\":\"E\"")),
    ("unknown_key_attribute", "b", document(more: ",\"unique\":[[\"b\"]]")),
    ("unknown_key_attribute", "b", document(more: ",\"indexes\":[[\"b\"]]")),
    ("empty_key", nil, document(more: ",\"unique\":[[]]")),
    (
      "duplicate_key", nil,
      document(attributes: "{\"name\":\"a\",\"type\":\"bool\"}", more: ",\"unique\":[[\"a\"],[\"a\"]]")
    ),
    (
      "duplicate_key_attribute", nil,
      document(attributes: "{\"name\":\"a\",\"type\":\"bool\"}", more: ",\"indexes\":[[\"a\",\"a\"]]")
    ),
    (
      "unique_counter", "a",
      document(attributes: "{\"name\":\"a\",\"type\":\"int8\",\"merge\":\"counter\"}", more: ",\"unique\":[[\"a\"]]")
    ),
    ("wrong_value", nil, document(more: ",\"concurrentDelete\":\"both\"")),
  ]

  @Test("A mistake is named with its place, and with what to write", arguments: mistakes.indices)
  func mistake(index: Int) throws {
    let (code, property, text) = Self.mistakes[index]
    let problems = Self.problems(text)
    #expect(problems.count == 1, "\(problems)")
    #expect(problems.first?.code == code)
    #expect(problems.first?.property == property)
    #expect(problems.first?.fix.isEmpty == false)
  }

  @Test(
    "A property may be called nearly anything",
    arguments: ["order", "select", "rowid", "id", "_pk", "größe", "日本", "🎈", "it's", "a b", "quote\\\"s"])
  func names(name: String) throws {
    let text = Self.document(attributes: "{\"name\":\"\(name)\",\"type\":\"bool\"}")
    let document = try Self.parse(text)
    #expect(try SchemaDocument(parsing: document.canonicalJSON) == document)
  }

  @Test("All mistakes are found at once")
  func collected() {
    let text = Self.document(
      attributes: "{\"name\":\"a\",\"type\":\"strin\"},{\"name\":\"b\",\"type\":\"int8\",\"default\":300}",
      relationships: "{\"name\":\"c\"}")
    #expect(Self.problems(text).map(\.property) == ["a", "b", "c"])
    #expect(Self.problems(text).allSatisfy { $0.entity == "E" })
  }

  @Test("A near miss is met with the right word")
  func suggestions() {
    let inverse = Self.document(relationships: "{\"name\":\"r\",\"destination\":\"F\",\"inverse\":\"ee\"}")
    #expect(Self.problems(inverse).first?.fix == "Did you mean e?")
    let key = Self.document(attributes: "{\"nam\":\"a\",\"name\":\"b\",\"type\":\"bool\"}")
    #expect(Self.problems(key).first?.fix == "Did you mean \"name\"?")
  }

  @Test("Bases that go round in a circle are found, whoever hangs on them")
  func cycle() {
    let text = """
      {"name":"T","entities":[{"name":"A","superentity":"B"},{"name":"B","superentity":"C"},
      {"name":"C","superentity":"B"}]}
      """
    #expect(Self.problems(text).map(\.code) == ["superentity_cycle", "superentity_cycle", "superentity_cycle"])
  }

  @Test("A one-to-one relationship that is required on both sides can never be made")
  func requiredBothWays() {
    let text = """
      {"name":"T","entities":[
      {"name":"A","relationships":[{"name":"b","destination":"B","inverse":"a","optional":false}]},
      {"name":"B","relationships":[{"name":"a","destination":"A","inverse":"b","optional":false}]}]}
      """
    #expect(Self.problems(text).map(\.code) == ["required_both_ways", "required_both_ways"])
  }

  @Test("An inherited property cannot be declared again")
  func inheritedName() {
    let text = """
      {"name":"T","entities":[{"name":"A","attributes":[{"name":"x","type":"bool"}]},
      {"name":"B","superentity":"A","attributes":[{"name":"x","type":"bool"}]}]}
      """
    #expect(Self.problems(text).map(\.code) == ["duplicate_name"])
  }

  @Test("Uniqueness may span what a base declares")
  func inheritedKey() {
    let text = """
      {"name":"T","entities":[{"name":"A","attributes":[{"name":"x","type":"bool"}]},
      {"name":"B","superentity":"A","attributes":[{"name":"y","type":"bool"}],"unique":[["x","y"]]}]}
      """
    #expect(Self.problems(text).isEmpty)
  }
}
