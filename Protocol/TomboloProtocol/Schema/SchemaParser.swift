extension SchemaDocument {
  /// Reads a document from JSON, as a person or a program wrote it, and checks it.
  ///
  /// What has a default may be left out. The result is in canonical order.
  ///
  /// - Throws: ``TomboloError`` with ``ErrorCode/invalidSchema``; its details name every mistake, where it is, and what to
  ///   write.
  package init(parsing bytes: [UInt8]) throws {
    let json: JSONValue
    do {
      json = try JSONValue(parsing: bytes)
    } catch let error as JSONMalformed {
      throw TomboloError(
        .invalidSchema, "The schema document is not JSON: \(error.description).",
        details: [.init(code: "not_json", text: "\(error.description).", fix: "Write one JSON object.")])
    }
    var reader = SchemaReader()
    let document = reader.document(json)
    let problems = reader.problems.isEmpty ? SchemaValidation.problems(in: document) : reader.problems
    guard problems.isEmpty else { throw SchemaValidation.error(problems, in: document) }
    self = document.normalized
  }
}

/// Reads the parts of a document, and goes on after a mistake so that all of them are found.
struct SchemaReader {
  private(set) var problems: [TomboloError.Detail] = []
  private var entity: String?
  private var property: String?

  init() {}

  mutating func document(_ json: JSONValue) -> SchemaDocument {
    guard let object = object(json, "a schema document", keys: ["name", "version", "entities"]) else {
      return SchemaDocument(name: "", version: nil, entities: [])
    }
    let name = string(object, "name") ?? missing("name", "Write a name for the schema, such as \"Library\".") ?? ""
    var version: SchemaVersion?
    if let text = string(object, "version") {
      version = SchemaVersion(text)
      if version == nil { report("wrong_value", "The version is not one.", "Write three numbers, such as \"1.0.0\".") }
    }
    let entities = list(object, "entities").compactMap { self.entity($0) }
    return SchemaDocument(name: name, version: version, entities: entities)
  }

  private mutating func entity(_ json: JSONValue) -> SchemaEntity? {
    defer { entity = nil }
    if case .string(let name)? = json["name"] { entity = name }
    let keys = [
      "name", "superentity", "attributes", "relationships", "unique", "indexes", "concurrentDelete",
    ]
    guard let object = object(json, "an entity", keys: keys) else { return nil }
    let name = string(object, "name") ?? missing("name", "Give every entity a name.") ?? ""
    var result = SchemaEntity(name: name, superentity: string(object, "superentity"))
    result.attributes = list(object, "attributes").compactMap { attribute($0) }
    result.relationships = list(object, "relationships").compactMap { relationship($0) }
    result.unique = list(object, "unique").compactMap { json in
      guard let (attributes, object) = compound(json, "a uniqueness constraint", ["attributes", "onConflict"]) else {
        return nil
      }
      return UniqueConstraint(
        attributes: attributes,
        onConflict: object.flatMap { choice($0, "onConflict", as: UniqueConflict.self) } ?? .merge
      )
    }
    result.indexes = list(object, "indexes").compactMap { json in
      guard let (attributes, object) = compound(json, "an index", ["attributes", "kind"]) else { return nil }
      return SchemaIndex(
        attributes: attributes, kind: object.flatMap { choice($0, "kind", as: SchemaIndex.Kind.self) } ?? .binary)
    }
    result.concurrentDelete = choice(object, "concurrentDelete", as: DeletePolicy.self) ?? .deleteWins
    return result
  }

  private mutating func attribute(_ json: JSONValue) -> SchemaAttribute? {
    defer { property = nil }
    if case .string(let name)? = json["name"] { property = name }
    let keys = [
      "name", "type", "optional", "default", "merge", "options", "originalName", "hashModifier", "cases", "swiftType",
    ]
    guard let object = object(json, "an attribute", keys: keys) else { return nil }
    let name = string(object, "name") ?? missing("name", "Give every attribute a name.") ?? ""
    let types = AttributeType.allCases.map(\.rawValue).joined(separator: ", ")
    guard object["type"] != nil else { return missing("type", "Write one of \(types).") }
    guard let type = choice(object, "type", as: AttributeType.self) else { return nil }
    var result = SchemaAttribute(name: name, type: type, isOptional: bool(object, "optional") ?? false)
    result.merge = choice(object, "merge", as: MergePolicy.self) ?? .lastWriter
    result.options = list(object, "options").compactMap { text($0, "an option") }
    result.originalName = string(object, "originalName")
    result.hashModifier = string(object, "hashModifier")
    result.swiftType = string(object, "swiftType")
    result.cases = list(object, "cases").compactMap { constant($0, as: type, "a case") }
    if let json = object["default"], json != .null { result.defaultValue = defaultValue(json, as: type) }
    return result
  }

  private mutating func relationship(_ json: JSONValue) -> SchemaRelationship? {
    defer { property = nil }
    if case .string(let name)? = json["name"] { property = name }
    let keys = [
      "name", "destination", "toMany", "optional", "inverse", "deleteRule", "ordered", "acyclic", "minimumCount",
      "maximumCount", "originalName", "hashModifier",
    ]
    guard let object = object(json, "a relationship", keys: keys) else { return nil }
    let name = string(object, "name") ?? missing("name", "Give every relationship a name.") ?? ""
    let destination = string(object, "destination") ?? missing("destination", "Name the entity at the other end.") ?? ""
    var result = SchemaRelationship(name: name, destination: destination)
    result.isToMany = bool(object, "toMany") ?? false
    result.isOptional = bool(object, "optional") ?? true
    result.inverse = string(object, "inverse")
    result.deleteRule = choice(object, "deleteRule", as: DeleteRule.self) ?? .nullify
    result.isOrdered = bool(object, "ordered") ?? false
    result.isAcyclic = bool(object, "acyclic") ?? false
    result.minimumCount = count(object, "minimumCount") ?? 0
    result.maximumCount = count(object, "maximumCount") ?? 0
    result.originalName = string(object, "originalName")
    result.hashModifier = string(object, "hashModifier")
    return result
  }

  /// A bare list of names, or an object that has one and more.
  private mutating func compound(_ json: JSONValue, _ what: String, _ keys: [String]) -> ([String], JSONObject?)? {
    if case .array(let elements) = json { return (elements.compactMap { text($0, "an attribute's name") }, nil) }
    guard let object = object(json, what, keys: keys) else { return nil }
    return (list(object, "attributes").compactMap { text($0, "an attribute's name") }, object)
  }

  private mutating func defaultValue(_ json: JSONValue, as type: AttributeType) -> DefaultValue? {
    guard let generator = json["generated"] else {
      return constant(json, as: type, "the default").map { .constant($0) }
    }
    switch (generator, type) {
    case (.string("uuid"), .uuid): return .generatedUUID
    case (.string("now"), .date): return .generatedNow
    default:
      report(
        "default_type", "The generated default does not fit \(type.rawValue).",
        "Write {\"generated\":\"uuid\"} for uuid, {\"generated\":\"now\"} for date.")
      return nil
    }
  }

  private mutating func constant(_ json: JSONValue, as type: AttributeType, _ what: String) -> Value? {
    do {
      if let value = try Self.value(json, as: type) { return try ValueRules.normalized(value, as: type, named: what) }
    } catch let error as TomboloError {
      report("default_type", error.message, error.remedy)
      return nil
    } catch {}
    report(
      "default_type", "\(what.capitalizedFirst) is \(json.kindName), not \(type.rawValue).", "Write \(type.inputForm).")
    return nil
  }

  private static func value(_ json: JSONValue, as type: AttributeType) throws -> Value? {
    switch (json, type) {
    case (.bool(let value), .bool): return .integer(value ? 1 : 0)
    case (.integer(let integer), .decimal): return .text(String(integer))
    case (.integer, .bool): return nil
    case (.integer(let integer), _): return .integer(integer)
    // The text of a number is not kept, so a fraction may have changed already.
    case (.real(let real), .decimal): return .text(real.description)
    case (.real(let real), .double), (.real(let real), .float), (.real(let real), .date): return .real(real)
    case (.string(let text), .string), (.string(let text), .codable): return .text(text)
    case (.string(let text), .decimal), (.string(let text), .date), (.string(let text), .uuid),
      (.string(let text), .url), (.string(let text), .data):
      return try ValueRules.value(parsing: text, as: type, named: "the default")
    case (.object, .double), (.object, .float), (.object, .date):
      if json["real"] == .string("inf") { return .real(.infinity) }
      return json["real"] == .string("-inf") ? .real(-.infinity) : nil
    case (.object, .data), (.object, .uuid):
      guard case .string(let text)? = json["bytes"] else { return nil }
      return Base64URL.bytes(of: text).map { .blob($0) }
    default: return nil
    }
  }

  // MARK: - Parts of an object

  private mutating func object(_ json: JSONValue, _ what: String, keys: [String]) -> JSONObject? {
    guard case .object(let object) = json else {
      report("wrong_value", "\(what.capitalizedFirst) is an object, and \(json.kindName) stands here.", "Write {…}.")
      return nil
    }
    for member in object.members where !keys.contains(member.key) {
      let near = keys.min { Self.distance($0, member.key) < Self.distance($1, member.key) } ?? ""
      let fix =
        Self.distance(near, member.key) <= 2
        ? "Did you mean \"\(near)\"?" : "Known are \(keys.joined(separator: ", "))."
      report("unknown_key", "There is no key \"\(member.key)\" in \(what).", fix)
    }
    return object
  }

  private mutating func list(_ object: JSONObject, _ key: String) -> [JSONValue] {
    guard let json = object[key] else { return [] }
    guard case .array(let elements) = json else {
      report("wrong_value", "\"\(key)\" is a list, and \(json.kindName) stands here.", "Write […].")
      return []
    }
    return elements
  }

  private mutating func string(_ object: JSONObject, _ key: String) -> String? {
    guard let json = object[key], json != .null else { return nil }
    return text(json, "\"\(key)\"")
  }

  private mutating func text(_ json: JSONValue, _ what: String) -> String? {
    if case .string(let text) = json { return text }
    report(
      "wrong_value", "\(what.capitalizedFirst) is a string, and \(json.kindName) stands here.", "Put it in quotes.")
    return nil
  }

  private mutating func bool(_ object: JSONObject, _ key: String) -> Bool? {
    guard let json = object[key] else { return nil }
    if case .bool(let value) = json { return value }
    report("wrong_value", "\"\(key)\" is true or false, and \(json.kindName) stands here.", "Write true or false.")
    return nil
  }

  private mutating func count(_ object: JSONObject, _ key: String) -> Int? {
    guard let json = object[key] else { return nil }
    if case .integer(let value) = json, let count = Int(exactly: value), count >= 0 { return count }
    report("wrong_value", "\"\(key)\" is not a count.", "Write a whole number that is not negative.")
    return nil
  }

  private mutating func choice<Choice: RawRepresentable & CaseIterable>(
    _ object: JSONObject, _ key: String, as type: Choice.Type
  ) -> Choice? where Choice.RawValue == String {
    guard let text = string(object, key) else { return nil }
    if let choice = Choice(rawValue: text) { return choice }
    let known = Choice.allCases.map(\.rawValue).joined(separator: ", ")
    report("wrong_value", "\"\(key)\" cannot be \"\(text)\".", "Write one of \(known).")
    return nil
  }

  private mutating func missing<Result>(_ key: String, _ fix: String) -> Result? {
    report("missing_key", "\"\(key)\" is missing.", fix)
    return nil
  }

  private mutating func report(_ code: String, _ text: String, _ fix: String) {
    problems.append(.init(code: code, entity: entity, property: property, text: text, fix: fix))
  }

  /// The number of insertions, deletions and replacements that turn one word into the other.
  static func distance(_ a: String, _ b: String) -> Int {
    var row = Array(0...b.utf8.count)
    for (i, x) in a.utf8.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for (j, y) in b.utf8.enumerated() {
        let next = min(row[j] + 1, row[j + 1] + 1, diagonal + (x == y ? 0 : 1))
        diagonal = row[j + 1]
        row[j + 1] = next
      }
    }
    return row[b.utf8.count]
  }
}

extension String {
  /// The text as the beginning of a sentence.
  var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
