import TomboloProtocol
import TomboloSQLite

/// Forgetting tombstones, once no living replica can still need them.
extension StoreFile {
  /// Removes the tombstones that every living replica has pulled past; aliases never.
  ///
  /// A living replica's position is the least of its base and of the bases of its unsent and parked saves. One that was
  /// not seen for the time of the history is waited for no longer: it gets `cursor_expired`.
  /// - Returns: the number of tombstones that were removed.
  func collectTombstones() throws -> Int {
    let since = liveSince
    return try transaction {
      try writeNotes()
      var end = state.position
      guard options.mergeRules.collectionWaits else { return try collectBlindly(upTo: end) }
      for replica in try replicas() where replica.seen >= since {
        // One that pushes and has never finished a pull holds everything.
        end = min(end, replica.base ?? .start, replica.holds ?? end)
      }
      try closeEpochs(endedBefore: since)
      let before = state.collected
      try removeHistory(upTo: end)
      guard end > before else { return 0 }
      return try removeTombstones(upTo: end)
    }
  }

  /// Forgets what only says how the present came to be, once every living replica has pulled past it: pairs that were
  /// parted, ids of commits, and entries of the conflict log that their addressees have. Of the verdicts on saves, each
  /// replica's last ones are kept, and the ids of saves as long as a backup may be old.
  private func removeHistory(upTo end: FeedPosition) throws {
    let parted = try connection.cached("SELECT max(position) FROM link WHERE present = 0 AND position <= ?")
    parted.bind(end, at: 1)
    let last = try parted.step() && !parted.isNull(0) ? parted.position(0) : nil
    parted.reset()
    for sql in [
      "DELETE FROM link WHERE present = 0 AND position <= ?", "DELETE FROM commit_id WHERE position < ?",
    ] {
      let delete = try connection.cached(sql)
      delete.bind(end, at: 1)
      try delete.run()
    }
    if let last { state.collected = max(state.collected, last) }
    try removeEntries(upTo: end)
    let queue = try connection.cached(
      """
      DELETE FROM queue WHERE number <= (SELECT processed - ?1 FROM replica WHERE id = queue.replica)
        OR replica NOT IN (SELECT id FROM replica)
      """)
    queue.bind(Int64(options.limits.verdictsMin), at: 1)
    try queue.run()
    let now = advanceNow()
    let oldest = now - min(now, options.limits.saveHistoryMilliseconds)
    let saves = try connection.cached("DELETE FROM save WHERE stamp < ? AND id NOT IN (SELECT save FROM queue)")
    saves.bind(
      VerdictCoding.bytes(Stamp(clock: ClockReading(milliseconds: oldest), replica: ReplicaID(0))), at: 1)
    try saves.run()
  }

  /// An entry is kept until its addressee has pulled past it, however long that takes: who comes back after a year learns what
  /// became of its writes. One that has not been seen for ten times the history never comes back.
  private func removeEntries(upTo end: FeedPosition) throws {
    let now = advanceNow()
    let (absence, isOver) = options.limits.historyMilliseconds.multipliedReportingOverflow(by: 10)
    let delete = try connection.cached(
      """
      DELETE FROM conflict WHERE position <= ?1 AND NOT EXISTS (SELECT 1 FROM replica
        WHERE id = conflict.replica AND coalesce(base, 0) < conflict.position AND seen >= ?2)
      """)
    delete.bind(end, at: 1)
    delete.bind(Int64(clamping: isOver ? 0 : now - min(now, absence)), at: 2)
    try delete.run()
  }

  /// What a server must not do; the simulation switches it on, to see that it notices.
  private func collectBlindly(upTo end: FeedPosition) throws -> Int {
    let collected = state.collected
    defer { state.collected = collected }
    return try removeTombstones(upTo: end)
  }

  private func removeTombstones(upTo end: FeedPosition) throws -> Int {
    let query = try connection.cached("SELECT id, position FROM record WHERE collectable = 1 AND position <= ?")
    query.bind(end, at: 1)
    var found: [(id: RecordID, position: FeedPosition)] = []
    while try query.step() { if let id = query.record(0) { found.append((id, query.position(1))) } }
    query.reset()
    for (id, position) in found {
      try settleReferences(to: id)
      try delete(id)
      state.collected = max(state.collected, position)
    }
    return found.count
  }

  /// A reference to a collected tombstone reads as nil for good: that needs no write, since an unknown record reads as a
  /// dead one. What has to go are the index rows and the links of the dead record.
  private func settleReferences(to id: RecordID) throws {
    for sql in ["DELETE FROM link WHERE source = ?", "DELETE FROM link WHERE target = ?"] {
      let delete = try connection.cached(sql)
      delete.bind(id, at: 1)
      try delete.run()
    }
  }

  private func delete(_ id: RecordID) throws {
    for sql in [
      "DELETE FROM record WHERE id = ?", "DELETE FROM reference WHERE holder = ?",
      "DELETE FROM unique_key WHERE holder = ?", "DELETE FROM cause WHERE record = ?",
    ] {
      let delete = try connection.cached(sql)
      delete.bind(id, at: 1)
      try delete.run()
    }
  }
}
