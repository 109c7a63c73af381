import TomboloProtocol
import TomboloSQLite

extension ModelContext {
  // MARK: Relationships that will be needed

  /// Loads relationships of many objects, each by one query (for every few thousand objects).
  ///
  /// - Throws: `unknown_relationship` for a key path that is no relationship of the model.
  func prefetch(_ paths: [AnyKeyPath], of models: [any PersistentModel], _ plan: ModelPlan) throws {
    for path in paths {
      guard let relationship = plan.description.property(of: path)?.relationship else {
        throw TomboloError(
          .unknownRelationship,
          "relationshipKeyPathsForPrefetching names something that is no relationship of \(plan.description.name).",
          remedy: "Name relationships of the fetched model itself, as \\.notes.")
      }
      guard let destination = plans.plan(for: relationship.destination) else { continue }
      if plan.isReference(relationship) {
        try loadTargets(relationship, of: models, destination)
      } else {
        try loadMembers(relationship, of: models, plan, destination)
      }
    }
  }

  /// So many identities are asked for by one query.
  private static let identitiesMax = 5_000

  /// Makes the objects that references lead to: what they are asked for then costs no query.
  private func loadTargets(
    _ relationship: RelationshipDescription, of models: [any PersistentModel], _ destination: ModelPlan
  ) throws {
    var targets: [RecordID] = []
    var seen: Set<RecordID> = []
    for model in models {
      guard case .identifier(let target) = model._$state.cells[relationship.cell].content, registry[target] == nil,
        seen.insert(target).inserted
      else { continue }
      targets.append(target)
    }
    try eachRow(destination, "WHERE t0.\"_tombolo_id\" IN", targets, order: "") { _, _ in }
  }

  /// Fills the slots of to-many relationships, and of the derived side of one-to-ones.
  private func loadMembers(
    _ relationship: RelationshipDescription, of models: [any PersistentModel], _ plan: ModelPlan,
    _ destination: ModelPlan
  ) throws {
    var owners: [RecordID] = []
    for model in models {
      let state = model._$state
      guard case .unloaded = state.cells[relationship.cell].content, state.link === link, let record = state.record
      else { continue }
      owners.append(record)
    }
    if owners.isEmpty { return }
    var found: [RecordID: [any PersistentModel]] = [:]
    func take(_ owner: RecordID?, _ member: any PersistentModel) {
      if let owner { found[owner, default: []].append(member) }
    }
    if let side = plan.farSide(relationship) {
      let column = "t0.\(side.column.quotedIdentifier)"
      try eachRow(
        destination, "WHERE \(column) IN", owners, owner: column, order: " ORDER BY \(side.order(in: "t0"))", take)
    } else if let pair = plan.link(relationship) {
      let column = "l.\(pair.ownColumn.quotedIdentifier)"
      try eachRow(
        destination,
        "JOIN \(pair.table.quotedIdentifier) AS l ON l.\(pair.otherColumn.quotedIdentifier) = t0.\"_tombolo_id\" "
          + "WHERE \(column) IN", owners, owner: column, order: " ORDER BY l.rowid", take)
    }
    for owner in owners {
      guard let model = registry[owner], case .unloaded = model._$state.cells[relationship.cell].content else {
        continue
      }
      let members = found[owner] ?? []
      if relationship.isToMany {
        relationship.setMany(model, withPending(members, relationship, of: model))
      } else {
        relationship.setOne(model, members.first { stillLeads($0, to: model, relationship) })
      }
      model._$state.cells[relationship.cell].content = .loaded
      loadedSlots.append((model, relationship))
    }
  }

  /// Whether a record's reference, as it is now, leads to the object at the other end of a one-to-one.
  private func stillLeads(
    _ member: any PersistentModel, to model: any PersistentModel, _ relationship: RelationshipDescription
  ) -> Bool {
    guard let inverse = relationship.inverse, member._$state.changed.contains(inverse.property) else { return true }
    return inverse.one(member) === model
  }

  /// Gives each row's owner and object to `body`.
  private func eachRow(
    _ plan: ModelPlan, _ condition: String, _ identities: [RecordID], owner: String? = nil, order: String,
    _ body: (RecordID?, any PersistentModel) -> Void
  ) throws {
    let shape = plans.shape(of: plan)
    var start = 0
    while start < identities.count {
      let part = identities[start..<min(start + Self.identitiesMax, identities.count)]
      start += Self.identitiesMax
      let marks = part.indices.map { "?\($0 - part.startIndex + 1)" }.joined(separator: ", ")
      try store(of: plan).read { connection in
        let statement = try connection.prepare(
          "SELECT \(shape.columns)\(owner.map { ", \($0)" } ?? "") FROM \(plan.entity.table.quotedIdentifier) AS t0 "
            + "\(condition) (\(marks))\(order)", persistent: false)
        for (index, identity) in part.enumerated() { statement.bind(identity, at: Int32(index + 1)) }
        defer { statement.reset() }
        let reader = _$RowReader(statement: statement, first: shape.first, plan: plan, link: link)
        while try statement.step() {
          let holder = owner == nil ? nil : statement.recordID(statement.columnCount - 1)
          if let model = try materialize(reader, shape) { body(holder, model) }
        }
      }
    }
  }
}

extension ModelPlans {
  /// What a fetch selects that reads only some attributes: references are read as keys, others have a neutral value in
  /// their place. Where no such value can be made up (a required `Codable` value), the attribute is read all the same.
  ///
  /// - Throws: `unknown_attribute` for a key path that is no persisted property of the model.
  func shape(of plan: ModelPlan, reading paths: [AnyKeyPath]) throws -> FetchShape {
    var names: Set<String> = []
    for path in paths {
      guard let property = plan.description.property(of: path) else {
        throw TomboloError(
          .unknownAttribute,
          "propertiesToFetch names something that is no persisted property of \(plan.description.name).",
          remedy: "Name stored properties of the fetched model itself.")
      }
      names.insert(property.name)
    }
    let whole = shape(of: plan)
    func columns(of part: ModelPlan) -> (list: String, leftOut: ColumnSet) {
      var list = ""
      var leftOut = ColumnSet()
      for (index, property) in part.description.properties.enumerated() {
        guard let position = part.positions[index] else {
          list += ", NULL"
          continue
        }
        if !names.contains(property.name), case .attribute(let attribute) = property.kind,
          let neutral = DeletedPlaceholder.neutral(attribute)
        {
          list += ", " + neutral.literal
          leftOut.insert(index)
        } else {
          list += ", t0." + part.entity.columns[position].column.quotedIdentifier
        }
      }
      return (list, leftOut)
    }
    guard let concrete = whole.concrete else {
      let (list, leftOut) = columns(of: plan)
      return FetchShape(
        columns: "t0.\"_tombolo_id\"" + list, plan: plan, first: 1, concrete: nil, leftOut: [plan.entity.name: leftOut])
    }
    var text = "t0.\"_tombolo_id\", t0.\"_tombolo_entity\""
    var leftOut: [String: ColumnSet] = [:]
    for (name, part) in concrete.sorted(by: { $0.value.first < $1.value.first }) {
      let (list, left) = columns(of: part.plan)
      text += list
      leftOut[name] = left
    }
    return FetchShape(columns: text, plan: plan, first: 2, concrete: concrete, leftOut: leftOut)
  }
}
