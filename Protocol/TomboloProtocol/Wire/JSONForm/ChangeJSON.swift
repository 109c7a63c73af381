// Change sets in JSON.

extension ChangeSet {
  package var jsonBody: JSONObject { JSONObject([("changeSet", json)]) }
  package init(jsonBody fields: JSONFields) throws { try self.init(json: fields.fields("changeSet")) }

  var json: JSONValue {
    .object([
      "id": .string(id.description),
      "number": .unsigned(number.rawValue),
      "stamp": .stamp(stamp),
      "author": author.map { .string($0) },
      "schemaVersion": .string(schemaVersion.description),
      "base": .unsigned(base.rawValue),
      "changes": .list(changes, \.json),
      "origin": origin.map { origin in
        .object([
          "replica": .hexadecimal(origin.replica.rawValue),
          "number": .unsigned(origin.number.rawValue),
          "epoch": .hexadecimal(origin.epoch.rawValue),
        ])
      },
    ])
  }

  init(json fields: JSONFields) throws {
    self.init(
      id: SaveID(try fields.record("id")), number: SaveNumber(try fields.unsigned("number")),
      stamp: try fields.stamp("stamp"), author: try fields.optionalText("author"),
      schemaVersion: try fields.schemaVersion("schemaVersion"), base: FeedPosition(try fields.unsigned("base")),
      changes: try fields.list("changes") { try Change(json: $0) },
      origin: try fields.optionalFields("origin").map { origin in
        Origin(
          replica: ReplicaID(try origin.hexadecimal("replica")), number: SaveNumber(try origin.unsigned("number")),
          epoch: Epoch(try origin.hexadecimal("epoch")))
      })
  }
}

extension Change {
  fileprivate var json: JSONValue {
    switch self {
    case .create(let create): create.json
    case .update(let update): update.json
    case .delete(let delete): delete.json
    case .link(let change):
      .object([
        "change": .string(change.isPresent ? "link" : "unlink"),
        "relationship": .string(change.link.relationship),
        "source": .string(change.link.source.description),
        "target": .string(change.link.target.description),
        "base": .stamp(change.base),
      ])
    }
  }

  fileprivate init(json fields: JSONFields) throws {
    let kind = try fields.text("change")
    switch kind {
    case "create": self = .create(try Create(json: fields))
    case "update": self = .update(try Update(json: fields))
    case "delete": self = .delete(try Delete(json: fields))
    case "link", "unlink":
      self = .link(
        LinkChange(link: try LinkKey(json: fields), isPresent: kind == "link", base: try fields.stamp("base")))
    default: throw TomboloError.unknownKind("a change")
    }
  }
}

extension Change.Create {
  fileprivate var json: JSONValue {
    .object([
      "change": .string("create"), "entity": .string(entity), "id": .string(id.description),
      "fields": .list(fields) { field in
        .object([
          "name": .string(field.name), "value": field.value.wireJSON,
          "assigned": field.isAssigned ? nil : .bool(false),
        ])
      },
    ])
  }

  fileprivate init(json fields: JSONFields) throws {
    self.init(
      entity: try fields.text("entity"), id: try fields.record("id"),
      fields: try fields.list("fields") { field in
        Change.InitialField(
          name: try field.text("name"), value: try field.value("value"),
          isAssigned: try field.bool("assigned", default: true))
      })
  }
}

extension Change.Update {
  fileprivate var json: JSONValue {
    .object([
      "change": .string("update"), "entity": .string(entity), "id": .string(id.description),
      "incarnation": .stamp(incarnation),
      "writes": .list(writes) { write in
        .object([
          "name": .string(write.name), "value": write.value.wireJSON, "base": .stamp(write.base),
          "replaced": write.replaced?.wireJSON,
        ])
      },
      "additions": additions.isEmpty
        ? nil : .list(additions) { .object(["name": .string($0.name), "delta": .integer($0.delta)]) },
    ])
  }

  fileprivate init(json fields: JSONFields) throws {
    self.init(
      entity: try fields.text("entity"), id: try fields.record("id"), incarnation: try fields.stamp("incarnation"),
      writes: try fields.list("writes") { write in
        Change.FieldWrite(
          name: try write.text("name"), value: try write.value("value"), base: try write.stamp("base"),
          replaced: write.has("replaced") ? try write.value("replaced") : nil)
      },
      additions: fields.isAbsent("additions")
        ? []
        : try fields.list("additions") { addition in
          Change.CounterAddition(name: try addition.text("name"), delta: try addition.integer("delta"))
        })
  }
}

extension Change.Delete {
  fileprivate var json: JSONValue {
    .object([
      "change": .string("delete"), "entity": .string(entity), "id": .string(id.description),
      "incarnation": .stamp(incarnation), "cause": cause.json,
      "survivor": survivor.map { .object(["id": .string($0.id.description), "incarnation": .stamp($0.incarnation)]) },
    ])
  }

  fileprivate init(json fields: JSONFields) throws {
    self.init(
      entity: try fields.text("entity"), id: try fields.record("id"), incarnation: try fields.stamp("incarnation"),
      cause: try DeleteCause(json: fields.fields("cause")),
      survivor: try fields.optionalFields("survivor").map {
        Tombstone.Survivor(id: try $0.record("id"), incarnation: try $0.stamp("incarnation"))
      })
  }
}

extension DeleteCause {
  var json: JSONValue { .object(["stamp": .stamp(stamp), "root": .string(root.description)]) }

  init(json fields: JSONFields) throws {
    self.init(stamp: try fields.stamp("stamp"), root: try fields.record("root"))
  }
}

extension LinkKey {
  init(json fields: JSONFields) throws {
    self.init(
      relationship: try fields.text("relationship"), source: try fields.record("source"),
      target: try fields.record("target"))
  }
}

extension TomboloError {
  static func unknownKind(_ what: String) -> TomboloError {
    TomboloError(
      .unknownMessageKind, "The message has \(what) of a kind that this version does not know.",
      remedy: "Update Tombolo on this side.")
  }
}
