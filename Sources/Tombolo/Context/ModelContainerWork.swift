import Dispatch
import TomboloProtocol
import TomboloSQLite

extension ModelContainer {
  // MARK: Opening in the background

  /// What ``open(for:migrationPlan:configurations:progress:)`` is about to do.
  public enum OpeningStep: Hashable, Sendable {
    /// The models' declarations are read and checked.
    case schema
    /// The store of a configuration is opened, made, or brought to the schema's version.
    case store(name: String)
    /// The container is there.
    case ready
  }

  /// Opens a container away from the calling actor, which stays responsive. Beyond SwiftData.
  ///
  /// ```swift
  /// let container = try await ModelContainer.open(for: Schema(versionedSchema: LibraryV2.self)) { print($0) }
  /// ```
  ///
  /// - Parameter progress: called in order, from another thread, before each step.
  /// - Throws: what the initializers throw; nothing is ever deleted.
  public static func open(
    for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil, configurations: [ModelConfiguration] = [],
    progress: @escaping @Sendable (OpeningStep) -> Void = { _ in }
  ) async throws -> ModelContainer {
    // A queue, not the pool of tasks: opening waits for the disk, and maybe for another process.
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global(qos: .userInitiated).async {
        continuation.resume(
          with: Result {
            try ModelContainer(
              for: schema, migrationPlan: migrationPlan, configurations: configurations, progress: progress)
          })
      }
    }
  }

  // MARK: Erasing

  /// Deletes every record, in one save a store: all or none of each. Contexts see it as they see any other context's save.
  ///
  /// The deletion is recorded, and syncs: it empties the other replicas too. To forget a local copy alone, close the
  /// container and remove the store's files.
  ///
  /// - Throws: ``TomboloError`` `read_only_store`; what a save throws.
  public func erase() throws {
    for part in core.parts { try part.requireWritable() }
    for part in core.parts {
      try part.store.save { writer in
        for entity in part.store.schema.entities where entity.lineage.count == 1 {
          var records: [RecordID] = []
          try writer.connection.eachRow("SELECT _tombolo_id FROM \(entity.table.quotedIdentifier)") { row in
            if let record = row.recordID(0) { records.append(record) }
          }
          for record in records { try writer.delete(entity, record) }
        }
      }
    }
  }

  /// The same as ``erase()``, for sources that were written before it: where it fails, everything stays, and nothing says so.
  @available(*, deprecated, message: "erase() says why it could not.")
  public func deleteAllData() { try? erase() }
}
