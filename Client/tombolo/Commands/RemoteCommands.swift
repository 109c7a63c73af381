import Foundation
import Tombolo
import TomboloClient
import TomboloProtocol

/// `tombolo remote add STORE URL --token-file F`
package struct RemoteAddCommand: Command {
  static let url = OperandDeclaration("URL", help: "http(s)://HOST:PORT/v1/stores/NAME")

  package static let declaration = CommandDeclaration(
    "remote add", summary: "Name the server that a store syncs with",
    discussion: "Nothing is sent. The token stays in its file; the store keeps only the file's path.",
    operands: [Shared.store, url], options: [Shared.tokenFile.declaration, switches.declaration])

  static let switches = CommandOption.flag(
    "switch", help: "Another store may take the known one's place, though something is unsent.")

  let store: String
  let url: String
  let tokenFile: String
  let isSwitch: Bool

  package init(_ arguments: ParsedArguments) throws {
    store = arguments["STORE"]
    url = arguments["URL"]
    tokenFile = try arguments.value(Shared.tokenFile)
    isSwitch = try arguments.value(Self.switches)
  }

  package func run(in context: CommandContext) throws {
    let address = try RemoteAddress(url)
    _ = try TokenFile.read(tokenFile)
    let store = try context.open(store)
    guard store.isVersioned else { throw SyncFailure.unversioned(store.schema.document.name) }
    // A server may move to another address while something is unsent; another store may not take its place.
    let known = try store.replicaState().map { try RemoteAddress($0.remoteURL) }
    let isMoved = isSwitch || known?.store == address.store
    try store.setRemote(address.text, tokenFile: TokenFile.absolute(tokenFile), isMoved: isMoved)
  }
}

/// `tombolo sync STORE [--watch]`
package struct SyncCommand: Command {
  static let watch = CommandOption.flag("watch", help: "Stay in step until Ctrl-C.")
  static let wait = CommandOption.flag("wait", help: "Wait while another process syncs the same store.")
  static let reupload = CommandOption.flag(
    "reupload", help: "The server was restored, replaced or wiped: give it what this replica has.")
  static let reset = CommandOption.flag(
    "reset", help: "The server was restored, replaced or wiped: take what it has; what is unsent is kept and sent.")
  static let token = CommandOption.text(
    "token-file", "FILE", help: "Another token than the one that was named with the remote.")

  package static let declaration = CommandDeclaration(
    "sync", summary: "Send what is unsent, and receive what is new",
    discussion:
      "Exit status 1 also when the server refused a save that was sent ('tombolo parked' has it), and when replica and\n"
      + "server differ after all was exchanged. Writes that did not stand are no error: 'tombolo conflicts' has them.",
    operands: [Shared.store],
    options: [
      watch.declaration, wait.declaration, token.declaration, reupload.declaration, reset.declaration,
      Shared.json.declaration,
    ])

  let store: String
  let isWatching: Bool
  let waits: Bool
  let recovery: SyncEngine.Recovery?
  let tokenFile: String?
  let isJSON: Bool

  package init(_ arguments: ParsedArguments) throws {
    store = arguments["STORE"]
    isWatching = try arguments.value(Self.watch)
    waits = try arguments.value(Self.wait)
    tokenFile = try arguments.value(Self.token)
    isJSON = try arguments.value(Shared.json)
    switch (try arguments.value(Self.reupload), try arguments.value(Self.reset)) {
    case (true, true): throw UsageError("--reupload and --reset are two ways: choose one.")
    case (true, false): recovery = .reupload
    case (false, true): recovery = .reset
    case (false, false): recovery = nil
    }
  }

  package func run(in context: CommandContext) throws {
    let store = try context.open(store)
    let session = try SyncSession(store: store, tokenFile: tokenFile, context: context)
    if !isWatching || recovery != nil {
      let report = try session.sync(recovery, waits: waits)
      SyncSession.show(report, isJSON: isJSON, in: context.output)
      if !isWatching, report.parked > 0 || report.checksum == .different { throw CommandStatus.negative }
    }
    if isWatching { try WatchSession(session, isJSON: isJSON).run() }
  }
}

/// One sync for a command, with its progress shown.
struct SyncSession {
  let store: Store
  let token: String
  let context: CommandContext

  /// - Throws: `store_unversioned` and `no_remote` before the token is looked at; `file_unreadable`, `token_invalid`.
  init(store: Store, tokenFile: String?, context: CommandContext) throws {
    self.store = store
    self.context = context
    // What makes every sync impossible is said before a token is asked for.
    _ = try SyncEngine(store: store, token: "", randomness: context.randomness)
    guard let file = try tokenFile ?? store.replicaState()?.tokenFile else {
      throw TomboloError(
        .noRemote, "No token file was named for this store.", remedy: "Name one: tombolo sync STORE --token-file FILE.")
    }
    token = try TokenFile.read(file)
  }

  /// - Parameter scansRows: looks at every row, whether or not it is time for that.
  func sync(_ recovery: SyncEngine.Recovery? = nil, waits: Bool = false, scansRows: Bool = false) throws -> SyncReport {
    let driver = SyncDriver(
      store: store, token: token, transport: context.makeTransport(), sleeper: SemaphoreSleeper(),
      randomness: context.randomness)
    let output = context.output
    defer { output.endProgress() }
    var options = SyncEngine.Options()
    options.recovery = recovery
    options.scansRows = scansRows
    return try driver.run(options, waitsForLease: waits) { notice in
      switch notice {
      case .progress(let progress):
        switch progress.phase {
        case .preparing: output.progress("reaching the server")
        case .pushing: output.progress("sending: \(progress.pushed) saves")
        case .pulling: output.progress("receiving: \(progress.pulled) records")
        }
      case .waiting(let milliseconds, _) where milliseconds > 0:
        output.progress("the server cannot take it now; again in \((milliseconds + 999) / 1_000) s")
      case .waiting: break
      }
    }
  }

  static func show(_ report: SyncReport, isJSON: Bool, in output: Output) {
    if isJSON {
      output.json(
        .object([
          ("pushed", .number(report.pushed)), ("parked", .number(report.parked)), ("pulled", .number(report.pulled)),
          ("applied", .number(report.applied)), ("conflicts", .number(report.conflicts)),
          ("checksum", .string(report.checksum.rawValue)), ("repaired", .number(report.repaired)),
          ("retries", .number(report.retries)), ("uploaded", .number(report.uploaded)),
        ]))
    } else {
      output.line("sent \(count(report.pushed, "save")), \(count(report.applied, "record")) changed here")
    }
    if report.uploaded > 0 {
      output.note(
        "gave the server \(count(report.uploaded, "record")) of what it had lost, deletions and links included")
    }
    if report.conflicts > 0 {
      output.note(
        "\(count(report.conflicts, "write")) made here did not stand: 'tombolo conflicts' says which, and why.")
    }
    if report.parked > 0 {
      output.note("\(count(report.parked, "save")) refused by the server and kept aside: 'tombolo parked' says why.")
    }
    if report.repaired > 0 {
      output.note(
        "\(count(report.repaired, "record")) differed from the server's and \(report.repaired == 1 ? "was" : "were") repaired: "
          + "'tombolo status' tells when, 'tombolo conflicts' which values gave way.")
    }
    if report.checksum == .different {
      output.note(
        "warning[checksum_mismatch]: this replica and the server differ although both say that all is exchanged; "
          + "'tombolo verify' names the records, and the next sync tries to repair them.")
    }
  }

  private static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}
