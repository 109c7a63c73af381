package import TomboloProtocol
import TomboloSQLite

/// Writes of this replica that do not stand, and the way to make them stand after all.
extension Store {
  /// In the order in which they arrived.
  package func conflicts() throws -> [ConflictEntry] { try read { try Self.conflicts($0) } }

  static func conflicts(_ connection: Connection) throws -> [ConflictEntry] {
    var entries: [ConflictEntry] = []
    try connection.eachRow("SELECT body FROM _tombolo_conflict ORDER BY position, id") { row in
      if case .conflict(let entry) = try FeedItem(decoding: row.bytes(0), as: .cbor) { entries.append(entry) }
    }
    return entries
  }

  /// Writes the lost value again, as an ordinary save of now, and takes the entry from the list.
  ///
  /// A record that is gone is made anew, under its identity, with everything that this replica knew of it; a deletion that
  /// was undone is made again. Only entries whose loss is made good by that leave the list.
  ///
  /// - Throws: `unknown_record`, if there is no such entry, or nothing to write the value into; what a save throws.
  @discardableResult
  package func restoreConflict(_ id: RecordID) throws -> ConflictRestoration {
    var done: ConflictRestoration?
    let outcome = try save { writer in
      let entries = try Self.conflicts(writer.connection)
      guard let entry = entries.first(where: { $0.id == id }) else {
        throw TomboloError(
          .unknownRecord, "There is no conflict \(id).", remedy: "'tombolo conflicts STORE' lists those that there are."
        )
      }
      let restoration = try ConflictRestoring(writer: writer, schema: schema).restore(entry, among: entries)
      try Self.forget(restoration.settled, writer.connection, schema)
      done = restoration
    }.outcome
    guard var done else { preconditionFailure("a save that neither ended nor threw") }
    // What stands already changes nothing, and a save that changes nothing is rolled back whole.
    if outcome.save == nil {
      try write { try Self.forget(done.settled, $0, schema) }
      if done.act == .written { done.act = .stoodAlready }
    }
    return done
  }

  private static func forget(_ entries: [RecordID], _ connection: Connection, _ schema: StoreSchema) throws {
    let known = try conflicts(connection)
    var records = Set(known.filter { entries.contains($0.id) }.map(\.record))
    for entry in known where !entries.contains(entry.id) { records.remove(entry.record) }
    for id in entries {
      try connection.run("DELETE FROM _tombolo_conflict WHERE id = ?1") { $0.bind(id, at: 1) }
    }
    try LostRecords(connection: connection, schema: schema).forget(records)
  }

  /// Puts an entry on the list; one that is there already stays as it is.
  static func keep(_ entry: ConflictEntry, position: FeedPosition, time: UInt64, _ connection: Connection) throws {
    let bytes = FeedItem.conflict(entry).encoded(as: .cbor)
    try connection.run("INSERT OR IGNORE INTO _tombolo_conflict(id, position, time, body) VALUES (?1, ?2, ?3, ?4)") {
      $0.bind(entry.id, at: 1)
      $0.bind(Int64(clamping: position.rawValue), at: 2)
      $0.bind(Int64(clamping: time), at: 3)
      $0.bind(bytes, at: 4)
    }
  }
}
