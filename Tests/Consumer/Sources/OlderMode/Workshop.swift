import SwiftData

/// The only version of the workshop.
public enum WorkshopV1: VersionedSchema {
  /// The version, as Swift 5 lets it be written.
  public static var versionIdentifier = Schema.Version(1, 0, 0)
  /// The models.
  public static var models: [any PersistentModel.Type] { [Tool.self] }
}

/// A tool with what a user may write of it.
@Model
public final class Tool {
  /// The kinds.
  public enum Kind: String, Codable { case hand, power }
  /// Its name.
  @Attribute(.unique, .preserveValueOnDeletion) public var name: String
  /// Its kind.
  public var kind = Kind.hand
  /// Whether it is in use now.
  @Attribute(.ephemeral) public var isInUse = false
  /// A tool by its name.
  public init(name: String) { self.name = name }
}

/// Work in the background, as an app writes it in Swift 5 mode.
@ModelActor
public actor Foreman {
  /// Adds a tool.
  public func add(_ name: String) throws {
    try modelContext.transaction {
      modelContext.insert(Tool(name: name))
    }
  }
  /// How many there are.
  public func count() throws -> Int { try modelContext.fetchCount(FetchDescriptor<Tool>()) }
}

/// Adds two tools through an actor and counts them.
public func fillWorkshop() async throws -> Int {
  let container = try ModelContainer(
    for: Schema(versionedSchema: WorkshopV1.self), configurations: ModelConfiguration(isStoredInMemoryOnly: true))
  let foreman = Foreman(modelContainer: container)
  try await foreman.add("Plane")
  try await foreman.add("Chisel")
  return try await foreman.count()
}
