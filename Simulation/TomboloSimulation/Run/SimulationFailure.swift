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
    /// Memory is bounded by the size of a page and of a batch.
    case bounds = "I14"
    /// A sentence of the user's own.
    case custom = "invariant"
  }

  /// The promise that was broken.
  public var invariant: Invariant
  /// What was seen instead.
  public var reason: String
  /// The seed that replays the run.
  public var seed: UInt64
  /// The last lines of the trace.
  public var trace: [String]
  /// The smallest story that was found with the same failure, a sentence an event; empty where none was looked for.
  public var story: [String] = []
  /// How many runs it took to find the story, and how many steps of how many it still has.
  public var shrinking: Shrinking?
  /// What to type to see the run again.
  public var command: String

  /// What was left out on the way to the smallest story.
  public struct Shrinking: Sendable, Hashable {
    /// Runs that were tried.
    public var runs: Int
    /// Saves, faults and choices of the run that failed.
    public var stepsBefore: Int
    /// Those of the smallest story.
    public var steps: Int
  }

  init(_ invariant: Invariant, _ reason: String) {
    self.invariant = invariant
    self.reason = reason
    seed = 0
    trace = []
    command = ""
  }
}

extension SimulationFailure: CustomStringConvertible {
  /// The seed, the invariant, the reason, and the story, or the last lines of the trace where there is none.
  public var description: String {
    var lines = ["seed \(seed) breaks \(invariant.rawValue) (\(invariant)): \(reason)"]
    if let shrinking, !story.isEmpty {
      lines.append(
        "The smallest story, \(shrinking.steps) of \(shrinking.stepsBefore) steps, found in \(shrinking.runs) runs:")
      lines += story.map { "  \($0)" }
    } else {
      lines += trace.map { "  \($0)" }
    }
    if !command.isEmpty { lines.append("Replay: \(command)") }
    return lines.joined(separator: "\n")
  }
}
