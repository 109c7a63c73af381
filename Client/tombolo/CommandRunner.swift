import Tombolo
import TomboloProtocol
import TomboloSQLite

/// Finds the command that is called, runs it, and turns what it throws into lines and a status.
package enum CommandRunner {
  /// In the order of the help.
  package static let commands: [any Command.Type] = [
    InitCommand.self, SchemaShowCommand.self, SchemaLintCommand.self, SchemaDiffCommand.self,
    SchemaSemanticsCommand.self,
    SchemaAdoptCommand.self,
    ImportCommand.self,
    AddCommand.self, SetCommand.self, DeleteCommand.self, GetCommand.self, ListCommand.self, RemoteAddCommand.self,
    CloneCommand.self, SyncCommand.self, StatusCommand.self, LogCommand.self, ConflictsCommand.self,
    ConflictsShowCommand.self, ConflictsRestoreCommand.self, ParkedCommand.self, ExplainCommand.self,
    DoctorCommand.self,
    VerifyCommand.self, SimulateCommand.self, ChaosCommand.self,
  ]

  /// Status of a command that was called wrongly (sysexits.h, `EX_USAGE`).
  package static let usageStatus: Int32 = 64

  /// - Returns: the exit status: 0, 1 for an error or a negative answer, 64 for wrong usage.
  package static func run(_ arguments: [String], in context: CommandContext) -> Int32 {
    do {
      try dispatch(arguments, in: context)
      context.output.endProgress()
      return 0
    } catch let status as CommandStatus {
      context.output.endProgress()
      return status.status
    } catch let error as UsageError {
      let help = error.command.map { "tombolo \($0) --help" } ?? "tombolo --help"
      context.output.note("error[usage]: \(error.message)\n  \(help) shows what there is")
      return usageStatus
    } catch let error as TomboloError {
      report(error, to: context.output)
      return 1
    } catch let error as SQLiteError {
      report(TomboloError(error, path: "the store"), to: context.output)
      return 1
    } catch {
      report(TomboloError(.internalFault, "The command failed: \(error)."), to: context.output)
      return 1
    }
  }

  private static func report(_ error: TomboloError, to output: Output) {
    var lines = ["error[\(error.code.rawValue)]: \(error.message)"]
    for detail in error.details.prefix(100) {
      let place = [detail.entity, detail.property].compactMap(\.self).joined(separator: ".")
      lines.append(
        "  - \(place.isEmpty ? "" : place + ": ")\(detail.text)\(detail.fix.isEmpty ? "" : " " + detail.fix)")
    }
    if error.details.count > 100 { lines.append("  - and \(error.details.count - 100) more") }
    if !error.remedy.isEmpty { lines.append("  \(error.remedy)") }
    output.note(lines.joined(separator: "\n"))
  }

  private static func dispatch(_ arguments: [String], in context: CommandContext) throws {
    guard let first = arguments.first else { throw UsageError("no command is given") }
    if first == "--help" || first == "-h" || first == "help" {
      if first == "help", arguments.count > 1 {
        return try dispatch(Array(arguments.dropFirst()) + ["--help"], in: context)
      }
      return context.output.text(help)
    }
    if first == "--version" || first == "-V" || first == "version" { return context.output.line(version) }
    if arguments.dropFirst().allSatisfy({ $0 == "--help" || $0 == "-h" }), arguments.count > 1,
      let group = help(ofGroup: first)
    {
      return context.output.text(group)
    }
    let command = try find(arguments)
    let declaration = command.declaration
    let rest = Array(arguments.dropFirst(declaration.name.split(separator: " ").count))
    let parsed = try ParsedArguments(rest, for: declaration)
    if parsed.wantsHelp { return context.output.text(declaration.help) }
    do {
      try command.init(parsed).run(in: context)
    } catch var error as UsageError where error.command == nil {
      error.command = declaration.name
      throw error
    }
  }

  private static func find(_ arguments: [String]) throws -> any Command.Type {
    let words = arguments.prefix { !$0.hasPrefix("-") }
    let two = words.prefix(2).joined(separator: " ")
    let names = commands.map { $0.declaration.name }
    // `conflicts show` before `conflicts`.
    for name in [two, words.first ?? ""] {
      if let command = commands.first(where: { $0.declaration.name == name }) { return command }
    }
    guard let first = words.first else { throw UsageError("'\(arguments.first ?? "")' is no command") }
    let group = names.filter { $0.hasPrefix(first + " ") }
    if !group.isEmpty {
      // `schema --help` lists the group.
      guard words.count > 1 else {
        throw UsageError("'\(first)' needs a second word: \(group.joined(separator: ", "))")
      }
      throw UsageError("'\(two)' is no command\(NearestName.suggestion(for: two, among: group))")
    }
    let heads = names + Set(names.compactMap { $0.split(separator: " ").first.map(String.init) }).sorted()
    throw UsageError("'\(first)' is no command\(NearestName.suggestion(for: first, among: heads))")
  }

  private static var version: String {
    "tombolo \(ProgramVersion.text)\nprotocol \(ProgramVersion.protocolVersion), store format \(StoreVersion.format)"
  }

  /// What `schema --help` says: the commands that begin so. Nil for what is no group, or a command itself.
  private static func help(ofGroup word: String) -> String? {
    let group = commands.filter { $0.declaration.name.hasPrefix(word + " ") }
    guard !group.isEmpty, !commands.contains(where: { $0.declaration.name == word }) else { return nil }
    return "Usage: tombolo \(word) COMMAND …\n\n"
      + CommandDeclaration.columns(group.map { ($0.declaration.name, $0.declaration.summary) })
      + "\ntombolo \(word) COMMAND --help explains one.\n"
  }

  package static var help: String {
    let rows = commands.map { ($0.declaration.name, $0.declaration.summary) }
    return """
      Tombolo: replicas that work without a network, and sync with a server of your own.

      Usage: tombolo COMMAND …

      \(CommandDeclaration.columns(rows))
      tombolo COMMAND --help explains one; tombolo --version says which this is. Identifiers may be shortened while they stay unique.
      Exit status: 0 done, 1 an error or a negative answer, 64 called wrongly.

      """
  }
}
