import Tombolo
import TomboloClient
import TomboloProtocol

/// `tombolo conflicts show STORE ID`
package struct ConflictsShowCommand: Command {
  static let identifier = OperandDeclaration("ID", help: "The conflict's ID, or a unique beginning of it.")

  package static let declaration = CommandDeclaration(
    "conflicts show", summary: "Show one write that does not stand: what you saw, wrote, and what stands",
    operands: [Shared.store, identifier], options: [Shared.json.declaration])

  let store: String
  let identifier: String
  let isJSON: Bool

  package init(_ arguments: ParsedArguments) throws {
    store = arguments["STORE"]
    identifier = arguments["ID"]
    isJSON = try arguments.value(Shared.json)
  }

  package func run(in context: CommandContext) throws {
    let store = try context.open(store, readOnly: true)
    let entry = try ConflictsCommand.entry(identifier, among: try store.conflicts())
    let name = try RecordNaming(store).name(of: entry.record, entity: entry.entity)
    let base = try store.base(of: entry)
    let stamps = [base?.stamp, entry.base, entry.lost.stamp, entry.standing?.stamp].compactMap(\.self)
    let view = ConflictView(
      entry: entry, name: name, base: base, standsAgain: try store.standsAgain(entry), schema: store.schema,
      stamps: StampWording(origins: try store.origins(of: Set(stamps))))
    if isJSON { return context.output.json(view.json) }
    view.show(in: context.output)
    context.output.line("'tombolo conflicts restore \(self.store) \(identifier)' writes what was lost again.")
  }
}

/// `tombolo conflicts restore STORE ID`
package struct ConflictsRestoreCommand: Command {
  package static let declaration = CommandDeclaration(
    "conflicts restore", summary: "Write a value that was lost again, as a save of now",
    discussion:
      "A record that is gone is made anew with everything that this replica knew of it; a deletion that was undone is made\n"
      + "again. Says what is back, and what could not be brought back. The next sync sends it.",
    operands: [Shared.store, ConflictsShowCommand.identifier], options: [Shared.json.declaration])

  let store: String
  let identifier: String
  let isJSON: Bool

  package init(_ arguments: ParsedArguments) throws {
    store = arguments["STORE"]
    identifier = arguments["ID"]
    isJSON = try arguments.value(Shared.json)
  }

  package func run(in context: CommandContext) throws {
    let store = try context.open(store)
    try ConflictsCommand.restore(
      identifier, among: try store.conflicts(), in: store, context.output, isJSON: isJSON)
  }
}

/// One conflict with both sides of it.
private struct ConflictView {
  let entry: ConflictEntry
  let name: String?
  /// Nil where the replica no longer has it.
  let base: FieldMerge.Version?
  let standsAgain: Bool
  let schema: StoreSchema
  let stamps: StampWording

  /// Whether it is about a place in a list, whose bytes tell a person nothing.
  private var isPlace: Bool { schema.resolved.order(entry.field, of: entry.entity) != nil }
  private var wording: ConflictWording {
    ConflictWording(entry, schema: schema.resolved, name: name, standsAgain: standsAgain)
  }

  private func text(_ value: Value) -> String? {
    guard let field = entry.field, !isPlace else { return nil }
    return ValueText.text(value, type: schema.entity(entry.entity)?.column(field)?.attributeType)
  }

  func show(in output: Output) {
    output.line(
      "\(entry.entity) \(name.map { "“\(TextTable.shown($0))” " } ?? "")\(entry.record)\(entry.field.map { ", \(schema.resolved.title(of: $0, in: entry.entity))" } ?? "")"
    )
    line("you saw", base.map { text($0.value) }, base?.stamp ?? entry.base, in: output)
    line("you wrote", .some(text(entry.lost.value)), entry.lost.stamp, in: output)
    if let standing = entry.standing, entry.hasEnded {
      output.line("  \(entry.field == nil ? "undone    " : "deleted   ") \(stamps.text(standing.stamp) ?? "by nobody")")
    } else if let standing = entry.standing {
      line("stands", .some(text(standing.value)), standing.stamp, in: output)
    } else {
      output.line("  stands     nothing")
    }
    output.line("  rule       \(entry.rule.rawValue)")
    output.line(wording.sentence)
  }

  /// - Parameter value: nil where it is no longer known.
  private func line(_ label: String, _ value: String??, _ stamp: Stamp, in output: Output) {
    let shown: String
    if entry.field == nil || isPlace {
      shown = ""
    } else if let value {
      shown = value.map { "“\(TextTable.shown($0))”, " } ?? "no value, "
    } else {
      return output.line("  \(label)    a value that is no longer kept")
    }
    let gap = String(repeating: " ", count: max(1, 11 - label.count))
    output.line("  \(label)\(gap)\(shown)\(stamps.text(stamp).map { "written \($0)" } ?? "which nobody assigned")")
  }

  var json: JSONText {
    func version(_ value: Value?, _ stamp: Stamp) -> JSONText {
      .object([
        ("value", .optional(value.flatMap(text))), ("isKnown", .bool(value != nil)), ("stamp", stamps.json(stamp)),
      ])
    }
    let isOwn = entry.standing.map { stamps.origins[$0.stamp]?.isOwn ?? false }
    return .object([
      ("id", .string(entry.id.description)), ("rule", .string(entry.rule.rawValue)), ("entity", .string(entry.entity)),
      ("record", .string(entry.record.description)), ("property", .optional(entry.property(in: schema.resolved))),
      ("base", version(base?.value, base?.stamp ?? entry.base)), ("mine", version(entry.lost.value, entry.lost.stamp)),
      ("standing", entry.standing.map { version($0.value, $0.stamp) } ?? .null),
      ("winner", .optional(isOwn.map { $0 ? "here" : "elsewhere" })), ("standsAgain", .bool(standsAgain)),
      ("sentence", .string(wording.sentence)),
    ])
  }
}

extension ConflictEntry {
  /// Whether no value stands, and the stamp beside it says who ended the record, or undid a deletion.
  fileprivate var hasEnded: Bool {
    let rules: Set<ConflictRule> = [
      .recordDeleted, .parentDeleted, .targetDeleted, .overwrittenIncarnation, .deny, .editWins, .mergeUnseen,
    ]
    return rules.contains(rule)
  }
}
