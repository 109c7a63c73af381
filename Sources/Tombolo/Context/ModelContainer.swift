import Foundation
import TomboloProtocol

/// A schema and the store of its data. Contexts are made of it; it may be shared between tasks.
///
/// Opening does all its work in the calling thread and never waits for the main actor.
public final class ModelContainer: Sendable {
  /// The schema that the store was opened with.
  public let schema: Schema
  /// The plan that it was opened with.
  public let migrationPlan: (any SchemaMigrationPlan.Type)?
  /// Where the data is: each configuration has a store of its own, with the records of its models.
  public let configurations: Set<ModelConfiguration>
  let core: ContainerCore
  /// The first configuration's store.
  package var store: Store { core.store }
  package var plans: ModelPlans { core.plans }
  private let main: MainContext
  private let remoteChanges = RemoteChanges()

  // MARK: Opening

  /// Opens a container for models and all that their relationships lead to.
  ///
  /// - Throws: ``TomboloError`` with the reason; nothing was written then, and nothing is ever deleted.
  public convenience init(
    for types: any PersistentModel.Type..., migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: ModelConfiguration...
  ) throws {
    try self.init(for: Schema(types), migrationPlan: migrationPlan, configurations: configurations)
  }

  /// Opens a container for a schema.
  ///
  /// - Throws: ``TomboloError`` with the reason.
  public convenience init(
    for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil, configurations: ModelConfiguration...
  ) throws {
    try self.init(for: schema, migrationPlan: migrationPlan, configurations: configurations)
  }

  /// Opens a container for the released version of a schema.
  ///
  /// - Throws: ``TomboloError`` with the reason.
  public convenience init(
    for versionedSchema: any VersionedSchema.Type, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: ModelConfiguration...
  ) throws {
    try self.init(
      for: Schema(versionedSchema: versionedSchema), migrationPlan: migrationPlan, configurations: configurations)
  }

  /// Opens a container for a schema and a list of configurations, each with a store of its own.
  ///
  /// A configuration owns the models that its schema names, and all that relationships and base classes tie to them; one
  /// configuration may have no schema, and owns the rest. Objects are fetched from and saved to the store of their model.
  /// Relationships do not cross stores.
  ///
  /// A save that touches several stores is checked in all of them before the first one commits; see ``ModelContext/save()``.
  ///
  /// - Throws: ``TomboloError`` with the reason: `ambiguous` where two configurations are for one model or one file, or a
  ///   relationship would cross; `model_not_in_schema` where a model has no configuration.
  public convenience init(
    for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil, configurations: [ModelConfiguration]
  ) throws {
    try self.init(for: schema, migrationPlan: migrationPlan, configurations: configurations, progress: { _ in })
  }

  init(
    for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)?, configurations: [ModelConfiguration],
    progress: (OpeningStep) -> Void
  ) throws {
    progress(.schema)
    let schema = try Self.effective(schema, migrationPlan)
    if schema.descriptions.isEmpty, !schema.document.entities.isEmpty {
      throw TomboloError(
        .invalidSchema, "The schema was read from a document and has no classes.",
        remedy: "Make the Schema of the model classes, as Schema([Book.self]).")
    }
    if !schema.faults.isEmpty {
      throw TomboloError(
        .invalidSchema,
        "The models' declarations have \(schema.faults.count) mistakes; the first: \(schema.faults[0].text)",
        remedy: schema.faults[0].fix, details: schema.faults)
    }
    let configurations = configurations.isEmpty ? [ModelConfiguration(nil)] : configurations
    let division = try StoreDivision(schema, configurations)
    var parts: [StorePart] = []
    for (configuration, document) in zip(configurations, division.documents) {
      progress(.store(name: configuration.name))
      let taken = parts.map(\.storeIdentifier)
      let identifier =
        taken.contains(configuration.name) ? "\(configuration.name)-\(parts.count + 1)" : configuration.name
      parts.append(
        StorePart(
          index: parts.count, configuration: configuration, store: try Self.open(configuration, document),
          storeIdentifier: identifier))
    }
    core = ContainerCore(schema: schema, migrationPlan: migrationPlan, parts: parts)
    self.schema = schema
    self.migrationPlan = migrationPlan
    self.configurations = Set(configurations)
    main = MainContext()
    remoteChanges.begin(self)
    progress(.ready)
  }

  /// A container on a store that somebody else has opened for the schema: the simulation's way.
  package convenience init(_ schema: Schema, on store: Store) {
    let configuration = ModelConfiguration(isStoredInMemoryOnly: true)
    let part = StorePart(index: 0, configuration: configuration, store: store, storeIdentifier: configuration.name)
    self.init(core: ContainerCore(schema: schema, migrationPlan: nil, parts: [part]))
    remoteChanges.begin(self)
  }

  /// Another container of the same store: for a context that outlived the one it was made of.
  init(core: ContainerCore) {
    self.core = core
    schema = core.schema
    migrationPlan = core.migrationPlan
    configurations = Set(core.parts.map(\.configuration))
    main = MainContext()
  }

  /// The store of a configuration.
  ///
  /// - Parameter name: nil where the container has only one.
  /// - Throws: `ambiguous` where there are several and none is named; `model_not_in_schema` where there is none of that name.
  package func store(of name: String?) throws -> Store {
    guard let name else {
      if core.parts.count == 1 { return core.store }
      throw TomboloError(
        .ambiguous, "The container has \(core.parts.count) stores, and none of them is named.",
        remedy: "Name a configuration: \(core.parts.map(\.storeIdentifier).joined(separator: ", ")).")
    }
    if let part = core.parts.first(where: { $0.storeIdentifier == name }) { return part.store }
    throw TomboloError(
      .modelNotInSchema, "The container has no configuration \(name).",
      remedy: "It has: \(core.parts.map(\.storeIdentifier).joined(separator: ", ")).")
  }

  /// A plan of one version makes the schema a versioned one; what a longer plan needs cannot be done yet.
  private static func effective(_ schema: Schema, _ plan: (any SchemaMigrationPlan.Type)?) throws -> Schema {
    guard let plan else { return schema }
    let versions = plan.schemas.map { $0.versionIdentifier }
    guard zip(versions, versions.dropFirst()).allSatisfy({ $0 < $1 }) else {
      throw TomboloError(
        .invalidMigrationPlan, "The versions of \(plan) are not in increasing order.",
        remedy: "List the schemas from the oldest to the newest, each with a version of its own.")
    }
    guard let latest = plan.schemas.last else { return schema }
    let released = Schema(versionedSchema: latest)
    guard released.document.entities == schema.document.entities else {
      throw TomboloError(
        .invalidMigrationPlan, "The container's models are not those of \(latest), the latest version of \(plan).",
        remedy: "Open the container for the models of the plan's latest version.")
    }
    return released
  }

  private static func open(_ configuration: ModelConfiguration, _ document: SchemaDocument) throws -> Store {
    var options = Store.Options(clock: SystemClock(), randomness: SystemRandomness())
    options.isReadOnly = !configuration.allowsSave && !configuration.isStoredInMemoryOnly
    options.recordsHistory = configuration.recordsHistory
    options.usesStrictRules = configuration.cloudKitDatabase.isStrict
    if configuration.isStoredInMemoryOnly {
      return try Store(
        .memory(name: configuration.url.lastPathComponent), document: document, options: options)
    }
    let folder = configuration.url.deletingLastPathComponent()
    if !options.isReadOnly {
      do {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      } catch {
        throw TomboloError(
          .fileUnwritable, "The folder \(folder.path) for the store cannot be made.",
          remedy: "Give the configuration a URL in a folder that can be written.")
      }
    }
    return try Store(.file(path: configuration.url.path), document: document, options: options)
  }

  // MARK: Contexts

  /// The context of the main actor; made on first use.
  @preconcurrency @MainActor public var mainContext: ModelContext { main.context(of: self) }
}

/// Holds the main actor's context. That one holds the container's core, not the container, so that both can go.
private final class MainContext: @unchecked Sendable {
  // Guarded by the main actor, the only place where it is touched.
  private var context: ModelContext?

  @MainActor func context(of container: ModelContainer) -> ModelContext {
    if let context { return context }
    let made = ModelContext(container, isMain: true)
    context = made
    return made
  }
}
