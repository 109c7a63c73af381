import Foundation
import Testing
import TomboloProtocol

/// The executable model in Tests/MergeModel runs random scripts; the engine is fed the same change sets and has to come
/// to the same records, stamps, positions, links, verdicts and conflict entries.
@Suite struct MergeDifferentialTests {
  static let scripts = 330

  @Test("the engine comes to the model's results, merge for merge")
  func equalsModel() throws {
    let lines = try Self.output.get()
    var replay = ModelReplay()
    for line in lines where !line.isEmpty { try replay.take(try JSONLine(Data(line))) }
    #expect(replay.differences == [])
    #expect(replay.merges > 5 * Self.scripts)
    #expect(replay.runs == Self.scripts)
  }

  /// The comparison can fail: each rule that is left out shows within these scripts.
  @Test(
    "a rule that is switched off is noticed",
    arguments: [
      without { $0.equalValuesTakeGreater = false }, without { $0.unassignedHasZeroStamp = false },
      without { $0.deleteSeesWrites = false }, without { $0.tombstonesMerge = false },
      without { $0.deletesCarryCause = false }, without { $0.lateCascadeLifts = false },
      without { $0.revivesWhole = false }, without { $0.checksIntegrity = false },
    ])
  func noticesMissingRule(_ rules: MergeRules) throws {
    var replay = ModelReplay(rules: rules)
    for line in try Self.output.get() where !line.isEmpty && replay.differences.isEmpty {
      try replay.take(try JSONLine(Data(line)))
    }
    #expect(!replay.differences.isEmpty)
  }

  private static func without(_ turnOff: (inout MergeRules) -> Void) -> MergeRules {
    var rules = MergeRules()
    turnOff(&rules)
    return rules
  }

  /// One run of the model serves all tests.
  private static let output = Result { try run(scripts: scripts) }

  /// The model's lines, from the Python program beside the tests.
  static func run(scripts: Int) throws -> [Data.SubSequence] {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("MergeModel")
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["python3", "-B", "script.py", String(scripts)]
    process.currentDirectoryURL = folder
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "the model failed")
    return output.split(separator: 0x0A)
  }
}

/// One line of the model's output.
struct JSONLine {
  let object: [String: Any]

  init(_ data: Data) throws {
    object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
  }
  init(_ any: Any?) throws { object = try #require(any as? [String: Any]) }

  func text(_ key: String) throws -> String { try #require(object[key] as? String) }
  func number(_ key: String) throws -> UInt64 { try #require(object[key] as? NSNumber).uint64Value }
  func list(_ key: String) throws -> [Any] { try #require(object[key] as? [Any]) }
  func flag(_ key: String) throws -> Bool { try #require(object[key] as? NSNumber).boolValue }
}

/// What the model writes down, in the engine's types.
enum ModelForm {
  /// Keeps the order of the model's identifiers, which are short text.
  static func id(_ text: String) -> RecordID {
    var high: UInt64 = 0
    for index in 0..<8 {
      let utf8 = Array(text.utf8)
      high = high << 8 | UInt64(index < utf8.count ? utf8[index] : 0)
    }
    return RecordID(high: high, low: high &* 0x9E37_79B9_7F4A_7C15)
  }

  static func id(_ any: Any?) throws -> RecordID { id(try #require(any as? String)) }

  static func stamp(_ any: Any?) throws -> Stamp {
    let parts = try #require(any as? [NSNumber]).map(\.uint64Value)
    return Stamp(
      clock: ClockReading(milliseconds: parts[0], counter: UInt16(parts[1])), replica: ReplicaID(parts[2]),
      derived: UInt32(parts[3]))
  }

  static func position(_ any: Any?) throws -> FeedPosition {
    FeedPosition(try #require(any as? NSNumber).uint64Value)
  }

  /// What the engine calls a field.
  static func field(_ name: String) -> String { name == "key" ? ResolvedOrder.prefix + "own" : name }

  static func value(_ any: Any?, isReference: Bool, isKey: Bool = false) throws -> Value {
    if let text = any as? String {
      return isReference ? Value(reference: id(text)) : isKey ? .blob(Array(text.utf8)) : .text(text)
    }
    if let number = any as? NSNumber { return .integer(number.int64Value) }
    return .null
  }

  static func isReference(_ field: String) -> Bool { field == "own" || field == "par" }

  static func cause(_ any: Any) throws -> DeleteCause {
    let parts = try #require(any as? [Any])
    return DeleteCause(stamp: try stamp(parts[0]), root: try id(parts[1]))
  }

  static func record(_ line: JSONLine) throws -> MergeRecord {
    let id = id(try line.text("id"))
    let life: MergeRecord.Life
    switch line.object["dead"] as? String {
    case "user": life = .deleted
    case "late": life = .orphaned
    case "alias":
      life = .merged(.init(id: Self.id(try line.text("alias")), incarnation: try stamp(line.object["dst"])))
    default: life = .living
    }
    let pairs = try line.list("incs").map { any -> MergeRecord.Incarnation in
      let parts = try #require(any as? [Any])
      return MergeRecord.Incarnation(id: try Self.id(parts[0]), stamp: try stamp(parts[1]))
    }
    var fields: [MergeField] = []
    for (name, any) in try JSONLine(line.object["f"]).object {
      let parts = try #require(any as? [Any])
      fields.append(
        MergeField(
          name: field(name), value: try value(parts[0], isReference: isReference(name), isKey: name == "key"),
          stamp: try stamp(parts[1]),
          position: try position(parts[2]),
          writePosition: try position(parts[3])))
    }
    return MergeRecord(
      entity: try line.text("t"), id: id, incarnation: try stamp(line.object["inc"]), answersTo: pairs, life: life,
      causes: try line.list("causes").map(cause),
      deathStamp: life == .living ? .zero : try stamp(line.object["dst"]), fields: fields,
      position: FeedPosition(try line.number("pos")), lifePosition: FeedPosition(try line.number("life")),
      mergePosition: FeedPosition(try line.number("mpos")))
  }

  /// One part of a save is one change, so that the places of fallen parts agree.
  static func change(_ line: JSONLine, stamp: Stamp) throws -> Change {
    let name = try line.text("id")
    let entity = String(name.prefix(1))
    let id = id(name)
    switch try line.text("k") {
    case "new":
      let written = Set(try line.list("written").compactMap { $0 as? String })
      let fields = try JSONLine(line.object["vals"]).object.map { name, any in
        Change.InitialField(
          name: Self.field(name), value: try value(any, isReference: isReference(name), isKey: name == "key"),
          isAssigned: written.contains(name))
      }
      return .create(Change.Create(entity: try line.text("t"), id: id, fields: fields))
    case "set":
      let field = try line.text("f")
      let write = Change.FieldWrite(
        name: Self.field(field),
        value: try value(line.object["v"], isReference: isReference(field), isKey: field == "key"),
        base: try Self.stamp(line.object["base"]))
      return .update(
        Change.Update(entity: entity, id: id, incarnation: try Self.stamp(line.object["inc"]), writes: [write]))
    case "add":
      let delta = try #require(line.object["v"] as? NSNumber).int64Value
      let addition = Change.CounterAddition(name: try line.text("f"), delta: delta)
      return .update(
        Change.Update(
          entity: entity, id: id, incarnation: try Self.stamp(line.object["inc"]), writes: [], additions: [addition]))
    case "del":
      return .delete(
        Change.Delete(
          entity: entity, id: id, incarnation: try Self.stamp(line.object["inc"]),
          cause: try cause(line.object["cause"] as Any)))
    case "link":
      let key = LinkKey(relationship: "P.tags", source: id, target: Self.id(try line.text("to")))
      return .link(
        Change.LinkChange(link: key, isPresent: try line.flag("on"), base: try Self.stamp(line.object["base"])))
    case "nop":
      return .update(Change.Update(entity: "P", id: id, incarnation: .zero, writes: []))
    default:
      // What the server always refuses: here, an entity that the schema does not have.
      return .update(Change.Update(entity: "Poison", id: id, incarnation: .zero, writes: []))
    }
  }

  static func changeSet(_ line: JSONLine) throws -> ChangeSet {
    let stamp = try stamp(line.object["stamp"])
    return ChangeSet(
      id: SaveID(RecordID(high: 1, low: try line.number("uid"))), number: SaveNumber(try line.number("no")),
      stamp: stamp, schemaVersion: SchemaVersion(1, 0, 0), base: FeedPosition(try line.number("cur")),
      changes: try line.list("ops").map { try change(JSONLine($0), stamp: stamp) },
      origin: (line.object["orig"] as? [NSNumber]).map { parts in
        ChangeSet.Origin(
          replica: ReplicaID(parts[0].uint64Value), number: SaveNumber(parts[1].uint64Value),
          epoch: Epoch(parts[2].uint64Value))
      })
  }

  /// What a replica uploads.
  static func items(_ line: JSONLine) throws -> [FeedItem] {
    var items: [FeedItem] = []
    for (name, any) in try JSONLine(line.object["rows"]).object {
      let row = try JSONLine(any)
      let fields = try JSONLine(row.object["f"]).object.map { field, any -> FieldState in
        let parts = try #require(any as? [Any])
        return FieldState(
          name: field, value: try value(parts[0], isReference: isReference(field)), stamp: try stamp(parts[1]))
      }
      items.append(
        .record(
          RecordState(
            entity: try row.text("t"), id: id(name), incarnation: try stamp(row.object["inc"]), fields: fields,
            isWhole: true)))
    }
    for any in try line.list("dead") {
      let dead = try JSONLine(any)
      let death = try stamp(dead.object["dst"])
      items.append(
        .tombstone(
          Tombstone(
            entity: try dead.text("t"), id: id(try dead.text("id")), incarnation: try stamp(dead.object["inc"]),
            survivor: (dead.object["alias"] as? String).map { .init(id: id($0), incarnation: death) },
            causes: try dead.list("causes").map(cause), stamp: death)))
    }
    for any in try line.list("pairs") {
      let parts = try #require(any as? [Any])
      items.append(
        .link(
          LinkState(
            link: LinkKey(relationship: "P.tags", source: try id(parts[0]), target: try id(parts[1])),
            isPresent: try #require(parts[2] as? NSNumber).boolValue, stamp: try stamp(parts[3]))))
    }
    return items
  }
}
