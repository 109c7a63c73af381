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
  /// The attributes that will be needed; empty for all. Only their columns are read, with the keys of references.
  ///
  /// Another attribute is read when it is first asked for: by one query for it and the other missing ones, of all objects
  /// (some hundred at a time) that this fetch made. An object that the context had before is not made poorer. An attribute
  /// that was never read shows its default, or nil, once another context has deleted the record.
  public var propertiesToFetch: [PartialKeyPath<Model>] = []
  /// The relationships that will be needed: each is loaded by one query for all objects of the fetch.
  public var relationshipKeyPathsForPrefetching: [PartialKeyPath<Model>] = []

  /// A description of all records of the model, or of those that match.
  public init(predicate: Predicate<Model>? = nil, sortBy: [SortDescriptor<Model>] = []) {
    self.predicate = predicate
    self.sortBy = sortBy
  }
}
