import Tombolo
import TomboloProtocol

/// `tombolo schema show STORE|FILE`
package struct SchemaShowCommand: Command {
  static let canonical = CommandOption.flag(
    "canonical", help: "Write the canonical form, on one line, as it is registered.")

  package static let declaration = CommandDeclaration(
    "schema show", summary: "Show the schema of a store or of a file",
    operands: [OperandDeclaration("STORE|FILE", help: "A replica, or a schema document.")],
    options: [canonical.declaration])

  let path: String
  let isCanonical: Bool

  package init(_ arguments: ParsedArguments) throws {
    path = arguments["STORE|FILE"]
    isCanonical = try arguments.value(Self.canonical)
  }

  package func run(in context: CommandContext) throws {
    let document = try SchemaFile.read(anything: path, in: context)
    context.output.text(
      String(decoding: isCanonical ? document.canonicalJSON + [0x0A] : document.readableJSON, as: UTF8.self))
  }
}

/// `tombolo schema lint FILE [--profile cloudkit]`
package struct SchemaLintCommand: Command {
  enum Profile: String, CaseIterable, Sendable { case tombolo, cloudkit }

  static let profile = CommandOption.choice(
    "profile", of: Profile.self, help: "Which rules: of Tombolo's sync (if not given), or what CloudKit demands.")

  package static let declaration = CommandDeclaration(
    "schema lint", summary: "Say whether a schema may sync, and what stands in the way",
    discussion: "Exit status 1 when a rule is broken; warnings alone leave it 0.",
    operands: [OperandDeclaration("STORE|FILE", help: "A replica, or a schema document.")],
    options: [profile.declaration, Shared.json.declaration])

  let path: String
  let profile: Profile
  let isJSON: Bool

  package init(_ arguments: ParsedArguments) throws {
    path = arguments["STORE|FILE"]
    profile = try arguments.value(Self.profile) ?? .tombolo
    isJSON = try arguments.value(Shared.json)
  }

  package func run(in context: CommandContext) throws {
    let document = try SchemaFile.read(anything: path, in: context)
    let offences = SchemaLint.check(document, rules: profile == .cloudkit ? .strict : .tombolo)
    let output = context.output
    if isJSON {
      output.json(.array(offences.map { SchemaLine.json($0.detail, verdict: $0.isError ? "error" : "warning") }))
    } else {
      for offence in offences {
        output.line(SchemaLine.text(offence.detail, verdict: offence.isError ? "error" : "warning"))
      }
      if offences.isEmpty { output.line("\(document.title): no offence") }
    }
    if offences.contains(where: \.isError) { throw CommandStatus.negative }
  }
}

/// `tombolo schema diff A B`
package struct SchemaDiffCommand: Command {
  package static let declaration = CommandDeclaration(
    "schema diff", summary: "Show what changed between two schemas, and whether that may sync",
    discussion: "Exit status 1 when a change is refused: replicas with the two schemas could not sync with each other.",
    operands: [
      OperandDeclaration("OLD", help: "A replica, or a schema document."),
      OperandDeclaration("NEW", help: "A replica, or a schema document."),
    ],
    options: [Shared.json.declaration])

  let old: String
  let new: String
  let isJSON: Bool

  package init(_ arguments: ParsedArguments) throws {
    old = arguments["OLD"]
    new = arguments["NEW"]
    isJSON = try arguments.value(Shared.json)
  }

  package func run(in context: CommandContext) throws {
    let before = try SchemaFile.read(anything: old, in: context)
    let after = try SchemaFile.read(anything: new, in: context)
    let changes = SchemaEvolution.check(from: before, to: after)
    let output = context.output
    if isJSON {
      output.json(.array(changes.map { SchemaLine.json($0.detail, verdict: $0.verdict.rawValue) }))
    } else {
      for change in changes { output.line(SchemaLine.text(change.detail, verdict: change.verdict.rawValue)) }
      if changes.isEmpty { output.line("\(after.title): no difference") }
    }
    if changes.contains(where: { $0.verdict == .refused }) { throw CommandStatus.negative }
  }
}

/// `tombolo schema adopt STORE --version V`
package struct SchemaAdoptCommand: Command {
  static let version = CommandOption.required(
    "version", "V", help: "The version that its schema is from now on, as 1.0.0.")

  package static let declaration = CommandDeclaration(
    "schema adopt", summary: "Give a store without a schema version one, so that it can sync",
    discussion: "Nothing else changes: the schema stays as it is. A version that was given is never changed.",
    operands: [Shared.store], options: [version.declaration])

  let store: String
  let version: SchemaVersion

  package init(_ arguments: ParsedArguments) throws {
    store = arguments["STORE"]
    let text = try arguments.value(Self.version)
    guard let version = SchemaVersion(text) else {
      throw UsageError("--version takes three numbers such as 1.0.0, not '\(text)'")
    }
    self.version = version
  }

  package func run(in context: CommandContext) throws {
    var document = try context.open(store, readOnly: true).schema.document
    if let found = document.version {
      guard found != version else { return }
      throw TomboloError(
        .schemaVersionTaken, "The store at \(store) has version \(found) already.",
        remedy: "A version is given once; a changed schema gets the next one when the store is opened with it.")
    }
    document.version = version
    try SchemaLint.requireSyncable(document)
    _ = try Store(.file(path: store), document: document, options: context.storeOptions)
  }
}

/// One finding about a schema.
private enum SchemaLine {
  static func text(_ detail: TomboloError.Detail, verdict: String) -> String {
    let place = [detail.entity, detail.property].compactMap(\.self).joined(separator: ".")
    let gap = String(repeating: " ", count: max(0, 8 - verdict.count))
    return
      "\(verdict)\(gap) \(place.isEmpty ? "" : place + ": ")\(detail.text)\(detail.fix.isEmpty ? "" : " " + detail.fix)"
  }

  static func json(_ detail: TomboloError.Detail, verdict: String) -> JSONText {
    .object([
      ("verdict", .string(verdict)), ("code", .string(detail.code)), ("entity", .optional(detail.entity)),
      ("property", .optional(detail.property)), ("text", .string(detail.text)), ("fix", .string(detail.fix)),
    ])
  }
}
