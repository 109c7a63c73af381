import Tombolo
import TomboloProtocol

/// What a simulation is about: a schema, perhaps an older version of it, and what its user added.
struct SimulationSubject: Sendable {
  var document: SchemaDocument
  /// The version on which some replicas begin; they are upgraded in the middle of a run.
  var older: SchemaDocument?
  /// Present where the schema was made of models.
  var schema: Schema?
  var operations: [CustomOperation] = []
  var invariants: [CustomInvariant] = []

  /// A kind of save that the user wrote.
  struct CustomOperation: Sendable {
    var name: String
    /// The part of all saves that are this one.
    var share: Double
    var body: @Sendable (SimulatedSave) throws -> Void
  }

  /// A sentence that the user wants to hold.
  struct CustomInvariant: Sendable {
    var name: String
    var moment: SimulationMoment
    var holds: @Sendable (SimulatedView) throws -> Bool
  }
}

/// When an invariant of the user's own is looked at.
public enum SimulationMoment: Sendable, Hashable {
  /// In every state that a reader of any replica can see.
  case always
  /// When everybody has pushed and pulled all.
  case settled
}
