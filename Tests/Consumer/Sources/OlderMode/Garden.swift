import SwiftData

public enum GardenV1: VersionedSchema {
  public static let versionIdentifier = Schema.Version(1, 0, 0)
  public static var models: [any PersistentModel.Type] { [Plant.self] }
}

@Model
open class Plant {
  public var name: String
  public var height: Double = 0
  public init(name: String) {
    self.name = name
  }
}

@Model
public final class Tree: Plant {
  public var rings = 0
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
