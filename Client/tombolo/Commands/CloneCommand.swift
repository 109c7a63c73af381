import Foundation
import Tombolo
import TomboloClient
import TomboloProtocol
import TomboloSQLite

/// `tombolo clone URL STORE --token-file F`
///
/// The replica grows under another name beside its place, and takes its place only when it is whole: a clone that was
/// broken off never looks like a store, and the next one goes on where it ended.
package struct CloneCommand: Command {
  package static let declaration = CommandDeclaration(
    "clone", summary: "Make a replica of a server's store",
    discussion: "It has the server's latest schema and everything in it. A clone that was broken off is gone on with.",
    operands: [
      RemoteAddCommand.url, OperandDeclaration("STORE", help: "Where the replica goes; nothing may be there."),
    ],
    options: [Shared.tokenFile.declaration, Shared.json.declaration])

  let url: String
  let store: String
  let tokenFile: String
  let isJSON: Bool

  package init(_ arguments: ParsedArguments) throws {
    url = arguments["URL"]
    store = arguments["STORE"]
    tokenFile = try arguments.value(Shared.tokenFile)
    isJSON = try arguments.value(Shared.json)
  }

  /// What a clone under way is called.
  static func unfinished(_ path: String) -> String { path + ".clone" }

  package func run(in context: CommandContext) throws {
    let address = try RemoteAddress(url)
    let token = try TokenFile.read(tokenFile)
    guard !FileManager.default.fileExists(atPath: store) else { throw StoreFailure.exists(store) }
    let temporary = Self.unfinished(store)
    let report = try {
      let replica = try resume(temporary, address, context) ?? begin(temporary, address, token, context)
      return try SyncSession(store: replica, tokenFile: tokenFile, context: context).sync()
    }()
    try putInPlace(temporary)
    SyncSession.show(report, isJSON: isJSON, in: context.output)
  }

  /// The replica of a clone of the same store that was broken off; any other is removed.
  private func resume(_ path: String, _ address: RemoteAddress, _ context: CommandContext) throws -> Store? {
    guard FileManager.default.fileExists(atPath: path) else { return nil }
    let replica = try? Store(existing: path, options: context.storeOptions)
    if let replica, let state = try? replica.replicaState(), state.remoteURL == address.text {
      context.output.note("Going on with the clone that was broken off.")
      return replica
    }
    Self.remove(path)
    return nil
  }

  private func begin(
    _ path: String, _ address: RemoteAddress, _ token: String, _ context: CommandContext
  ) throws -> Store {
    let document = try ServerAccess(url: address.text, token: token, context: context).latestSchema()
    let replica = try Store(.file(path: path), document: document, options: context.storeOptions)
    try replica.setRemote(address.text, tokenFile: TokenFile.absolute(tokenFile))
    return replica
  }

  /// Called when no connection is open any more, so that the file is the whole store.
  private func putInPlace(_ temporary: String) throws {
    do {
      // Takes in what a log beside the file still holds; the log would not follow a file that is renamed.
      let connection = try Connection(path: temporary)
      try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }
    do {
      try FileManager.default.moveItem(atPath: temporary, toPath: store)
    } catch {
      throw CommandFailure.unwritable(store)
    }
    Self.remove(temporary)
  }

  private static func remove(_ path: String) {
    for suffix in ["", "-wal", "-shm", "-journal"] { try? FileManager.default.removeItem(atPath: path + suffix) }
  }
}
