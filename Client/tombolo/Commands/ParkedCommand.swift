import Tombolo
import TomboloClient
import TomboloProtocol

/// `tombolo parked STORE [retry|mend|discard] [NUMBER]`
package struct ParkedCommand: Command {
  enum Action: String { case retry, mend, discard }

  static let set = CommandOption.list(
    "set", "name=value", help: "For mend: a value to write in the place of the one that was refused.")
  static let record = CommandOption.text(
    "record", "ID", help: "For mend: the record that is meant, where the save touches several.")
  static let dependents = CommandOption.flag(
    "dependents", help: "Do the same, afterwards, with the refused saves that hang on it.")

  package static let declaration = CommandDeclaration(
    "parked", summary: "List, retry, mend or discard the saves that the server refused",
    discussion:
      "What a refused save wrote is no longer shown. 'retry' makes it again, as a save of now, once its reason is gone;\n"
      + "'mend' makes it again with other values (--set); 'discard' gives it up. Without a number retry and discard take all\n"
      + "of them, in order. The list cuts long values; --json has each of them whole, so that it can be kept elsewhere.",
    operands: [
      Shared.store, OperandDeclaration("retry|mend|discard", .optional, help: "What to do; nothing lists them."),
      OperandDeclaration("NUMBER", .optional, help: "The number of one save, as the list shows it."),
    ], options: [set.declaration, record.declaration, dependents.declaration, Shared.json.declaration])

  let store: String
  let action: Action?
  let number: SaveNumber?
  let assignments: Assignments
  let record: String?
  let takesDependents: Bool
  let isJSON: Bool

  package init(_ arguments: ParsedArguments) throws {
    store = arguments["STORE"]
    let word = arguments["retry|mend|discard"]
    action = Action(rawValue: word)
    guard word.isEmpty || action != nil else { throw UsageError("'\(word)' is none of retry, mend and discard") }
    let digits = arguments["NUMBER"]
    number = UInt64(digits).map { SaveNumber($0) }
    guard digits.isEmpty || number != nil else { throw UsageError("'\(digits)' is no number of a save") }
    assignments = try Assignments(try arguments.value(Self.set))
    record = try arguments.value(Self.record)
    takesDependents = try arguments.value(Self.dependents)
    isJSON = try arguments.value(Shared.json)
    if action == .mend {
      guard number != nil else { throw UsageError("mend needs the number of a save") }
      guard !assignments.items.isEmpty else { throw UsageError("mend needs a value: --set name=value") }
    } else {
      guard assignments.items.isEmpty, record == nil else { throw UsageError("--set and --record are for mend") }
    }
  }

  package func run(in context: CommandContext) throws {
    let store = try context.open(store, readOnly: action == nil)
    let saves = try store.parkedSaves()
    guard let action else { return list(saves, store.schema.resolved, context.output) }
    let first = number.flatMap { number in saves.last { $0.changeSet.number == number } }
    if action == .mend, let number {
      let mend = try first.map { try self.mend(of: $0, in: store) }
      try store.retryParked(number, mends: mend.map { [$0] } ?? [])
    } else {
      for number in number.map({ [$0] }) ?? saves.map(\.changeSet.number) { try act(action, number, store) }
    }
    guard let first else { return }
    let dependents = saves.dependents(of: first).map(\.changeSet.number)
    if takesDependents {
      for number in dependents { try act(action == .discard ? .discard : .retry, number, store) }
    } else if !dependents.isEmpty {
      let numbers = dependents.map { String($0.rawValue) }.joined(separator: ", ")
      context.output.note("Still refused, since they hang on it: \(numbers). --dependents takes them along.")
    }
  }

  private func act(_ action: Action, _ number: SaveNumber, _ store: Store) throws {
    if action == .discard { try store.discardParked(number) } else { try store.retryParked(number) }
  }

  // MARK: Mending

  /// - Throws: `unknown_record`, `ambiguous`, and what ``Assignments`` throws.
  private func mend(of save: ParkedSave, in store: Store) throws -> ParkedMend {
    let names = assignments.items.map(\.name)
    let range = try record.map(RecordAccess.bounds)
    let fitting = save.changeSet.changes.filter { change in
      guard let id = change.record, let plan = store.schema.entity(change.entity) else { return false }
      if let range { return range.contains(id) }
      return change.isWrite && names.allSatisfy { plan.column($0) != nil }
    }
    guard let change = fitting.first, let id = change.record, let plan = store.schema.entity(change.entity) else {
      throw TomboloError(
        .unknownRecord,
        "Save \(save.changeSet.number.rawValue) touches no record that has \(names.joined(separator: ", ")).",
        remedy: "'tombolo parked \(self.store)' lists what it did.")
    }
    guard Set(fitting.compactMap(\.record)).count == 1 else {
      throw TomboloError(
        .ambiguous,
        "Save \(save.changeSet.number.rawValue) touches several records that have \(names.joined(separator: ", ")).",
        remedy: "Say which one: --record ID.")
    }
    guard try assignments.members(for: plan).isEmpty else {
      throw UsageError("--set is for attributes and references, not for the members of a relationship")
    }
    let values = try store.read { try assignments.values(for: plan, in: store.schema, on: $0) }
    return ParkedMend(record: id, values: values)
  }

  // MARK: Listing

  private func list(_ saves: [ParkedSave], _ schema: ResolvedSchema, _ output: Output) {
    if isJSON { return output.json(.array(saves.map { Self.json($0, among: saves, schema) })) }
    for save in saves {
      output.line(Self.sentence(save))
      let change = ParkedChange(save, among: saves, schema: schema)
      for edit in change.edits { output.line("  \(Self.text(edit))") }
      if !change.dependents.isEmpty {
        output.line("  \(change.dependents.map(String.init).joined(separator: ", ")) hang on it")
      }
    }
    if saves.isEmpty, output.isTerminal { output.note("The server refused nothing.") }
  }

  static func sentence(_ save: ParkedSave) -> String {
    let time = TimeText.text(save.changeSet.stamp.clock.milliseconds)
    return "Your save \(save.changeSet.number.rawValue) of \(time) was refused: \(save.message) [\(save.code.rawValue)]"
  }

  private static func text(_ edit: ParkedChange.Edit) -> String {
    let list = edit.values.map { "\($0.name)=\(TextTable.shown($0.value ?? "nil"))" }.joined(separator: " ")
    return "\(edit.kind.rawValue) \(edit.entity) \(edit.record)\(list.isEmpty ? "" : " ")\(list)"
  }

  static func json(_ save: ParkedSave, among saves: [ParkedSave], _ schema: ResolvedSchema) -> JSONText {
    let change = ParkedChange(save, among: saves, schema: schema)
    return .object([
      ("parked", .integer(Int64(clamping: change.id))), ("code", .string(change.code.rawValue)),
      ("message", .string(change.message)), ("changes", .number(change.edits.count)),
      (
        "parts",
        .array(
          change.edits.map { edit in
            .object([
              ("kind", .string(edit.kind.rawValue)), ("entity", .string(edit.entity)), ("record", .string(edit.record)),
              ("values", .object(edit.values.map { ($0.name, .optional($0.value)) })),
            ])
          })
      ),
      ("dependents", .array(change.dependents.map { .integer(Int64(clamping: $0)) })),
    ])
  }
}

extension Change {
  /// Whether it writes values of a record.
  fileprivate var isWrite: Bool {
    switch self {
    case .create, .update: true
    case .delete, .link: false
    }
  }
}
