/// The rows of the merge's table of things that go wrong, as far as more belongs to them than an injected fault: what a run
/// may lead a replica and its server into.
public enum FaultSituation: String, Sendable, Hashable, CaseIterable {
  /// The server took a push, and its answer never came.
  case answerLost = "answer to a push lost"
  /// Somebody saved while a push was under way.
  case editInFlight = "edit while a push is in flight"
  /// A replica's power went in the middle of a save or of a sync.
  case replicaCutShort = "replica cut short at a write"
  /// A push told the server that a replica exists twice, or was put back.
  case copyNoticed = "copied replica noticed"
  /// A replica met another server than the one that it had spoken with.
  case otherServer = "other server noticed"
  /// A cursor was older than the tombstones that the server keeps.
  case cursorExpired = "cursor expired"
  /// The server refused a save for good.
  case refused = "save refused for good"
  /// An older schema version kept what it does not know, until its upgrade.
  case setAside = "unknown values set aside"
  /// A server that can be reached did not take a push.
  case notTaken = "push not taken by a reachable server"
  /// A replica's checksum differed from the server's.
  case checksumDiffers = "checksum differs"
}
