import Foundation
import TomboloProtocol
import TomboloSQLite

extension ModelContext {
  // MARK: History

  /// The saves of the container's stores that a descriptor describes, and what syncs brought, the oldest first.
  ///
  /// Pass `DefaultHistoryTransaction`. What a sync brought is a transaction with the author `sync`, in its place between two
  /// saves. Saves are kept until ``deleteHistory(_:)``, what syncs brought at most 90 days; a configuration with
  /// `recordsHistory: false` has no history.
  ///
  /// - Throws: ``TomboloError`` `history_token_expired` where the predicate compares with a token whose following saves
  ///   are deleted; `history_disabled`; what the predicate throws.
  public func fetchHistory<Transaction: HistoryTransaction>(
    _ descriptor: HistoryDescriptor<Transaction>
  ) throws -> [Transaction] {
    try use {
      let matching = try transactions(descriptor)
      for transaction in matching { try transaction.load() }
      return matching.compactMap { $0 as? Transaction }
    }
  }

  /// Deletes the saves that a descriptor describes from the history; the data stays.
  ///
  /// A save that sync still needs stays as well, and every one behind it, until a server has taken it.
  ///
  /// - Throws: what ``fetchHistory(_:)`` throws.
  public func deleteHistory<Transaction: HistoryTransaction>(_ descriptor: HistoryDescriptor<Transaction>) throws {
    try use {
      let doomed = try transactions(descriptor)
      for part in core.parts {
        let numbers = doomed.filter { $0.storeIdentifier == part.storeIdentifier }.map(\.transactionIdentifier)
        if numbers.isEmpty { continue }
        try part.requireWritable()
        try part.store.write { connection in try HistoryTable(connection).delete(numbers) }
      }
    }
  }

  private func transactions<Transaction: HistoryTransaction>(
    _ descriptor: HistoryDescriptor<Transaction>
  ) throws -> [DefaultHistoryTransaction] {
    guard let descriptor = descriptor as? HistoryDescriptor<DefaultHistoryTransaction> else {
      throw ModelErrors.unsupported(
        "History of \(Transaction.self) cannot be fetched.", "Use HistoryDescriptor<DefaultHistoryTransaction>.")
    }
    var headers: [[HistoryHeader]] = []
    var horizons: [Int64] = []
    for part in core.parts {
      if !part.store.options.recordsHistory {
        // A store without history has none to add to the others'.
        if core.parts.count > 1, core.parts.contains(where: \.store.options.recordsHistory) { continue }
        throw TomboloError(
          .historyDisabled, "The configuration \(part.configuration.name) keeps no history.",
          remedy: "Make the ModelConfiguration with recordsHistory: true.")
      }
      try part.store.absorbShellNotes()
      let (horizon, saves) = try part.store.read { connection in
        let table = HistoryTable(connection)
        return (try table.horizon(), try table.headers(part))
      }
      horizons.append(horizon)
      headers.append(saves)
    }
    try checkExpiry(descriptor, horizons)
    var found: [DefaultHistoryTransaction] = []
    let limit = descriptor.fetchLimit.map { Int(clamping: $0) } ?? .max
    for transaction in HistoryHeader.merged(headers, core) {
      if descriptor.sortBy.isEmpty, found.count >= limit { break }
      if try descriptor.predicate?.evaluate(transaction) ?? true { found.append(transaction) }
    }
    if descriptor.sortBy.isEmpty { return found }
    return Array(found.sorted(using: descriptor.sortBy).prefix(limit))
  }

  /// A token from before what was deleted would make a gap look like nothing: the predicate is asked which it names.
  private func checkExpiry(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>, _ horizons: [Int64]) throws {
    guard horizons.contains(where: { $0 > 0 }), let predicate = descriptor.predicate else { return }
    let recording = core.parts.filter(\.store.options.recordsHistory)
    let last = Dictionary(recording.map { ($0.storeIdentifier, Int64.max) }, uniquingKeysWith: { first, _ in first })
    let probe = DefaultHistoryTransaction(
      author: nil, storeIdentifier: recording[0].storeIdentifier, timestamp: Date(timeIntervalSinceReferenceDate: 0),
      number: .max, token: DefaultHistoryToken(last),
      details: HistoryDetails(core: core, part: recording[0], number: 0))
    let tokens = TokenWatch.tokens { _ = try? predicate.evaluate(probe) }
    for (part, horizon) in zip(recording, horizons) {
      guard let least = tokens.map({ $0.number(of: part.storeIdentifier) }).min(), least < horizon else { continue }
      throw TomboloError(
        .historyTokenExpired, "The history that follows the token \(least) was deleted, up to \(horizon).",
        remedy: "Fetch the records anew, and go on from the newest transaction's token.")
    }
  }
}

/// A save or a pull as history lists it, before it has its place among those of the other stores.
private struct HistoryHeader {
  let part: StorePart
  let author: String?
  let timestamp: Date
  let number: Int64

  /// The saves of all stores: each store's in their order, and by time between stores. A token names the last save of each
  /// store up to there.
  static func merged(_ lists: [[HistoryHeader]], _ core: ContainerCore) -> [DefaultHistoryTransaction] {
    var places = lists.map { _ in 0 }
    var numbers: [String: Int64] = [:]
    var merged: [DefaultHistoryTransaction] = []
    // Ends: each turn takes one save.
    while let next = lists.indices.filter({ places[$0] < lists[$0].count }).min(by: {
      lists[$0][places[$0]].timestamp < lists[$1][places[$1]].timestamp
    }) {
      let header = lists[next][places[next]]
      places[next] += 1
      let store = header.part.storeIdentifier
      numbers[store] = header.number
      merged.append(
        DefaultHistoryTransaction(
          author: header.author, storeIdentifier: store, timestamp: header.timestamp, number: header.number,
          token: DefaultHistoryToken(numbers),
          details: HistoryDetails(core: core, part: header.part, number: header.number)))
    }
    return merged
  }
}

/// The recorded saves, as history reads and forgets them.
private struct HistoryTable {
  private let connection: Connection
  init(_ connection: Connection) { self.connection = connection }

  /// The greatest number of a save that was deleted.
  func horizon() throws -> Int64 { try StoreMeta(connection).integer(.historyHorizon) ?? 0 }

  /// In order; a save whose changes cancelled out, or that was refused, is not one.
  func headers(_ part: StorePart) throws -> [HistoryHeader] {
    var headers: [HistoryHeader] = []
    func add(_ author: String?, _ time: Int64, _ number: Int64) {
      headers.append(
        HistoryHeader(
          part: part, author: author, timestamp: Date(timeIntervalSince1970: Double(time) / 1000), number: number))
    }
    try connection.eachRow(
      "SELECT number, author, time FROM _tombolo_save WHERE state IN (0, 1, 2, 3) AND \(Outbox.hasChanges) ORDER BY number"
    ) { row in
      add(row.isNull(1) ? nil : row.string(1), row.int64(2), HistoryNumber.number(ofSave: row.int64(0)))
    }
    // A store that an earlier build made, and that cannot be written, remembers nothing of syncs.
    let remembers = try connection.firstRow("SELECT 1 FROM sqlite_schema WHERE name = '_tombolo_pull'") { _ in true }
    guard remembers ?? false else { return headers }
    try connection.eachRow("SELECT number, time FROM _tombolo_pull") { row in
      add(DefaultHistoryTransaction.syncAuthor, row.int64(1), row.int64(0))
    }
    return headers.sorted { $0.number < $1.number }
  }

  func delete(_ numbers: [Int64]) throws {
    // The values of a save that waits may stand in later ones: only what is before all of them may go.
    let waiting =
      try connection.firstRow("SELECT min(number) FROM _tombolo_save WHERE state IN (1, 2, 4)") {
        $0.isNull(0) ? nil : HistoryNumber.number(ofSave: $0.int64(0))
      } ?? nil
    let free = numbers.filter { $0 < waiting ?? .max }
    guard let greatest = free.max() else { return }
    for number in free {
      let places =
        HistoryNumber.save(of: number).map { [("_tombolo_change", "save", $0), ("_tombolo_save", "number", $0)] }
        ?? [("_tombolo_pulled", "pull", number), ("_tombolo_pull", "number", number)]
      for (table, column, place) in places {
        try connection.run("DELETE FROM \(table) WHERE \(column) = ?1") { $0.bind(place, at: 1) }
      }
    }
    let meta = StoreMeta(connection)
    try meta.set(.historyHorizon, to: .integer(max(greatest, try meta.integer(.historyHorizon) ?? 0)))
  }
}
