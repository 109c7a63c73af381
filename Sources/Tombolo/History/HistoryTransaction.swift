public import Foundation

/// A place in a store's history: of two, the lesser one comes first. It can be kept, as JSON, and compared inside a
/// `#Predicate`.
public protocol HistoryToken: Comparable, Hashable, Codable, Sendable {
  /// By store: the place in its history.
  associatedtype TokenType
  /// By store: the place in its history.
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

/// A save of this replica's store, made by any context or process, or by hand in the `sqlite3` shell; or what one sync
/// brought from others.
public struct DefaultHistoryTransaction: HistoryTransaction {
  /// What ``ModelContext/author`` was at the save; `sqlite3` for writes of other programs, `sync` for what a sync brought.
  public let author: String?
  /// The store's name.
  public let storeIdentifier: String
  /// When it was, exact to the millisecond.
  public let timestamp: Date
  /// Its place in the history.
  public let token: DefaultHistoryToken
  /// The place in the store's history: above that of everything before it.
  public let transactionIdentifier: Int64
  /// `tombolo.sync` for what a sync brought; empty for saves, of which it is not recorded.
  public var bundleIdentifier: String { author == Self.syncAuthor ? "tombolo.sync" : "" }
  /// Kept for source compatibility: it is not recorded, and empty.
  public let processIdentifier = ""
  /// What the save did, in order, each record once.
  ///
  /// Read when it is first asked for; a transaction that ``ModelContext/fetchHistory(_:)`` has returned has read it.
  public var changes: [HistoryChange] { details.changes }
  private let details: HistoryDetails
  static let syncAuthor = "sync"

  init(
    author: String?, storeIdentifier: String, timestamp: Date, number: Int64, token: DefaultHistoryToken,
    details: HistoryDetails
  ) {
    self.author = author
    self.storeIdentifier = storeIdentifier
    self.timestamp = timestamp
    self.token = token
    transactionIdentifier = number
    self.details = details
  }

  /// Reads the changes now.
  ///
  /// - Throws: what reading the store throws.
  func load() throws { try details.load() }

  /// Equal, if they are one save.
  public static func == (a: DefaultHistoryTransaction, b: DefaultHistoryTransaction) -> Bool {
    a.transactionIdentifier == b.transactionIdentifier && a.storeIdentifier == b.storeIdentifier
  }
  /// Hashes what equality compares.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(transactionIdentifier)
    hasher.combine(storeIdentifier)
  }
}

extension DefaultHistoryTransaction: Identifiable {
  /// The place in the store's history.
  public var id: Int64 { transactionIdentifier }
}
