import TomboloProtocol
import TomboloSQLite

/// What became of a save of several stores.
package struct SeveralSaves<Result> {
  package let result: Result
  /// By store, in the order given: nil where its part was not committed.
  package fileprivate(set) var outcomes: [SaveOutcome?]
  /// Why the remaining stores could not be committed; nil if all were.
  package fileprivate(set) var failure: (any Error)?
}

extension Store {
  /// Saves to several stores: every one of them writes and checks its part before the first one commits. So whatever can be
  /// refused is refused by all of them. Only a failure of the disk (or the end of the process) between two commits parts them.
  ///
  /// One file's transaction cannot include another's in a way that survives a power cut: SQLite promises that for attached
  /// files without a log only (https://sqlite.org/lang_attach.html), and these have one. So nothing is attached.
  ///
  /// - Throws: what `body`, a check or the first commit throws; nothing was written to any store then.
  package static func save<Result>(
    in stores: [Store], author: String?, _ body: ([StoreWriter]) throws -> Result
  ) throws -> SeveralSaves<Result> {
    for store in stores { try store.absorbShellNotes() }
    let several = SeveralStores(stores)
    var saves: SeveralSaves<Result>?
    try several.open {
      let writers = several.writers
      let result = try body(writers)
      for (store, writer) in zip(stores, writers) { try store.translatingErrors { try writer.finish(author: author) } }
      saves = try several.commit(result)
    }
    guard let saves else { preconditionFailure("a transaction that neither ended nor threw") }
    for (index, store) in stores.enumerated() {
      if saves.outcomes[index] != nil, !several.writers[index].isUnchanged {
        store.announce(several.writers[index].summary(author: author))
      }
    }
    return saves
  }
}

/// The open transactions of one save, each on its store's own connection.
private final class SeveralStores {
  private let stores: [Store]
  /// In the same order for every save of every process, so that no two wait for each other.
  private let order: [Int]
  private var opened: [StoreWriter?]

  init(_ stores: [Store]) {
    self.stores = stores
    order = stores.indices.sorted { "\(stores[$0].location)" < "\(stores[$1].location)" }
    opened = stores.map { _ in nil }
  }

  var writers: [StoreWriter] { opened.compactMap(\.self) }

  /// Runs `body` with a transaction open on every store; what it leaves open is rolled back.
  func open(_ body: () throws -> Void) throws { try open(at: 0, body) }

  private func open(at depth: Int, _ body: () throws -> Void) throws {
    guard depth < order.count else { return try body() }
    let store = stores[order[depth]]
    try store.translatingErrors {
      try store.writer.withConnection { connection, statements in
        try connection.cached("BEGIN IMMEDIATE").run()
        defer {
          if connection.isInTransaction {
            try? connection.cached("ROLLBACK").run()
            statements.replicas.removeAll()
          }
        }
        opened[order[depth]] = StoreWriter(
          schema: store.schema, connection: connection, statements: statements, options: store.options)
        try open(at: depth + 1, body)
      }
    }
  }

  /// Commits one store after the other.
  ///
  /// - Throws: why the first one could not be committed.
  func commit<Result>(_ result: Result) throws -> SeveralSaves<Result> {
    var saves = SeveralSaves(result: result, outcomes: stores.map { _ in nil as SaveOutcome? }, failure: nil)
    var isFirst = true
    for index in stores.indices {
      let writer = writers[index]
      // What came to nothing is rolled back, so that it writes nothing.
      if writer.isUnchanged {
        saves.outcomes[index] = writer.outcome
        continue
      }
      do {
        try stores[index].translatingErrors { try writer.connection.cached("COMMIT").run() }
      } catch {
        if isFirst { throw error }
        saves.failure = error
        return saves
      }
      isFirst = false
      saves.outcomes[index] = writer.outcome
    }
    return saves
  }
}
