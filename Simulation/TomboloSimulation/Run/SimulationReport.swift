/// What one run did, when nothing broke.
public struct SimulationReport: Sendable {
  /// The seed that replays the run.
  public var seed: UInt64
  /// The trace, whose digest is the same in every process that runs the seed.
  public var trace: SimulationTrace
  /// Events by kind: saves, exchanges, faults, crashes.
  public var counts: [String: Int]
  /// Records on each replica at the end.
  public var records: Int
  /// Writes that were reported as not standing.
  public var conflicts: Int
}
