/// A schema as it was released: the models of one version.
///
/// ```swift
/// enum LibraryV1: VersionedSchema {
///   static let versionIdentifier = Schema.Version(1, 0, 0)
///   static var models: [any PersistentModel.Type] { [Book.self, Note.self] }
/// }
/// ```
public protocol VersionedSchema: SendableMetatype {
  /// The models of this version.
  static var models: [any PersistentModel.Type] { get }
  /// The version; greater than that of every earlier release.
  static var versionIdentifier: Schema.Version { get }
}

/// The versions of a schema in order, and the stages that lead from each to the next.
public protocol SchemaMigrationPlan: SendableMetatype {
  /// Every version, the oldest first.
  static var schemas: [any VersionedSchema.Type] { get }
  /// One stage for each neighbouring pair.
  static var stages: [MigrationStage] { get }
}

/// A step from one schema version to the next.
public enum MigrationStage: @unchecked Sendable {
  // Guarded by the one thread that opens the store: it alone calls the closures.

  /// Added, removed and renamed parts: nothing has to be computed.
  case lightweight(fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type)
  /// The same, with closures that see the old and the new models.
  case custom(
    fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type,
    willMigrate: ((ModelContext) throws -> Void)?, didMigrate: ((ModelContext) throws -> Void)?)
}
