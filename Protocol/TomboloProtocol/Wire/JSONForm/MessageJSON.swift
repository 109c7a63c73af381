// Pushes, pages, questions and failures in JSON.

extension PushRequest {
  package var jsonBody: JSONObject {
    var members: [(String, JSONValue)] = [
      ("introduction", introduction.json), ("changeSets", .list(changeSets, \.json)),
    ]
    if let fragment {
      let json = JSONValue.object([
        "save": .string(fragment.save.description), "index": .integer(Int64(fragment.index)),
        "count": .integer(Int64(fragment.count)), "bytes": .string(Base64URL.text(of: fragment.bytes)),
      ])
      members.append(("fragment", json))
    }
    return JSONObject(members)
  }

  package init(jsonBody fields: JSONFields) throws {
    self.init(
      introduction: try Introduction(json: fields.fields("introduction")),
      changeSets: try fields.list("changeSets") { try ChangeSet(json: $0) },
      fragment: try fields.optionalFields("fragment").map { fragment in
        let index = try fragment.small("index")
        let count = try fragment.small("count")
        guard index < count else { throw fragment.malformed("index", "is beyond the last") }
        return Fragment(
          save: SaveID(try fragment.record("save")), index: index, count: count, bytes: try fragment.bytes("bytes"))
      })
  }
}

extension PushResponse {
  package var jsonBody: JSONObject {
    JSONObject([
      ("epoch", .hexadecimal(epoch.rawValue)), ("serverTime", .unsigned(serverTime)),
      ("answers", .list(answers, \.json)),
    ])
  }

  package init(jsonBody fields: JSONFields) throws {
    self.init(
      epoch: Epoch(try fields.hexadecimal("epoch")), serverTime: try fields.unsigned("serverTime"),
      answers: try fields.list("answers") { try PushAnswer(json: $0) })
  }
}

extension Page {
  package var jsonBody: JSONObject {
    var members: [(String, JSONValue)] = [
      ("cursor", .string(cursor.text)), ("items", .list(items, \.json)), ("hasMore", .bool(hasMore)),
      ("processed", .unsigned(processed.rawValue)), ("answers", .list(answers, \.json)),
      ("vector", .vector(vector)),
      ("serverTime", .unsigned(serverTime)),
    ]
    if let checksum {
      members.append(
        ("checksum", .string(checksum.text)))
    }
    if let recordBytesMax { members.append(("recordBytesMax", .unsigned(UInt64(clamping: recordBytesMax)))) }
    return JSONObject(members)
  }

  package init(jsonBody fields: JSONFields) throws {
    let vector = try fields.vector("vector")
    var checksum: Checksum?
    if let text = try fields.optionalText("checksum") {
      checksum = Checksum(text: text)
      if checksum == nil { throw fields.malformed("checksum", "is not 32 hexadecimal digits") }
    }
    self.init(
      cursor: try Cursor(text: fields.text("cursor")), items: try fields.list("items") { try FeedItem(json: $0) },
      hasMore: try fields.bool("hasMore", default: false), processed: SaveNumber(try fields.unsigned("processed")),
      answers: fields.isAbsent("answers") ? [] : try fields.list("answers") { try PushAnswer(json: $0) },
      vector: vector, checksum: checksum, serverTime: try fields.unsigned("serverTime"),
      recordBytesMax: fields.isAbsent("recordBytesMax")
        ? nil : Int(clamping: try fields.unsigned("recordBytesMax")))
  }
}

extension JSONValue {
  static func vector(_ vector: [ReplicaID: SaveNumber]) -> JSONValue {
    .object(JSONObject(vector.map { ($0.key.description, .unsigned($0.value.rawValue)) }))
  }
}

extension JSONFields {
  /// Replicas with their numbers; nothing where the member is absent.
  func vector(_ name: String) throws -> [ReplicaID: SaveNumber] {
    var vector: [ReplicaID: SaveNumber] = [:]
    guard let entries = try optionalFields(name) else { return vector }
    for member in entries.object.members {
      guard let replica = Self.hexadecimal(member.key) else {
        throw malformed(name, "has a key that is no replica")
      }
      // The same digits in capitals are the same replica.
      let number = try Self.unsigned(member.value, orThrow: malformed(name, "has no number somewhere"))
      guard vector.updateValue(SaveNumber(number), forKey: ReplicaID(replica)) == nil else {
        throw malformed(name, "has a replica twice")
      }
    }
    return vector
  }
}

extension Introduction {
  var json: JSONValue {
    .object([
      "replica": .hexadecimal(replica.rawValue),
      "schemaVersion": .string(schemaVersion.description),
      "highestSave": .unsigned(highestSave.rawValue),
      "holds": holds.map { .unsigned($0.rawValue) },
      "epoch": epoch.map { .hexadecimal($0.rawValue) },
    ])
  }

  init(json fields: JSONFields) throws {
    self.init(
      replica: ReplicaID(try fields.hexadecimal("replica")), schemaVersion: try fields.schemaVersion("schemaVersion"),
      highestSave: SaveNumber(try fields.unsigned("highestSave")),
      holds: fields.isAbsent("holds") ? nil : FeedPosition(try fields.unsigned("holds")),
      epoch: fields.isAbsent("epoch") ? nil : Epoch(try fields.hexadecimal("epoch")))
  }
}

extension PushAnswer {
  var json: JSONValue {
    var members: [(String, JSONValue)] = [
      ("save", .string(save.description)), ("number", .unsigned(number.rawValue)),
    ]
    func verdict(_ name: String) { members.append(("verdict", .string(name))) }
    switch self.verdict {
    case .accepted(let fell):
      verdict("accepted")
      let parts = JSONValue.list(fell) { part in
        .object(["change": .integer(Int64(part.change)), "field": part.field.map { .string($0) }])
      }
      members.append(("fell", parts))
    case .known(let stamp):
      verdict("known")
      members.append(("stamp", .stamp(stamp)))
    case .refused(let code, let message):
      verdict("refused")
      members += [("code", .string(code.rawValue)), ("message", .string(message))]
    case .clockSkew: verdict("clock_skew")
    case .gap(let expected):
      verdict("gap")
      members.append(("expected", .unsigned(expected.rawValue)))
    case .copiedReplica: verdict("copied_replica")
    case .fragmentStored: verdict("fragment_stored")
    }
    return .object(JSONObject(members))
  }

  init(json fields: JSONFields) throws {
    let verdict: Verdict
    switch try fields.text("verdict") {
    case "accepted":
      let fell = try fields.list("fell") { part in
        FallenPart(change: try part.small("change"), field: try part.optionalText("field"))
      }
      verdict = .accepted(fell: fell)
    case "known": verdict = .known(stamp: try fields.stamp("stamp"))
    case "refused":
      verdict = .refused(code: ErrorCode(rawValue: try fields.text("code")), message: try fields.text("message"))
    case "clock_skew": verdict = .clockSkew
    case "gap": verdict = .gap(expected: SaveNumber(try fields.unsigned("expected")))
    case "copied_replica": verdict = .copiedReplica
    case "fragment_stored": verdict = .fragmentStored
    default: throw TomboloError.unknownKind("a verdict")
    }
    self.init(
      save: SaveID(try fields.record("save")), number: SaveNumber(try fields.unsigned("number")), verdict: verdict)
  }
}

extension KnownRequest {
  package var jsonBody: JSONObject {
    JSONObject([("introduction", introduction.json), ("saves", .list(saves) { .string($0.description) })])
  }

  package init(jsonBody fields: JSONFields) throws {
    guard case .array(let elements) = try fields.json("saves") else { throw fields.malformed("saves", "is not a list") }
    let saves = try elements.map { element in
      guard case .string(let text) = element, let record = RecordID(text) else {
        throw fields.malformed("saves", "has something that is not a UUID")
      }
      return SaveID(record)
    }
    self.init(introduction: try Introduction(json: fields.fields("introduction")), saves: saves)
  }
}

extension KnownResponse {
  package var jsonBody: JSONObject {
    let saves = JSONValue.list(saves) { .object(["save": .string($0.save.description), "stamp": .stamp($0.stamp)]) }
    return JSONObject([("saves", saves)])
  }

  package init(jsonBody fields: JSONFields) throws {
    self.init(
      saves: try fields.list("saves") { known in
        Known(save: SaveID(try known.record("save")), stamp: try known.stamp("stamp"))
      })
  }
}

extension WireError {
  package var jsonBody: JSONObject {
    let details = JSONValue.list(error.details) { detail in
      .object([
        "code": .string(detail.code), "entity": detail.entity.map { .string($0) },
        "property": detail.property.map { .string($0) }, "text": .string(detail.text),
        "fix": detail.fix.isEmpty ? nil : .string(detail.fix),
      ])
    }
    let json = JSONValue.object([
      "code": .string(error.code.rawValue), "message": .string(error.message),
      "remedy": error.remedy.isEmpty ? nil : .string(error.remedy), "retryable": .bool(error.isRetryable),
      "details": error.details.isEmpty ? nil : details,
    ])
    return JSONObject([("error", json)])
  }

  package init(jsonBody fields: JSONFields) throws {
    let error = try fields.fields("error")
    let details =
      error.isAbsent("details")
      ? []
      : try error.list("details") { detail in
        TomboloError.Detail(
          code: try detail.text("code"), entity: try detail.optionalText("entity"),
          property: try detail.optionalText("property"), text: try detail.text("text"),
          fix: try detail.optionalText("fix") ?? "")
      }
    self.init(
      TomboloError(
        ErrorCode(rawValue: try error.text("code")), try error.text("message"),
        remedy: try error.optionalText("remedy") ?? "", isRetryable: try error.bool("retryable", default: false),
        details: details))
  }
}
