public import Foundation
import Synchronization
package import TomboloProtocol

/// Identities of records that are asked for before the object is in a context: UUID version 7, never `UUID()`.
package enum IdentifierSource {
  private static let generator = RecordIDGenerator(clock: SystemClock(), randomness: SystemRandomness())
  /// What a simulation puts in its place, for the task that runs it.
  @TaskLocal private static var seeded: RecordIDGenerator?
  /// How many have put one there: as long as nobody has, no task-local value is looked up.
  private static let seededCount = Atomic<Int>(0)

  package static func next() -> RecordID {
    if seededCount.load(ordering: .relaxed) > 0, let seeded { return seeded.next() }
    return generator.next()
  }

  /// Lets every identity that `body` asks for follow from a clock and random bits that the caller has.
  package static func with<Result>(
    clock: any WallClock, randomness: any Randomness, _ body: () throws -> Result
  ) rethrows -> Result {
    seededCount.add(1, ordering: .relaxed)
    defer { seededCount.subtract(1, ordering: .relaxed) }
    return try $seeded.withValue(RecordIDGenerator(clock: clock, randomness: randomness), operation: body)
  }
}

/// A fresh value for a property declared with `= UUID()`: a UUID version 7 from Tombolo's own generator, which costs a
/// hundredth of `UUID()`.
public func _$makeUUID() -> UUID { UUID(IdentifierSource.next()) }

/// The value of a slot that must have one.
///
/// - Precondition: there is one. A required relationship gets an object that says it is deleted, where its record is gone.
public func _$resolved<Value>(_ slot: Value?, _ property: String) -> Value {
  guard let slot else {
    preconditionFailure(
      "\(property) has no value, and none can be made up for its type. Declare it optional.")
  }
  return slot
}

/// The members of a to-many; none where it cannot be loaded any more.
public func _$resolved<Model: PersistentModel>(_ slot: [Model]?, _ property: String) -> [Model] { slot ?? [] }
