internal import Foundation

/// Unique keys held twice: the records become one, or the change set is refused.
extension MergeSession {
  /// Unites the first group of living records that share a key; false if there is none.
  func uniteOneGroup() throws -> Bool {
    try refreshKeys()
    while let key = marks.openKeys.first {
      var group: [MergeRecord] = []
      for owner in try Set(reader.owners(of: key)).union(holdersOfKey[key] ?? []).sorted() {
        if keys[owner].map({ !$0.contains(key) }) ?? false { continue }
        if let record = try record(owner), record.isLiving { group.append(record) }
      }
      let rule = group.count > 1 ? try constraint(of: key, in: group[0]) : nil
      let isRejecting = rule?.onConflict == .reject
      guard group.count > 1, isRejecting ? rules.rejectTwins : rules.uniteTwins else {
        marks.openKeys.removeFirst()
        continue
      }
      if let rule, isRejecting, !unitesRejected { throw UniqueRejection(key: rule.name) }
      group.sort { ($0.incarnation, $0.id) < ($1.incarnation, $1.id) }
      for twin in group.dropFirst() { try unite(twin.id, into: group[0].id) }
      return true
    }
    return false
  }

  private func refreshKeys() throws {
    for id in marks.keys {
      let now = try record(id).map(uniqueKeys) ?? []
      for key in keys[id] ?? [] where !now.contains(key) { holdersOfKey[key]?.remove(id) }
      keys[id] = now
      for key in now {
        holdersOfKey[key, default: []].insert(id)
        marks.openKeys.insert(key)
      }
    }
    marks.keys = []
  }

  private func constraint(of key: UniqueKey, in record: MergeRecord) throws -> MergeSchema.Key? {
    try entity(of: record).keys.first { try uniqueKey($0, of: record) == key }
  }

  /// The keys of a living record; a constraint with a nil among its values has none.
  func uniqueKeys(of record: MergeRecord) throws -> [UniqueKey] {
    guard record.isLiving else { return [] }
    return try entity(of: record).keys.compactMap { try uniqueKey($0, of: record) }
  }

  private func uniqueKey(_ key: MergeSchema.Key, of record: MergeRecord) throws -> UniqueKey? {
    let entity = try entity(of: record)
    var writer = CBORWriter()
    writer.unsigned(key.tag)
    for place in key.places {
      switch try effective(entity.fields[place], of: record).value {
      case .null: return nil
      case .text(let text):
        writer.text(text.utf8.allSatisfy { $0 < 0x80 } ? text : text.precomposedStringWithCanonicalMapping)
      case let value: writer.value(value)
      }
    }
    return UniqueKey(bytes: writer.bytes)
  }

  /// Two records become one: the twin turns into an alias of the survivor, whose fields take what stands of both.
  ///
  /// - Parameter knowledge: what a save that united them knew of the twin, and has laid over the survivor itself.
  private func unite(_ twinID: RecordID, into survivorID: RecordID, knowledge: UniteKnowledge? = nil) throws {
    guard let survivor = try record(survivorID), let twin = try record(twinID) else { return }
    let position = position
    try modify(twinID) { record in
      record.life = .merged(Tombstone.Survivor(id: survivorID, incarnation: survivor.incarnation))
      record.deathStamp = survivor.incarnation
      record.position = position
      record.lifePosition = position
    }
    noteAlias(twinID, of: survivorID)
    marks.aliases.insert(twinID)
    let entity = try entity(of: survivor)
    for field in entity.fields { try unite(field, of: twin, into: survivor, knowledge) }
    for lost in twin.fields
    where entity.field(lost.name) == nil && !lost.stamp.isDerived && !lost.stamp.isZero
      && !(knowledge?.covers(lost) ?? false)
    {
      report(
        .uniqueMerge, entity: twin.entity, record: survivorID, field: lost.name,
        lost: Version(value: lost.value, stamp: lost.written))
    }
    try modify(survivorID) { record in
      for pair in twin.answersTo where !record.answersTo.contains(pair) { record.answersTo.append(pair) }
      record.position = position
      record.mergePosition = position
    }
    try redeliverReferences(to: survivorID)
    for var link in try links(of: survivorID) {
      link.position = position
      set(link)
    }
  }

  private func unite(
    _ field: MergeSchema.Field, of twin: MergeRecord, into survivor: MergeRecord, _ knowledge: UniteKnowledge?
  ) throws {
    let (own, other) = (self.field(field, of: survivor), self.field(field, of: twin))
    noteEpochWrite(survivor.id, field.name, base: own.stamp)
    noteEpochWrite(survivor.id, field.name, base: other.stamp)
    let x = Version(value: try resolved(own.value, in: field), stamp: own.stamp)
    let y = Version(value: try resolved(other.value, in: field), stamp: other.stamp)
    var standing = x
    if field.policy == .counter {
      var delta: Int64 = 0
      if case .integer(let value) = y.value { delta = knowledge?.unknownCount(of: other) ?? value }
      standing.value = CounterMerge.sum(x.value, delta)
      if knowledge == nil || delta != 0 { standing.stamp = max(x.stamp, y.stamp) }
    } else if !(knowledge?.covers(other) ?? false) {
      // A save that unites two records by a key has the last word on the key.
      let isSettled = try knowledge != nil && y.stamp < changeSet.stamp && isOfKey(field, entity(of: survivor))
      if !isSettled { standing = FieldMerge.fold(field.policy, of: field.type, x, y, rules: rules) }
      if x.value != y.value {
        let lost =
          standing.value == y.value
          ? Version(value: x.value, stamp: own.written) : Version(value: y.value, stamp: other.written)
        if !lost.stamp.isDerived, lost.stamp != .zero {
          report(
            .uniqueMerge, entity: survivor.entity, record: survivor.id, field: field.name, lost: lost,
            standing: standing)
        }
      }
    }
    if field.reference?.isAcyclic ?? false, standing.value.reference == survivor.id {
      let undone = Version(value: .null, stamp: standing.stamp.consequence)
      report(
        .uniqueMerge, entity: survivor.entity, record: survivor.id, field: field.name, lost: standing, standing: undone)
      standing = undone
    }
    let replaced = standing.stamp == y.stamp ? other.replaced : own.replaced
    let source = standing.value == x.value ? own.written : other.written
    try set(
      field, of: survivor.id, to: standing, replaced: replaced,
      source: field.policy == .max || field.policy == .min ? source : nil, isWritten: false)
    guard field.policy == .counter, !other.additions.isEmpty else { return }
    try modify(survivor.id) { record in
      guard let place = record.place(of: field.name, hint: field.place) else { return }
      for addition in other.additions { record.fields[place].note(addition) }
    }
  }

  /// A deletion by which its author made two records one: the twin becomes an alias, whatever became of either meanwhile.
  ///
  /// A deletion of either that he had not seen does not stand, as one that had not seen the merge does not where it comes
  /// later. Where the survivor is not there any more the twin stays as it was.
  func unite(_ delete: Change.Delete, _ twin: MergeRecord, into told: Tombstone.Survivor) throws {
    let home = try resolve(told.id)
    guard home != twin.id else { return }
    guard let survivor = try record(home), survivor.answers(to: told.id, told.incarnation), survivor.life != .orphaned
    else {
      report(
        .recordGone, to: replica, entity: delete.entity, record: delete.id,
        lost: Version(value: .null, stamp: changeSet.stamp))
      if twin.isLiving { try redeliver(twin.id) }
      return
    }
    try reportUndone(twin.causes, of: twin, .mergeUnseen, by: changeSet.stamp)
    try revive(home, .mergeUnseen, by: changeSet.stamp)
    if rules.deletesCarryCause { for cause in twin.causes { try undo(cause) } }
    try modify(twin.id) { $0.causes = [] }
    let parted = try reader.links(of: twin.id).filter { !$0.isPresent && isUnseen($0.stamp, $0.position) }
    try unite(twin.id, into: home, knowledge: try UniteKnowledge(delete, of: twin, in: self))
    let stamp = changeSet.stamp
    try modify(twin.id) { $0.deathStamp = stamp }
    for link in parted { try reportIfBack(link) }
  }

  private func isOfKey(_ field: MergeSchema.Field, _ entity: MergeSchema.Entity) -> Bool {
    entity.keys.contains { $0.places.contains(field.place) }
  }

  func resolved(_ value: Value, in field: MergeSchema.Field) throws -> Value {
    guard field.reference != nil, let target = value.reference else { return value }
    return Value(reference: try resolve(target))
  }

  /// Links of records that were merged away move to the survivor; where both had one, present wins.
  func rewriteLinks() throws {
    let merged = marks.aliases.sorted()
    marks.aliases = []
    for id in merged {
      for link in try links(of: id) where link.isPresent {
        let key = LinkKey(
          relationship: link.key.relationship, source: try resolve(link.key.source),
          target: try resolve(link.key.target))
        guard key != link.key else { continue }
        let before = try self.link(key)?.stamp ?? .zero
        set(MergeLink(key: link.key, isPresent: false, stamp: link.stamp, position: position))
        set(MergeLink(key: key, isPresent: true, stamp: max(link.stamp, before), position: position))
      }
    }
  }
}
