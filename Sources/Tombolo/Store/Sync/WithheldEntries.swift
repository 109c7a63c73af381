import TomboloProtocol
import TomboloSQLite

/// Entries about values that their author has written over in saves that the server has not answered: nobody needs to be
/// told of such a value, unless what he wrote over it is refused in the end.
///
/// `_tombolo_withheld` has a row for each entry and each save that wrote over its value. The first of these saves that a
/// pull confirms takes the entry with it; the last one that is refused gives it to the conflict log.
struct WithheldEntries {
  let connection: Connection

  var exist: Bool {
    get throws { try connection.firstRow("SELECT 1 FROM _tombolo_withheld LIMIT 1") { _ in true } ?? false }
  }

  func keep(_ entry: ConflictEntry, position: FeedPosition, time: UInt64, until saves: [PendingSave]) throws {
    let bytes = FeedItem.conflict(entry).encoded(as: .cbor)
    for save in saves {
      try connection.run(
        "INSERT OR IGNORE INTO _tombolo_withheld(entry, save, position, time, body) VALUES (?1, ?2, ?3, ?4, ?5)"
      ) {
        $0.bind(entry.id, at: 1)
        $0.bind(save.number, at: 2)
        $0.bind(Int64(clamping: position.rawValue), at: 3)
        $0.bind(Int64(clamping: time), at: 4)
        $0.bind(bytes, at: 5)
      }
    }
  }

  /// What was written over the values stands with the server, or gave way there to what is told for itself.
  func drop(writtenOverBy save: PendingSave) throws {
    try connection.run(
      "DELETE FROM _tombolo_withheld WHERE entry IN (SELECT entry FROM _tombolo_withheld WHERE save = ?1)"
    ) { $0.bind(save.number, at: 1) }
  }

  /// The save counts for nothing: entries that no other save wrote over are told after all.
  func release(from save: PendingSave) throws {
    try connection.run(
      "INSERT OR IGNORE INTO _tombolo_conflict(id, position, time, body) SELECT entry, position, time, body "
        + "FROM _tombolo_withheld w WHERE save = ?1 AND NOT EXISTS "
        + "(SELECT 1 FROM _tombolo_withheld other WHERE other.entry = w.entry AND other.save <> ?1)"
    ) { $0.bind(save.number, at: 1) }
    try connection.run("DELETE FROM _tombolo_withheld WHERE save = ?1") { $0.bind(save.number, at: 1) }
  }
}

extension ReplicaTransaction {
  /// An entry for this replica. One about a value that its author has written over waits for the server's word on that.
  func keep(_ entry: ConflictEntry, position: FeedPosition) throws {
    let later = savesOver(entry)
    if later.isEmpty {
      try Store.keep(entry, position: position, time: wall, connection)
    } else if !later.contains(where: { $0.state == .answered && $0.now.isHidden }) {
      try WithheldEntries(connection: connection).keep(entry, position: position, time: wall, until: later)
    }
  }

  /// The saves that wrote over the value that an entry is about, and were not refused.
  private func savesOver(_ entry: ConflictEntry) -> [PendingSave] {
    guard let field = entry.field, entry.rule == .laterEdit else { return [] }
    var saves: [PendingSave] = []
    for change in queue.changes(of: entry.record) where change.save.state != .parked {
      guard change.save.stamp > entry.lost.stamp, case .update(let detail) = change.detail else { continue }
      if detail.fields.contains(where: { !$0.isConsequence && change.column($0.column)?.property == field }) {
        saves.append(change.save)
      }
    }
    return saves
  }

  /// Tells or drops the entries that waited for saves which are settled now.
  func settleWithheld() throws {
    let withheld = WithheldEntries(connection: connection)
    guard try withheld.exist else { return }
    for save in queue.saves {
      switch save.state {
      case .confirmed: try withheld.drop(writtenOverBy: save)
      case .parked, .discarded: try withheld.release(from: save)
      case .local, .unsent, .answered: break
      }
    }
  }
}
