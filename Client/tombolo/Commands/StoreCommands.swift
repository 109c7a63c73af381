import Foundation
import Tombolo
import TomboloClient
import TomboloProtocol
import TomboloSQLite

/// `tombolo init STORE --schema FILE.json`
package struct InitCommand: Command {
  static let schema = CommandOption.required("schema", "FILE", help: "The schema document, as JSON.")

  package static let declaration = CommandDeclaration(
    "init", summary: "Create a store from a schema document", operands: [Shared.store], options: [schema.declaration])

  let store: String
  let schema: String

  package init(_ arguments: ParsedArguments) throws {
    store = arguments["STORE"]
    schema = try arguments.value(Self.schema)
  }

  package func run(in context: CommandContext) throws {
    let document = try SchemaFile.read(schema)
    // A file without a byte is what a creation that ran out of disk leaves: SQLite takes it for a new database.
    let size = try? FileManager.default.attributesOfItem(atPath: store)[.size] as? Int
    guard size == nil || size == 0 else { throw StoreFailure.exists(store) }
    _ = try Store(.file(path: store), document: document, options: context.storeOptions)
    if context.output.isTerminal { context.output.note("\(store) is a store of \(document.title) now.") }
    if document.version == nil {
      context.output.note("The schema has no version: this store can be used, and never synced.")
    }
  }
}

enum StoreFailure {
  static func exists(_ path: String) -> TomboloError {
    TomboloError(
      .storeExists, "There is a file at \(path) already.", remedy: "Name another path, or move that file away.")
  }
}

/// Schema documents in files, and in stores.
enum SchemaFile {
  static let bytesMax = 16 << 20

  /// - Throws: `file_unreadable`, `invalid_schema`.
  static func read(_ path: String) throws -> SchemaDocument {
    guard let handle = FileHandle(forReadingAtPath: path) else { throw CommandFailure.unreadable(path) }
    defer { try? handle.close() }
    guard let data = try? handle.read(upToCount: bytesMax + 1) ?? Data() else { throw CommandFailure.unreadable(path) }
    guard !data.isEmpty else {
      throw TomboloError(
        .invalidSchema, "The schema document \(path) is empty.", remedy: "Name a file that holds one JSON object.")
    }
    guard data.count <= bytesMax else {
      throw TomboloError(.limitExceeded, "The schema document \(path) is larger than \(bytesMax) bytes.")
    }
    do {
      return try SchemaDocument(parsing: [UInt8](data))
    } catch var error as TomboloError {
      error.message = "\(path): \(error.message)"
      throw error
    }
  }

  /// The document in a store, or in a JSON file.
  static func read(anything path: String, in context: CommandContext) throws -> SchemaDocument {
    guard FileManager.default.fileExists(atPath: path) else { throw CommandFailure.unreadable(path) }
    if try context.isDatabase(path) { return try context.open(path, readOnly: true).schema.document }
    return try read(path)
  }
}

/// `tombolo status STORE`
package struct StatusCommand: Command {
  package static let declaration = CommandDeclaration(
    "status", summary: "Show what a store holds, and where it stands with its server", operands: [Shared.store],
    options: [Shared.json.declaration])

  let store: String
  let isJSON: Bool

  package init(_ arguments: ParsedArguments) throws {
    store = arguments["STORE"]
    isJSON = try arguments.value(Shared.json)
  }

  package func run(in context: CommandContext) throws {
    let store = try context.open(store, readOnly: true)
    let document = store.schema.document
    let state = try store.replicaState()
    let counts = try store.read { connection in
      try store.schema.entities.map { entity in
        let condition = RecordAccess.entityCondition(entity).map { " WHERE \($0)" } ?? ""
        let sql = "SELECT count(*) FROM \(entity.table.quotedIdentifier)\(condition)"
        return (entity.name, try connection.firstRow(sql) { Int($0.int64(0)) } ?? 0)
      }
    }
    let incidents = try store.incidents()
    let shellRecords = try store.recordsWrittenByOthers()
    if isJSON {
      context.output.json(Self.json(document, state, counts, incidents, shellRecords))
    } else {
      show(document, state, counts, shellRecords, in: context.output)
      for incident in incidents.prefix(5) { context.output.line("repaired  \(Self.words(incident))") }
    }
  }

  private static func words(_ incident: RepairIncident) -> String {
    let records = incident.records
    let what = records.isEmpty ? "everything" : "\(records.count) record\(records.count == 1 ? "" : "s")"
    if records.contains(where: { $0.kind == .text }) {
      return "\(what) with text that was not UTF-8, read as ISO 8859-1, \(TimeText.text(incident.time))"
    }
    return "\(what) that differed from the server's, \(TimeText.text(incident.time))"
  }

  private static func json(
    _ document: SchemaDocument, _ state: ReplicaState?, _ counts: [(String, Int)], _ incidents: [RepairIncident],
    _ shellRecords: Int
  ) -> JSONText {
    var members: [(String, JSONText)] = [
      ("schema", .string(document.name)), ("version", .optional(document.version?.description)),
      ("fingerprint", .string(document.fingerprint.description)),
      ("records", .object(counts.map { ($0.0, .number($0.1)) })), ("remote", .optional(state?.remoteURL)),
    ]
    if let state {
      members += [
        ("replica", .string(state.replica.description)),
        ("epoch", .optional(state.epoch.map { String($0.rawValue, radix: 16) })),
        ("position", state.cursor.map { .integer(Int64(clamping: $0.position.rawValue)) } ?? .null),
        ("unsent", .number(state.unsent)), ("parked", .number(state.parked)),
        ("lastPush", .optional(state.lastPush.map(TimeText.text))),
        ("lastPull", .optional(state.lastPull.map(TimeText.text))),
      ]
    }
    members.append(("writtenByOtherPrograms", .number(shellRecords)))
    members.append(("repairs", .array(incidents.prefix(100).map { json($0) })))
    return .object(members)
  }

  /// Without records where everything was fetched anew.
  private static func json(_ incident: RepairIncident) -> JSONText {
    .object([
      ("time", .string(TimeText.text(incident.time))),
      (
        "records",
        .array(
          incident.records.map { record in
            .object([
              ("entity", .optional(record.entity)), ("id", .string(record.id.description)),
              ("kind", .string(record.kind.rawValue)),
            ])
          })
      ),
    ])
  }

  private func show(
    _ document: SchemaDocument, _ state: ReplicaState?, _ counts: [(String, Int)], _ shellRecords: Int,
    in output: Output
  ) {
    output.line("schema    \(document.name) \(document.version?.description ?? "without a version: it never syncs")")
    for (index, count) in counts.enumerated() {
      output.line((index == 0 ? "records   " : "          ") + "\(count.1) \(count.0)")
    }
    if shellRecords > 0 {
      output.line(
        "written   \(shellRecords) record\(shellRecords == 1 ? "" : "s") by other programs; the next save or sync takes them up"
      )
    }
    guard let state else { return output.line("remote    none") }
    output.line("remote    \(state.remoteURL)")
    output.line("replica   \(state.replica)")
    output.line("unsent    \(state.unsent)")
    if state.parked > 0 { output.line("parked    \(state.parked): tombolo parked \(store) says why") }
    output.line("pushed    \(state.lastPush.map(TimeText.text) ?? "never")")
    output.line("pulled    \(state.lastPull.map(TimeText.text) ?? "never")")
  }
}

/// Moments as people read them.
enum TimeText {
  /// - Parameter milliseconds: since 1970.
  static func text(_ milliseconds: UInt64) -> String {
    DateText.text(seconds: (Double(milliseconds) / 1_000).rounded(.down) - 978_307_200)
  }
}

/// `tombolo log STORE`
package struct LogCommand: Command {
  static let limit = CommandOption.number("limit", "N", in: 1...1_000_000, help: "At most this many; 50 if not given.")

  package static let declaration = CommandDeclaration(
    "log", summary: "List the saves that were made here, the newest first", operands: [Shared.store],
    options: [limit.declaration, Shared.json.declaration])

  let store: String
  let limit: Int
  let isJSON: Bool

  package init(_ arguments: ParsedArguments) throws {
    store = arguments["STORE"]
    limit = try arguments.value(Self.limit) ?? 50
    isJSON = try arguments.value(Shared.json)
  }

  package func run(in context: CommandContext) throws {
    let store = try context.open(store, readOnly: true)
    let saves = try store.saveLog(limit: limit)
    // Numbers are the server's order of this replica's saves: what was made before it had a server has none there.
    let hasRemote = try store.replicaState() != nil
    func number(_ save: SaveSummary) -> UInt64? { hasRemote && save.state == .local ? nil : save.number.rawValue }
    guard !isJSON else {
      return context.output.json(
        .array(
          saves.map { save in
            .object([
              ("number", number(save).map { .integer(Int64(clamping: $0)) } ?? .null),
              ("id", .string(save.id.description)),
              ("time", .string(TimeText.text(save.time))), ("author", .optional(save.author)),
              ("state", .string(save.state.rawValue)), ("inserted", .number(save.inserted)),
              ("updated", .number(save.updated)), ("deleted", .number(save.deleted)),
            ])
          }))
    }
    context.output.table(
      ["save", "time", "state", "new", "changed", "deleted", "author"],
      saves.map { save in
        [
          number(save).map { String($0) } ?? "–", TimeText.text(save.time), save.state.rawValue, String(save.inserted),
          String(save.updated), String(save.deleted), save.author ?? "",
        ]
      })
  }
}
