/// The parts of a change set, one by one. Each returns whether the part stands.
extension MergeSession {
  func apply(_ create: Change.Create) throws -> Bool {
    let stamp = changeSet.stamp
    let id = try resolve(create.id)
    guard let entity = schema.entity(create.entity) else { return false }
    if let existing = try record(id) {
      guard id == create.id, stamp > existing.incarnation else {
        report(
          .recordGone, to: replica, entity: create.entity, record: create.id, lost: Version(value: .null, stamp: stamp))
        for field in create.fields where field.isAssigned {
          report(
            .recordGone, to: replica, entity: create.entity, record: create.id, field: field.name,
            lost: Version(value: field.value, stamp: stamp))
        }
        return false
      }
      try replaceIncarnation(of: existing, with: create)
    } else {
      try insert(MergeRecord(entity: create.entity, id: id, incarnation: stamp, fields: entity.absentFields))
      try redeliverReferences(to: id)
    }
    let position = position
    let fields = entity.fields.map { field in
      let initial = create.initial(of: field)
      let isStamped = initial.map { $0.isAssigned || !rules.unassignedHasZeroStamp } ?? false
      return MergeField(
        name: field.name, value: initial?.value ?? field.absent, stamp: isStamped ? stamp : .zero, position: position,
        writePosition: position)
    }
    for place in entity.references {
      if let target = fields[place].value.reference { noteHolder(id, of: target) }
    }
    try modify(id) { record in
      record.lifePosition = position
      record.position = position
      record.fields = fields
    }
    for field in entity.fields { noteEpochWrite(id, field.name, base: nil) }
    return true
  }

  /// A create of an identity that exists: a later life of it, which takes nothing over.
  private func replaceIncarnation(of existing: MergeRecord, with create: Change.Create) throws {
    let position = position
    if existing.isLiving {
      let standing = Version(value: .null, stamp: changeSet.stamp)
      for field in existing.fields where !field.stamp.isDerived && !field.stamp.isZero {
        try reportDeath(of: field, in: existing, named: create.id, .overwrittenIncarnation, standing: standing) {
          isUnseen($0.stamp, $0.position)
        }
      }
    }
    for link in try links(of: existing.id) {
      set(MergeLink(key: link.key, isPresent: false, stamp: link.stamp, position: position))
    }
    let fields = schema.entity(create.entity)?.absentFields ?? []
    let stamp = changeSet.stamp
    try modify(existing.id) { record in
      record.entity = create.entity
      record.fields = fields
      record.incarnation = stamp
      record.answersTo = [MergeRecord.Incarnation(id: record.id, stamp: stamp)]
      record.life = .living
      record.causes = []
      record.mergePosition = .start
    }
    try redeliverReferences(to: existing.id)
  }

  func apply(_ write: Change.FieldWrite, of update: Change.Update) throws -> Bool {
    let new = Version(value: write.value, stamp: changeSet.stamp)
    var base = write.base
    let id = try resolve(update.id)
    if rules.basesPassRefusedWrites {
      while let earlier = try reader.refusedBase(.init(record: id, field: write.name, stamp: base)), earlier < base {
        base = earlier
      }
    }
    guard let found = try record(id), found.answers(to: update.id, update.incarnation),
      rules.aliasesAnswer || id == update.id, let field = try entity(of: found).field(write.name)
    else {
      report(
        .recordGone, to: replica, entity: update.entity, record: update.id, field: write.name, base: base, lost: new)
      return false
    }
    let entity = try entity(of: found)
    let before = self.field(field, of: found)
    let current = Version(value: before.value, stamp: before.stamp)
    if found.life == .deleted, entity.editWins, new.stamp > current.stamp {
      try revive(id, .editWins, by: new.stamp)
    } else if !found.isLiving {
      report(
        .recordDeleted, to: replica, entity: update.entity, record: update.id, field: write.name, base: base, lost: new,
        standing: found.death)
      if !rules.tombstonesMerge { return false }
    }
    noteEpochWrite(id, field.name, base: base)
    let standing = FieldMerge.fold(field.policy, of: field.type, current, new, rules: rules)
    if !(try isSame(current.value, new.value, in: field)) {
      reportLoser(of: new, base: base, over: before, standing: standing, field: field, update: update)
    }
    if field.reference?.isAcyclic ?? false, let target = write.value.reference, target != update.id,
      try resolve(target) == id
    {
      report(
        .uniqueMerge, to: replica, entity: update.entity, record: update.id, field: field.name, base: base, lost: new)
    }
    if standing != current {
      let isOwn = standing.stamp == new.stamp && standing.value == new.value
      try set(
        field, of: id, to: standing, replaced: isOwn ? write.replaced : before.replaced,
        source: standing.value == new.value ? new.stamp : before.written, isWritten: true)
    }
    return standing.value == write.value
  }

  /// Two edits that had not seen each other: tells the author of the one that does not stand.
  private func reportLoser(
    of new: Version, base: Stamp, over before: MergeField, standing: Version, field: MergeSchema.Field,
    update: Change.Update
  ) {
    let current = Version(value: before.value, stamp: before.stamp)
    let isConcurrent =
      field.policy == .firstWriter || field.policy == .lastWriter && !base.isSameWrite(as: current.stamp)
    if isConcurrent {
      let rule: ConflictRule = field.policy == .firstWriter ? .firstWriter : .laterEdit
      if standing.stamp != new.stamp {
        report(
          rule, to: replica, entity: update.entity, record: update.id, field: field.name, base: base, lost: new,
          standing: standing)
      } else if current.stamp != .zero, !current.stamp.isDerived || !current.value.isNull {
        report(rule, entity: update.entity, record: update.id, field: field.name, lost: current, standing: standing)
      }
    } else if field.policy == .max || field.policy == .min {
      if standing.value != new.value {
        report(
          .extremum, to: replica, entity: update.entity, record: update.id, field: field.name, base: base, lost: new,
          standing: Version(value: standing.value, stamp: before.written))
      } else if current.stamp != .zero, !base.isSameWrite(as: current.stamp) {
        report(
          .extremum, entity: update.entity, record: update.id, field: field.name,
          lost: Version(value: current.value, stamp: before.written), standing: new)
      }
    }
  }

  private func isSame(_ a: Value, _ b: Value, in field: MergeSchema.Field) throws -> Bool {
    if a == b { return true }
    guard field.reference != nil, let x = a.reference, let y = b.reference else { return false }
    return try resolve(x) == resolve(y)
  }

  func apply(_ addition: Change.CounterAddition, of update: Change.Update) throws -> Bool {
    let lost = Version(value: .integer(addition.delta), stamp: changeSet.stamp)
    let id = try resolve(update.id)
    guard let found = try record(id), found.answers(to: update.id, update.incarnation),
      let field = try entity(of: found).field(addition.name)
    else {
      report(.recordGone, to: replica, entity: update.entity, record: update.id, field: addition.name, lost: lost)
      return false
    }
    if found.life == .deleted, try entity(of: found).editWins {
      try revive(id, .editWins, by: changeSet.stamp)
    } else if !found.isLiving {
      report(
        .recordDeleted, to: replica, entity: update.entity, record: update.id, field: addition.name, lost: lost,
        standing: found.death)
      if !rules.tombstonesMerge { return false }
    }
    noteEpochAddition(id, field.name, delta: addition.delta)
    let before = self.field(field, of: found)
    let sum = Version(
      value: CounterMerge.sum(before.value, addition.delta), stamp: max(before.stamp, changeSet.stamp))
    try set(field, of: id, to: sum, isWritten: true)
    let noted = MergeField.Addition(stamp: changeSet.stamp, delta: addition.delta, position: position)
    try modify(id) { record in
      if let place = record.place(of: field.name, hint: field.place) { record.fields[place].note(noted) }
    }
    return true
  }

  func apply(_ change: Change.LinkChange) throws -> Bool {
    let key = LinkKey(
      relationship: change.link.relationship, source: try resolve(change.link.source),
      target: try resolve(change.link.target))
    guard try record(key.source) != nil, try record(key.target) != nil else {
      let link = schema.resolved.links[key.relationship]
      report(
        .recordGone, to: replica, entity: link?.source ?? "", record: change.link.source, field: link?.sourceName,
        base: change.base, lost: Version(value: Value(reference: change.link.target), stamp: changeSet.stamp))
      return false
    }
    let before = try link(key) ?? MergeLink(key: key, isPresent: false, stamp: .zero, position: .start)
    if change.isPresent {
      try reportIfHidden(MergeLink(key: key, isPresent: true, stamp: changeSet.stamp, position: position))
    }
    if change.isPresent != before.isPresent, !change.base.isSameWrite(as: before.stamp) {
      let new = MergeLink(key: key, isPresent: change.isPresent, stamp: changeSet.stamp, position: position)
      let isNewer = new.stamp > before.stamp
      if try isOfPresentLife(before) {
        reportLoser(isNewer ? before : new, to: isNewer ? nil : replica, .laterEdit, standing: isNewer ? new : before)
      }
    }
    if !rules.linksMergeByPair, change.isPresent {
      for other in try links(of: key.source)
      where other.key.relationship == key.relationship && other.key.source == key.source {
        set(MergeLink(key: other.key, isPresent: false, stamp: changeSet.stamp, position: position))
      }
    }
    if changeSet.stamp > before.stamp {
      set(MergeLink(key: key, isPresent: change.isPresent, stamp: changeSet.stamp, position: position))
    }
    return true
  }
}

extension Change.Create {
  /// What the create says of a field; the place in the schema is nearly always the one here.
  fileprivate func initial(of field: MergeSchema.Field) -> Change.InitialField? {
    if field.place < fields.count, fields[field.place].name == field.name { return fields[field.place] }
    return fields.last { $0.name == field.name }
  }
}

/// Counters merge by adding deltas, in any order.
package enum CounterMerge {
  /// The sum, which wraps around at 64 bits: the only addition that does not depend on the order.
  package static func sum(_ total: Value, _ delta: Int64) -> Value {
    if case .integer(let value) = total { return .integer(value &+ delta) }
    return .integer(delta)
  }

  /// Whether a step from one number to another, taken from a total, stays within 64 bits.
  package static func fits(from old: Value, to new: Value, over total: Value) -> Bool {
    guard case .integer(let after) = new, case .integer(let before) = old, case .integer(let total) = total else {
      return true
    }
    let (step, isTooLong) = after.subtractingReportingOverflow(before)
    return !isTooLong && !total.addingReportingOverflow(step).overflow
  }

  /// How much a write added; nil where it put no number there.
  package static func delta(from old: Value, to new: Value) -> Int64? {
    guard case .integer(let after) = new else { return nil }
    guard case .integer(let before) = old else { return after }
    return after &- before
  }
}
