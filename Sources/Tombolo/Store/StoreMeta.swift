package import TomboloProtocol
package import TomboloSQLite

/// A key of `_tombolo_meta`.
package enum MetaKey: String, Sendable {
  /// The canonical schema document, as text.
  case document
  /// The schema version, as text; absent in a store without one.
  case version
  /// The document's fingerprint, as a blob.
  case fingerprint
  /// This replica's identity: eight bytes.
  case replica
  /// The greatest reading of the hybrid clock that was given out or received.
  case clock
  /// Milliseconds to add to the wall clock, as measured against the server.
  case clockOffset = "clock_offset"
  /// The number of the last save.
  case highestSave = "highest_save"
  /// 1 once a remote was added: rows carry stamps from then on.
  case hasRemote = "has_remote"
  /// The position of the last complete pull: what a save made now has seen.
  case base
  /// The greatest place in the history, as ``HistoryNumber`` counts, of what was deleted from it.
  case historyHorizon = "history_horizon"
}

/// The bookkeeping in `_tombolo_meta`, read and written inside the caller's transaction.
package struct StoreMeta {
  package let connection: Connection
  package init(_ connection: Connection) { self.connection = connection }

  package func value(_ key: MetaKey) throws -> Value {
    try connection.firstRow("SELECT value FROM _tombolo_meta WHERE key = ?1", { $0.bind(key.rawValue, at: 1) }) {
      $0.value(0)
    } ?? .null
  }

  package func integer(_ key: MetaKey) throws -> Int64? {
    guard case .integer(let value) = try value(key) else { return nil }
    return value
  }

  package func text(_ key: MetaKey) throws -> String? {
    guard case .text(let value) = try value(key) else { return nil }
    return value
  }

  package func blob(_ key: MetaKey) throws -> [UInt8]? {
    guard case .blob(let value) = try value(key) else { return nil }
    return value
  }

  /// Null removes the key.
  package func set(_ key: MetaKey, to value: Value) throws {
    if value.isNull {
      try connection.run("DELETE FROM _tombolo_meta WHERE key = ?1") { $0.bind(key.rawValue, at: 1) }
      return
    }
    try connection.run(
      "INSERT INTO _tombolo_meta(key, value) VALUES (?1, ?2) ON CONFLICT(key) DO UPDATE SET value = ?2"
    ) {
      $0.bind(key.rawValue, at: 1)
      $0.bind(value, at: 2)
    }
  }

  package var replica: ReplicaID {
    get throws {
      guard let bytes = try blob(.replica), let replica = ReplicaID(bytes: bytes) else {
        throw TomboloError.damaged("it does not name its replica")
      }
      return replica
    }
  }

  package var clock: HybridClock {
    get throws { HybridClock(last: ClockReading(rawValue: UInt64(bitPattern: try integer(.clock) ?? 0))) }
  }

  package func set(_ clock: HybridClock) throws {
    try set(.clock, to: .integer(Int64(bitPattern: clock.last.rawValue)))
  }

  package var highestSave: SaveNumber {
    get throws { SaveNumber(UInt64(max(0, try integer(.highestSave) ?? 0))) }
  }

  package var hasRemote: Bool { get throws { try integer(.hasRemote) == 1 } }

  package var base: FeedPosition { get throws { FeedPosition(UInt64(max(0, try integer(.base) ?? 0))) } }
}

/// `_tombolo_save.state`.
package enum SaveState: Int, Sendable {
  /// Made before there was a remote: only history.
  case local = 0
  /// No answer has settled it.
  case unsent = 1
  /// Answered, and no complete pull has passed it yet.
  case answered = 2
  case confirmed = 3
  /// Refused for good, kept with the reason.
  case parked = 4
  /// Refused, and given up or made anew by whoever wrote it; its number stays taken.
  case discarded = 5
}
