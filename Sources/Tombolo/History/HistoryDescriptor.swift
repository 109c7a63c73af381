public import Foundation

/// Which saves to fetch from a store's history.
public struct HistoryDescriptor<Transaction: HistoryTransaction>: Sendable {
  /// Which saves; nil for all. It is evaluated in memory, and `changes` in it reads the changes of every save.
  public var predicate: Predicate<Transaction>?
  /// In what order; empty for the order of the saves.
  public var sortBy: [SortDescriptor<Transaction>]
  /// How many at most; nil for all.
  public var fetchLimit: UInt64?

  /// A description of all saves, or of those that match.
  public init(predicate: Predicate<Transaction>? = nil, sortBy: [SortDescriptor<Transaction>] = []) {
    self.predicate = predicate
    self.sortBy = sortBy
  }
}
