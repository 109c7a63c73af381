/// What one run did, when nothing broke.
public struct SimulationReport: Sendable {
  /// The seed that replays the run.
  public var seed: UInt64
  /// The trace, whose digest is the same in every process that runs the seed.
  public var trace: SimulationTrace
  /// Events, faults and situations by kind, and the states that were visited.
  public var statistics: SimulationStatistics
  /// Records on each replica at the end.
  public var records: Int
  /// Writes that were reported as not standing.
  public var conflicts: Int
}
