import Foundation
import TomboloProtocol
import TomboloServer

/// `tombolod token …`: works on the control store directly, beside a running server.
enum TokenCommand {
  static func run(_ words: [String]) throws -> Int32 {
    let rest = Array(words.dropFirst())
    switch words.first {
    case "create": return try create(rest)
    case "list": return try list(rest)
    case "revoke": return try revoke(rest)
    case "--help", "-h":
      return Console.result(HelpText.token)
    default:
      throw TomboloError(
        .usage, "'tombolod token' needs one of create, list and revoke.", remedy: "See 'tombolod token --help'.")
    }
  }

  private static func create(_ words: [String]) throws -> Int32 {
    let arguments = try Arguments(words, options: ["data", "store", "role", "name", "out"])
    if arguments.asksForHelp { return help(HelpText.tokenCreate) }
    try arguments.requireNothingElse()
    guard let role = Role(rawValue: try arguments.required("role")) else {
      throw TomboloError(.usage, "The role is none of owner, writer and reader.", remedy: "Give one of the three.")
    }
    let control = try ControlStore(directory: try arguments.required("data"))
    // The file first: a token that was made and could not be handed over would stay valid and unknown.
    let output = try arguments.values["out"].map { try PrivateFile(path: $0) }
    let (secret, record) = try control.createToken(
      store: try arguments.required("store"), role: role, name: arguments.values["name"] ?? "",
      randomness: SystemRandomness(), clock: SystemClock(), limit: ServiceLimits().tokensMax)
    if let output {
      try output.write(secret + "\n")
      Console.note("token \(record.id) for store \(record.store), \(role.rawValue)")
      return 0
    }
    let status = Console.result(secret)
    if status != 0 {
      // Nobody has seen it, and nobody ever will.
      _ = try control.revokeToken(id: record.id, store: nil, clock: SystemClock())
      Console.note("  The token is revoked, since nobody has it.")
    }
    return status
  }

  private static func list(_ words: [String]) throws -> Int32 {
    let arguments = try Arguments(words, options: ["data", "store"])
    if arguments.asksForHelp { return help(HelpText.tokenList) }
    try arguments.requireNothingElse()
    let control = try existing(arguments)
    let lines = try control.tokens(store: arguments.values["store"]).map { token in
      let state = token.revoked == nil ? "valid" : "revoked"
      return [token.id, token.store, token.role.rawValue, state, token.name].joined(separator: "\t")
    }
    return lines.isEmpty ? 0 : Console.result(lines.joined(separator: "\n"))
  }

  /// Only making a token makes a folder: elsewhere a misspelt one would look like one without tokens.
  private static func existing(_ arguments: Arguments) throws -> ControlStore {
    let directory = try arguments.required("data")
    guard FileManager.default.fileExists(atPath: ControlStore.path(in: directory)) else {
      throw TomboloError(
        .dataDirectoryUnusable, "There is no server's data at \(directory).",
        remedy: "Check --data; 'tombolod token create' and 'tombolod serve' make the folder.")
    }
    return try ControlStore(directory: directory)
  }

  private static func revoke(_ words: [String]) throws -> Int32 {
    let arguments = try Arguments(words, options: ["data"])
    if arguments.asksForHelp { return help(HelpText.tokenRevoke) }
    try arguments.requireNothingElse(count: 1)
    let control = try existing(arguments)
    guard try control.revokeToken(id: arguments.rest[0], store: nil, clock: SystemClock()) else {
      throw TomboloError(
        .notFound, "There is no valid token '\(arguments.rest[0])'.", remedy: "'tombolod token list' shows the ids.")
    }
    return 0
  }

  private static func help(_ text: String) -> Int32 {
    Console.result(text)
  }
}
