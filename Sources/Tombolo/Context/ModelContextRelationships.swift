import TomboloProtocol
import TomboloSQLite

extension ModelContext {
  // MARK: Loading relationships

  /// Fills a slot from the store, merged with what is pending. A store that cannot be read leaves it as it is.
  func load(_ relationship: RelationshipDescription, of model: any PersistentModel) {
    use {
      let state = model._$state
      guard let plan = plan(of: model), let record = state.record else { return }
      do {
        switch state.cells[relationship.cell].content {
        case .loaded, .cleared: return
        case .identifier(let target):
          let found = try object(target, plans.plan(for: relationship.destination))
          // A required reference has to show something, also where the rule `noAction` let its record go.
          relationship.setOne(
            model, found ?? (relationship.isOptional ? nil : DeletedPlaceholder.make(relationship.destination, target)))
        case .unloaded where relationship.isToMany:
          relationship.setMany(model, try members(relationship, of: model, plan, record))
          loadedSlots.append((model, relationship))
        case .unloaded:
          relationship.setOne(model, try holder(relationship, of: model, plan, record))
          loadedSlots.append((model, relationship))
        }
        state.cells[relationship.cell].content = .loaded
      } catch {
        deferredFaults.append(
          (error as? TomboloError)
            ?? TomboloError(
              .databaseFailure, "The relationship \(plan.entity.name).\(relationship.name) could not be read."))
      }
    }
  }

  private func members(
    _ relationship: RelationshipDescription, of model: any PersistentModel, _ plan: ModelPlan, _ record: RecordID
  ) throws -> [any PersistentModel] {
    guard let destination = plans.plan(for: relationship.destination) else { return [] }
    var found: [any PersistentModel] = []
    if let side = plan.farSide(relationship) {
      found = try objects(
        destination, "WHERE t0.\(side.column.quotedIdentifier) = ?1 ORDER BY \(side.order(in: "t0"))", record)
    } else if let link = plan.link(relationship) {
      found = try objects(
        destination,
        "JOIN \(link.table.quotedIdentifier) AS l ON l.\(link.otherColumn.quotedIdentifier) = t0.\"_tombolo_id\" WHERE l.\(link.ownColumn.quotedIdentifier) = ?1 ORDER BY l.rowid",
        record)
    }
    return withPending(found, relationship, of: model)
  }

  /// Members as the store has them, with what is pending.
  func withPending(
    _ found: [any PersistentModel], _ relationship: RelationshipDescription, of model: any PersistentModel
  ) -> [any PersistentModel] {
    let cell = model._$state.cells[relationship.cell]
    guard cell.hasDelta else { return found }
    var present = Set<ObjectIdentifier>()
    // Whoever was taken out of an ordered list and added again stands at its end.
    let kept = found.filter { !cell.removed.contains($0) && !(relationship.isOrdered && cell.added.contains($0)) }
    return (kept + Array(cell.added)).filter {
      present.insert(ObjectIdentifier($0)).inserted
    }
  }

  /// The object at the other end of a one-to-one, found through its reference.
  private func holder(
    _ relationship: RelationshipDescription, of model: any PersistentModel, _ plan: ModelPlan, _ record: RecordID
  ) throws -> (any PersistentModel)? {
    guard let destination = plans.plan(for: relationship.destination), let side = plan.farSide(relationship),
      let inverse = relationship.inverse
    else { return nil }
    let found = try objects(destination, "WHERE t0.\(side.column.quotedIdentifier) = ?1 LIMIT 1", record).first
    // A reference that was changed meanwhile leads elsewhere.
    if let found, found._$state.changed.contains(inverse.property), inverse.one(found) !== model { return nil }
    return found
  }

  private func objects(_ plan: ModelPlan, _ rest: String, _ record: RecordID) throws -> [any PersistentModel] {
    let shape = plans.shape(of: plan)
    return try store(of: plan).read { connection in
      let statement = try connection.cached(
        "SELECT \(shape.columns) FROM \(plan.entity.table.quotedIdentifier) AS t0 \(rest)")
      statement.bind(record, at: 1)
      defer { statement.reset() }
      let reader = _$RowReader(statement: statement, first: shape.first, plan: plan, link: link)
      var found: [any PersistentModel] = []
      while try statement.step() {
        if let model = try materialize(reader, shape) { found.append(model) }
      }
      return found
    }
  }
}
