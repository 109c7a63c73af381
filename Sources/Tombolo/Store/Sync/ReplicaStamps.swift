import TomboloProtocol
import TomboloSQLite

/// New names for stamps: after the server refused a clock, and for a copied replica.
extension ReplicaTransaction {
  /// The server refused a stamp as too far ahead: the clock goes back as far as it may, and the save and those after it
  /// get new stamps in order.
  func restamp(from refused: PendingSave, serverTime: UInt64) throws {
    var clock = try meta.clock
    clock.reset(to: max(ClockReading(milliseconds: serverTime), try book.greatest))
    var names: [Stamp: Stamp] = [:]
    for save in queue.saves where save.state == .unsent && save.number >= refused.number {
      names[save.stamp] = Stamp(clock: clock.tick(wall: try correctedWall), replica: save.stamp.replica)
    }
    try meta.set(clock)
    try rename(names)
  }

  /// Another copy of this file pushes under its id: what the server does not know goes on under a new one.
  func takeNewReplicaID(_ replica: ReplicaID, known: [SaveID: Stamp]) throws {
    let former = try book.formerReplicas + [try meta.replica]
    try book.set(.formerReplicas, to: .blob(former.suffix(64).flatMap(\.bytes)))
    for save in queue.saves where save.state == .unsent {
      if let stamp = known[save.id] { try take(.known(stamp: stamp), for: save) }
    }
    let unsent = queue.saves.filter { $0.state == .unsent }
    var names: [Stamp: Stamp] = [:]
    for save in unsent { names[save.stamp] = Stamp(clock: save.stamp.clock, replica: replica) }
    try rename(names)
    try meta.set(.replica, to: .blob(replica.bytes))
    try moveToEnd(unsent)
  }

  /// Gives stamps of own saves other names: in the saves, in the bases and incarnations of every pending change, and in
  /// the rows that these saves wrote.
  func rename(_ names: [Stamp: Stamp]) throws {
    if names.isEmpty { return }
    func name(_ stamp: Stamp) -> Stamp {
      guard let new = names[stamp.written] else { return stamp }
      return Stamp(clock: new.clock, replica: new.replica, derived: stamp.derived)
    }
    var records: [RecordID: EntityPlan] = [:]
    var links: Set<LinkKey> = []
    for save in queue.saves {
      if names[save.stamp] != nil {
        for change in save.changes {
          if case .link(let detail) = change.detail {
            links.insert(detail.link)
          } else {
            records[change.record] = change.entity
          }
        }
      }
      save.stamp = name(save.stamp)
      for change in save.changes { change.rewrite(try renamed(change.detail, name)) }
    }
    for (id, entity) in records {
      let home = try rows.resolve(id)
      guard let old = try rows.row(entity, home) else { continue }
      var row = old
      row.stamps.rename(name)
      row.hidden = row.hidden.mapValues { FieldMerge.Version(value: $0.value, stamp: name($0.stamp)) }
      try rows.write(row, home, replacing: old)
    }
    for key in links { try renameLink(key, name) }
  }

  private func renamed(_ detail: ChangeDetail, _ name: (Stamp) -> Stamp) throws -> ChangeDetail {
    switch detail {
    case .create: return detail
    case .update(var update):
      update.incarnation = update.incarnation.map(name)
      for index in update.fields.indices {
        update.fields[index].base = update.fields[index].base.map(name)
        update.fields[index].underStamp = update.fields[index].underStamp.map(name)
      }
      return .update(update)
    case .delete(var delete):
      delete.incarnation = delete.incarnation.map(name)
      delete.survivor = delete.survivor.map { Tombstone.Survivor(id: $0.id, incarnation: name($0.incarnation)) }
      if let bytes = delete.stamps {
        var stamps = try RowStamps(bytes, replicas)
        stamps.rename(name)
        delete.stamps = try stamps.encoded(replicas)
      }
      for index in delete.links.indices {
        delete.links[index].stamp = try delete.links[index].stamp.map {
          try name(Stamp($0, replicas)).encoded(replicas)
        }
      }
      for index in delete.hidden.indices {
        delete.hidden[index].stamp = try delete.hidden[index].stamp.map {
          try name(Stamp($0, replicas)).encoded(replicas)
        }
      }
      return .delete(delete)
    case .link(var link):
      link.base = link.base.map(name)
      link.underStamp = link.underStamp.map(name)
      return .link(link)
    }
  }

  private func renameLink(_ key: LinkKey, _ name: (Stamp) -> Stamp) throws {
    guard let plan = schema.linkTables.first(where: { $0.link.key == key.relationship }) else { return }
    for (table, column, scope) in [
      (plan.table.quotedIdentifier, "_tombolo_stamps", ""),
      ("_tombolo_unlinked", "stamp", " AND relationship = \(key.relationship.quotedLiteral)"),
    ] {
      let stored = try connection.firstRow(
        "SELECT \(column) FROM \(table) WHERE source = ?1 AND target = ?2\(scope)",
        {
          $0.bind(key.source, at: 1)
          $0.bind(key.target, at: 2)
        }, { $0.isNull(0) ? nil : $0.bytes(0) })
      guard let bytes = stored ?? nil else { continue }
      let new = try name(Stamp(bytes, replicas)).encoded(replicas)
      try connection.run("UPDATE \(table) SET \(column) = ?3 WHERE source = ?1 AND target = ?2\(scope)") {
        $0.bind(key.source, at: 1)
        $0.bind(key.target, at: 2)
        $0.bind(new, at: 3)
      }
    }
  }
}
