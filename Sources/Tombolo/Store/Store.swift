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
    package var clock: any WallClock
    package var randomness: any Randomness
    package init(clock: any WallClock, randomness: any Randomness) {
      self.clock = clock
      self.randomness = randomness
    }
  }

  package let location: Location
  package let options: Options

  /// Opens a store for a schema, creating it where there is none.
  ///
  /// - Throws: ``TomboloError``; nothing was written then.
  package convenience init(_ location: Location, document: SchemaDocument, options: Options) throws {
    preconditionFailure("not built yet")
  }

  /// Opens an existing store with the schema document inside it: the command line's way.
  package convenience init(existing path: String, options: Options) throws {
    preconditionFailure("not built yet")
  }

  init(location: Location, options: Options) {
    self.location = location
    self.options = options
  }

  package var schema: StoreSchema { preconditionFailure("not built yet") }

  /// Whether it carries a schema version.
  package var isVersioned: Bool { schema.document.version != nil }

  /// Runs `body` with a connection that only reads, in a transaction that sees one state.
  package func read<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    preconditionFailure("not built yet")
  }

  /// Runs one save: an immediate transaction with the data and its change set. What `body` throws undoes all of it.
  @discardableResult
  package func save<Result>(author: String? = nil, _ body: (StoreWriter) throws -> Result) throws -> (
    result: Result, outcome: SaveOutcome
  ) {
    preconditionFailure("not built yet")
  }

  /// Calls `handler` after every commit on this store object (a save or an applied pull), outside the locks.
  /// The registration lasts as long as the returned token.
  package func observe(_ handler: @escaping @Sendable (CommitSummary) -> Void) -> StoreObservation {
    preconditionFailure("not built yet")
  }

  /// SQLite's `data_version`: another number after another process has committed.
  package func dataVersion() throws -> Int64 { preconditionFailure("not built yet") }

  /// A fresh UUID version 7, above the one before within this process; never `UUID()`.
  package func makeRecordID() -> RecordID { preconditionFailure("not built yet") }
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
