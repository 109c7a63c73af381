public import Foundation
public import Tombolo
import TomboloProtocol

/// A save of the user's own on one of the simulated replicas: a context to change models in, and all the chance that the
/// change may need. What it draws follows from the seed, so that a seed replays exactly; for the same reason the closure
/// must not call `Date()`, `UUID()` or `Int.random(in:)`.
///
/// The context is saved when the closure returns. A save that the store refuses (a delete rule, a taken unique value) is
/// no failure; whatever else the closure throws is one.
public final class SimulatedSave {
  /// A fresh context on the replica's store.
  public let context: ModelContext
  /// The replica's name, as the story tells it.
  public let replica: String
  /// The replica's own time, which may be wrong.
  public let now: Date
  private var generator: SeededGenerator

  private init(context: ModelContext, replica: String, clock: SkewedClock, generator: SeededGenerator) {
    self.context = context
    self.replica = replica
    now = Date(timeIntervalSince1970: Double(clock.milliseconds()) / 1000)
    self.generator = generator
  }

  /// A fresh identifier.
  public func uuid() -> UUID { UUID(IdentifierSource.next()) }

  /// A number between the bounds, both included.
  public func number(in range: ClosedRange<Int>) -> Int { generator.within(range) }

  /// True with this probability, from 0 to 1.
  public func chance(_ probability: Double) -> Bool { generator.chance(probability) }

  /// One of the elements, nil where there is none.
  public func pick<Element>(_ elements: [Element]) -> Element? { generator.pick(elements) }

  /// One of the stored models of a type, nil where there is none. Costs a fetch of all of them.
  ///
  /// - Throws: what the fetch throws.
  public func pick<Model: PersistentModel>(_ type: Model.Type) throws -> Model? {
    generator.pick(try context.fetch(FetchDescriptor<Model>()))
  }

  static func perform(
    _ body: (SimulatedSave) throws -> Void, on store: Store, _ schema: Schema, replica: String, clock: SkewedClock,
    seed: UInt64
  ) throws {
    var generator = SeededGenerator(seed: seed)
    let randomness = SeededRandomness(generator.fork())
    try IdentifierSource.with(clock: clock, randomness: randomness) {
      let context = ModelContext(ModelContainer(schema, on: store))
      try body(SimulatedSave(context: context, replica: replica, clock: clock, generator: generator))
      if context.hasChanges { try context.save() }
    }
  }
}
