// A schema document as JSON. Written: canonically. What equals its default is left out.

extension SchemaDocument {
  /// The document with its named arrays in canonical order, and a default of nil left out.
  package var normalized: SchemaDocument {
    SchemaDocument(
      name: name, version: version,
      entities: entities.map(\.normalized).sorted { $0.name.isBytewiseLess(than: $1.name) })
  }

  /// The one form in which a document is kept, sent and compared: sorted, without whitespace.
  package var canonicalJSON: [UInt8] { json.compact }

  /// The same content with line breaks, for people.
  package var readableJSON: [UInt8] { json.indented }

  package var json: JSONValue {
    .object([
      "name": .string(name),
      "version": version.map { .string($0.description) },
      "entities": .array(normalized.entities.map(\.json)),
    ])
  }
}

extension SchemaEntity {
  fileprivate var normalized: SchemaEntity {
    var entity = self
    entity.attributes = attributes.map(\.normalized).sorted { $0.name.isBytewiseLess(than: $1.name) }
    entity.relationships.sort { $0.name.isBytewiseLess(than: $1.name) }
    entity.unique.sort { Self.precedes($0.attributes, $1.attributes) }
    entity.indexes.sort { a, b in
      a.attributes == b.attributes ? a.kind.rawValue < b.kind.rawValue : Self.precedes(a.attributes, b.attributes)
    }
    return entity
  }

  private static func precedes(_ a: [String], _ b: [String]) -> Bool {
    a.lexicographicallyPrecedes(b) { $0.isBytewiseLess(than: $1) }
  }

  fileprivate var json: JSONValue {
    .object([
      "name": .string(name),
      "superentity": superentity.map { .string($0) },
      "attributes": attributes.isEmpty ? nil : .array(attributes.map(\.json)),
      "relationships": relationships.isEmpty ? nil : .array(relationships.map(\.json)),
      "unique": unique.isEmpty ? nil : .array(unique.map(\.json)),
      "indexes": indexes.isEmpty ? nil : .array(indexes.map(\.json)),
      "concurrentDelete": concurrentDelete == .deleteWins ? nil : .string(concurrentDelete.rawValue),
    ])
  }
}

extension SchemaAttribute {
  fileprivate var normalized: SchemaAttribute {
    var attribute = self
    attribute.options = Array(Set(options)).sorted { $0.isBytewiseLess(than: $1) }
    if case .constant(.null) = defaultValue { attribute.defaultValue = nil }
    if case .constant(let value) = defaultValue, let normal = try? ValueRules.normalized(value, as: type, named: name) {
      attribute.defaultValue = .constant(normal)
    }
    return attribute
  }

  fileprivate var json: JSONValue {
    .object([
      "name": .string(name),
      "type": .string(type.rawValue),
      "optional": isOptional ? .bool(true) : nil,
      "default": defaultValue.map { $0.json(as: type) },
      "merge": merge == .lastWriter ? nil : .string(merge.rawValue),
      "options": options.isEmpty ? nil : .array(options.map { .string($0) }),
      "originalName": originalName.map { .string($0) },
      "hashModifier": hashModifier.map { .string($0) },
      "cases": cases.isEmpty ? nil : .array(cases.map { $0.json(as: type) }),
      "swiftType": swiftType.map { .string($0) },
    ])
  }
}

extension SchemaRelationship {
  fileprivate var json: JSONValue {
    .object([
      "name": .string(name),
      "destination": .string(destination),
      "toMany": isToMany ? .bool(true) : nil,
      "optional": isOptional ? nil : .bool(false),
      "inverse": inverse.map { .string($0) },
      "deleteRule": deleteRule == .nullify ? nil : .string(deleteRule.rawValue),
      "ordered": isOrdered ? .bool(true) : nil,
      "acyclic": isAcyclic ? .bool(true) : nil,
      "minimumCount": minimumCount == 0 ? nil : .integer(Int64(minimumCount)),
      "maximumCount": maximumCount == 0 ? nil : .integer(Int64(maximumCount)),
      "originalName": originalName.map { .string($0) },
      "hashModifier": hashModifier.map { .string($0) },
    ])
  }
}

extension UniqueConstraint {
  fileprivate var json: JSONValue {
    .object([
      "attributes": .array(attributes.map { .string($0) }),
      "onConflict": onConflict == .merge ? nil : .string(onConflict.rawValue),
    ])
  }
}

extension SchemaIndex {
  fileprivate var json: JSONValue {
    .object([
      "attributes": .array(attributes.map { .string($0) }),
      "kind": kind == .binary ? nil : .string(kind.rawValue),
    ])
  }
}

extension DefaultValue {
  fileprivate func json(as type: AttributeType) -> JSONValue {
    switch self {
    case .generatedUUID: .object(["generated": .string("uuid")])
    case .generatedNow: .object(["generated": .string("now")])
    case .constant(let value): value.json(as: type)
    }
  }
}

extension Value {
  /// How a default or a case stands in a document: as a person would write it, where the type says how to read it.
  fileprivate func json(as type: AttributeType) -> JSONValue {
    switch (self, type) {
    case (.null, _): return .null
    case (.integer(let integer), .bool): return .bool(integer != 0)
    case (.integer(let integer), _): return .integer(integer)
    case (.real(let real), _):
      guard real.isFinite else { return .object(["real": .string(real > 0 ? "inf" : "-inf")]) }
      // Doubles without a fraction are written as the integers they are, as long as every digit counts.
      if let integer = Int64(exactly: real), abs(real) < 1e15 { return .integer(integer) }
      return .real(real)
    case (.text(let text), _): return .string(text)
    case (.blob(let bytes), .uuid):
      if let uuid = RecordID(bytes: bytes) { return .string(uuid.description) }
      return .object(["bytes": .string(Base64URL.text(of: bytes))])
    case (.blob(let bytes), _): return .object(["bytes": .string(Base64URL.text(of: bytes))])
    }
  }
}
