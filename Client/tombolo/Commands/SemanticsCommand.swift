import TomboloProtocol
import TomboloSimulation

/// `tombolo schema semantics STORE|FILE`
package struct SchemaSemanticsCommand: Command {
  package static let declaration = CommandDeclaration(
    "schema semantics", summary: "Say what sync does to this schema when two people do something at once",
    discussion:
      "Every pairing that the schema can have is tried with two replicas and a server in memory, by the code that syncs: what\n"
      + "stands, and who is told what of the rest. The first writes earlier; neither has seen what the other does.",
    operands: [OperandDeclaration("STORE|FILE", help: "A replica, or a schema document.")],
    options: [Shared.json.declaration])

  let path: String
  let isJSON: Bool

  package init(_ arguments: ParsedArguments) throws {
    path = arguments["STORE|FILE"]
    isJSON = try arguments.value(Shared.json)
  }

  package func run(in context: CommandContext) throws {
    let semantics: SchemaSemantics
    do {
      semantics = try SchemaSemantics(of: try SchemaFile.read(anything: path, in: context))
    } catch let failure as SimulationFailure {
      throw TomboloError(
        .invariantViolated, failure.reason, remedy: "This is a fault of Tombolo's: report it with the schema document.")
    }
    if isJSON { return context.output.json(.array(semantics.rows.map(Self.json))) }
    var entity = ""
    for row in semantics.rows {
      if row.entity != entity {
        if !entity.isEmpty { context.output.line() }
        context.output.line(row.entity)
        entity = row.entity
      }
      Self.show(row, in: context.output)
    }
  }

  private static func show(_ row: SchemaSemantics.Row, in output: Output) {
    let subject = row.properties.isEmpty ? "" : "\(row.properties.joined(separator: ", ")): "
    output.line("  \(subject)one \(row.firstDid); another \(row.secondDid)")
    show(row.result, in: output)
    if let reversed = row.reversed {
      output.line("    If the other's save reaches the server first:")
      show(reversed, in: output)
    }
  }

  private static func show(_ outcome: SchemaSemantics.Outcome, in output: Output) {
    output.line("    → \(outcome.sentence)")
    for told in outcome.told {
      output.line("      the \(told.isFirst ? "one" : "other") is told: \(told.sentence) [\(told.rule)]")
    }
  }

  private static func json(_ row: SchemaSemantics.Row) -> JSONText {
    .object([
      ("entity", .string(row.entity)), ("pairing", .string(row.pairing)),
      ("properties", .array(row.properties.map { .string($0) })), ("first", .string(row.firstDid)),
      ("second", .string(row.secondDid)), ("outcome", json(row.result)),
      ("ifSecondArrivesFirst", row.reversed.map(json) ?? .null),
    ])
  }

  private static func json(_ outcome: SchemaSemantics.Outcome) -> JSONText {
    .object([
      ("sentence", .string(outcome.sentence)),
      (
        "told",
        .array(
          outcome.told.map { told in
            .object([
              ("who", .string(told.isFirst ? "first" : "second")), ("rule", .string(told.rule)),
              ("sentence", .string(told.sentence)),
            ])
          })
      ),
    ])
  }
}
