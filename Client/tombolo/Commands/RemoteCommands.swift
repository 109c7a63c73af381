import Foundation
import Tombolo
import TomboloClient
import TomboloProtocol

/// Tokens in files.
enum TokenFile {
  private static let bytesMax = 64 << 10

  /// - Throws: `file_unreadable`, `token_invalid`.
  static func read(_ path: String) throws -> String {
    guard let handle = FileHandle(forReadingAtPath: path) else {
      throw TomboloError(
        .fileUnreadable, "The token file \(path) cannot be read.",
        remedy: "Give the file that 'tombolod token create --out FILE' wrote.")
    }
    defer { try? handle.close() }
    guard let data = try? handle.read(upToCount: bytesMax) ?? Data() else { throw CommandFailure.unreadable(path) }
    return try Remote.validated(String(decoding: data, as: UTF8.self))
  }

  /// A path that holds wherever the next command is called.
  static func absolute(_ path: String) -> String {
    path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
  }
}

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

  func sync(_ recovery: SyncEngine.Recovery? = nil, waits: Bool = false) throws -> SyncReport {
    let driver = SyncDriver(
      store: store, token: token, transport: context.makeTransport(), sleeper: SemaphoreSleeper(),
      randomness: context.randomness)
    let output = context.output
    defer { output.endProgress() }
    var options = SyncEngine.Options()
    options.recovery = recovery
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
          ("checksum", .string(report.checksum.rawValue)), ("retries", .number(report.retries)),
          ("uploaded", .number(report.uploaded)),
        ]))
    } else {
      output.line("sent \(count(report.pushed, "save")), received \(count(report.pulled, "record"))")
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
    if report.checksum == .different {
      output.note(
        "warning[checksum_mismatch]: this replica and the server differ although both say that all is exchanged: "
          + "'tombolo verify' says what to do.")
    }
  }

  private static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}

/// `tombolo verify STORE`
package struct VerifyCommand: Command {
  package static let declaration = CommandDeclaration(
    "verify", summary: "Compare a store's checksum with the server's",
    discussion:
      "Exit status 1 when they differ, and when they cannot be compared because something is still unsent or new.",
    operands: [Shared.store], options: [Shared.json.declaration])

  let store: String
  let isJSON: Bool

  package init(_ arguments: ParsedArguments) throws {
    store = arguments["STORE"]
    isJSON = try arguments.value(Shared.json)
  }

  package func run(in context: CommandContext) throws {
    // What another program wrote is taken up first, where the store can be written at all.
    let isReadOnly = FileManager.default.fileExists(atPath: store) && !FileManager.default.isWritableFile(atPath: store)
    let store = try context.open(store, readOnly: isReadOnly)
    let session = try SyncSession(store: store, tokenFile: nil, context: context)
    let local = try store.checksum()
    guard let state = try store.replicaState(), let cursor = state.cursor else {
      throw TomboloError(.noRemote, "The store has never synced.", remedy: "Sync first: tombolo sync \(self.store).")
    }
    guard state.unsent == 0 else {
      throw TomboloError(
        .checksumMismatch, "Nothing can be compared while \(state.unsent) saves are unsent.",
        remedy: "Sync first: tombolo sync \(self.store).")
    }
    let server = try ServerAccess(url: state.remoteURL, token: session.token, context: context)
      .checksum(after: cursor, of: store, state)
    let isEqual = local == server
    if isJSON {
      context.output.json(
        .object([
          ("equal", .bool(isEqual)), ("local", .string(Self.text(local))), ("server", .string(Self.text(server))),
          ("position", .integer(Int64(clamping: cursor.position.rawValue))),
        ]))
    } else {
      context.output.line("local   \(Self.text(local))")
      context.output.line("server  \(Self.text(server))")
      context.output.line(isEqual ? "equal" : "different")
    }
    if !isEqual { throw difference(state) }
  }

  /// Everything was exchanged, and the two differ: nothing that is sent or received mends that.
  private func difference(_ state: ReplicaState) -> TomboloError {
    let kept =
      state.parked == 0
      ? "Everything written here was sent." : "What the server refused is only here: 'tombolo parked \(store) --json'."
    return TomboloError(
      .checksumMismatch, "The store at \(store) and the server hold different data, and a sync does not mend it.",
      remedy:
        "Its file was changed by something else than Tombolo or sqlite3, or the disk failed. Keep this file, and take the "
        + "server's data: tombolo clone \(state.remoteURL) NEW --token-file FILE. \(kept)")
  }

  static func text(_ checksum: Checksum) -> String {
    [checksum.high, checksum.low].map { number in
      let digits = String(number, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }
}
