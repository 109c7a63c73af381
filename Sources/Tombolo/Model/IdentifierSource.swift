public import Foundation
package import TomboloProtocol

/// Identities of records that are asked for before the object is in a context: UUID version 7, never `UUID()`.
package enum IdentifierSource {
  private static let generator = RecordIDGenerator(clock: SystemClock(), randomness: SystemRandomness())
  package static func next() -> RecordID { generator.next() }
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
