package import TomboloProtocol
import TomboloSQLite

/// Saves that the server refused for good: listed, made anew, or given up. What they wrote is no longer shown.
extension Store {
  /// In the order in which they were made.
  package func parkedSaves() throws -> [ParkedSave] { try read { try Self.parked($0).map(\.save) } }

  static func parked(_ connection: Connection) throws -> [(place: Int64, save: ParkedSave)] {
    var saves: [(place: Int64, save: ParkedSave)] = []
    try connection.eachRow("SELECT code, message, body, save FROM _tombolo_parked ORDER BY save") { row in
      saves.append(
        (
          row.int64(3),
          ParkedSave(
            changeSet: try ChangeSet(decoding: row.bytes(2), as: .cbor), code: ErrorCode(rawValue: row.string(0)),
            message: row.string(1))
        ))
    }
    return saves
  }

  /// Under one number two saves may be parked once the replica has changed its id; the later is meant.
  private static func parked(_ number: SaveNumber, _ connection: Connection) throws -> (place: Int64, save: ParkedSave)
  {
    guard let found = try parked(connection).last(where: { $0.save.changeSet.number == number }) else {
      throw TomboloError(
        .unknownRecord, "No save with the number \(number.rawValue) was refused and kept.",
        remedy: "'tombolo parked STORE' lists those that were.")
    }
    return found
  }

  /// Numbers that are taken by saves which the server refused, or was never sent, from `first` up to `end`: each as a
  /// change set without changes.
  package func takenNumbers(from first: SaveNumber, upTo end: SaveNumber) throws -> [ChangeSet] {
    try read { connection in
      let offset = try RemoteBook(connection).numberOffset
      var sets: [ChangeSet] = []
      try connection.eachRow(
        "SELECT \(PendingSave.columns) FROM _tombolo_save WHERE state IN (4, 5) AND number >= ?1 AND number < ?2 "
          + "ORDER BY number",
        {
          $0.bind(Int64(clamping: first.rawValue) + offset, at: 1)
          $0.bind(Int64(clamping: end.rawValue) + offset, at: 2)
        }
      ) { row in
        let save = try PendingSave(row)
        sets.append(
          ChangeSet(
            id: save.id, number: SaveNumber(UInt64(max(0, save.number - offset))), stamp: save.stamp,
            author: save.author, schemaVersion: save.schemaVersion, base: save.base, changes: []))
      }
      return sets
    }
  }

  /// Gives a refused save up. Nothing that is shown changes.
  ///
  /// - Throws: `unknown_record`, if no save with the number is parked.
  package func discardParked(_ number: SaveNumber) throws {
    try write { connection in try Self.forget(try Self.parked(number, connection).place, connection) }
  }

  /// Makes a refused save anew, as an ordinary save of now: what it wrote shows again, and the next sync sends it.
  ///
  /// - Parameter mends: other values than it wrote, where those were why it was refused.
  /// - Throws: `unknown_record`, if no save with the number is parked, if a record that it changed is not there, or if it does
  ///   not touch a record that is to be mended; `unknown_attribute`; what a save throws. It stays parked then.
  package func retryParked(_ number: SaveNumber, mends: [ParkedMend] = []) throws {
    let author = try read { try Self.parked(number, $0).save.changeSet.author }
    let outcome = try save(author: author) { writer in
      let found = try Self.parked(number, writer.connection)
      let changes = try mends.reduce(found.save.changeSet.changes) { try $1.applied(to: $0, schema) }
      try ChangeReplay(writer: writer, schema: schema).run(changes)
      try Self.forget(found.place, writer.connection)
    }.outcome
    // A save that changes nothing is rolled back whole: everything in it holds already.
    if outcome.save == nil { try discardParked(number) }
  }

  private static func forget(_ place: Int64, _ connection: Connection) throws {
    try connection.run("DELETE FROM _tombolo_parked WHERE save = ?1") { $0.bind(place, at: 1) }
    try connection.run("UPDATE _tombolo_save SET state = 5 WHERE number = ?1 AND state = 4") { $0.bind(place, at: 1) }
  }
}
