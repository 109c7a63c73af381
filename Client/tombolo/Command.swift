/// One command: its declaration, its arguments as values, and what it does.
package protocol Command: Sendable {
  static var declaration: CommandDeclaration { get }
  init(_ arguments: ParsedArguments) throws
  /// - Throws: ``TomboloError``, ``UsageError``, ``CommandStatus``.
  func run(in context: CommandContext) throws
}

/// Ends a command with a status other than 0 without an error message: its output says it all.
package struct CommandStatus: Error, Hashable, Sendable {
  package var status: Int32
  package static let negative = CommandStatus(status: 1)
}
