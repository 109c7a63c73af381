public import Tombolo
import TomboloProtocol

/// Simulations of models: the schema is theirs, and what is done to them is made up, or told by closures.
extension Simulation {
  /// Runs on models, and on all that their relationships lead to.
  ///
  /// - Throws: `invalid_schema`, naming what is wrong with the models' declarations.
  public init(
    models: any PersistentModel.Type..., configuration: SimulationConfiguration = SimulationConfiguration()
  ) throws {
    try self.init(schema: Schema(models), configuration: configuration)
  }

  /// Runs on a schema of models.
  ///
  /// - Throws: `invalid_schema`, naming what is wrong with the models' declarations.
  public init(
    schema: Schema, configuration: SimulationConfiguration = SimulationConfiguration()
  ) throws {
    guard schema.faults.isEmpty else {
      throw TomboloError(
        .invalidSchema, "The models cannot be simulated: \(schema.faults[0].text)", remedy: schema.faults[0].fix,
        details: schema.faults)
    }
    var document = schema.document
    document.version = schema.version.number
    self.init(document: document, configuration: configuration)
    subject.schema = schema
  }

  /// Runs on a released schema, with some replicas that begin on the release before it and are upgraded in the middle.
  ///
  /// - Throws: `invalid_schema`, and `schema_not_additive` where the one is no additive successor of the other.
  public init(
    upgrading older: any VersionedSchema.Type, to newer: any VersionedSchema.Type,
    configuration: SimulationConfiguration = SimulationConfiguration()
  ) throws {
    try self.init(schema: Schema(versionedSchema: newer), configuration: configuration)
    let before = Schema(versionedSchema: older).document
    try SchemaEvolution.requireAdditive(from: before, to: subject.document)
    subject.older = before
  }

  /// A simulation in which people also do this.
  ///
  /// - Parameters:
  ///   - name: what it is called in a story.
  ///   - share: the part of all saves that are this one, from 0 to 1.
  ///   - body: changes models in the context that it is given; runs on one replica at a time, for several seeds at once.
  public func operation(
    _ name: String, share: Double = 0.25, _ body: @escaping @Sendable (SimulatedSave) throws -> Void
  ) -> Simulation {
    var simulation = self
    simulation.subject.operations.append(.init(name: name, share: share, body: body))
    return simulation
  }

  /// A simulation that fails where a sentence of the user's own does not hold.
  ///
  /// - Parameters:
  ///   - name: the sentence, as a story tells it.
  ///   - moment: whether it must hold in every state that any replica shows, or when everybody has synced.
  ///   - holds: looks at one replica. With `.always` it is asked after every event, which makes a run slower.
  public func invariant(
    _ name: String, _ moment: SimulationMoment = .always,
    _ holds: @escaping @Sendable (SimulatedView) throws -> Bool
  ) -> Simulation {
    var simulation = self
    simulation.subject.invariants.append(.init(name: name, moment: moment, holds: holds))
    return simulation
  }
}
