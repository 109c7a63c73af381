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
    if let document { try SchemaValidation.check(document) }
    return try location.naming {
      switch location {
      case .memory:
        guard let document else { throw missing() }
        let connection = try Connection(path: ":memory:")
        try Self.prepare(connection, options)
        return OpenedStore(connection: connection, schema: try create(connection, document))
      case .file(let path): return try openFile(path, document)
      }
    }
  }

  static func readerOptions(_ options: Store.Options, path: String) -> Connection.Options {
    var reading = Connection.Options()
    reading.isReadOnly = true
    reading.createsFile = false
    reading.vfs = options.vfs
    reading.isImmutable = options.isReadOnly && options.vfs == nil && ReadOnlyPlace(path).isImmutable
    reading.busyTimeoutMilliseconds = options.busyTimeoutMilliseconds
    return reading
  }

  /// Settings of every connection, those of readers included; none of them is written to the file.
  static func prepare(_ connection: Connection, _ options: Store.Options) throws {
    connection.setTriggersEnabled(false)
    try connection.execute(
      "PRAGMA cache_size = -65536; PRAGMA temp_store = memory; PRAGMA secure_delete = off; PRAGMA foreign_keys = off")
    try QueryFunctions.register(on: connection)
    if let trace = options.trace { connection.setTrace(trace) }
  }

  // MARK: Files

  private func openFile(_ path: String, _ document: SchemaDocument?) throws -> OpenedStore {
    // Another VFS has no file that could be looked at from here.
    let file = options.vfs == nil ? try StoreFile(path) : nil
    if let file { try check(file, mayCreate: document != nil && !options.isReadOnly) }
    do {
      return try openDatabase(path, document)
    } catch {
      if let file, case .none = file.content { removeIfEmpty(path) }
      if options.isReadOnly, let file, case .database = file.content, let error = error as? SQLiteError,
        let refusal = ReadOnlyPlace(path).refusal(of: error)
      {
        throw refusal
      }
      throw error
    }
  }

  /// A creation that failed leaves nothing behind that would be in the way of the next one.
  private func removeIfEmpty(_ path: String) {
    let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
    if size == 0 { try? FileManager.default.removeItem(atPath: path) }
  }

  private func openDatabase(_ path: String, _ document: SchemaDocument?) throws -> OpenedStore {
    var opening = Self.readerOptions(options, path: path)
    opening.isReadOnly = options.isReadOnly
    opening.createsFile = document != nil
    let connection = try Connection(path: path, options: opening)
    try Self.prepare(connection, options)
    if try isEmpty(connection) {
      guard let document, !options.isReadOnly else { throw missing() }
      let schema = try create(connection, document)
      try Self.useLog(connection)
      return OpenedStore(connection: connection, schema: schema)
    }
    try requireStore(connection)
    if !options.isReadOnly { try Self.useLog(connection) }
    let verification = StoreVerification(connection: connection, location: location)
    let schema = try verification.schema(for: document, options: options)
    if !options.isReadOnly {
      try Self.addLaterTables(connection, schema)
      try Self.complete(connection, schema)
    }
    return OpenedStore(connection: connection, schema: schema)
  }

  /// System tables that an earlier build of this format did not make.
  private static func addLaterTables(_ connection: Connection, _ schema: StoreSchema) throws {
    func missing() throws -> [String] {
      var present: Set<String> = []
      try connection.eachRow("SELECT name FROM sqlite_schema WHERE substr(name, 1, 9) = '_tombolo_'") {
        present.insert($0.string(0))
      }
      return StoreTables.later.filter { statement in
        StoreTables.name(in: statement).map { !present.contains($0) } ?? false
      }
    }
    if try missing().isEmpty { return }
    try connection.immediate {
      // Another process may have been faster.
      let statements = try missing()
      for statement in statements { try connection.execute(statement) }
      if statements.contains(where: { StoreTables.name(in: $0) == DecomposedTexts.table }) {
        try DecomposedTexts.fill(connection, schema)
      }
    }
  }

  /// Search indexes and trees that are missing, with the triggers that keep them; and triggers that an earlier build did not
  /// make.
  private static func complete(_ connection: Connection, _ schema: StoreSchema) throws {
    let companions = CompanionTables(schema)
    guard try companions.isIncomplete(connection) || ShellTriggers.areOfEarlierBuild(connection, schema) else { return }
    try connection.immediate {
      for statement in ShellTriggers.statements(for: schema) { try connection.execute(statement) }
      try companions.bring(to: connection)
    }
    connection.dropStatements()
  }

  /// What the file's first bytes tell without SQLite.
  private func check(_ file: StoreFile, mayCreate: Bool) throws {
    switch file.content {
    case .noFolder:
      throw TomboloError(
        .fileUnwritable, "The folder of \(location) does not exist.",
        remedy: "Make the folder first, or name another file.")
    case .none:
      if !mayCreate { throw missing() }
      if case .file(let path) = location {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        guard FileManager.default.isWritableFile(atPath: folder) else {
          throw TomboloError(
            .fileUnwritable, "\(location) cannot be made: the folder \(folder) cannot be written.",
            remedy: "Give yourself the right to write the folder, or name another one.")
        }
      }
    case .empty: if !mayCreate { throw missing() }
    case .unreadable:
      throw TomboloError(
        .fileUnreadable, "The file at \(location) cannot be read.", remedy: "Give yourself the right to read it.")
    case .folder, .other:
      throw TomboloError(
        .notADatabase, "The file at \(location) is not an SQLite database.",
        remedy: "Name the file of a store, or a new one.")
    case .database(let applicationID, let format):
      if applicationID != 0, applicationID != StoreTables.applicationID { throw foreign() }
      if applicationID == StoreTables.applicationID { try checkFormat(format) }
      if applicationID == 0 { try checkUnmarked() }
    }
  }

  /// A database without a mark is looked at through a connection that cannot write.
  private func checkUnmarked() throws {
    guard case .file(let path) = location else { return }
    let connection = try Connection(path: path, options: Self.readerOptions(options, path: path))
    if try !isEmpty(connection) { throw foreign() }
  }

  private func isEmpty(_ connection: Connection) throws -> Bool {
    try connection.firstRow("SELECT count(*) FROM sqlite_schema") { $0.int64(0) } == 0
  }

  private func requireStore(_ connection: Connection) throws {
    let id = try connection.firstRow("PRAGMA application_id") { $0.int64(0) }
    guard id == StoreTables.applicationID else { throw foreign() }
    try checkFormat(try connection.firstRow("PRAGMA user_version") { $0.int64(0) } ?? 0)
    let found = try connection.firstRow("SELECT 1 FROM sqlite_schema WHERE name = '_tombolo_meta'") { _ in true }
    guard found == true else { throw TomboloError.damaged("its table of settings is missing") }
  }

  private func checkFormat(_ format: Int64) throws {
    guard format > StoreTables.format else { return }
    throw TomboloError(
      .newerStore,
      "The store at \(location) has format \(format), and this version of Tombolo knows formats up to \(StoreTables.format).",
      remedy: "Open it with a newer version of Tombolo.")
  }

  private func missing() -> TomboloError {
    TomboloError(
      .storeMissing, "There is no store at \(location).",
      remedy: "Check the path, or create the store with `tombolo init`.")
  }

  private func foreign() -> TomboloError {
    TomboloError(
      .foreignDatabase, "The SQLite database at \(location) belongs to another application.",
      remedy: "Name another file; a store is created by Tombolo, and data comes in through `tombolo import`.")
  }

  /// Readers go on while a writer writes: https://sqlite.org/wal.html.
  private static func useLog(_ connection: Connection) throws {
    // Another process may be creating the same store; it holds the file for a moment only.
    for _ in 0..<100 {
      do {
        try connection.execute("PRAGMA journal_mode = wal")
        break
      } catch let error as SQLiteError where error.isBusy {
        usleep(10_000)
      }
    }
    try connection.execute("PRAGMA synchronous = normal; PRAGMA wal_autocheckpoint = 4000")
  }

  // MARK: Creation

  private func create(_ connection: Connection, _ document: SchemaDocument) throws -> StoreSchema {
    let document = document.normalized
    var layout = StoreLayout()
    layout.extend(by: ResolvedSchema(document))
    let schema = StoreSchema(document: document, layout: layout)
    let existing = try connection.immediate { () -> Bool in
      // Another process may have been faster.
      guard try isEmpty(connection) else { return true }
      try connection.execute("PRAGMA application_id = \(StoreTables.applicationID)")
      try connection.execute("PRAGMA user_version = \(StoreTables.format)")
      for statement in StoreTables.system + StoreTables.later { try connection.execute(statement) }
      let writer = StoreTableWriter(connection: connection, options: options)
      try writer.apply(schema, layout: layout, isNew: true)
      let replica = ReplicaID(options.randomness.next())
      try StoreMeta(connection).set(.replica, to: .blob(replica.bytes))
      _ = try ReplicaNumbers(connection).number(of: replica)
      return false
    }
    guard existing else { return schema }
    try requireStore(connection)
    return try StoreVerification(connection: connection, location: location).schema(for: document, options: options)
  }
}

/// What lies at a path, judged by its first hundred bytes (https://sqlite.org/fileformat.html, section 1.3).
struct StoreFile {
  enum Content {
    case noFolder, none, empty, folder, unreadable
    /// Not an SQLite database.
    case other
    case database(applicationID: Int64, format: Int64)
  }
  let content: Content

  init(_ path: String) throws {
    var isFolder: ObjCBool = false
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    if !FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) {
      content = FileManager.default.fileExists(atPath: folder) ? .none : .noFolder
      return
    }
    if isFolder.boolValue {
      content = .folder
      return
    }
    // Opening a pipe waits until somebody writes to it.
    var status = stat()
    if stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFIFO || status.st_mode & S_IFMT == S_IFSOCK {
      content = .other
      return
    }
    guard let handle = FileHandle(forReadingAtPath: path), let data = try? handle.read(upToCount: 100) ?? Data() else {
      content = .unreadable
      return
    }
    try? handle.close()
    let bytes = [UInt8](data)
    if bytes.isEmpty {
      content = .empty
    } else if bytes.count == 100, bytes.starts(with: Array("SQLite format 3\u{0}".utf8)) {
      func number(at offset: Int) -> Int64 {
        Int64(bytes[offset..<offset + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
      }
      content = .database(applicationID: number(at: 68), format: number(at: 60))
    } else {
      content = .other
    }
  }
}
