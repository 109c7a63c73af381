package import TomboloProtocol

/// Replicas and a server in one process, on a virtual clock, network and storage: the product's own store, sync engine and
/// service, and everything around them made up from a seed.
///
/// ```
/// var configuration = SimulationConfiguration()
/// configuration.replicas = 4
/// let report = try Simulation(configuration: configuration).run(seed: 17)
/// print(report.trace.digest)
/// ```
///
/// A run is a function of its seed, the schema document and the configuration: the same in every process.
public struct Simulation: Sendable {
  let document: SchemaDocument
  let configuration: SimulationConfiguration

  /// Runs on a schema document of the caller's.
  package init(document: SchemaDocument, configuration: SimulationConfiguration = SimulationConfiguration()) {
    self.document = document
    self.configuration = configuration
  }

  /// Runs on the sample schema, which has every rule of the merge in it.
  public init(configuration: SimulationConfiguration = SimulationConfiguration()) {
    self.init(document: .simulationSample, configuration: configuration)
  }

  /// Runs on a schema document, as `tombolo schema show` prints it.
  ///
  /// - Throws: `invalid_schema`, naming what is wrong.
  public init(
    schema json: String, configuration: SimulationConfiguration = SimulationConfiguration()
  ) throws {
    self.init(document: try SchemaDocument(parsing: Array(json.utf8)), configuration: configuration)
  }

  /// One run: some hundred milliseconds in a release build.
  ///
  /// - Throws: ``SimulationFailure`` naming the invariant that was broken, with the seed and the last lines of the trace.
  public func run(seed: UInt64) throws -> SimulationReport {
    let run: SimulationRun
    do {
      run = try SimulationRun(document: document, configuration: configuration, seed: seed)
    } catch {
      throw Self.failure(error, seed: seed, trace: [])
    }
    do {
      return try run.run()
    } catch {
      throw Self.failure(error, seed: seed, trace: run.trace.newest)
    }
  }

  private static func failure(_ error: any Error, seed: UInt64, trace: [String]) -> SimulationFailure {
    // Whatever nobody expected is a defect too.
    var failure = error as? SimulationFailure ?? SimulationFailure(.progress, "unexpected error: \(error)")
    failure.seed = seed
    failure.trace = trace
    return failure
  }
}
