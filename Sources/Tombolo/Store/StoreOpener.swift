import Foundation
import TomboloProtocol
import TomboloSQLite

/// What opening a store yields.
struct OpenedStore {
  var connection: Connection
  var schema: StoreSchema
}

/// Opens and checks stores. Everything that can be refused is refused before the first write.
struct StoreOpener {
  let location: Store.Location
  let options: Store.Options

  /// - Parameter document: nil to take the one inside.
  func open(_ document: SchemaDocument?) throws -> OpenedStore {
    do {
      switch location {
      case .memory: return try create(try Connection(path: ":memory:"), document)
      case .file(let path): return try openFile(path, document)
      }
    } catch let error as SQLiteError {
      throw TomboloError(error, path: location.description)
    }
  }

  static func readerOptions(_ options: Store.Options) -> Connection.Options {
    var reading = Connection.Options()
    reading.isReadOnly = true
    reading.createsFile = false
    reading.vfs = options.vfs
    return reading
  }

  /// Settings of every connection, those of readers included.
  static func prepare(_ connection: Connection) throws {
    connection.setTriggersEnabled(false)
    try connection.execute(
      "PRAGMA cache_size = -65536; PRAGMA temp_store = memory; PRAGMA secure_delete = off; PRAGMA foreign_keys = off")
    try connection.define("tombolo_composed", arguments: 1) { arguments in
      if case .text(let text)? = arguments.first { return .text(text.composed) }
      return arguments.first ?? .null
    }
  }

  private func openFile(_ path: String, _ document: SchemaDocument?) throws -> OpenedStore {
    var opening = Connection.Options()
    opening.vfs = options.vfs
    opening.isReadOnly = options.isReadOnly
    opening.createsFile = document != nil
    let connection = try Connection(path: path, options: opening)
    let isEmpty = try connection.firstRow("SELECT count(*) FROM sqlite_schema") { $0.int64(0) } == 0
    if !options.isReadOnly {
      try connection.execute("PRAGMA journal_mode = wal; PRAGMA synchronous = normal; PRAGMA wal_autocheckpoint = 4000")
    }
    if isEmpty { return try create(connection, document) }
    guard let document else {
      throw TomboloError(.unknownSchema, "not built yet")
    }
    try Self.prepare(connection)
    return OpenedStore(connection: connection, schema: StoreSchema(document: document))
  }

  private func create(_ connection: Connection, _ document: SchemaDocument?) throws -> OpenedStore {
    guard let document else {
      throw TomboloError(.storeMissing, "There is no store at \(location).")
    }
    try Self.prepare(connection)
    var layout = StoreLayout()
    layout.extend(by: ResolvedSchema(document))
    let schema = StoreSchema(document: document, layout: layout)
    let meta = StoreMeta(connection)
    let replica = ReplicaID(options.randomness.next())
    try connection.immediate {
      for statement in StoreTables.system + StoreTables.statements(for: schema) { try connection.execute(statement) }
      for (key, place) in layout.added {
        try connection.run(
          "INSERT INTO _tombolo_column(entity, property, kind, name, number) VALUES (?1, ?2, ?3, ?4, ?5)"
        ) {
          $0.bind(key.entity, at: 1)
          $0.bind(key.property, at: 2)
          $0.bind(place.kind.rawValue, at: 3)
          $0.bind(place.name, at: 4)
          $0.bind(place.number, at: 5)
        }
      }
      try meta.set(.replica, to: .blob(replica.bytes))
      _ = try ReplicaNumbers(connection).number(of: replica)
    }
    return OpenedStore(connection: connection, schema: schema)
  }
}
