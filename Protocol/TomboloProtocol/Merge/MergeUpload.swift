/// The items of a re-upload, one by one: see ``ReuploadMerge``.
extension MergeSession {
  /// The write of a save that is contained already, once more: it may have been overwritten by an older copy.
  func foldAgain(_ write: Change.FieldWrite, of update: Change.Update) throws {
    let id = try resolve(update.id)
    guard let found = try record(id), found.answers(to: update.id, update.incarnation),
      let field = try entity(of: found).field(write.name)
    else { return }
    let before = self.field(field, of: found)
    let current = Version(value: before.value, stamp: before.stamp)
    let standing = FieldMerge.fold(
      field.policy, of: field.type, current, Version(value: write.value, stamp: changeSet.stamp), rules: rules)
    if standing != current {
      try set(field, of: id, to: standing, replaced: write.replaced ?? before.replaced, isWritten: true)
    }
  }

  /// A living record.
  ///
  /// What the schema does not have is left out: a replica may know more of an earlier epoch than this server does.
  func upload(
    _ state: RecordState, from old: FeedPosition, reader: any EpochReader, counters: inout [RecordID: FeedPosition]
  ) throws {
    guard let entity = schema.entity(state.entity) else { return }
    let found = try record(state.id)
    let isFresh = found.map { state.incarnation > $0.incarnation } ?? true
    if isFresh {
      try insert(
        MergeRecord(
          entity: state.entity, id: state.id, incarnation: state.incarnation, fields: entity.absentFields,
          lifePosition: old))
      try redeliver(state.id)
    } else if let found, state.incarnation < found.incarnation || found.survivor != nil {
      return
    }
    let takesCounters =
      try isFresh || old > counters[state.id] ?? reader.counterPosition(of: state.id)
    for uploaded in state.fields {
      guard let field = entity.field(uploaded.name), field.admits(uploaded.value) else { continue }
      if field.policy == .counter {
        guard takesCounters else { continue }
        counters[state.id] = old
        try uploadCounter(uploaded, field, of: state.id, reader: reader)
      } else {
        try upload(uploaded, field, of: state.id, from: old, isFresh: isFresh, reader: reader)
      }
    }
    if let known = try record(state.id), known.life == .deleted, old > known.lifePosition {
      try modify(state.id) { record in
        record.life = .living
        record.causes = []
        record.lifePosition = old
      }
      marks.noteRevival(of: state.id)
      try redeliver(state.id)
    }
  }

  private func uploadCounter(
    _ uploaded: FieldState, _ field: MergeSchema.Field, of id: RecordID, reader: any EpochReader
  ) throws {
    guard let record = try record(id) else { return }
    let total = CounterMerge.sum(uploaded.value, try reader.epochAddition(to: id, field.name))
    let stamp = max(uploaded.stamp, self.field(field, of: record).stamp)
    try set(field, of: id, to: Version(value: total, stamp: stamp), isWritten: true)
  }

  private func upload(
    _ uploaded: FieldState, _ field: MergeSchema.Field, of id: RecordID, from old: FeedPosition, isFresh: Bool,
    reader: any EpochReader
  ) throws {
    guard let found = try record(id) else { return }
    let before = self.field(field, of: found)
    let current = Version(value: before.value, stamp: before.stamp)
    let new = Version(value: uploaded.value, stamp: uploaded.stamp)
    let standing = FieldMerge.fold(field.policy, of: field.type, current, new, rules: rules)
    let lost = standing.stamp == new.stamp ? current : new
    if new.value != current.value, field.policy == .lastWriter || field.policy == .firstWriter,
      !lost.stamp.isDerived, !lost.stamp.isZero,
      let bases = try reader.epochBases(of: id, field.name), !bases.contains(lost.stamp.written)
    {
      report(.reupload, entity: found.entity, record: id, field: field.name, lost: lost, standing: standing)
    }
    if standing != current {
      try set(field, of: id, to: standing, isWritten: false)
      try setWritePosition(old, of: field, in: id)
    } else if new == current, isFresh || old < before.writePosition {
      try setWritePosition(old, of: field, in: id)
    }
  }

  /// Where an uploaded value was written: as early as any replica says.
  private func setWritePosition(_ position: FeedPosition, of field: MergeSchema.Field, in id: RecordID) throws {
    try modify(id) { record in
      guard let place = record.place(of: field.name, hint: field.place) else { return }
      record.fields[place].writePosition = position
    }
  }

  /// A record that was merged into another. What was written to it in this epoch, as nobody knew of the merge, goes on with
  /// the other.
  /// - Returns: false where the other is not there.
  func uploadAlias(_ tombstone: Tombstone, reader: any EpochReader) throws -> Bool {
    guard let survivor = tombstone.survivor, let entity = schema.entity(tombstone.entity) else { return true }
    guard try record(survivor.id) != nil else { return false }
    let id = tombstone.id
    if let found = try record(id) {
      guard found.incarnation == tombstone.incarnation, found.survivor == nil else { return true }
      try carry(found, to: try resolve(survivor.id), reader: reader)
    } else {
      try insert(
        MergeRecord(entity: tombstone.entity, id: id, incarnation: tombstone.incarnation, fields: entity.absentFields))
    }
    let position = position
    try modify(id) { record in
      record.life = .merged(survivor)
      record.causes = []
      record.deathStamp = survivor.incarnation
      record.position = position
    }
    noteAlias(id, of: survivor.id)
    marks.aliases.insert(id)
    try redeliverReferences(to: id)
    return true
  }

  /// Lays what this epoch wrote to a record over the one that it was merged into before the epoch began.
  private func carry(_ alias: MergeRecord, to home: RecordID, reader: any EpochReader) throws {
    guard home != alias.id, let entity = schema.entity(alias.entity) else { return }
    for field in entity.fields {
      guard let bases = try reader.epochBases(of: alias.id, field.name), let survivor = try record(home) else {
        continue
      }
      let (own, other) = (self.field(field, of: survivor), self.field(field, of: alias))
      for base in bases { noteEpochWrite(home, field.name, base: base) }
      noteEpochWrite(home, field.name, base: own.stamp)
      if field.policy == .counter {
        try carryCounter(field, of: alias.id, other, to: home, reader: reader)
        continue
      }
      let x = Version(value: own.value, stamp: own.stamp)
      let y = Version(value: try resolved(other.value, in: field), stamp: other.stamp)
      if x == y { continue }
      var standing = FieldMerge.fold(field.policy, of: field.type, x, y, rules: rules)
      // A record is not its own parent, whoever says so.
      if field.reference?.isAcyclic ?? false, standing.value.reference == home { standing = x }
      let lost = standing.stamp == y.stamp ? x : y
      if x.value != y.value, field.policy == .lastWriter || field.policy == .firstWriter, !lost.stamp.isDerived,
        !lost.stamp.isZero, !bases.contains(lost.stamp.written)
      {
        report(.reupload, entity: survivor.entity, record: home, field: field.name, lost: lost, standing: standing)
      }
      if standing != x { try set(field, of: home, to: standing, replaced: other.replaced, isWritten: false) }
    }
  }

  private func carryCounter(
    _ field: MergeSchema.Field, of alias: RecordID, _ counter: MergeField, to home: RecordID, reader: any EpochReader
  ) throws {
    for addition in try reader.epochAdditions(to: alias, field.name) { noteEpochAddition(addition, movedTo: home) }
    let added = try reader.epochAddition(to: alias, field.name)
    if added != 0, let survivor = try record(home) {
      let own = self.field(field, of: survivor)
      let total = Version(value: CounterMerge.sum(own.value, added), stamp: max(own.stamp, counter.stamp))
      try set(field, of: home, to: total, isWritten: false)
    }
    try modify(home) { record in
      guard let place = record.place(of: field.name, hint: field.place) else { return }
      for addition in counter.additions { record.fields[place].note(addition) }
    }
  }

  /// A survivor answers to what was written to its aliases.
  func uploadName(_ tombstone: Tombstone) throws {
    guard tombstone.survivor != nil, try isInto(tombstone.id) else { return }
    let name = MergeRecord.Incarnation(id: tombstone.id, stamp: tombstone.incarnation)
    let home = try resolve(tombstone.id)
    guard let record = try record(home), !record.answersTo.contains(name) else { return }
    try modify(home) { $0.answersTo.append(name) }
  }

  /// Whether an alias belongs to the present life of what it was merged into, all the way.
  private func isInto(_ id: RecordID) throws -> Bool {
    var id = id
    var seen: Set<RecordID> = []
    while seen.insert(id).inserted {
      guard case .merged(let survivor)? = try record(id)?.life, let next = try record(survivor.id),
        next.incarnation == survivor.incarnation
      else { return false }
      if next.survivor == nil { return true }
      id = next.id
    }
    return false
  }

  /// A pair.
  /// - Returns: those of its ends that are aliases by now: the pair is to move to their survivors.
  func upload(_ state: LinkState) throws -> [RecordID] {
    guard schema.resolved.links[state.link.relationship] != nil,
      state.stamp > (try link(state.link)?.stamp ?? .zero)
    else { return [] }
    set(MergeLink(key: state.link, isPresent: state.isPresent, stamp: state.stamp, position: position))
    guard state.isPresent else { return [] }
    return try [state.link.source, state.link.target].filter { try record($0)?.survivor != nil }
  }

  /// A deletion, with its causes.
  func upload(_ tombstone: Tombstone, from old: FeedPosition) throws {
    guard tombstone.survivor == nil, let entity = schema.entity(tombstone.entity) else { return }
    let id = tombstone.id
    guard let found = try record(id) else {
      // Also what died of its parent's death: with its values lost, nothing tells any more whom it hung on, and a record
      // that waits for its parent to live again would be lifted at once, with none of its values.
      try insert(
        MergeRecord(
          entity: tombstone.entity, id: id, incarnation: tombstone.incarnation, life: .deleted,
          causes: tombstone.causes.sorted(),
          deathStamp: tombstone.stamp, fields: entity.absentFields, position: position, lifePosition: old))
      for cause in tombstone.causes { noteCause(cause, of: id) }
      return
    }
    guard !tombstone.causes.isEmpty, found.answers(to: id, tombstone.incarnation), old > found.lifePosition else {
      return
    }
    changeSet.stamp = tombstone.stamp
    for cause in tombstone.causes.sorted() {
      try apply(
        Change.Delete(entity: tombstone.entity, id: id, incarnation: tombstone.incarnation, cause: cause))
    }
    if let dead = try record(id), !dead.isLiving { try modify(id) { $0.lifePosition = old } }
  }
}
