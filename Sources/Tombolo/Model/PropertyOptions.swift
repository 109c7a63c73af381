import TomboloProtocol

/// What `@Attribute(…)` says, copied by the macro into the class's description.
public struct _$AttributeOptions {
  /// The spelling of `.unique` among an attribute's options.
  static let unique = "unique"
  package let options: [Schema.Attribute.Option]
  package let originalName: String?
  package let hashModifier: String?
  /// Takes the arguments of `@Attribute` as they are written.
  public init(_ options: Schema.Attribute.Option..., originalName: String? = nil, hashModifier: String? = nil) {
    self.options = options
    self.originalName = originalName
    self.hashModifier = hashModifier
  }
}

/// What `@Relationship(…)` says, copied by the macro into the class's description.
public struct _$RelationshipOptions {
  package let options: [Schema.Relationship.Option]
  package let deleteRule: Schema.Relationship.DeleteRule
  package let minimumModelCount: Int
  package let maximumModelCount: Int
  package let originalName: String?
  package let inverse: AnyKeyPath?
  package let hashModifier: String?
  /// Takes the arguments of `@Relationship` as they are written.
  public init(
    _ options: Schema.Relationship.Option..., deleteRule: Schema.Relationship.DeleteRule = .nullify,
    minimumModelCount: Int? = 0, maximumModelCount: Int? = 0, originalName: String? = nil, inverse: AnyKeyPath? = nil,
    hashModifier: String? = nil
  ) {
    self.options = options
    self.deleteRule = deleteRule
    self.minimumModelCount = minimumModelCount ?? 0
    self.maximumModelCount = maximumModelCount ?? 0
    self.originalName = originalName
    self.inverse = inverse
    self.hashModifier = hashModifier
  }
}

/// What happens when two records have one unique value.
public enum UniqueConflictPolicy: Hashable, Sendable {
  /// They become one record.
  case merge
  /// The later save is refused with `unique_violation`.
  case reject
}

/// Who wins when one replica deletes a record and another, not having seen that, edits it.
///
/// A model says so by `static var concurrentDelete: DeletePolicy { .editWins }`; without it, the deletion wins.
public enum DeletePolicy: Hashable, Sendable {
  /// The record stays deleted; the edit is kept in the conflict log.
  case deleteWins
  /// The record comes back with the edit.
  case editWins
}
