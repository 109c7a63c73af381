/// The server's merge as a pure function of the state, one change set and the schema.
package enum MergeEngine {
  /// Merges one change set into the state behind `reader`.
  ///
  /// - Parameters:
  ///   - replica: who sends it; its saves are numbered one after the other.
  ///   - position: the place in the feed that the change set takes if it is accepted: the head's next.
  /// - Returns: what to answer and what to write, in the same transaction.
  package static func merge<Reader: MergeReader>(
    _ changeSet: ChangeSet, from replica: ReplicaID, at position: FeedPosition, into reader: Reader,
    context: MergeContext
  ) throws -> MergeEffects {
    preconditionFailure("not built yet")
  }

  /// What a pull since `base` delivers of a record: only the fields that changed since, references as readers get
  /// them (resolved through aliases, nil where the target is dead).
  package static func item<Reader: MergeReader>(
    for record: MergeRecord, since base: FeedPosition, reader: Reader, schema: MergeSchema
  ) throws -> FeedItem {
    preconditionFailure("not built yet")
  }
}
