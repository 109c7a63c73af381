import TomboloProtocol
import TomboloSQLite

/// Writes what a merge did, in the transaction in which it read.
extension StoreFile {
  func write(_ effects: MergeEffects, of changeSet: ChangeSet, from replica: ReplicaID) throws {
    if effects.usesPosition {
      try advancePosition()
      try write(effects)
    }
    for id in effects.refusedRecords { try writeRefused(id) }
    for refused in effects.refusedWrites { try write(refused) }
    state.greatestMilliseconds = max(state.greatestMilliseconds, effects.greatestMilliseconds)
    if let processed = effects.processed {
      try write(processed, number: changeSet.number, of: replica, for: changeSet.id)
    }
  }

  /// Writes what changed, at the feed's present end.
  func write(_ effects: MergeEffects) throws {
    for changed in effects.records { try write(changed) }
    for link in effects.links { try write(link) }
    for conflict in effects.conflicts { try write(conflict) }
    state.checksum.add(effects.checksumChange.total)
    buckets.add(effects.checksumChange)
    try noteEpoch(effects)
  }

  private func write(_ changed: MergeEffects.ChangedRecord) throws {
    let record = changed.record
    let isNew = changed.isNew
    try write(record, isNew: isNew)
    if changed.changesReferences {
      try replace(changed.references, in: "reference", column: "target", of: record.id, isNew: isNew) {
        $0.bind($1, at: $2)
      }
      if !changed.references.isEmpty { presence.references = true }
    }
    if changed.changesKeys {
      try replace(changed.uniqueKeys, in: "unique_key", column: "key", of: record.id, isNew: isNew) {
        $0.bind($1.bytes, at: $2)
      }
    }
    if changed.changesCauses { try replaceCauses(of: record, isNew: isNew) }
    if record.survivor != nil { presence.aliases = true }
  }

  private func replaceCauses(of record: MergeRecord, isNew: Bool) throws {
    if !isNew {
      let delete = try connection.cached("DELETE FROM cause WHERE record = ?")
      delete.bind(record.id, at: 1)
      try delete.run()
    }
    for cause in record.causes {
      let insert = try connection.cached("INSERT OR IGNORE INTO cause(root, stamp, record) VALUES(?, ?, ?)")
      insert.bind(cause.root, at: 1)
      insert.bind(VerdictCoding.bytes(cause.stamp), at: 2)
      insert.bind(record.id, at: 3)
      try insert.run()
    }
  }

  private func write(_ record: MergeRecord, isNew: Bool) throws {
    let statement = try connection.cached(
      isNew
        ? "INSERT INTO record(id, position, collectable, survivor, payload) VALUES(?1, ?2, ?3, ?4, ?5)"
        : "UPDATE record SET position = ?2, collectable = ?3, survivor = ?4, payload = ?5 WHERE id = ?1")
    try run(statement, with: record)
  }

  private func run(_ statement: Statement, with record: MergeRecord) throws {
    statement.bind(record.id, at: 1)
    statement.bind(record.position, at: 2)
    statement.bind(record.isCollectable(upTo: record.position) ? 1 : 0, at: 3)
    if let survivor = record.survivor { statement.bind(survivor, at: 4) } else { statement.bindNull(at: 4) }
    statement.bind(record.encoded(), at: 5)
    try statement.run()
  }

  private func replace<Key>(
    _ keys: [Key], in table: String, column: String, of holder: RecordID, isNew: Bool,
    bind: (Statement, Key, Int32) -> Void
  ) throws {
    if !isNew {
      let delete = try connection.cached("DELETE FROM \(table) WHERE holder = ?")
      delete.bind(holder, at: 1)
      try delete.run()
    }
    guard !keys.isEmpty else { return }
    let insert = try connection.cached("INSERT OR IGNORE INTO \(table)(holder, \(column)) VALUES(?, ?)")
    for key in keys {
      insert.bind(holder, at: 1)
      bind(insert, key, 2)
      try insert.run()
    }
  }

  private func write(_ link: MergeLink) throws {
    let insert = try connection.cached("INSERT OR REPLACE INTO link(\(Self.linkColumns)) VALUES(?, ?, ?, ?, ?, ?)")
    insert.bind(link.key.relationship, at: 1)
    insert.bind(link.key.source, at: 2)
    insert.bind(link.key.target, at: 3)
    insert.bind(link.isPresent ? 1 : 0, at: 4)
    insert.bind(VerdictCoding.bytes(link.stamp), at: 5)
    insert.bind(link.position, at: 6)
    try insert.run()
  }

  /// An entry takes the change set's position, so that a pull brings it with what it is about.
  private func write(_ entry: ConflictEntry) throws {
    let insert = try connection.cached(
      "INSERT OR REPLACE INTO conflict(id, replica, position, body) VALUES(?, ?, ?, ?)")
    insert.bind(entry.id, at: 1)
    insert.bind(Int64(bitPattern: entry.replica.rawValue), at: 2)
    insert.bind(position, at: 3)
    insert.bind(FeedItem.conflict(entry).encoded(as: .cbor), at: 4)
    try insert.run()
  }

  private func writeRefused(_ id: RecordID) throws {
    let insert = try connection.cached("INSERT OR IGNORE INTO refused_record(id) VALUES(?)")
    insert.bind(id, at: 1)
    try insert.run()
    presence.refusedRecords = true
  }

  private func write(_ refused: RefusedWrite) throws {
    let insert = try connection.cached(
      "INSERT OR REPLACE INTO refused_write(record, field, stamp, base) VALUES(?, ?, ?, ?)")
    insert.bind(refused.key.record, at: 1)
    insert.bind(refused.key.field, at: 2)
    insert.bind(VerdictCoding.bytes(refused.key.stamp), at: 3)
    insert.bind(VerdictCoding.bytes(refused.base), at: 4)
    try insert.run()
    presence.refusedWrites = true
  }

  /// Under (replica, number) always; under the save's id unless it is there already.
  func write(_ processed: ProcessedSave, number: SaveNumber, of replica: ReplicaID, for save: SaveID) throws {
    let queue = try connection.cached(
      "INSERT OR REPLACE INTO queue(replica, number, save, verdict, stamp, notable) VALUES(?, ?, ?, ?, ?, ?)")
    queue.bind(Int64(bitPattern: replica.rawValue), at: 1)
    queue.bind(Int64(bitPattern: number.rawValue), at: 2)
    queue.bind(processed.id.record, at: 3)
    queue.bind(VerdictCoding.bytes(processed.verdict), at: 4)
    queue.bind(VerdictCoding.bytes(processed.stamp), at: 5)
    queue.bind(processed.verdict.isNotable ? 1 : 0, at: 6)
    try queue.run()
    let insert = try connection.cached("INSERT OR IGNORE INTO save(id, verdict, stamp) VALUES(?, ?, ?)")
    insert.bind(save.record, at: 1)
    insert.bind(VerdictCoding.bytes(processed.verdict), at: 2)
    insert.bind(VerdictCoding.bytes(processed.stamp), at: 3)
    try insert.run()
    let update = try connection.cached("UPDATE replica SET processed = ?1 WHERE id = ?2 AND processed < ?1")
    update.bind(Int64(bitPattern: number.rawValue), at: 1)
    update.bind(Int64(bitPattern: replica.rawValue), at: 2)
    try update.run()
  }
}

extension PushAnswer.Verdict {
  /// Whether a replica that missed the answer must still be told: a save below the processed number otherwise counts
  /// as accepted.
  var isNotable: Bool {
    switch self {
    case .refused, .known: true
    case .accepted, .clockSkew, .gap, .copiedReplica, .fragmentStored: false
    }
  }
}
