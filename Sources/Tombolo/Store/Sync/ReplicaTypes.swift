package import TomboloProtocol

package struct ReplicaState: Sendable {
  package var replica: ReplicaID
  /// The ids that this file had before it was copied or restored: what is addressed to them is its own.
  package var formerReplicas: [ReplicaID]
  package var remoteURL: String
  package var tokenFile: String?
  package var epoch: Epoch?
  /// Nil before the first page.
  package var cursor: Cursor?
  package var highestSave: SaveNumber
  package var holds: FeedPosition?
  /// Saves without an answer.
  package var unsent: Int
  package var parked: Int
  package var lastPush: UInt64?
  package var lastPull: UInt64?
  package init(
    replica: ReplicaID, formerReplicas: [ReplicaID] = [], remoteURL: String, tokenFile: String?, epoch: Epoch?,
    cursor: Cursor?, highestSave: SaveNumber, holds: FeedPosition?, unsent: Int, parked: Int, lastPush: UInt64?,
    lastPull: UInt64?
  ) {
    self.replica = replica
    self.formerReplicas = formerReplicas
    self.remoteURL = remoteURL
    self.tokenFile = tokenFile
    self.epoch = epoch
    self.cursor = cursor
    self.highestSave = highestSave
    self.holds = holds
    self.unsent = unsent
    self.parked = parked
    self.lastPush = lastPush
    self.lastPull = lastPull
  }
}

package enum PushOutcome: Sendable, Hashable {
  case settled(accepted: Int, parked: Int)
  /// The clock was set back and unsent saves were restamped: push again.
  case restamped
  /// Another copy of this replica is pushing: ask which saves are known, then take a new id.
  case copied
  /// The server expects another number: it was restored, or this file was.
  case gap(expected: SaveNumber)
  /// Another life of the server's store.
  case epochChanged(Epoch)
}

package enum PullOutcome: Sendable, Hashable {
  case staged
  /// The last page: records that were changed here; whether the checksum was compared, and equal.
  case applied(records: Int, conflicts: Int, checksum: ChecksumComparison)
  case epochChanged(Epoch)
  case copied

  package enum ChecksumComparison: Sendable, Hashable {
    case equal, different
    /// The queue was not empty, or the server sent none.
    case notCompared
  }
}

/// A save that the server refused, kept with its reason.
package struct ParkedSave: Sendable, Hashable {
  package var changeSet: ChangeSet
  package var code: ErrorCode
  package var message: String
  package init(changeSet: ChangeSet, code: ErrorCode, message: String) {
    self.changeSet = changeSet
    self.code = code
    self.message = message
  }
}

package struct SaveSummary: Sendable, Hashable {
  package enum State: String, Sendable, Hashable { case unsent, sent, confirmed, parked, discarded, local }
  package var number: SaveNumber
  package var id: SaveID
  package var author: String?
  /// Milliseconds since 1970.
  package var time: UInt64
  package var state: State
  package var inserted: Int
  package var updated: Int
  package var deleted: Int
  package init(
    number: SaveNumber, id: SaveID, author: String?, time: UInt64, state: State, inserted: Int, updated: Int,
    deleted: Int
  ) {
    self.number = number
    self.id = id
    self.author = author
    self.time = time
    self.state = state
    self.inserted = inserted
    self.updated = updated
    self.deleted = deleted
  }
}
