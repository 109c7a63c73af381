public import Foundation

/// A place in a store's history: of two, the lesser one comes first. It can be kept, as JSON, and compared inside a
/// `#Predicate`.
public protocol HistoryToken: Comparable, Hashable, Codable, Sendable {
  /// By store: the number of its save.
  associatedtype TokenType
  /// By store: the number of its save.
  var tokenValue: TokenType { get }
}

/// One save, as history tells it.
public protocol HistoryTransaction: Hashable, Sendable {
  /// The type of its place in the history.
  associatedtype TokenType: HistoryToken
  /// What ``ModelContext/author`` was at the save.
  var author: String? { get }
  /// What the save did, in order, each record once.
  var changes: [HistoryChange] { get }
  /// The store's name.
  var storeIdentifier: String { get }
  /// When it was.
  var timestamp: Date { get }
  /// Its place in the history.
  var token: TokenType { get }
}

/// A save of this replica's store, made by any context or process, or by hand in the `sqlite3` shell.
///
/// What a sync brought is not a save of this store, and is not among them.
public struct DefaultHistoryTransaction: HistoryTransaction {
  /// What ``ModelContext/author`` was at the save; `sqlite3` for writes of other programs.
  public let author: String?
  /// The store's name.
  public let storeIdentifier: String
  /// When it was, exact to the millisecond.
  public let timestamp: Date
  /// Its place in the history.
  public let token: DefaultHistoryToken
  /// The number of the save in its store.
  public let transactionIdentifier: Int64
  /// Kept for source compatibility: it is not recorded, and empty.
  public let bundleIdentifier = ""
  /// Kept for source compatibility: it is not recorded, and empty.
  public let processIdentifier = ""
  /// What the save did, in order, each record once.
  ///
  /// Read when it is first asked for; a transaction that ``ModelContext/fetchHistory(_:)`` has returned has read it.
  public var changes: [HistoryChange] { details.changes }
  private let details: HistoryDetails

  init(author: String?, storeIdentifier: String, timestamp: Date, number: Int64, details: HistoryDetails) {
    self.author = author
    self.storeIdentifier = storeIdentifier
    self.timestamp = timestamp
    token = DefaultHistoryToken(storeIdentifier: storeIdentifier, number: number)
    transactionIdentifier = number
    self.details = details
  }

  /// Reads the changes now.
  ///
  /// - Throws: what reading the store throws.
  func load() throws { try details.load() }

  /// Equal, if they are one save.
  public static func == (a: DefaultHistoryTransaction, b: DefaultHistoryTransaction) -> Bool { a.token == b.token }
  /// Hashes what equality compares.
  public func hash(into hasher: inout Hasher) { hasher.combine(token) }
}

extension DefaultHistoryTransaction: Identifiable {
  /// The number of the save in its store.
  public var id: Int64 { transactionIdentifier }
}
