import Foundation
import TomboloProtocol
import TomboloSQLite

/// A save or a pull as history lists it, before it has its place among those of the other stores.
struct HistoryHeader {
  let part: StorePart
  let author: String?
  let timestamp: Date
  let number: Int64

  /// The saves of all stores: each store's in their order, and by time between stores. A token names the last save of each
  /// store up to there.
  static func merged(_ lists: [[HistoryHeader]], _ core: ContainerCore) -> [DefaultHistoryTransaction] {
    var places = lists.map { _ in 0 }
    var numbers: [String: Int64] = [:]
    var merged: [DefaultHistoryTransaction] = []
    // Ends: each turn takes one save.
    while let next = lists.indices.filter({ places[$0] < lists[$0].count }).min(by: {
      lists[$0][places[$0]].timestamp < lists[$1][places[$1]].timestamp
    }) {
      let header = lists[next][places[next]]
      places[next] += 1
      let store = header.part.storeIdentifier
      numbers[store] = header.number
      merged.append(
        DefaultHistoryTransaction(
          author: header.author, storeIdentifier: store, timestamp: header.timestamp, number: header.number,
          token: DefaultHistoryToken(numbers),
          details: HistoryDetails(core: core, part: header.part, number: header.number)))
    }
    return merged
  }
}

/// The recorded saves, as history reads and forgets them.
struct HistoryTable {
  private let connection: Connection
  init(_ connection: Connection) { self.connection = connection }

  /// The greatest number of a save that was deleted.
  func horizon() throws -> Int64 { try StoreMeta(connection).integer(.historyHorizon) ?? 0 }

  /// A store that an earlier build made, and that cannot be written, lacks the later tables.
  private static func has(_ table: String, _ connection: Connection) throws -> Bool {
    try connection.firstRow("SELECT 1 FROM sqlite_schema WHERE name = '\(table)'") { _ in true } ?? false
  }

  /// The changes of the save `?1` as they were made, also where they are not sent because they cancelled out.
  static func changes(_ connection: Connection) throws -> String {
    let columns = "position, entity, record, kind, detail"
    let recorded = "SELECT \(columns) FROM _tombolo_change WHERE save = ?1"
    guard try has("_tombolo_cancelled", connection) else { return recorded + " ORDER BY position" }
    return "SELECT \(columns) FROM _tombolo_cancelled WHERE save = ?1 UNION ALL \(recorded) AND position NOT IN "
      + "(SELECT position FROM _tombolo_cancelled WHERE save = ?1) ORDER BY position"
  }

  /// In order; a save that was refused is not one.
  func headers(_ part: StorePart) throws -> [HistoryHeader] {
    var headers: [HistoryHeader] = []
    func add(_ author: String?, _ time: Int64, _ number: Int64) {
      headers.append(
        HistoryHeader(
          part: part, author: author, timestamp: Date(timeIntervalSince1970: Double(time) / 1000), number: number))
    }
    var isTold = Outbox.hasChanges
    if try Self.has("_tombolo_cancelled", connection) {
      isTold = "(\(isTold) OR EXISTS (SELECT 1 FROM _tombolo_cancelled WHERE save = _tombolo_save.number))"
    }
    try connection.eachRow(
      "SELECT number, author, time FROM _tombolo_save WHERE state IN (0, 1, 2, 3) AND \(isTold) ORDER BY number"
    ) { row in
      add(row.isNull(1) ? nil : row.string(1), row.int64(2), HistoryNumber.number(ofSave: row.int64(0)))
    }
    guard try Self.has("_tombolo_pull", connection) else { return headers }
    try connection.eachRow("SELECT number, time FROM _tombolo_pull") { row in
      add(DefaultHistoryTransaction.syncAuthor, row.int64(1), row.int64(0))
    }
    return headers.sorted { $0.number < $1.number }
  }

  func delete(_ numbers: [Int64]) throws {
    // The values of a save that waits may stand in later ones: only what is before all of them may go.
    let waiting =
      try connection.firstRow("SELECT min(number) FROM _tombolo_save WHERE state IN (1, 2, 4)") {
        $0.isNull(0) ? nil : HistoryNumber.number(ofSave: $0.int64(0))
      } ?? nil
    let free = numbers.filter { $0 < waiting ?? .max }
    guard let greatest = free.max() else { return }
    for number in free {
      let places =
        HistoryNumber.save(of: number).map {
          [("_tombolo_change", "save", $0), ("_tombolo_cancelled", "save", $0), ("_tombolo_save", "number", $0)]
        }
        ?? [("_tombolo_pulled", "pull", number), ("_tombolo_pull", "number", number)]
      for (table, column, place) in places {
        try connection.run("DELETE FROM \(table) WHERE \(column) = ?1") { $0.bind(place, at: 1) }
      }
    }
    let meta = StoreMeta(connection)
    try meta.set(.historyHorizon, to: .integer(max(greatest, try meta.integer(.historyHorizon) ?? 0)))
  }
}
