public import Foundation

/// Which records to fetch, in what order, how many.
public struct FetchDescriptor<Model: PersistentModel> {
  /// Which records; nil for all.
  public var predicate: Predicate<Model>?
  /// In what order; the first is the most significant.
  public var sortBy: [SortDescriptor<Model>]
  /// How many at most; nil for all.
  public var fetchLimit: Int?
  /// How many of the first to leave out.
  public var fetchOffset: Int?
  /// Whether changes that were not saved take part.
  public var includePendingChanges = true
  /// The attributes that will be needed; all are fetched for now.
  public var propertiesToFetch: [PartialKeyPath<Model>] = []
  /// The relationships that will be needed.
  public var relationshipKeyPathsForPrefetching: [PartialKeyPath<Model>] = []

  /// A description of all records of the model, or of those that match.
  public init(predicate: Predicate<Model>? = nil, sortBy: [SortDescriptor<Model>] = []) {
    self.predicate = predicate
    self.sortBy = sortBy
  }
}
