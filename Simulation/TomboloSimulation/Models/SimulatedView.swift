public import Tombolo
import TomboloProtocol

/// What a reader of one simulated replica sees at one moment, for invariants of the user's own.
public struct SimulatedView {
  /// A fresh context on the replica's store, to fetch from and not to change anything in.
  public let context: ModelContext
  /// The replica's name, as the story tells it.
  public let replica: String

  init(_ store: Store, _ schema: Schema, replica: String) {
    context = ModelContext(ModelContainer(schema, on: store))
    self.replica = replica
  }

  /// All stored models of a type. Costs a fetch of all of them.
  ///
  /// - Throws: what the fetch throws.
  public func all<Model: PersistentModel>(_ type: Model.Type) throws -> [Model] {
    try context.fetch(FetchDescriptor<Model>())
  }
}
