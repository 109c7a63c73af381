import Tombolo

/// What one sync did.
public struct SyncReport: Hashable, Sendable {
  /// How the replica's content compared with the server's at the end.
  public enum Comparison: String, Hashable, Sendable {
    /// Both checksums are the same.
    case equal
    /// They differ, and a repair did not help (`checksum_mismatch`): the replica or the server holds something that the
    /// other does not. The next sync tries again.
    case different
    /// Something was still unsent, or the server named no checksum.
    case notCompared
  }

  /// Saves that the server took.
  public var pushed = 0
  /// Saves that the server refused; they are kept with the reason.
  public var parked = 0
  /// Records and links that pulled pages named.
  public var pulled = 0
  /// Records, deletions and links that were given to a server that was restored.
  public var uploaded = 0
  /// Records that changed in this replica.
  public var applied = 0
  /// Writes that were made here, or before, and that were reported as not standing.
  public var conflicts = 0
  /// The outcome of the last comparison of checksums.
  public var checksum = Comparison.notCompared
  /// Records of this replica that differed from the server's although everything was exchanged, and were mended. Values
  /// of this replica that gave way are among the conflicts.
  public var repaired = 0
  /// Requests that were answered.
  public var exchanges = 0
  /// Requests that were sent again after a failure.
  public var retries = 0

  /// A report of a sync that has done nothing yet.
  public init() {}
}

extension SyncReport.Comparison {
  init(_ comparison: PullOutcome.ChecksumComparison) {
    switch comparison {
    case .equal: self = .equal
    case .different: self = .different
    case .notCompared: self = .notCompared
    }
  }
}
