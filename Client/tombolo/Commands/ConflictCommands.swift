import Tombolo
import TomboloClient
import TomboloProtocol

/// `tombolo conflicts STORE [--restore ID]`
package struct ConflictsCommand: Command {
  static let restore = CommandOption.text(
    "restore", "ID", help: "Write the lost value again; a unique beginning of the conflict's ID is enough.")

  package static let declaration = CommandDeclaration(
    "conflicts", summary: "Say which writes made here do not stand, and why",
    discussion:
      "Each line begins with the conflict's ID. --restore writes the value that was lost again, as a save of now; a record\n"
      + "that is gone is made anew with every value of it that was lost. The next sync sends it.",
    operands: [Shared.store], options: [restore.declaration, Shared.json.declaration])

  let store: String
  let restored: String?
  let isJSON: Bool

  package init(_ arguments: ParsedArguments) throws {
    store = arguments["STORE"]
    restored = try arguments.value(Self.restore)
    isJSON = try arguments.value(Shared.json)
  }

  package func run(in context: CommandContext) throws {
    let store = try context.open(store, readOnly: restored == nil)
    let entries = try store.conflicts()
    if let restored { return try store.restoreConflict(try Self.entry(restored, among: entries).id) }
    let naming = RecordNaming(store)
    let worded = try entries.map { entry in
      let name = try naming.name(of: entry.record, entity: entry.entity)
      return (entry, ConflictWording(entry, schema: store.schema.resolved, name: name))
    }
    let parked = try store.parkedSaves()
    if isJSON {
      let refused = parked.map { ParkedCommand.json($0, store.schema.resolved) }
      return context.output.json(.array(worded.map(Self.json) + refused))
    }
    let length = Self.shortLength(entries)
    for (entry, wording) in worded {
      context.output.line("\(Self.digits(entry.id).prefix(length))  \(wording.sentence)")
    }
    for save in parked { context.output.line(ParkedCommand.sentence(save)) }
    if entries.isEmpty, parked.isEmpty, context.output.isTerminal {
      context.output.note("Everything written here stands.")
    }
  }

  private static func digits(_ id: RecordID) -> String { id.description.filter { $0 != "-" } }

  /// How many digits tell the conflicts apart: eight, mostly.
  private static func shortLength(_ entries: [ConflictEntry]) -> Int {
    let all = entries.map { digits($0.id) }
    return (8...32).first { length in Set(all.map { $0.prefix(length) }).count == all.count } ?? 32
  }

  /// - Throws: `unknown_record`, `ambiguous`.
  private static func entry(_ text: String, among entries: [ConflictEntry]) throws -> ConflictEntry {
    let wanted = text.filter { $0 != "-" }.lowercased()
    let found = entries.filter { !wanted.isEmpty && digits($0.id).hasPrefix(wanted) }
    guard let entry = found.first else {
      throw TomboloError(
        .unknownRecord, "There is no conflict '\(text)'.",
        remedy: "'tombolo conflicts STORE' lists those that there are.")
    }
    guard found.count == 1 else {
      throw TomboloError(
        .ambiguous, "\(found.count) conflicts have an ID that begins with '\(text)'.",
        remedy: "Give more of its digits.")
    }
    return entry
  }

  private static func json(_ entry: ConflictEntry, _ wording: ConflictWording) -> JSONText {
    .object([
      ("id", .string(entry.id.description)), ("rule", .string(entry.rule.rawValue)), ("entity", .string(entry.entity)),
      ("record", .string(entry.record.description)), ("property", .optional(entry.field)),
      ("lost", .optional(wording.lost)), ("standing", .optional(wording.standing)),
      ("lostAt", .string(TimeText.text(entry.lost.stamp.clock.milliseconds))),
      ("by", .optional(entry.standing?.stamp.replica.description)), ("sentence", .string(wording.sentence)),
    ])
  }
}

/// `tombolo parked STORE [retry|discard] [NUMBER]`
package struct ParkedCommand: Command {
  enum Action: String { case retry, discard }

  package static let declaration = CommandDeclaration(
    "parked", summary: "List, retry or discard the saves that the server refused",
    discussion:
      "What a refused save wrote is no longer shown. 'retry' makes it again, as a save of now, once its reason is gone;\n"
      + "'discard' gives it up. Without a number both take all of them, in order. The list cuts long values;\n"
      + "--json has each of them whole, so that it can be kept elsewhere.",
    operands: [
      Shared.store, OperandDeclaration("retry|discard", .optional, help: "What to do; nothing lists them."),
      OperandDeclaration("NUMBER", .optional, help: "The number of one save, as the list shows it."),
    ], options: [Shared.json.declaration])

  let store: String
  let action: Action?
  let number: SaveNumber?
  let isJSON: Bool

  package init(_ arguments: ParsedArguments) throws {
    store = arguments["STORE"]
    let word = arguments["retry|discard"]
    action = Action(rawValue: word)
    guard word.isEmpty || action != nil else { throw UsageError("'\(word)' is neither retry nor discard") }
    let digits = arguments["NUMBER"]
    number = UInt64(digits).map { SaveNumber($0) }
    guard digits.isEmpty || number != nil else { throw UsageError("'\(digits)' is no number of a save") }
    isJSON = try arguments.value(Shared.json)
  }

  package func run(in context: CommandContext) throws {
    let store = try context.open(store, readOnly: action == nil)
    let saves = try store.parkedSaves()
    guard let action else {
      if isJSON { return context.output.json(.array(saves.map { Self.json($0, store.schema.resolved) })) }
      for save in saves {
        context.output.line(Self.sentence(save))
        for part in Self.parts(of: save, store.schema.resolved) { context.output.line("  \(part.text)") }
      }
      if saves.isEmpty, context.output.isTerminal { context.output.note("The server refused nothing.") }
      return
    }
    for number in number.map({ [$0] }) ?? saves.map(\.changeSet.number) {
      switch action {
      case .retry: try store.retryParked(number)
      case .discard: try store.discardParked(number)
      }
    }
  }

  static func sentence(_ save: ParkedSave) -> String {
    let time = TimeText.text(save.changeSet.stamp.clock.milliseconds)
    return "Your save \(save.changeSet.number.rawValue) of \(time) was refused: \(save.message) [\(save.code.rawValue)]"
  }

  static func json(_ save: ParkedSave, _ schema: ResolvedSchema) -> JSONText {
    .object([
      ("parked", .integer(Int64(clamping: save.changeSet.number.rawValue))), ("code", .string(save.code.rawValue)),
      ("message", .string(save.message)), ("changes", .number(save.changeSet.changes.count)),
      ("parts", .array(parts(of: save, schema).map(\.json))),
    ])
  }

  /// One change of a refused save, with what it wrote.
  private struct Part {
    var verb: String
    var entity: String
    var record: RecordID
    var values: [(name: String, value: String?)]

    var text: String {
      let list = values.map { "\($0.name)=\(TextTable.shown($0.value ?? "nil"))" }.joined(separator: " ")
      return "\(verb) \(entity) \(record)\(list.isEmpty ? "" : " ")\(list)"
    }

    var json: JSONText {
      .object([
        ("kind", .string(verb)), ("entity", .string(entity)), ("record", .string(record.description)),
        ("values", .object(values.map { ($0.name, .optional($0.value)) })),
      ])
    }
  }

  private static func parts(of save: ParkedSave, _ schema: ResolvedSchema) -> [Part] {
    func text(_ value: Value, _ name: String, of entity: String) -> String? {
      ValueText.text(value, type: schema.entity(entity)?.attributes.first { $0.name == name }?.type)
    }
    return save.changeSet.changes.map { change in
      switch change {
      case .create(let create):
        let values = create.fields.filter(\.isAssigned).map { ($0.name, text($0.value, $0.name, of: create.entity)) }
        return Part(verb: "insert", entity: create.entity, record: create.id, values: values)
      case .update(let update):
        let values = update.writes.map { ($0.name, text($0.value, $0.name, of: update.entity)) }
        let added = update.additions.map { ($0.name, Optional(($0.delta < 0 ? "" : "+") + String($0.delta))) }
        return Part(verb: "update", entity: update.entity, record: update.id, values: values + added)
      case .delete(let delete): return Part(verb: "delete", entity: delete.entity, record: delete.id, values: [])
      case .link(let link):
        return Part(
          verb: link.isPresent ? "link" : "unlink", entity: link.link.relationship, record: link.link.source,
          values: [("target", link.link.target.description)])
      }
    }
  }
}
