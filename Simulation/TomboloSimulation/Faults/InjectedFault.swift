/// Something that goes wrong around the product in a run: on the network, on a disk, with a clock or a machine.
///
/// Each seed leaves some of them out, so that what one fault hides another run shows.
public enum InjectedFault: String, Sendable, Hashable, CaseIterable {
  /// A request or its answer is lost.
  case drop
  /// A request arrives twice.
  case duplicate
  /// A request arrives after its sender has given up, and after later ones.
  case reorder
  /// A request takes seconds.
  case delay
  /// A replica is cut off from the server for a while.
  case partition
  /// A replica's machine loses power, at rest or at any write.
  case replicaCrash = "replica-crash"
  /// The server's machine loses power, at rest or at any write.
  case serverCrash = "server-crash"
  /// Of what was written and not synced, a power cut keeps some sectors and tears others.
  case tornWrite = "torn-write"
  /// A machine's clock is wrong from the start.
  case clockSkew = "clock-skew"
  /// A machine's clock jumps.
  case clockJump = "clock-jump"
  /// A replica is put back to an older copy of itself.
  case backupRestore = "backup-restore"
  /// A replica's file is copied, and both copies are used.
  case fileCopy = "file-copy"
  /// The server does not accept a replica's token for a while.
  case tokenLoss = "token-loss"
  /// A disk has no room for a while.
  case diskFull = "disk-full"
  /// Pulls wait at the server for something new.
  case longPoll = "long-poll"
  /// Pushes that arrive together share one commit.
  case groupCommit = "group-commit"
  /// The server forgets tombstones that nobody needs any more.
  case collection
  /// A replica runs on an older schema version and is upgraded in the middle of the run.
  case schemaUpgrade = "schema-upgrade"
  /// The server is put back to an older copy of itself, and the replicas upload what they have.
  case serverRestore = "server-restore"

  /// What a run may inject.
  public static let available = Set(allCases)

  /// What takes away the last copy of something that a restored server has lost: nobody could bring it back, and nobody
  /// promises to.
  static let foesOfServerRestore: Set<InjectedFault> = [.backupRestore, .fileCopy, .collection]
}
