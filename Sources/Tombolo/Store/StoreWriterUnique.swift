import TomboloProtocol
import TomboloSQLite

/// Unique keys are settled when the save is complete: values may be swapped within it.
extension StoreWriter {
  /// Unites whatever holds one key twice; a key declared `reject` throws `unique_violation`.
  func settleUniqueKeys() throws {
    var next = 0
    // Ends: a candidate is added only when two records become one, and the records are finite.
    while next < uniquePending.count {
      let candidate = uniquePending[next]
      next += 1
      for key in candidate.entity.uniqueKeys {
        guard let collision = try collision(of: candidate, on: key) else { continue }
        if key.onConflict == .reject {
          if toleratesDuplicates { continue }
          throw violation(candidate.entity, key)
        }
        if keepsRecordsApart, !collision.own.isInsert, !collision.other.isInsert {
          throw violation(candidate.entity, key)
        }
        try unite(collision)
        break
      }
    }
  }

  /// A record of which a key equals another's.
  private struct Collision {
    var own: UniqueCandidate
    var ownRow: Int64
    var other: UniqueCandidate
    var otherRow: Int64
  }

  /// The query for another record of which a key equals that of a given one (`?1`): identity, both row numbers, entity.
  package func collisionQuery(_ entity: EntityPlan, _ key: UniquePlan) throws -> String {
    let table = entity.table.quotedIdentifier
    let kind = entity.hasEntityColumn ? "other._tombolo_entity" : "NULL"
    // A constraint of a base spans its subclasses, one of a subclass only what is below it.
    var scope = ""
    if entity.hasEntityColumn, let declaring = schema.entity(key.declaringEntity) {
      scope = " AND other._tombolo_entity IN (\(declaring.concreteNames.map(\.quotedLiteral).joined(separator: ", ")))"
    }
    let parts = try equalities(of: key, in: entity).map { equality in
      "SELECT other._tombolo_id, other.rowid, own.rowid, \(kind) FROM \(table) own JOIN \(table) other "
        + "ON \(equality) AND other.rowid <> own.rowid\(scope) WHERE own._tombolo_id = ?1"
    }
    return parts.joined(separator: " UNION ALL ") + " LIMIT 1"
  }

  private func collision(of candidate: UniqueCandidate, on key: UniquePlan) throws -> Collision? {
    let entity = candidate.entity
    let sql = try collisionQuery(entity, key)
    return try connection.firstRow(sql, { $0.bind(candidate.id, at: 1) }) { row -> Collision? in
      guard let id = row.recordID(0) else { return nil }
      let concrete = (entity.hasEntityColumn ? schema.entity(row.string(3)) : nil) ?? entity
      let known = pendingPlaces(of: id).map { uniquePending[$0] }
      var assigned = ColumnSet()
      for earlier in known { earlier.assigned.forEach { assigned.insert($0) } }
      let other = UniqueCandidate(
        entity: concrete, id: id, assigned: assigned, isInsert: known.contains(where: \.isInsert))
      return Collision(own: candidate, ownRow: row.int64(2), other: other, otherRow: row.int64(1))
    } ?? nil
  }

  /// The conditions by which another row has the same key: one by the key's index, and one for each column that ever held
  /// text in another than composed form, by the list of such texts.
  private func equalities(of key: UniquePlan, in entity: EntityPlan) throws -> [String] {
    var indexed: [String] = []
    var exact: [String] = []
    var listed: [String] = []
    for position in key.columns {
      let column = entity.columns[position]
      let (other, own) = (column.value(in: "other"), column.value(in: "own"))
      if try isComposed(entity, column) {
        indexed.append("\(other) = \(own)")
        exact.append("\(other) = \(own)")
      } else {
        let composed = "tombolo_composed(\(own))"
        indexed.append("\(other) IN (\(own), \(composed))")
        exact.append("tombolo_composed(\(other)) = \(composed)")
        listed.append(
          "other._tombolo_id IN (\(DecomposedTexts.candidates(column, of: entity, composed: composed)))")
      }
    }
    let exactly = exact.joined(separator: " AND ")
    return [indexed.joined(separator: " AND ")] + listed.map { "\($0) AND \(exactly)" }
  }

  /// The places of a record among the candidates.
  private func pendingPlaces(of id: RecordID) -> [Int] {
    while pendingPlacesCount < uniquePending.count {
      pendingPlaces[uniquePending[pendingPlacesCount].id, default: []].append(pendingPlacesCount)
      pendingPlacesCount += 1
    }
    return pendingPlaces[id] ?? []
  }

  private func unite(_ collision: Collision) throws {
    let (own, other) = (collision.own, collision.other)
    let survives: Bool
    if own.isInsert != other.isInsert {
      // What was stored stands, and the new values are laid over it.
      survives = !own.isInsert
    } else {
      survives = collision.ownRow < collision.otherRow
    }
    let (survivor, loser) = survives ? (own, other) : (other, own)
    var values = try overwriting(survivor, by: loser)
    values = values.map { ($0.column, $0.value.reference == loser.id ? .null : $0.value) }
    try rewriteReferences(from: loser, to: survivor)
    try uniteLinks(from: loser, to: survivor)
    let before = toleratesDuplicates ? [try row(of: loser), try row(of: survivor)] : []
    try removeRow(loser.entity, loser.id, root: loser.id, survivor: (survivor.entity, survivor.id))
    try write(survivor.entity, survivor.id, values, isConsequence: false)
    for values in before { try reportLosses(of: values, to: survivor) }
    for (gone, standing) in outcome.merged where standing == loser.id { outcome.merged[gone] = survivor.id }
    outcome.merged[loser.id] = survivor.id
    outcome.touched.append((survivor.entity.name, survivor.id))
    var written = survivor.assigned
    for (column, _) in values { written.insert(column.position) }
    uniquePending.append(
      UniqueCandidate(
        entity: survivor.entity, id: survivor.id, assigned: written, isInsert: survivor.isInsert))
  }

  private func row(of candidate: UniqueCandidate) throws -> [Int: Value] {
    let select = try statements.update(candidate.entity, candidate.entity.allColumns).select
    guard let row = try oldValues(select, candidate.id, count: candidate.entity.columns.count) else { return [:] }
    return Dictionary(
      zip(candidate.entity.columns.map(\.number), row.values), uniquingKeysWith: { first, _ in first })
  }

  /// Another program does not see that its rows become one, so what does not stand of either is put on the list of conflicts.
  private func reportLosses(of values: [Int: Value], to survivor: UniqueCandidate) throws {
    guard !values.isEmpty, let recorder = try recording() else { return }
    let standing = try row(of: survivor)
    for column in survivor.entity.columns {
      guard let lost = values[column.number], let value = standing[column.number], lost != value, !lost.isNull,
        lost != column.constantDefault, lost.reference != survivor.id
      else { continue }
      let entry = ConflictEntry(
        id: RecordID(high: options.randomness.next(), low: options.randomness.next()), replica: recorder.moment.replica,
        rule: .uniqueMerge, entity: survivor.entity.name, record: survivor.id, field: column.property, base: .zero,
        lost: ConflictEntry.FieldVersion(value: lost, stamp: recorder.moment),
        standing: ConflictEntry.FieldVersion(value: value, stamp: recorder.moment))
      try Store.keep(entry, position: try recorder.meta.base, time: options.clock.milliseconds(), connection)
    }
  }

  /// What the loser brings: the fields that this save assigned to it, and whatever the survivor lacks.
  private func overwriting(
    _ survivor: UniqueCandidate, by loser: UniqueCandidate
  ) throws -> [(column: ColumnPlan, value: Value)] {
    let select = try statements.update(loser.entity, loser.entity.allColumns).select
    let standing = try statements.update(survivor.entity, survivor.entity.allColumns).select
    guard let brought = try oldValues(select, loser.id, count: loser.entity.columns.count),
      let present = try oldValues(standing, survivor.id, count: survivor.entity.columns.count)
    else { return [] }
    // Of two updates, the survivor's own writes of this save stand; a new record was written after what it meets.
    let keepsOwn = !loser.isInsert
    let taken: [(column: ColumnPlan, value: Value)] = survivor.entity.columns.compactMap { column in
      guard let source = loser.entity.columns.first(where: { $0.number == column.number }) else { return nil }
      let value = brought.values[source.position]
      let isAssigned =
        loser.assigned.contains(source.position) && !(keepsOwn && survivor.assigned.contains(column.position))
      let fills = present.values[column.position].isNull && !value.isNull
      return isAssigned || fills ? (column, value) : nil
    }
    // A position comes with another owner, and only so: who meets itself in a list stays where it is.
    return taken.filter { item in
      guard let order = survivor.entity.orders.first(where: { $0.key == item.column.position }) else { return true }
      return taken.contains {
        $0.column.position == order.reference && $0.value != present.values[order.reference]
      }
    }
  }

  private func rewriteReferences(from loser: UniqueCandidate, to survivor: UniqueCandidate) throws {
    for (holder, column, reference) in schema.neighbours(of: loser.entity).referrers {
      let holders = try holders(holder, column, of: loser.id)
      if holders.isEmpty { continue }
      if reference.isOneToOne {
        for (entity, id) in try self.holders(holder, column, of: survivor.id) {
          try write(entity, id, [(matching(column, in: entity), .null)], isConsequence: false)
        }
      }
      for (entity, id) in holders {
        // A record never comes to name itself by a unite.
        let target: Value = id == survivor.id ? .null : Value(reference: survivor.id)
        try write(entity, id, [(matching(column, in: entity), target)], isConsequence: false)
      }
    }
  }

  private func uniteLinks(from loser: UniqueCandidate, to survivor: UniqueCandidate) throws {
    for plan in schema.neighbours(of: loser.entity).links {
      var others: [RecordID] = []
      try connection.eachRow(
        "SELECT \(plan.otherColumn) FROM \(plan.table.quotedIdentifier) WHERE \(plan.ownColumn) = ?1 ORDER BY rowid",
        { $0.bind(loser.id, at: 1) }
      ) { row in
        if let other = row.recordID(0) { others.append(other) }
      }
      for other in others {
        try unlink(plan, loser.id, other)
        try link(plan, survivor.id, other == loser.id ? survivor.id : other)
      }
    }
  }

  private func violation(_ entity: EntityPlan, _ key: UniquePlan) -> TomboloError {
    let names = key.columns.map { entity.columns[$0].property }.joined(separator: ", ")
    return TomboloError(
      .uniqueViolation, "Another \(key.declaringEntity) has the same \(names).",
      remedy: "Give this record another value, or change the record that has it.",
      details: [
        TomboloError.Detail(
          code: "unique_violation", entity: key.declaringEntity, property: names, text: "the value is taken")
      ])
  }
}
