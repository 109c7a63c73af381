import Foundation
import Tombolo
import TomboloClient
import TomboloProtocol

/// `tombolo verify STORE [--repair]`
package struct VerifyCommand: Command {
  static let repair = CommandOption.flag(
    "repair", help: "Take the server's state of the records that differ; what gives way is among the conflicts.")

  package static let declaration = CommandDeclaration(
    "verify", summary: "Compare every row of a store with the server, and name the records that differ",
    discussion:
      "Exit status 1 when they differ, and when they cannot be compared because something is still unsent or new.",
    operands: [Shared.store], options: [repair.declaration, Shared.json.declaration])

  let store: String
  let isRepairing: Bool
  let isJSON: Bool

  package init(_ arguments: ParsedArguments) throws {
    store = arguments["STORE"]
    isRepairing = try arguments.value(Self.repair)
    isJSON = try arguments.value(Shared.json)
  }

  package func run(in context: CommandContext) throws {
    // What another program wrote is taken up first, where the store can be written at all.
    let isReadOnly = FileManager.default.fileExists(atPath: store) && !FileManager.default.isWritableFile(atPath: store)
    let store = try context.open(store, readOnly: isReadOnly)
    let session = try SyncSession(store: store, tokenFile: nil, context: context)
    guard let state = try store.replicaState(), let cursor = state.cursor else {
      throw TomboloError(.noRemote, "The store has never synced.", remedy: "Sync first: tombolo sync \(self.store).")
    }
    guard state.unsent == 0 else {
      throw TomboloError(
        .nothingToCompare,
        "Nothing can be compared while \(state.unsent) save\(state.unsent == 1 ? " is" : "s are") unsent.",
        remedy: "Sync first: tombolo sync \(self.store).")
    }
    let local = try store.checksum()
    let access = try ServerAccess(url: state.remoteURL, token: session.token, context: context)
    let server = try access.checksum(after: cursor, of: store, state)
    let difference = local == server ? nil : try access.differences(at: cursor, of: store)
    show(local, server, difference, at: cursor, in: context.output)
    if local == server { return }
    guard isRepairing else {
      throw different(
        remedy: "Its file was changed by something else than Tombolo or sqlite3, or the disk failed. 'tombolo verify "
          + "\(self.store) --repair' takes the server's state of what differs, and keeps what gives way among the conflicts."
      )
    }
    let report = try session.sync(scansRows: true)
    SyncSession.show(report, isJSON: isJSON, in: context.output)
    guard report.checksum != .equal else { return }
    throw different(
      remedy:
        "Try again. If it stays so, keep this file and take the server's data: tombolo clone \(state.remoteURL) NEW "
        + "--token-file FILE; 'tombolo parked \(self.store) --json' has what the server refused.")
  }

  private func different(remedy: String) -> TomboloError {
    TomboloError(
      .checksumMismatch, "The store at \(store) and the server hold different data although all is exchanged.",
      remedy: remedy)
  }

  private func show(
    _ local: Checksum, _ server: Checksum, _ difference: ServerAccess.Difference?, at cursor: Cursor, in output: Output
  ) {
    let records = difference?.records ?? []
    if isJSON {
      output.json(
        .object([
          ("equal", .bool(local == server)), ("local", .string(local.text)), ("server", .string(server.text)),
          ("position", .integer(Int64(clamping: cursor.position.rawValue))),
          (
            "records",
            .array(
              records.map { record in
                .object([
                  ("entity", .optional(record.entity)), ("id", .string(record.id.description)),
                  ("kind", .string(record.kind.rawValue)),
                ])
              })
          ), ("complete", .bool(difference?.isComplete ?? true)),
        ]))
      return
    }
    output.line("local   \(local.text)")
    output.line("server  \(server.text)")
    output.line(local == server ? "equal" : "different")
    for record in records {
      output.line("\(Self.words(record.kind))  \(record.entity ?? "unknown entity") \(record.id)")
    }
    if let difference, !difference.isComplete { output.note("There are more than these.") }
  }

  private static func words(_ kind: RecordDifference.Kind) -> String {
    switch kind {
    case .changed: "differs    "
    case .missing: "not here   "
    case .extra: "only here  "
    }
  }
}
