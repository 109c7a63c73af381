/// How a run is set up. Together with the seed and the schema it determines everything.
public struct SimulationConfiguration: Sendable, Hashable {
  /// Replicas that edit; copies of files add to them, and the audit adds one more at the end.
  public var replicas = 3
  /// Saves by all replicas together.
  public var saves = 60
  /// What may go wrong.
  public var faults = InjectedFault.available
  /// Whether each seed leaves some of ``faults`` out.
  public var isSwarm = true
  /// Whether rows of replicas are damaged behind their backs at the end, for a sync to mend.
  public var hasDamage = true
  /// What replicas do; nil lets the seed choose.
  public var mix: SimulationMix?
  /// Whether the trace is kept whole instead of its last lines.
  public var keepsTrace = false
  /// A defect that is switched on for the run: the checkers have to notice.
  public var plantedFault: PlantedFault?

  /// Three replicas, sixty saves, every kind of fault.
  public init() {}
}

/// The kinds of edits that happen in a run. Fewer kinds make a failure easier to understand, so each seed has its own.
public struct SimulationMix: OptionSet, Sendable, Hashable {
  /// The bits, one a kind.
  public let rawValue: Int

  /// Takes the bits as they are.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Records are deleted.
  public static let deletes = SimulationMix(rawValue: 1)
  /// Unique values collide.
  public static let collisions = SimulationMix(rawValue: 2)
  /// Many-to-many links come and go.
  public static let links = SimulationMix(rawValue: 4)
  /// References change.
  public static let references = SimulationMix(rawValue: 8)
  /// Counters, extremes and first-writer attributes change.
  public static let policies = SimulationMix(rawValue: 16)
  /// Edits are made and taken back.
  public static let reversals = SimulationMix(rawValue: 32)
  /// Everybody edits the same few records, now and then at the same moment.
  public static let crowds = SimulationMix(rawValue: 64)

  /// Everything.
  public static let all = SimulationMix(rawValue: 127)
}
