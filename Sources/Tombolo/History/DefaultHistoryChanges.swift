/// A record that is new.
public struct DefaultHistoryInsert<Model: PersistentModel>: HistoryInsert {
  /// The record's identity.
  public let changedPersistentIdentifier: PersistentIdentifier
  /// The transaction's place in the store's history.
  public let transactionIdentifier: Int64
  /// The place among the save's changes.
  public let changeIdentifier: Int64
}

/// A record of which something was written.
public struct DefaultHistoryUpdate<Model: PersistentModel>: HistoryUpdate, @unchecked Sendable {
  // Guarded by being immutable; the key paths are literals that capture nothing.

  /// The record's identity.
  public let changedPersistentIdentifier: PersistentIdentifier
  /// The transaction's place in the store's history.
  public let transactionIdentifier: Int64
  /// The place among the save's changes.
  public let changeIdentifier: Int64
  /// The attributes and relationships that were written.
  public let updatedAttributes: [PartialKeyPath<Model>]

  /// Equal, if they are one change.
  public static func == (a: Self, b: Self) -> Bool {
    a.transactionIdentifier == b.transactionIdentifier && a.changeIdentifier == b.changeIdentifier
      && a.changedPersistentIdentifier == b.changedPersistentIdentifier
  }
  /// Hashes what equality compares.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(transactionIdentifier)
    hasher.combine(changeIdentifier)
    hasher.combine(changedPersistentIdentifier)
  }
}

/// A record that is gone.
public struct DefaultHistoryDelete<Model: PersistentModel>: HistoryDelete {
  /// The record's identity.
  public let changedPersistentIdentifier: PersistentIdentifier
  /// The transaction's place in the store's history.
  public let transactionIdentifier: Int64
  /// The place among the save's changes.
  public let changeIdentifier: Int64
  /// The last values of the attributes that are declared `.preserveValueOnDeletion`.
  public let tombstone: HistoryTombstone<Model>

  /// Equal, if they are one change.
  public static func == (a: Self, b: Self) -> Bool {
    a.transactionIdentifier == b.transactionIdentifier && a.changeIdentifier == b.changeIdentifier
      && a.changedPersistentIdentifier == b.changedPersistentIdentifier
  }
  /// Hashes what equality compares.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(transactionIdentifier)
    hasher.combine(changeIdentifier)
    hasher.combine(changedPersistentIdentifier)
  }
}

/// The last values of a deleted record, of the attributes that are declared `.preserveValueOnDeletion`.
public struct HistoryTombstone<Model: PersistentModel>: Sequence, @unchecked Sendable {
  // Guarded by being immutable; the key paths are literals that capture nothing.

  /// An attribute's key path, and its last value.
  public typealias Element = (keyPath: PartialKeyPath<Model>, value: any Sendable)
  private let values: [Element]

  init(_ values: [Element]) { self.values = values }

  /// The last value of an attribute; nil where it was not preserved, or was nil.
  public subscript(keyPath: PartialKeyPath<Model>) -> (any Sendable)? {
    values.first { $0.keyPath == keyPath }?.value
  }

  /// The preserved values, in the order of the attributes' declaration; those that were nil are left out.
  public func makeIterator() -> IndexingIterator<[Element]> { values.makeIterator() }
}
