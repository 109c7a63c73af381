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
      for replica in try replicas() where replica.seen >= since {
        // One that pushes and has never finished a pull holds everything.
        end = min(end, replica.base ?? .start, replica.holds ?? end)
      }
      guard end > state.collected else { return 0 }
      return try removeTombstones(upTo: end)
    }
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
