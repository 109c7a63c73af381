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
      "Each line begins with the conflict's ID; 'conflicts show' has all of one, 'conflicts restore', or --restore, writes\n"
      + "the value that was lost again.",
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
    if let restored { return try Self.restore(restored, among: entries, in: store, context.output, isJSON: isJSON) }
    let naming = RecordNaming(store)
    let worded = try entries.map { entry in
      let name = try naming.name(of: entry.record, entity: entry.entity)
      let standsAgain = try store.standsAgain(entry)
      let wording = ConflictWording(entry, schema: store.schema.resolved, name: name, standsAgain: standsAgain)
      return (entry: entry, wording: wording, standsAgain: standsAgain)
    }
    let parked = try store.parkedSaves()
    if isJSON {
      let refused = parked.map { ParkedCommand.json($0, among: parked, store.schema.resolved) }
      return context.output.json(.array(worded.map { Self.json($0.entry, $0.wording, $0.standsAgain) } + refused))
    }
    let length = Self.shortLength(entries)
    for conflict in worded {
      context.output.line("\(Self.digits(conflict.entry.id).prefix(length))  \(conflict.wording.sentence)")
    }
    for save in parked { context.output.line(ParkedCommand.sentence(save)) }
    if entries.isEmpty, parked.isEmpty, context.output.isTerminal {
      context.output.note("Everything written here stands.")
    }
  }

  /// Makes a loss good, and says what came of it.
  static func restore(
    _ identifier: String, among entries: [ConflictEntry], in store: Store, _ output: Output, isJSON: Bool
  ) throws {
    let done = RestoredConflict(
      try store.restoreConflict(try entry(identifier, among: entries).id), schema: store.schema.resolved)
    if !isJSON { return done.sentences.forEach { output.line($0) } }
    func parts(_ parts: [RestoredConflict.Part]) -> JSONText {
      .array(
        parts.map {
          .object([
            ("property", .string($0.property)), ("value", .optional($0.value)), ("reason", .optional($0.reason)),
          ])
        })
    }
    output.json(
      .object([
        ("entity", .string(done.entity)), ("record", .string(done.record)), ("isMadeAnew", .bool(done.isMadeAnew)),
        ("restored", parts(done.restored)), ("notRestored", parts(done.notRestored)),
        ("settled", .array(done.settled.map { .string($0) })),
      ]))
  }

  private static func digits(_ id: RecordID) -> String { id.description.filter { $0 != "-" } }

  /// How many digits tell the conflicts apart: eight, mostly.
  private static func shortLength(_ entries: [ConflictEntry]) -> Int {
    let all = entries.map { digits($0.id) }
    return (8...32).first { length in Set(all.map { $0.prefix(length) }).count == all.count } ?? 32
  }

  /// - Throws: `unknown_record`, `ambiguous`.
  static func entry(_ text: String, among entries: [ConflictEntry]) throws -> ConflictEntry {
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

  private static func json(_ entry: ConflictEntry, _ wording: ConflictWording, _ standsAgain: Bool) -> JSONText {
    .object([
      ("id", .string(entry.id.description)), ("rule", .string(entry.rule.rawValue)), ("entity", .string(entry.entity)),
      ("record", .string(entry.record.description)), ("property", .optional(wording.property)),
      ("lost", .optional(wording.lost)), ("standing", .optional(wording.standing)),
      ("lostAt", .string(TimeText.text(entry.lost.stamp.clock.milliseconds))),
      ("by", .optional(entry.standing?.stamp.replica.description)), ("standsAgain", .bool(standsAgain)),
      ("sentence", .string(wording.sentence)),
    ])
  }
}
