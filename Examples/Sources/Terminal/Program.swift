import SwiftData

/// A program of several commands that work on one store.
///
/// `App` is what the commands work with: the program's view model.
public struct Program<App: AnyObject> {
  /// One command: what is typed, what `--help` says, and what is done.
  public struct Command {
    let name: String
    let usage: String
    let summary: String
    let run: @MainActor (App, inout Arguments) async throws -> Void

    public init(
      _ name: String, _ usage: String = "", _ summary: String,
      run: @escaping @MainActor (App, inout Arguments) async throws -> Void
    ) {
      self.name = name
      self.usage = usage
      self.summary = summary
      self.run = run
    }
  }

  let name: String
  let summary: String
  let schema: any VersionedSchema.Type
  let migrationPlan: (any SchemaMigrationPlan.Type)?
  let commands: [Command]
  let makeApp: @MainActor (ModelContainer) throws -> App

  public init(
    _ name: String, _ summary: String, schema: any VersionedSchema.Type,
    migrationPlan: (any SchemaMigrationPlan.Type)? = nil, app: @escaping @MainActor (ModelContainer) throws -> App,
    commands: [Command]
  ) {
    self.name = name
    self.summary = summary
    self.schema = schema
    self.migrationPlan = migrationPlan
    self.commands = commands
    makeApp = app
  }

  /// Does what the words on the command line say, and ends the process.
  @MainActor public func main() async -> Never {
    exit(await run(Array(CommandLine.arguments.dropFirst())))
  }

  @MainActor func run(_ words: [String]) async -> Int32 {
    var arguments = Arguments(words)
    do {
      if arguments.flag("help") || words.isEmpty {
        print(help)
        return 0
      }
      let file = try arguments.option("store")
      let word = try arguments.command()
      if let command = commands.first(where: { $0.name == word }) {
        let app = try makeApp(open(file))
        return try await attempt(command.usage, word) {
          try await command.run(app, &arguments)
          try arguments.finish()
        }
      }
      guard let command = SyncCommand.all.first(where: { $0.name == word }) else {
        throw UsageError("There is no command \(word); '\(name) --help' lists them.")
      }
      let container = try open(file)
      return try await attempt(command.usage, word) {
        try await command.run(container, &arguments)
      }
    } catch {
      return complain(error)
    }
  }

  /// Adds how a command is called to what is said of a wrong call.
  @MainActor private func attempt(_ usage: String, _ word: String, _ body: () async throws -> Void) async throws
    -> Int32
  {
    do {
      try await body()
      return 0
    } catch let error as UsageError {
      throw UsageError("\(error.text)\nusage: \(name) \(word) \(usage)")
    }
  }

  private func open(_ file: String?) throws -> ModelContainer {
    let configuration = file.map { ModelConfiguration(url: URL(fileURLWithPath: $0)) } ?? ModelConfiguration()
    return try ModelContainer(
      for: Schema(versionedSchema: schema), migrationPlan: migrationPlan, configurations: configuration)
  }

  private func complain(_ error: any Error) -> Int32 {
    var text = "\(name): \((error as? UsageError)?.text ?? error.localizedDescription)"
    if let remedy = (error as? any LocalizedError)?.recoverySuggestion { text += "\n\(remedy)" }
    FileHandle.standardError.write(Data((text + "\n").utf8))
    return error is UsageError ? 64 : 1
  }

  @MainActor private var help: String {
    var rows = commands.map { ("\($0.name) \($0.usage)", $0.summary) }
    rows += SyncCommand.all.map { ("\($0.name) \($0.usage)", $0.summary) }
    rows.append(("--store FILE", "another store than the usual one; before or after any command"))
    let width = rows.map(\.0.count).max() ?? 0
    let lines = rows.map { "  \($0.0.padding(toLength: width, withPad: " ", startingAt: 0))  \($0.1)" }
    return "\(summary)\n\nusage: \(name) COMMAND …\n\n\(lines.joined(separator: "\n"))"
  }
}
