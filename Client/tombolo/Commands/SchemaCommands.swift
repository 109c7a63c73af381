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
