import Foundation
import TomboloProtocol
import TomboloSQLite

extension ModelContext {
  // MARK: History

  /// The saves of the container's stores that a descriptor describes, and what syncs brought, the oldest first.
  ///
  /// Pass `DefaultHistoryTransaction`. The order is that of the commits to this replica's store, whichever context or
  /// process made them and whatever its clock said: tokens and `transactionIdentifier` ascend strictly. What
  /// one sync brought is one transaction with the author `sync`, in its place between two saves. Transactions of several
  /// stores are put in order by their time.
  ///
  /// Saves are kept until ``deleteHistory(_:)``, also what they did and undid before it was sent; what syncs brought at most
  /// 90 days. A configuration with `recordsHistory: false` has no history.
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
