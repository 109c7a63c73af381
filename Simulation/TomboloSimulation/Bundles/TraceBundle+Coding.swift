import TomboloCompression
import TomboloProtocol
import Tombolo

/// The file: JSON lines, one Zstandard frame. Each line has a member `line` that says what it is; changes and records are
/// written as the protocol writes them in JSON.
extension TraceBundle {
  // MARK: Writing

  /// - Throws: `limit_exceeded` for what no reader would take.
  package func encoded() throws -> [UInt8] {
    var bytes: [UInt8] = []
    var count = 0
    func add(_ kind: String, _ members: [(String, JSONValue)]) throws {
      bytes += JSONValue.object(JSONObject([("line", .string(kind))] + members)).compact
      bytes.append(0x0A)
      count += 1
      guard bytes.count <= Self.bytesMax else {
        throw TomboloError(
          .limitExceeded, "The bundle would have more than \(Self.bytesMax >> 20) MiB.",
          remedy: "Sync, or make the records that are large smaller.")
      }
    }
    try add(
      "bundle",
      [
        ("format", .integer(Int64(Self.format))), ("values", .string(hasValues ? "kept" : "placeholders")),
        ("tooLarge", .bool(isTooLarge)), ("seed", seed.map { .string("\($0)") } ?? .null),
      ])
    try add("schema", [("document", try JSONValue(parsing: schema.canonicalJSON))])
    try add("environment", Self.texts(environment))
    try add("replica", Self.texts(replica) + [("replica", .string(replicaID.description))])
    for note in findings {
      try add("finding", Self.texts(["severity": note.severity, "code": note.code, "text": note.text]))
    }
    for save in saves { try add("save", Self.members(of: save)) }
    for item in confirmed { try add("confirmed", Self.members(of: item)) }
    for save in pending { try add(save.isAnswered ? "answered" : "unsent", Self.members(of: save.changeSet)) }
    for save in parked { try add("parked", Self.members(of: save.changeSet) + [("code", .string(save.code))]) }
    for entry in conflicts { try add("conflict", Self.members(of: FeedItem.conflict(entry))) }
    for item in shown { try add("shown", Self.members(of: item)) }
    try add("end", [("lines", .integer(Int64(count)))])
    do {
      return try Zstd.compressWithChecksum(bytes)
    } catch {
      throw TomboloError(.internalFault, "The bundle cannot be compressed: \(error).")
    }
  }

  private static func texts(_ texts: [String: String]) -> [(String, JSONValue)] {
    texts.map { ($0.key, .string($0.value)) }
  }

  private static func members(of message: some WireMessage) -> [(String, JSONValue)] {
    message.jsonBody.members.map { ($0.key, $0.value) } + [("kind", .string(type(of: message).kind.name))]
  }

  private static func members(of save: SaveSummary) -> [(String, JSONValue)] {
    [
      ("number", .string("\(save.number.rawValue)")), ("id", .string(save.id.description)),
      ("time", .string("\(save.time)")), ("state", .string(save.state.rawValue)),
      ("inserted", .integer(Int64(save.inserted))), ("updated", .integer(Int64(save.updated))),
      ("deleted", .integer(Int64(save.deleted))),
    ]
  }

  // MARK: Reading

  /// - Throws: `damaged_bundle`, naming the line; `invalid_schema`.
  package init(decoding bytes: [UInt8]) throws {
    let content: [UInt8]
    do {
      content = try Zstd.decompress(bytes, limit: Self.bytesMax)
    } catch {
      throw Self.damaged("it is no whole Zstandard frame of at most \(Self.bytesMax >> 20) MiB")
    }
    var reader = TraceBundleReader()
    for (index, line) in content.split(separator: 0x0A, omittingEmptySubsequences: true).enumerated() {
      do {
        try reader.take(Array(line))
      } catch let error as TomboloError where error.code == .invalidSchema {
        throw error
      } catch {
        throw Self.damaged("line \(index + 1) cannot be read: \((error as? TomboloError)?.message ?? "\(error)")")
      }
    }
    self = try reader.finish()
  }

  static func damaged(_ reason: String) -> TomboloError {
    TomboloError(
      .damagedBundle, "The bundle cannot be read: \(reason).",
      remedy: "Ask for it to be written and sent again: tombolo doctor STORE --bundle FILE.")
  }
}

/// Puts a bundle together, line after line.
private struct TraceBundleReader {
  private var hasValues: Bool?
  private var seed: UInt64?
  private var isTooLarge = false
  private var schema: SchemaDocument?
  private var environment: [String: String] = [:]
  private var replica: [String: String] = [:]
  private var findings: [TraceBundle.Note] = []
  private var confirmed: [FeedItem] = []
  private var pending: [TraceBundle.Pending] = []
  private var parked: [TraceBundle.Parked] = []
  private var conflicts: [ConflictEntry] = []
  private var shown: [FeedItem] = []
  private var saves: [SaveSummary] = []
  private var count = 0
  private var isComplete = false

  mutating func take(_ line: [UInt8]) throws {
    guard !isComplete else { throw TraceBundle.damaged("something stands behind its end") }
    guard case .object(let object) = try JSONValue(parsing: line) else {
      throw TraceBundle.damaged("a line is no JSON object")
    }
    func text(_ key: String) -> String? {
      if case .string(let text)? = object[key] { return text }
      return nil
    }
    func message<Message: WireMessage>(_ type: Message.Type) throws -> Message {
      try Message(decoding: line, as: .json)
    }
    let kind = text("line")
    guard kind == "bundle" || hasValues != nil else { throw TraceBundle.damaged("it does not begin as a bundle does") }
    switch kind {
    case "bundle":
      guard case .integer(let format)? = object["format"], format == Int64(TraceBundle.format) else {
        throw TraceBundle.damaged("its format is not \(TraceBundle.format), the only one that is known here")
      }
      hasValues = text("values") == "kept"
      isTooLarge = object["tooLarge"] == .bool(true)
      seed = text("seed").flatMap { UInt64($0) }
    case "schema": schema = try SchemaDocument(parsing: (object["document"] ?? .null).compact)
    case "environment": environment = Self.texts(object)
    case "replica": replica = Self.texts(object)
    case "finding":
      findings.append(
        TraceBundle.Note(severity: text("severity") ?? "", code: text("code") ?? "", text: text("text") ?? ""))
    case "save": saves.append(try Self.save(object))
    case "confirmed": confirmed.append(try message(FeedItem.self))
    case "unsent", "answered":
      pending.append(
        TraceBundle.Pending(changeSet: try message(ChangeSet.self), isAnswered: kind == "answered"))
    case "parked":
      parked.append(TraceBundle.Parked(changeSet: try message(ChangeSet.self), code: text("code") ?? ""))
    case "conflict": if case .conflict(let entry) = try message(FeedItem.self) { conflicts.append(entry) }
    case "shown": shown.append(try message(FeedItem.self))
    case "end":
      guard object["lines"] == .integer(Int64(count)) else { throw TraceBundle.damaged("lines are missing") }
      isComplete = true
    // A later version's.
    default: break
    }
    count += 1
  }

  private static func texts(_ object: JSONObject) -> [String: String] {
    var texts: [String: String] = [:]
    for member in object.members where member.key != "line" {
      if case .string(let text) = member.value { texts[member.key] = text }
    }
    return texts
  }

  private static func save(_ object: JSONObject) throws -> SaveSummary {
    func text(_ key: String) throws -> String {
      guard case .string(let text)? = object[key] else { throw TraceBundle.damaged("\(key) is no text") }
      return text
    }
    func number(_ key: String) throws -> Int {
      guard case .integer(let number)? = object[key] else { throw TraceBundle.damaged("\(key) is no number") }
      return Int(number)
    }
    guard let place = UInt64(try text("number")), let time = UInt64(try text("time")),
      let record = RecordID(try text("id")), let id = SaveID(bytes: record.bytes),
      let state = SaveSummary.State(rawValue: try text("state"))
    else { throw TraceBundle.damaged("a save cannot be read") }
    return SaveSummary(
      number: SaveNumber(place), id: id, author: nil, time: time, state: state, inserted: try number("inserted"),
      updated: try number("updated"), deleted: try number("deleted"))
  }

  func finish() throws -> TraceBundle {
    guard isComplete else { throw TraceBundle.damaged("its end is missing") }
    guard let hasValues, let schema, let digits = replica["replica"], let number = UInt64(digits, radix: 16) else {
      throw TraceBundle.damaged("it lacks the schema or the replica")
    }
    var bundle = TraceBundle(schema: schema, hasValues: hasValues, replica: ReplicaID(number))
    bundle.seed = seed
    bundle.isTooLarge = isTooLarge
    bundle.environment = environment
    bundle.replica = replica
    bundle.replica["replica"] = nil
    bundle.findings = findings
    bundle.saves = saves
    bundle.confirmed = confirmed
    bundle.pending = pending
    bundle.parked = parked
    bundle.conflicts = conflicts
    bundle.shown = shown
    return bundle
  }
}
