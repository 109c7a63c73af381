/// Where a replica stands in a store's feed. Opaque to it: the text form is what travels.
package struct Cursor: Hashable, Sendable {
  package var epoch: Epoch
  /// The position of the last complete pull; fields are filtered by it.
  package var base: FeedPosition
  /// The position that the pages have walked to.
  package var position: FeedPosition
  /// The server's position when this walk began; a first pull is judged by it once tombstones are collected.
  package var start: FeedPosition
  /// The random id of the commit at `position`; another one there means another history.
  package var commit: UInt64
  package init(epoch: Epoch, base: FeedPosition, position: FeedPosition, start: FeedPosition, commit: UInt64) {
    self.epoch = epoch
    self.base = base
    self.position = position
    self.start = start
    self.commit = commit
  }
}

/// How a replica introduces itself with every push and pull.
package struct Introduction: Hashable, Sendable {
  package var replica: ReplicaID
  package var schemaVersion: SchemaVersion
  /// The highest save number that it has given out.
  package var highestSave: SaveNumber
  /// The least base of its unsent and parked saves; nil when it has none.
  package var holds: FeedPosition?
  /// The epoch of the server that it last spoke with; nil at first.
  package var epoch: Epoch?
  package init(
    replica: ReplicaID, schemaVersion: SchemaVersion, highestSave: SaveNumber, holds: FeedPosition?, epoch: Epoch?
  ) {
    self.replica = replica
    self.schemaVersion = schemaVersion
    self.highestSave = highestSave
    self.holds = holds
    self.epoch = epoch
  }
}

/// `POST …/changes`.
package struct PushRequest: Hashable, Sendable {
  package var introduction: Introduction
  package var changeSets: [ChangeSet]
  /// A piece of one change set that is too large for a request; then `changeSets` is empty.
  package var fragment: Fragment?

  package struct Fragment: Hashable, Sendable {
    package var save: SaveID
    /// From 0.
    package var index: UInt32
    package var count: UInt32
    /// A slice of the encoded change set.
    package var bytes: [UInt8]
    package init(save: SaveID, index: UInt32, count: UInt32, bytes: [UInt8]) {
      self.save = save
      self.index = index
      self.count = count
      self.bytes = bytes
    }
  }

  package init(introduction: Introduction, changeSets: [ChangeSet], fragment: Fragment? = nil) {
    self.introduction = introduction
    self.changeSets = changeSets
    self.fragment = fragment
  }
}

package struct PushResponse: Hashable, Sendable {
  package var epoch: Epoch
  /// Milliseconds since 1970.
  package var serverTime: UInt64
  /// One for each change set that was looked at, in order; a stop (skew, gap, copied replica) ends the list.
  package var answers: [PushAnswer]
  package init(epoch: Epoch, serverTime: UInt64, answers: [PushAnswer]) {
    self.epoch = epoch
    self.serverTime = serverTime
    self.answers = answers
  }
}

package struct PushAnswer: Hashable, Sendable {
  package var save: SaveID
  package var number: SaveNumber
  package var verdict: Verdict

  package enum Verdict: Hashable, Sendable {
    /// Taken; the indexes name the changes in it that did not stand.
    case accepted(fell: [FallenPart])
    /// Taken before, under this stamp.
    case known(stamp: Stamp)
    /// Never to be taken; the replica parks it.
    case refused(code: ErrorCode, message: String)
    /// A stamp was too far ahead, or not above its base: nothing from here on was looked at.
    case clockSkew
    /// The number is not the last one plus one.
    case gap(expected: SaveNumber)
    /// The number is taken by another save: two copies of one replica are pushing.
    case copiedReplica
    /// A fragment was stored; the rest is awaited.
    case fragmentStored
  }

  package init(save: SaveID, number: SaveNumber, verdict: Verdict) {
    self.save = save
    self.number = number
    self.verdict = verdict
  }
}

/// A part of a save that did not stand: a whole change, or one field of it.
package struct FallenPart: Hashable, Sendable {
  /// The index into the change set's changes.
  package var change: UInt32
  /// Nil for the whole change.
  package var field: String?
  package init(change: UInt32, field: String? = nil) {
    self.change = change
    self.field = field
  }
}

/// `GET …/changes?since=CURSOR&limit=N&wait=SECONDS`, and a page of a snapshot.
package struct PullRequest: Hashable, Sendable {
  package var introduction: Introduction
  /// Nil for a first pull.
  package var cursor: Cursor?
  /// At most this many items a page; the server may send fewer, and more where one save must not be cut.
  package var limit: Int
  /// Seconds to wait for something new, 0 for none.
  package var wait: Int
  package init(introduction: Introduction, cursor: Cursor?, limit: Int, wait: Int = 0) {
    self.introduction = introduction
    self.cursor = cursor
    self.limit = limit
    self.wait = wait
  }
}

package struct Page: Hashable, Sendable {
  /// The cursor after this page.
  package var cursor: Cursor
  package var items: [FeedItem]
  package var hasMore: Bool
  /// The saves of the pulling replica that the server has processed, up to this number: those are settled first.
  package var processed: SaveNumber
  /// The verdicts on the pulling replica's saves that it may have missed: refused ones, and the stamps of known ones.
  package var answers: [PushAnswer]
  /// The processed numbers of all replicas; on the last page.
  package var vector: [ReplicaID: SaveNumber]
  /// The store's checksum at the cursor's position; on the last page.
  package var checksum: Checksum?
  /// Milliseconds since 1970.
  package var serverTime: UInt64
  /// Bytes that a record may have; nil for ``RecordSize/usualBytesMax``.
  package var recordBytesMax: Int?
  package init(
    cursor: Cursor, items: [FeedItem], hasMore: Bool, processed: SaveNumber, answers: [PushAnswer],
    vector: [ReplicaID: SaveNumber], checksum: Checksum?, serverTime: UInt64, recordBytesMax: Int? = nil
  ) {
    self.cursor = cursor
    self.items = items
    self.hasMore = hasMore
    self.processed = processed
    self.answers = answers
    self.vector = vector
    self.checksum = checksum
    self.serverTime = serverTime
    self.recordBytesMax = recordBytesMax
  }
}

/// The order-independent sum over a store's living records: see `Checksum` in Merge.
package struct Checksum: Hashable, Sendable {
  package var high: UInt64
  package var low: UInt64
  package init(high: UInt64 = 0, low: UInt64 = 0) {
    self.high = high
    self.low = low
  }
}
