/// What a save did to one record.
public enum HistoryChange: Sendable {
  /// The record is new: a ``DefaultHistoryInsert`` of its class.
  case insert(any HistoryInsert)
  /// Attributes or relationships were written: a ``DefaultHistoryUpdate`` of its class.
  case update(any HistoryUpdate)
  /// The record is gone: a ``DefaultHistoryDelete`` of its class.
  case delete(any HistoryDelete)

  /// The record's identity. For a deleted one no object can be fetched.
  public var changedPersistentIdentifier: PersistentIdentifier {
    switch self {
    case .insert(let change): change.changedPersistentIdentifier
    case .update(let change): change.changedPersistentIdentifier
    case .delete(let change): change.changedPersistentIdentifier
    }
  }
}

/// What is common to the kinds of change.
public protocol HistoryChangeDescription<Model>: Hashable, Sendable {
  /// The record's class.
  associatedtype Model: PersistentModel
  /// The record's identity.
  var changedPersistentIdentifier: PersistentIdentifier { get }
  /// The transaction's place in the store's history.
  var transactionIdentifier: Int64 { get }
  /// The place among the save's changes.
  var changeIdentifier: Int64 { get }
}

/// A record that is new.
public protocol HistoryInsert<Model>: HistoryChangeDescription {}

/// A record of which something was written.
public protocol HistoryUpdate<Model>: HistoryChangeDescription {
  /// The attributes and relationships that were written; `contains(\.title)` says whether one was.
  var updatedAttributes: [PartialKeyPath<Model>] { get }
}

/// A record that is gone.
public protocol HistoryDelete<Model>: HistoryChangeDescription {
  /// The last values of the attributes that are declared `.preserveValueOnDeletion`.
  var tombstone: HistoryTombstone<Model> { get }
}
