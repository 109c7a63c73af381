/// A run that broke a promise: which one, under which seed, and what led up to it.
public struct SimulationFailure: Error, Sendable {
  /// What the system promises; the names are those of ARCHITECTURE.md's table.
  public enum Invariant: String, Sendable, Hashable, CaseIterable {
    /// Replicas that have pushed and pulled all are equal, and equal to the server.
    case convergence = "I1"
    /// No acknowledged write is lost without an entry.
    case noLostWrite = "I2"
    /// A save is seen whole or not at all.
    case atomicity = "I3"
    /// Data and bookkeeping commit together.
    case bookkeeping = "I4"
    /// A push has its effect once.
    case exactlyOnce = "I5"
    /// Merge is deterministic and idempotent.
    case determinism = "I6"
    /// No reference dangles, no unique key is held twice, no delete rule is broken.
    case integrity = "I7"
    /// A failed operation leaves the store able to go on; a queue can be emptied.
    case progress = "I11"
  }

  /// The promise that was broken.
  public var invariant: Invariant
  /// What was seen instead.
  public var reason: String
  /// The seed that replays the run.
  public var seed: UInt64
  /// The last lines of the trace.
  public var trace: [String]

  init(_ invariant: Invariant, _ reason: String) {
    self.invariant = invariant
    self.reason = reason
    seed = 0
    trace = []
  }
}

extension SimulationFailure: CustomStringConvertible {
  /// The seed, the invariant, the reason, and the last lines of the trace.
  public var description: String {
    let lines = trace.map { "  \($0)" }.joined(separator: "\n")
    return "seed \(seed) breaks \(invariant.rawValue) (\(invariant)): \(reason)\n\(lines)"
  }
}
