import SwiftData

/// The only version of the garden.
public enum GardenV1: VersionedSchema {
  /// The version.
  public static let versionIdentifier = Schema.Version(1, 0, 0)
  /// The models.
  public static var models: [any PersistentModel.Type] { [Plant.self] }
}

/// Any plant.
@Model
open class Plant {
  /// What it is called.
  public var name: String
  /// In metres.
  public var height: Double = 0
  /// A plant by its name.
  public init(name: String) {
    self.name = name
  }
}

/// A plant with rings.
@Model
public final class Tree: Plant {
  /// One a year.
  public var rings = 0
  /// A tree by its name and age.
  public init(name: String, rings: Int) {
    self.rings = rings
    super.init(name: name)
  }
}

/// Saves a tree and counts the plants.
public func plantATree() throws -> Int {
  let container = try ModelContainer(
    for: Plant.self, Tree.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
  let context = ModelContext(container)
  context.insert(Tree(name: "Oak", rings: 80))
  try context.save()
  return try ModelContext(container).fetchCount(FetchDescriptor<Plant>())
}
