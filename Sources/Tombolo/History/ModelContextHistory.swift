import Foundation
import TomboloProtocol
import TomboloSQLite

extension ModelContext {
  // MARK: History

  /// The saves of this store that a descriptor describes, the oldest first.
  ///
  /// Pass `DefaultHistoryTransaction`. History is kept until ``deleteHistory(_:)``; a configuration with
  /// `recordsHistory: false` has none.
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
      let numbers = try transactions(descriptor).map(\.transactionIdentifier)
      guard !numbers.isEmpty else { return }
      guard core.configuration.allowsSave else { throw ModelErrors.readOnly(core.configuration.name) }
      try store.write { connection in try HistoryTable(connection).delete(numbers) }
    }
  }

  private func transactions<Transaction: HistoryTransaction>(
    _ descriptor: HistoryDescriptor<Transaction>
  ) throws -> [DefaultHistoryTransaction] {
    guard let descriptor = descriptor as? HistoryDescriptor<DefaultHistoryTransaction> else {
      throw ModelErrors.unsupported(
        "History of \(Transaction.self) cannot be fetched.", "Use HistoryDescriptor<DefaultHistoryTransaction>.")
    }
    guard store.options.recordsHistory else {
      throw TomboloError(
        .historyDisabled, "The configuration \(core.configuration.name) keeps no history.",
        remedy: "Make the ModelConfiguration with recordsHistory: true.")
    }
    try store.absorbShellNotes()
    let (horizon, headers) = try store.read { connection in
      let table = HistoryTable(connection)
      return (try table.horizon(), try table.headers(core))
    }
    try checkExpiry(descriptor, horizon)
    var found: [DefaultHistoryTransaction] = []
    let limit = descriptor.fetchLimit.map { Int(clamping: $0) } ?? .max
    for header in headers {
      if descriptor.sortBy.isEmpty, found.count >= limit { break }
      if try descriptor.predicate?.evaluate(header) ?? true { found.append(header) }
    }
    if descriptor.sortBy.isEmpty { return found }
    return Array(found.sorted(using: descriptor.sortBy).prefix(limit))
  }

  /// A token from before what was deleted would make a gap look like nothing: the predicate is asked which it names.
  private func checkExpiry(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>, _ horizon: Int64) throws {
    guard horizon > 0, let predicate = descriptor.predicate else { return }
    let probe = DefaultHistoryTransaction(
      author: nil, storeIdentifier: core.storeIdentifier, timestamp: Date(timeIntervalSinceReferenceDate: 0),
      number: .max, details: HistoryDetails(core: core, number: 0))
    let least = TokenWatch.leastNumber { _ = try? predicate.evaluate(probe) }
    guard let least, least < horizon else { return }
    throw TomboloError(
      .historyTokenExpired, "The history that follows the token of save \(least) was deleted, up to save \(horizon).",
      remedy: "Fetch the records anew, and go on from the newest transaction's token.")
  }
}

/// The recorded saves, as history reads and forgets them.
private struct HistoryTable {
  private let connection: Connection
  init(_ connection: Connection) { self.connection = connection }

  /// The greatest number of a save that was deleted.
  func horizon() throws -> Int64 { try StoreMeta(connection).integer(.historyHorizon) ?? 0 }

  /// In order; a save whose changes cancelled out, or that was refused, is not one.
  func headers(_ core: ContainerCore) throws -> [DefaultHistoryTransaction] {
    var headers: [DefaultHistoryTransaction] = []
    try connection.eachRow(
      "SELECT number, author, time FROM _tombolo_save WHERE state IN (0, 1, 2, 3) AND \(Outbox.hasChanges) ORDER BY number"
    ) { row in
      headers.append(
        DefaultHistoryTransaction(
          author: row.isNull(1) ? nil : row.string(1), storeIdentifier: core.storeIdentifier,
          timestamp: Date(timeIntervalSince1970: Double(row.int64(2)) / 1000), number: row.int64(0),
          details: HistoryDetails(core: core, number: row.int64(0))))
    }
    return headers
  }

  func delete(_ numbers: [Int64]) throws {
    // The values of a save that waits may stand in later ones: only what is before all of them may go.
    let waiting =
      try connection.firstRow("SELECT min(number) FROM _tombolo_save WHERE state IN (1, 2, 4)") {
        $0.isNull(0) ? nil : $0.int64(0)
      } ?? nil
    let free = numbers.filter { $0 < waiting ?? .max }
    guard let greatest = free.max() else { return }
    for number in free {
      for (table, column) in [("_tombolo_change", "save"), ("_tombolo_save", "number")] {
        try connection.run("DELETE FROM \(table) WHERE \(column) = ?1") { $0.bind(number, at: 1) }
      }
    }
    let meta = StoreMeta(connection)
    try meta.set(.historyHorizon, to: .integer(max(greatest, try meta.integer(.historyHorizon) ?? 0)))
  }
}
