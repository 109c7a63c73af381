package import Tombolo
package import TomboloProtocol

/// A captured trace of a real replica: what a sync of it depends on, in one file that can be handed to others and replayed.
///
/// The file is JSON lines in one Zstandard frame; Documentation/AskingForHelp.md describes each line.
package struct TraceBundle: Hashable, Sendable {
  /// Raised when a reader of the former format could not read it.
  package static let format = 1
  /// Records, tombstones and pairs that are taken; a larger replica's bundle has its queue and its bookkeeping only.
  package static let itemsMax = 100_000
  /// The newest saves that are listed.
  package static let savesMax = 5_000
  /// What all lines together may take, before compression.
  package static let bytesMax = 256 << 20

  package struct Note: Hashable, Sendable {
    package var severity: String
    package var code: String
    package var text: String
    package init(severity: String, code: String, text: String) {
      self.severity = severity
      self.code = code
      self.text = text
    }
  }

  package struct Pending: Hashable, Sendable {
    package var changeSet: ChangeSet
    /// The server had answered it, and no pull had confirmed it.
    package var isAnswered: Bool
  }

  package struct Parked: Hashable, Sendable {
    package var changeSet: ChangeSet
    package var code: String
  }

  /// Whether values were kept.
  package var hasValues: Bool
  package var schema: SchemaDocument
  /// The seed of a simulated run; a real replica has none.
  package var seed: UInt64?
  /// What the machine, the file and the programs are.
  package var environment: [String: String]
  /// The replica's bookkeeping.
  package var replica: [String: String]
  package var replicaID: ReplicaID
  package var findings: [Note] = []
  package var saves: [SaveSummary] = []
  /// Whether the replica was too large for its records to be taken.
  package var isTooLarge = false
  package var confirmed: [FeedItem] = []
  package var pending: [Pending] = []
  package var parked: [Parked] = []
  package var conflicts: [ConflictEntry] = []
  package var shown: [FeedItem] = []

  /// - Throws: `no_remote` for a store that never had one: nothing of it depends on a sync.
  package init(
    _ capture: StoreCapture, schema: SchemaDocument, environment: [String: String], hasValues: Bool
  ) throws {
    guard let state = capture.state else {
      throw TomboloError(
        .noRemote, "The store has never had a server, so there is no sync to look into.",
        remedy: "tombolo doctor STORE, without --bundle, examines the file.")
    }
    self.hasValues = hasValues
    self.schema = schema
    self.environment = environment
    replicaID = state.replica
    replica = [
      "formerReplicas": state.formerReplicas.map(\.description).joined(separator: " "),
      "scheme": String(state.remoteURL.prefix { $0 != ":" }), "epoch": state.epoch.map { "\($0.rawValue)" } ?? "",
      "cursor": state.cursor?.text ?? "", "highestSave": "\(state.highestSave.rawValue)",
      "holds": state.holds.map { "\($0.rawValue)" } ?? "", "unsent": "\(state.unsent)", "parked": "\(state.parked)",
      "lastPush": state.lastPush.map(String.init) ?? "", "lastPull": state.lastPull.map(String.init) ?? "",
      "clockOffset": "\(capture.clockOffset)", "stagedPages": "\(capture.stagedPages)",
      "checksum": "\(String(capture.checksum.high, radix: 16)) \(String(capture.checksum.low, radix: 16))",
    ]
    self.environment["sqlite"] = capture.sqliteVersion
    saves = capture.saves
    isTooLarge = capture.isTooLarge
    confirmed = capture.confirmed
    shown = capture.shown
    pending = capture.pending.map { Pending(changeSet: $0.changeSet, isAnswered: $0.isAnswered) }
    parked = capture.parked.map { Parked(changeSet: $0.changeSet, code: $0.code.rawValue) }
    conflicts = capture.conflicts
    for index in saves.indices { saves[index].author = nil }
    for index in pending.indices { pending[index].changeSet.author = nil }
    for index in parked.indices { parked[index].changeSet.author = nil }
    if !hasValues { TraceVeil(self).cover(&self) }
  }

  init(schema: SchemaDocument, hasValues: Bool, replica: ReplicaID) {
    self.schema = schema
    self.hasValues = hasValues
    replicaID = replica
    environment = [:]
    self.replica = [:]
  }
}
