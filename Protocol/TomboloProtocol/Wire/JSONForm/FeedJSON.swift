// What a pull delivers, in JSON.

extension FeedItem {
  package var jsonBody: JSONObject { JSONObject([("item", json)]) }
  package init(jsonBody fields: JSONFields) throws { try self.init(json: fields.fields("item")) }

  var json: JSONValue {
    switch self {
    case .record(let state): state.json
    case .tombstone(let tombstone): tombstone.json
    case .link(let state):
      .object([
        "item": .string("link"),
        "relationship": .string(state.link.relationship),
        "source": .string(state.link.source.description),
        "target": .string(state.link.target.description),
        "present": .bool(state.isPresent),
        "stamp": .stamp(state.stamp),
      ])
    case .conflict(let entry): entry.json
    }
  }

  init(json fields: JSONFields) throws {
    switch try fields.text("item") {
    case "record": self = .record(try RecordState(json: fields))
    case "tombstone": self = .tombstone(try Tombstone(json: fields))
    case "link":
      self = .link(
        LinkState(
          link: try LinkKey(json: fields), isPresent: try fields.bool("present", default: true),
          stamp: try fields.stamp("stamp")))
    case "conflict": self = .conflict(try ConflictEntry(json: fields))
    default: throw TomboloError.unknownKind("an item")
    }
  }
}

extension RecordState {
  fileprivate var json: JSONValue {
    .object([
      "item": .string("record"), "entity": .string(entity), "id": .string(id.description),
      "incarnation": .stamp(incarnation), "whole": .bool(isWhole),
      "fields": .list(fields) { field in
        .object(["name": .string(field.name), "value": field.value.wireJSON, "stamp": .stamp(field.stamp)])
      },
    ])
  }

  fileprivate init(json fields: JSONFields) throws {
    self.init(
      entity: try fields.text("entity"), id: try fields.record("id"), incarnation: try fields.stamp("incarnation"),
      fields: try fields.list("fields") { field in
        FieldState(name: try field.text("name"), value: try field.value("value"), stamp: try field.stamp("stamp"))
      },
      isWhole: try fields.bool("whole", default: false))
  }
}

extension Tombstone {
  fileprivate var json: JSONValue {
    .object([
      "item": .string("tombstone"), "entity": .string(entity), "id": .string(id.description),
      "incarnation": .stamp(incarnation), "stamp": .stamp(stamp), "causes": .list(causes, \.json),
      "survivor": survivor.map {
        .object(["id": .string($0.id.description), "incarnation": .stamp($0.incarnation)])
      },
    ])
  }

  fileprivate init(json fields: JSONFields) throws {
    self.init(
      entity: try fields.text("entity"), id: try fields.record("id"), incarnation: try fields.stamp("incarnation"),
      survivor: try fields.optionalFields("survivor").map { survivor in
        Survivor(id: try survivor.record("id"), incarnation: try survivor.stamp("incarnation"))
      },
      causes: try fields.list("causes") { try DeleteCause(json: $0) }, stamp: try fields.stamp("stamp"))
  }
}

extension ConflictEntry {
  fileprivate var json: JSONValue {
    .object([
      "item": .string("conflict"), "id": .string(id.description), "replica": .hexadecimal(replica.rawValue),
      "rule": .string(rule.rawValue), "entity": .string(entity), "record": .string(record.description),
      "field": field.map { .string($0) }, "base": .stamp(base), "lost": lost.json, "standing": standing?.json,
    ])
  }

  fileprivate init(json fields: JSONFields) throws {
    self.init(
      id: try fields.record("id"), replica: ReplicaID(try fields.hexadecimal("replica")),
      rule: ConflictRule(rawValue: try fields.text("rule")), entity: try fields.text("entity"),
      record: try fields.record("record"), field: try fields.optionalText("field"), base: try fields.stamp("base"),
      lost: try FieldVersion(json: fields.fields("lost")),
      standing: try fields.optionalFields("standing").map { try FieldVersion(json: $0) })
  }
}

extension ConflictEntry.FieldVersion {
  fileprivate var json: JSONValue { .object(["value": value.wireJSON, "stamp": .stamp(stamp)]) }

  fileprivate init(json fields: JSONFields) throws {
    self.init(value: try fields.value("value"), stamp: try fields.stamp("stamp"))
  }
}
