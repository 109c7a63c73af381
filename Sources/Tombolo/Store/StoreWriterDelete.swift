package import TomboloProtocol
import TomboloSQLite

/// What a delete rule demands of the finished save.
enum FinalCheck {
  /// `deny`: no record may refer to the deleted one through this reference.
  case noReferrer(holder: EntityPlan, column: ColumnPlan, target: RecordID, deleted: EntityPlan, isDeny: Bool)
  /// `deny` of a to-one: the record that it named is gone too.
  case destinationGone(EntityPlan, RecordID, deleted: EntityPlan, property: String)
  /// `deny` of a many-to-many: no pair is left.
  case noPair(LinkPlan, RecordID, deleted: EntityPlan)
}

extension StoreWriter {
  /// Deletes a record and applies the delete rules, each consequence recorded.
  ///
  /// What `deny` and required references forbid is judged when the save is complete: the partner may be deleted or moved
  /// away in the same save.
  /// - Throws: `delete_denied` naming the relationship; `required_reference` where nullify meets a required reference.
  @discardableResult
  package func delete(_ entity: EntityPlan, _ id: RecordID) throws -> Bool {
    var work = [(entity, id)]
    return try removeAll(&work, root: id) > 0
  }

  /// Applies the delete rules for a record whose row is gone already.
  func settleDeletion(of entity: EntityPlan, _ id: RecordID) throws {
    var work: [(EntityPlan, RecordID)] = []
    try settlePartners(of: entity, id, partners: &work)
    try removeAll(&work, root: id)
  }

  /// - Returns: how many there were.
  @discardableResult
  private func removeAll(_ work: inout [(EntityPlan, RecordID)], root: RecordID) throws -> Int {
    var count = 0
    // Ends: a record that was deleted is not found again, so each turn deletes one or takes one from the list.
    while let (next, id) = work.popLast() {
      guard let concrete = next.hasEntityColumn ? try concreteEntity(of: next, id) : next,
        let row = try wholeRow(of: concrete, id)
      else { continue }
      try followOwnReferences(concrete, row.values, partners: &work)
      try removeRow(concrete, id, root: root, row: row)
      try settlePartners(of: concrete, id, partners: &work)
      count += 1
    }
    return count
  }

  /// A row's stamps and every column.
  private typealias WholeRow = OldRow

  private func wholeRow(of entity: EntityPlan, _ id: RecordID) throws -> WholeRow? {
    try oldValues(try statements.update(entity, entity.allColumns).select, id, count: entity.columns.count)
  }

  private func settlePartners(
    of entity: EntityPlan, _ id: RecordID, partners: inout [(EntityPlan, RecordID)]
  ) throws {
    let neighbours = schema.neighbours(of: entity)
    for (holder, column, reference) in neighbours.referrers {
      try settle(holder, column, reference, target: id, deleted: entity, partners: &partners)
    }
    for plan in neighbours.links { try settle(plan, own: id, deleted: entity, partners: &partners) }
  }

  /// Removes the row alone, and records it with its image.
  ///
  /// - Parameter survivor: the record that it became one with.
  func removeRow(_ entity: EntityPlan, _ id: RecordID, root: RecordID, survivor: (EntityPlan, RecordID)) throws {
    let standing = try wholeRow(of: survivor.0, survivor.1)
    let created = try standing?.stamps.map { try RowStamps($0, statements.replicas).created }
    try removeRow(
      entity, id, root: root, row: try wholeRow(of: entity, id),
      // A store that never had a remote has no stamps.
      survivor: Tombstone.Survivor(id: survivor.1, incarnation: created ?? .zero))
  }

  private func removeRow(
    _ entity: EntityPlan, _ id: RecordID, root: RecordID, row: WholeRow?, survivor: Tombstone.Survivor? = nil
  ) throws {
    if let recorder = try recording() {
      var image = try image(of: entity, id, row, root: root)
      image.survivor = survivor
      try recorder.delete(entity, id, image)
    }
    let delete = try statements.question(.init(kind: .delete, entity: entity.index)) { entity.deleteRow }
    delete.bind(id, at: 1)
    try delete.run()
    // Only a store with a remote hides references.
    if recorder?.stamp != nil {
      try connection.run("DELETE FROM _tombolo_hidden WHERE record = ?1") { $0.bind(id, at: 1) }
    }
    outcome.deleted.append((entity.name, id))
  }

  private func image(
    of entity: EntityPlan, _ id: RecordID, _ row: WholeRow?, root: RecordID
  ) throws -> ChangeDetail.DeleteDetail {
    var detail = ChangeDetail.DeleteDetail(root: root, incarnation: nil, values: [:], stamps: nil, links: [])
    if let row {
      detail.stamps = row.stamps
      detail.values.reserveCapacity(entity.columns.count)
      for (column, value) in zip(entity.columns, row.values) { detail.values[column.number] = value }
    }
    for plan in schema.neighbours(of: entity).links {
      let row = try statements.question(.init(kind: .pairs, column: plan.isSource ? 0 : 1, table: plan.table)) {
        "SELECT source, target, _tombolo_stamps FROM \(plan.table.quotedIdentifier) WHERE \(plan.ownColumn) = ?1"
      }
      row.bind(id, at: 1)
      defer { row.reset() }
      while try row.step() {
        guard let source = row.recordID(0), let target = row.recordID(1) else { continue }
        let key = LinkKey(relationship: plan.link.key, source: source, target: target)
        if detail.links.contains(where: { $0.link == key }) { continue }
        detail.links.append(ChangeDetail.Pair(link: key, stamp: row.isNull(2) ? nil : row.bytes(2)))
      }
    }
    if detail.stamps == nil { return detail }
    try connection.eachRow(
      "SELECT attribute, target, stamp FROM _tombolo_hidden WHERE record = ?1", { $0.bind(id, at: 1) }
    ) { row in
      guard let target = row.recordID(1) else { return }
      detail.hidden.append(
        ChangeDetail.HiddenReference(
          attribute: row.string(0), target: target, stamp: row.isNull(2) ? nil : row.bytes(2)))
    }
    return detail
  }

  private func followOwnReferences(
    _ entity: EntityPlan, _ values: [Value], partners: inout [(EntityPlan, RecordID)]
  ) throws {
    for column in entity.columns {
      guard case .reference(let reference) = column.kind, reference.ownRule == .cascade || reference.ownRule == .deny,
        let destination = schema.entity(reference.destination), let target = values[column.position].reference
      else { continue }
      if reference.ownRule == .cascade {
        partners.append((destination, target))
      } else {
        finalChecks.append(.destinationGone(destination, target, deleted: entity, property: reference.name))
      }
    }
  }

  private func settle(
    _ holder: EntityPlan, _ column: ColumnPlan, _ reference: ResolvedReference, target: RecordID, deleted: EntityPlan,
    partners: inout [(EntityPlan, RecordID)]
  ) throws {
    let rule = reference.rule
    switch rule {
    case .noAction: return
    case .deny:
      finalChecks.append(
        .noReferrer(holder: holder, column: column, target: target, deleted: deleted, isDeny: true))
    case .cascade:
      partners += try holders(holder, column, of: target)
    case .nullify:
      if !reference.isOptional {
        finalChecks.append(
          .noReferrer(holder: holder, column: column, target: target, deleted: deleted, isDeny: false))
      } else {
        for (entity, id) in try holders(holder, column, of: target) {
          try write(entity, id, [(matching(column, in: entity), .null)], isConsequence: true)
        }
      }
    }
  }

  /// The records whose reference names `target`.
  func holders(_ holder: EntityPlan, _ column: ColumnPlan, of target: RecordID) throws -> [(EntityPlan, RecordID)] {
    let row = try statements.question(.init(kind: .holders, entity: holder.index, column: column.position)) {
      let kind = holder.hasEntityColumn ? "_tombolo_entity" : "NULL"
      let (table, name) = (holder.table.quotedIdentifier, column.column.quotedIdentifier)
      return "SELECT _tombolo_id, \(kind) FROM \(table) WHERE \(name) = ?1"
    }
    var found: [(EntityPlan, RecordID)] = []
    row.bind(target, at: 1)
    defer { row.reset() }
    while try row.step() {
      guard let id = row.recordID(0) else { continue }
      found.append(((holder.hasEntityColumn ? schema.entity(row.string(1)) : nil) ?? holder, id))
    }
    return found
  }

  /// The same column as another entity of the hierarchy counts it.
  func matching(_ column: ColumnPlan, in entity: EntityPlan) -> ColumnPlan {
    entity.columns.first { $0.number == column.number } ?? column
  }

  private func settle(
    _ plan: LinkPlan, own: RecordID, deleted: EntityPlan, partners: inout [(EntityPlan, RecordID)]
  ) throws {
    let row = try statements.question(.init(kind: .others, column: plan.isSource ? 0 : 1, table: plan.table)) {
      "SELECT \(plan.otherColumn) FROM \(plan.table.quotedIdentifier) WHERE \(plan.ownColumn) = ?1"
    }
    var others: [RecordID] = []
    row.bind(own, at: 1)
    while try row.step() {
      if let other = row.recordID(0) { others.append(other) }
    }
    row.reset()
    if others.isEmpty { return }
    if plan.deleteRule == .deny {
      finalChecks.append(.noPair(plan, own, deleted: deleted))
      return
    }
    try connection.run("DELETE FROM \(plan.table.quotedIdentifier) WHERE \(plan.ownColumn) = ?1") {
      $0.bind(own, at: 1)
    }
    guard let destination = schema.entity(plan.destination) else { return }
    for other in others {
      if plan.deleteRule == .cascade { partners.append((destination, other)) }
      outcome.touched.append((destination.name, other))
    }
  }

  // MARK: The end of the save

  /// Judges what deletes left open.
  func runFinalChecks() throws {
    for check in finalChecks {
      switch check {
      case .noReferrer(let holder, let column, let target, let deleted, let isDeny):
        guard let (entity, _) = try holders(holder, column, of: target).first else { continue }
        throw isDeny
          ? denied(deleted, through: inverseName(of: column, in: deleted), by: entity)
          : requiredReference(entity, column, deleted)
      case .destinationGone(let entity, let id, let deleted, let property):
        if try contains(entity, id) { throw denied(deleted, through: property, by: entity) }
      case .noPair(let plan, let own, let deleted):
        let sql = "SELECT 1 FROM \(plan.table.quotedIdentifier) WHERE \(plan.ownColumn) = ?1 LIMIT 1"
        guard try connection.firstRow(sql, { $0.bind(own, at: 1) }, { _ in true }) == nil else {
          throw denied(deleted, through: plan.property, by: schema.entity(plan.destination) ?? deleted)
        }
      }
    }
  }

  private func inverseName(of column: ColumnPlan, in entity: EntityPlan) -> String {
    entity.farSides.first { $0.reference == column.property && $0.column == column.column }?.property ?? column.property
  }

  private func denied(_ entity: EntityPlan, through property: String, by partner: EntityPlan) -> TomboloError {
    TomboloError(
      .deleteDenied,
      "A record of \(entity.name) cannot be deleted: \(entity.name).\(property) denies it while \(partner.name.withArticle) is related.",
      remedy: "Delete the related records first, or move them to another \(entity.name).",
      details: [
        TomboloError.Detail(
          code: "delete_denied", entity: entity.name, property: property, text: "\(partner.name.withArticle) is related"
        )
      ])
  }

  private func requiredReference(_ holder: EntityPlan, _ column: ColumnPlan, _ deleted: EntityPlan) -> TomboloError {
    TomboloError(
      .requiredReference,
      "A record of \(deleted.name) cannot be deleted: \(holder.name).\(column.property) is required and names it.",
      remedy: "Delete those records too, give them another \(deleted.name), or declare the delete rule cascade.",
      details: [
        TomboloError.Detail(
          code: "required_reference", entity: holder.name, property: column.property,
          text: "a required reference names it")
      ])
  }
}
