package import TomboloProtocol

/// Replicas and a server in one process, on a virtual clock, network and storage: the product's own store, sync engine and
/// service, and everything around them made up from a seed.
///
/// ```
/// @Test func booksConverge() throws {
///   #expect(try Simulation(models: Book.self, Note.self).converges(seeds: 1_000))
/// }
/// ```
///
/// A run is a function of its seed, the schema and the configuration: the same in every process.
public struct Simulation: Sendable {
  var subject: SimulationSubject
  let configuration: SimulationConfiguration

  /// Runs on a schema document of the caller's.
  package init(
    document: SchemaDocument, older: SchemaDocument? = nil,
    configuration: SimulationConfiguration = SimulationConfiguration()
  ) {
    subject = SimulationSubject(document: document, older: older)
    self.configuration = configuration
  }

  /// Runs on the sample schema, which has every rule of the merge in it.
  public init(configuration: SimulationConfiguration = SimulationConfiguration()) {
    self.init(document: .simulationSample, older: .simulationSampleBefore, configuration: configuration)
  }

  /// Runs on a schema document, as `tombolo schema show` prints it.
  ///
  /// - Throws: `invalid_schema`, naming what is wrong.
  public init(
    schema json: String, configuration: SimulationConfiguration = SimulationConfiguration()
  ) throws {
    self.init(document: try SchemaDocument(parsing: Array(json.utf8)), configuration: configuration)
  }

  /// Whether every run of a number of seeds keeps every promise. Uses all processors, some hundred milliseconds of one
  /// for each seed in a release build.
  ///
  /// - Parameters:
  ///   - seeds: how many runs.
  ///   - first: the first seed.
  /// - Returns: true; what is not so is thrown.
  /// - Throws: ``SimulationFailure`` of the first seed that broke a promise, with its smallest story.
  @discardableResult
  public func converges(seeds: Int, from first: UInt64 = 1) throws -> Bool {
    try SeedSweep(self).run(seeds: first..<first + UInt64(max(0, seeds))) { _, result in
      guard case .failure(let failure) = result else { return }
      throw shrunk(failure)
    }
    return true
  }

  /// One run: some hundred milliseconds in a release build.
  ///
  /// - Throws: ``SimulationFailure`` naming the invariant that was broken, with the seed and the last lines of the trace.
  public func run(seed: UInt64) throws -> SimulationReport {
    try run(seed: seed, replaying: nil, configuration).get()
  }

  /// The same failure with the smallest story that was found: what can be left out without mending it is left out.
  /// Costs up to some hundred runs, most of them short.
  public func shrunk(_ failure: SimulationFailure) -> SimulationFailure {
    var shrinker = Shrinker(simulation: self, failure: failure)
    return shrinker.shrink()
  }

  /// One run, and in the case of a failure what happened in it.
  func run(
    seed: UInt64, replaying plan: SimulationPlan?, _ configuration: SimulationConfiguration,
    recorded: ((SimulationRun) -> Void)? = nil
  ) -> Result<SimulationReport, SimulationFailure> {
    let run: SimulationRun
    do {
      run = try SimulationRun(subject: subject, configuration: configuration, seed: seed, replaying: plan)
    } catch {
      return .failure(failure(error, seed: seed, run: nil))
    }
    do {
      return .success(try run.run())
    } catch {
      recorded?(run)
      return .failure(failure(error, seed: seed, run: run))
    }
  }

  private func failure(_ error: any Error, seed: UInt64, run: SimulationRun?) -> SimulationFailure {
    // Whatever nobody expected is a defect too.
    var failure = error as? SimulationFailure ?? SimulationFailure(.progress, "unexpected error: \(error)")
    failure.seed = seed
    failure.trace = run?.trace.newest ?? []
    failure.reason = run?.narrator.retold(failure.reason) ?? failure.reason
    failure.command = command(seed: seed)
    return failure
  }

  private func command(seed: UInt64) -> String {
    if subject.schema != nil { return "try simulation.run(seed: \(seed)), on the same models and configuration" }
    var parts = ["tombolo simulate --seed \(seed)"]
    let standard = SimulationConfiguration()
    if configuration.replicas != standard.replicas { parts.append("--replicas \(configuration.replicas)") }
    if configuration.saves != standard.saves { parts.append("--saves \(configuration.saves)") }
    if let fault = configuration.plantedFault { parts.append("--fault \(fault.rawValue)") }
    if subject.document != .simulationSample { parts.append("--schema FILE") }
    return (parts + ["--trace"]).joined(separator: " ")
  }
}
