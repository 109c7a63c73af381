package import TomboloProtocol
package import TomboloSQLite

/// One replica: a SQLite file, its schema, its bookkeeping.
///
/// All work is synchronous. One connection writes, others read; both kinds are lent out under a lock.
package final class Store: Sendable {
  package enum Location: Hashable, Sendable {
    case file(path: String)
    case memory(name: String)
  }

  package struct Options: Sendable {
    package var isReadOnly = false
    package var recordsHistory = true
    /// `.private(_)` of `ModelConfiguration.cloudKitDatabase`: the strict rule set.
    package var usesStrictRules = false
    package var vfs: String?
    /// How long a save waits for another process that is writing.
    package var busyTimeoutMilliseconds: Int32 = 10_000
    /// Hears the text of every statement that a connection of the store runs: for tests.
    package var trace: (@Sendable (String) -> Void)?
    package var clock: any WallClock
    package var randomness: any Randomness
    package init(clock: any WallClock, randomness: any Randomness) {
      self.clock = clock
      self.randomness = randomness
    }
  }

  package let location: Location
  package let options: Options
  package let schema: StoreSchema
  let writer: ConnectionOwner
  /// Nil for a store in memory, which has the writer's connection only.
  private let readers: ReaderPool?
  private let identities: RecordIDGenerator
  private let observers = Guarded<Observers>(Observers())

  private struct Observers {
    var next = 0
    var handlers: [Int: @Sendable (CommitSummary) -> Void] = [:]
  }

  /// Opens a store for a schema, creating it where there is none.
  ///
  /// - Throws: ``TomboloError``; nothing was written then.
  package convenience init(_ location: Location, document: SchemaDocument, options: Options) throws {
    try self.init(location, try StoreOpener(location: location, options: options).open(document), options: options)
    try adoptSetAside()
    try absorbShellNotes()
  }

  /// Opens an existing store with the schema document inside it: the command line's way.
  package convenience init(existing path: String, options: Options) throws {
    let location = Location.file(path: path)
    try self.init(location, try StoreOpener(location: location, options: options).open(nil), options: options)
    try adoptSetAside()
    try absorbShellNotes()
  }

  /// What an earlier schema version set aside takes effect once this one knows it.
  private func adoptSetAside() throws {
    if options.isReadOnly { return }
    let isEmpty = try translatingErrors {
      try writer.withConnection { connection, _ in try Aside(connection).isEmpty }
    }
    if isEmpty { return }
    try write { connection in try AsideAdoption(connection, schema: schema).run() }
  }

  private init(_ location: Location, _ opened: OpenedStore, options: Options) throws {
    if !options.isReadOnly {
      try location.naming {
        for trigger in CompanionTriggers(schema: opened.schema).temporary { try opened.connection.execute(trigger) }
      }
    }
    self.location = location
    self.options = options
    schema = opened.schema
    writer = ConnectionOwner(opened.connection)
    identities = RecordIDGenerator(clock: options.clock, randomness: options.randomness)
    switch location {
    case .memory: readers = nil
    case .file(let path):
      let reading = StoreOpener.readerOptions(options, path: path)
      readers = ReaderPool {
        let connection = try Connection(path: path, options: reading)
        try StoreOpener.prepare(connection, options)
        return connection
      }
    }
  }

  deinit {
    // Whoever copies the file of a closed store copies all of it. The last connection to close folds the log into the file, and one that only reads cannot.
    readers?.close()
  }

  /// Whether it carries a schema version.
  package var isVersioned: Bool { schema.document.version != nil }

  /// Runs `body` with a connection that only reads, in a transaction that sees one state.
  package func read<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    try translatingErrors {
      if let readers {
        return try readers.withConnection { connection in try connection.deferred { try body(connection) } }
      }
      return try writer.withConnection { connection, _ in
        connection.isInTransaction ? try body(connection) : try connection.deferred { try body(connection) }
      }
    }
  }

  /// Runs `body` with a connection that only reads, without a transaction around it: for what is one statement, which
  /// sees one state by itself.
  package func readOnce<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    try translatingErrors {
      if let readers { return try readers.withConnection(body) }
      return try writer.withConnection { connection, _ in try body(connection) }
    }
  }

  /// Runs one save: an immediate transaction with the data and its change set. What `body` throws undoes all of it.
  @discardableResult
  package func save<Result>(author: String? = nil, _ body: (StoreWriter) throws -> Result) throws -> (
    result: Result, outcome: SaveOutcome
  ) {
    try absorbShellNotes()
    var done: (result: Result, writer: StoreWriter)?
    do {
      try translatingErrors {
        try writer.withConnection { connection, statements in
          let saving = StoreWriter(schema: schema, connection: connection, statements: statements, options: options)
          do {
            try connection.immediate {
              let result = try body(saving)
              try saving.finish(author: author)
              done = (result, saving)
              // What came to nothing is rolled back, so that it writes nothing.
              if saving.isUnchanged { throw Unchanged() }
            }
          } catch {
            statements.replicas.removeAll()
            throw error
          }
        }
      }
    } catch is Unchanged {}
    guard let done else { preconditionFailure("a transaction that neither ended nor threw") }
    if !done.writer.isUnchanged { announce(done.writer.summary(author: author)) }
    return (done.result, done.writer.outcome)
  }

  private struct Unchanged: Error {}

  /// Makes a change set of what other programs wrote without our switch: a person in the `sqlite3` shell. Without such
  /// writes it costs one look into an empty table.
  package func absorbShellNotes() throws {
    if options.isReadOnly { return }
    // Ends: each turn takes at least one note, and takes all of them but for records that hold what no server takes.
    while try absorbSomeShellNotes() {}
  }

  /// - Returns: whether notes are left.
  private func absorbSomeShellNotes() throws -> Bool {
    var isMore = false
    let saved = try translatingErrors {
      try writer.withConnection { connection, statements -> StoreWriter? in
        guard !connection.isInTransaction, try ShellNotes.exist(connection) else { return nil }
        let saving = StoreWriter(schema: schema, connection: connection, statements: statements, options: options)
        saving.toleratesDuplicates = true
        // What a table's check would refuse is there already, and must not keep the rest from being recorded.
        try connection.execute("PRAGMA ignore_check_constraints = 1")
        defer { try? connection.execute("PRAGMA ignore_check_constraints = 0") }
        do {
          try connection.immediate {
            isMore = try ShellNotes(writer: saving).absorb()
            try saving.finish(author: "sqlite3")
          }
        } catch {
          statements.replicas.removeAll()
          throw error
        }
        return saving
      }
    }
    if let saved, !saved.isUnchanged { announce(saved.summary(author: "sqlite3")) }
    return isMore
  }

  /// How many records another program has written that no save has recorded so far. A store that is open for writing
  /// records them before it tells anything else.
  package func recordsWrittenByOthers() throws -> Int { try read { try ShellNotes.recordCount($0) } }

  /// Runs a transaction that writes without recording: bookkeeping, and the application of what was pulled.
  package func write<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    try absorbShellNotes()
    return try translatingErrors {
      try writer.withConnection { connection, _ in try connection.immediate { try body(connection) } }
    }
  }

  /// A transaction that writes without recording and may end with a save of its own.
  func write<Result>(author: String, _ body: (Connection, StoreWriter) throws -> Result) throws -> Result {
    try absorbShellNotes()
    let (result, saving) = try translatingErrors {
      try writer.withConnection { connection, statements in
        let saving = StoreWriter(schema: schema, connection: connection, statements: statements, options: options)
        do {
          let result = try connection.immediate {
            let result = try body(connection, saving)
            try saving.finish(author: author)
            return result
          }
          return (result, saving)
        } catch {
          statements.replicas.removeAll()
          throw error
        }
      }
    }
    if !saving.isUnchanged { announce(saving.summary(author: author)) }
    return result
  }

  /// The same as ``write(_:)``, with `synchronous=FULL`: when it returns, every commit up to this one is on the disk.
  package func writeDurably<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    try translatingErrors {
      try writer.withConnection { connection, _ in
        try connection.execute("PRAGMA synchronous = full")
        defer { try? connection.execute("PRAGMA synchronous = normal") }
        return try connection.immediate { try body(connection) }
      }
    }
  }

  /// Calls `handler` after every commit on this store object (a save or an applied pull), outside the locks.
  /// The registration lasts as long as the returned token.
  /// - Parameter isLast: called when those that were registered otherwise know of the commit.
  package func observe(isLast: Bool = false, _ handler: @escaping @Sendable (CommitSummary) -> Void)
    -> StoreObservation
  {
    let number = observers.withLock { observers in
      observers.next += 1
      let number = isLast ? Int.max - observers.next : observers.next
      observers.handlers[number] = handler
      return number
    }
    return StoreObservation { [weak self] in
      self?.observers.withLock { _ = $0.handlers.removeValue(forKey: number) }
    }
  }

  /// Whether anybody is told of commits. The list of what a first sync brings is long, and made for observers only.
  package var isObserved: Bool { observers.withLock { !$0.handlers.isEmpty } }

  /// Tells the observers of a commit. Called outside the locks.
  package func announce(_ summary: CommitSummary) {
    let handlers = observers.withLock { observers in observers.handlers.sorted { $0.key < $1.key }.map(\.value) }
    for handler in handlers { handler(summary) }
  }

  private static let dataVersionNumber = StatementNumber.next()

  /// SQLite's `data_version`: another number after another process has committed.
  package func dataVersion() throws -> Int64 {
    try translatingErrors {
      try writer.withConnection { connection, _ in
        let statement = try connection.numbered(Self.dataVersionNumber) { "PRAGMA data_version" }
        defer { statement.reset() }
        return try statement.step() ? statement.int64(0) : 0
      }
    }
  }

  /// A fresh UUID version 7, above the one before within this process; never `UUID()`.
  package func makeRecordID() -> RecordID { identities.next() }

  /// The values of one record by property, or nil if there is none. `entity` may be a base of the record's own.
  package func row(_ entity: EntityPlan, _ id: RecordID) throws -> [String: Value]? {
    try read { connection in
      let names = entity.columns.map { $0.value(in: entity.table.quotedIdentifier) }
      let list = (names + ["_tombolo_id"]).joined(separator: ", ")
      return try connection.firstRow(
        "SELECT \(list) FROM \(entity.table.quotedIdentifier) WHERE _tombolo_id = ?1", { $0.bind(id, at: 1) }
      ) { row in
        Dictionary(
          entity.columns.map { ($0.property, row.value(Int32($0.position))) }, uniquingKeysWith: { first, _ in first })
      }
    }
  }

  /// Whether no connection has a transaction open or a statement in the middle of its rows.
  package var isQuiescent: Bool {
    var isQuiet = writer.withConnection { connection, _ in !connection.isInTransaction && !connection.hasBusyStatement }
    readers?.forEachIdle { if $0.isInTransaction || $0.hasBusyStatement { isQuiet = false } }
    return isQuiet
  }
}

package final class StoreObservation: Sendable {
  private let cancel: @Sendable () -> Void
  package init(cancel: @escaping @Sendable () -> Void) { self.cancel = cancel }
  deinit { cancel() }
}

/// What a commit changed, for other contexts and for observers.
package struct CommitSummary: Sendable {
  /// Who made it: the writer's token, so that a context passes over its own; nil for an applied pull.
  package var author: String?
  package var isRemote: Bool
  package var inserted: [(entity: String, id: RecordID)]
  package var updated: [(entity: String, id: RecordID)]
  package var deleted: [(entity: String, id: RecordID)]
  package init(
    author: String?, isRemote: Bool, inserted: [(entity: String, id: RecordID)],
    updated: [(entity: String, id: RecordID)], deleted: [(entity: String, id: RecordID)]
  ) {
    self.author = author
    self.isRemote = isRemote
    self.inserted = inserted
    self.updated = updated
    self.deleted = deleted
  }
}

/// What a save did beyond what it was asked for.
package struct SaveOutcome: Sendable {
  /// Nil where nothing was recorded.
  package var save: SaveNumber?
  /// Records united with another by a unique key: the one that is gone, and the one that stands.
  package var merged: [RecordID: RecordID] = [:]
  /// Every record that delete rules or a unite removed, those asked for included.
  package var deleted: [(entity: String, id: RecordID)] = []
  /// Records of which a rule changed columns or links (nullified references, rows of a unite).
  package var touched: [(entity: String, id: RecordID)] = []
  package init() {}
}
