/// Deletes, and what gives a record its life back.
extension MergeSession {
  /// A delete stands or falls only with the whole change set: see ``fallenDeletes()``.
  func apply(_ delete: Change.Delete) throws {
    let id = try resolve(delete.id)
    guard let found = try record(id), found.answers(to: delete.id, delete.incarnation) else { return }
    if rules.deletesCarryCause, fallenCauses.contains(delete.cause) {
      if found.isLiving { try redeliver(id) }
      return
    }
    if let survivor = delete.survivor { return try unite(delete, found, into: survivor) }
    if rules.deleteSeesUniqueMerge, found.mergePosition > changeSet.base {
      return try turnDown(delete, of: id, .mergeUnseen, by: nil)
    }
    if !found.isLiving { return try kill(id, cause: delete.cause) }
    let unseen = rules.deleteSeesWrites ? unseenWrites(of: found) : []
    // As where the deletion arrives first: an edit that is older than the field's stamp gives no record back.
    if let edit = unseen.filter(isLastWriteUnseen).map(\.stamp).max(), try entity(of: found).editWins {
      return try turnDown(delete, of: id, .editWins, by: edit)
    }
    let death = Version(value: .null, stamp: changeSet.stamp)
    for field in unseen {
      try reportDeath(of: field, in: found, named: delete.id, .recordDeleted, standing: death) {
        isUnseen($0.stamp, $0.position)
      }
    }
    if rules.deleteSeesWrites { try reportUnseenLinks(of: id) }
    try kill(id, cause: delete.cause)
  }

  /// Writes of others that the deleter had not pulled.
  private func unseenWrites(of record: MergeRecord) -> [MergeField] { record.fields.filter(isUnseen) }

  /// - Parameter stamp: of what it does not stand against.
  private func turnDown(_ delete: Change.Delete, of id: RecordID, _ rule: ConflictRule, by stamp: Stamp?) throws {
    // An edit gives back what its record hangs on, in whichever order the two arrive.
    let isWhole = rule == .editWins || delete.cause.root == delete.id
    if !isWhole || reportedCauses.insert(delete.cause).inserted {
      let root = isWhole ? try record(delete.cause.root) : nil
      report(
        rule, to: replica, entity: root?.entity ?? delete.entity, record: isWhole ? delete.cause.root : delete.id,
        lost: Version(value: .null, stamp: changeSet.stamp), standing: stamp.map { Version(value: .null, stamp: $0) })
    }
    try redeliver(id)
    if rules.deletesCarryCause, isWhole {
      fallenCauses.insert(delete.cause)
      try undo(delete.cause)
    }
  }

  private func kill(_ id: RecordID, cause: DeleteCause) throws {
    guard let found = try record(id), found.survivor == nil else { return }
    let position = position
    let stamp = changeSet.stamp
    try modify(id) { record in
      var causes = record.life == .deleted ? record.causes : []
      if !causes.contains(cause) { causes.append(cause) }
      record.causes = causes.sorted()
      record.life = .deleted
      record.deathStamp = stamp
      record.position = position
      record.lifePosition = position
    }
    noteCause(cause, of: id)
    try redeliverReferences(to: id)
  }

  /// Kills a record because the parent that it hangs on is dead.
  func orphan(_ id: RecordID, stamp: Stamp) throws {
    let position = position
    try modify(id) { record in
      record.life = .orphaned
      record.deathStamp = stamp
      record.position = position
      record.lifePosition = position
    }
    try redeliverReferences(to: id)
  }

  /// Gives a record its life back, what died with it, and the dead cascade parents that it hangs on; tells everybody whose
  /// deletion does not stand therefore.
  ///
  /// - Parameter stamp: of what the deletions do not stand against.
  func revive(_ id: RecordID, _ rule: ConflictRule, by stamp: Stamp) throws {
    var open = [id]
    while let next = open.popLast() {
      guard let found = try record(next), !found.isLiving, found.survivor == nil else { continue }
      try reportUndone(found.causes, of: found, rule, by: stamp)
      try enliven(next)
      if rules.deletesCarryCause { for cause in found.causes { try undo(cause) } }
      let entity = try entity(of: found)
      for place in entity.references.reversed() where entity.fields[place].rule == .cascade {
        guard let named = field(entity.fields[place], of: found).value.reference else { continue }
        open.append(try resolve(named))
      }
    }
  }

  /// The root of a cascade does not stand: what has no other cause lives again.
  func undo(_ cause: DeleteCause) throws {
    for id in try records(killedBy: cause) {
      guard let found = try record(id), found.life == .deleted, found.causes.contains(cause) else { continue }
      try modify(id) { $0.causes.removeAll { $0 == cause } }
      if found.causes.count == 1 { try enliven(id) }
    }
  }

  func enliven(_ id: RecordID) throws {
    let position = position
    try modify(id) { record in
      record.life = .living
      record.causes = []
      record.lifePosition = position
    }
    marks.noteRevival(of: id)
    try redeliver(id)
  }

  /// Delivers the whole record again, with its links and every reference to it: its deleter has none of it left.
  func redeliver(_ id: RecordID) throws {
    let position = position
    let isWhole = rules.revivesWhole
    try modify(id) { record in
      record.position = position
      if isWhole { for place in record.fields.indices { record.fields[place].position = position } }
    }
    if isWhole {
      for var link in try links(of: id) {
        link.position = position
        set(link)
      }
    }
    try redeliverReferences(to: id)
  }

  /// The deletes of the change set whose records live: those parts fell.
  func fallenDeletes() throws -> [FallenPart] {
    var fallen: [FallenPart] = []
    for (index, change) in changeSet.changes.enumerated() {
      guard case .delete(let delete) = change else { continue }
      if delete.survivor != nil, try record(delete.id)?.survivor != nil { continue }
      if let found = try record(try resolve(delete.id)), found.isLiving,
        found.answers(to: delete.id, delete.incarnation)
      {
        fallen.append(FallenPart(change: UInt32(index)))
      }
    }
    return fallen
  }
}
