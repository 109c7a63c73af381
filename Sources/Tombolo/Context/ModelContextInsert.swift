import TomboloProtocol

extension ModelContext {
  // MARK: Inserting and deleting

  /// Makes an object, and everything that it reaches, records of the store at the next save. Twice is as once.
  ///
  /// What cannot be inserted, as an object of another context, makes the next ``save()`` throw.
  public func insert<Model: PersistentModel>(_ model: Model) {
    use { insertReached(model) }
  }

  func insertReached(_ root: any PersistentModel) {
    var waiting: [any PersistentModel] = [root]
    var next = 0
    // Ends: an object that is in the context is not followed again. In the order of lists, which is that of the rows.
    while next < waiting.count {
      let model = waiting[next]
      next += 1
      let state = model._$state
      if state.link === link {
        if state.flags.contains(.deletePending) { undelete(model) }
        continue
      }
      if state.link?.context != nil {
        deferredFaults.append(ModelErrors.otherContext(type(of: model)))
        continue
      }
      RelationshipMaintenance.absorb(model)
      // Taking over the relationships may have inserted it from the other side.
      if state.link === link { continue }
      guard let plan = plan(of: model) else {
        deferredFaults.append(ModelErrors.notInSchema(type(of: model)))
        continue
      }
      guard state.missing == nil else {
        deferredFaults.append(ModelErrors.incomplete(type(of: model)))
        continue
      }
      // An object that a unique key has united with another names that one's record.
      let record = state.record.flatMap { registry[$0] == nil ? $0 : nil } ?? store(of: plan).makeRecordID()
      state.record = record
      state.link = link
      state.plan = plan
      let returns = state.flags.contains(.deleted)
      state.flags.subtract([.deleted, .stored, .stale, .listed])
      state.flags.insert(.inserted)
      registry[record] = model
      insertedCount += 1
      append(model)
      if link.recordsUndo { registerUndo { $0.deleteOne(model) } }
      if returns { RelationshipMaintenance.reattach(model, in: link) }
      for relationship in plan.description.relationships {
        if relationship.isToMany {
          let members = relationship.many(model)
          if !members.isEmpty { noteTouched(model) }
          waiting += members.filter { $0._$state.link !== link }
        } else if let target = relationship.one(model), target._$state.link !== link {
          waiting.append(target)
        }
      }
    }
  }

  private func undelete(_ model: any PersistentModel) {
    let state = model._$state
    state.flags.remove(.deletePending)
    deletedCount -= 1
    if link.recordsUndo { registerUndo { $0.deleteOne(model) } }
    if state.flags.contains(.listed) { changedCount += 1 } else { forget(model) }
  }

  /// Deletes an object's record at the next save, where its delete rules are applied.
  ///
  /// The object keeps its values; an object that was never saved is only forgotten.
  public func delete<Model: PersistentModel>(_ model: Model) {
    use { deleteOne(model) }
  }

  /// Deletes every record of a model that matches, or all. What was inserted and not saved is deleted as well;
  /// records of subclasses only if `includeSubclasses`.
  ///
  /// - Throws: what ``fetch(_:)`` throws.
  public func delete<Model: PersistentModel>(
    model: Model.Type, where predicate: Predicate<Model>? = nil, includeSubclasses: Bool = true
  ) throws {
    try use {
      for object in try fetch(FetchDescriptor(predicate: predicate))
      where includeSubclasses || type(of: object) == model {
        deleteOne(object)
      }
    }
  }

  func deleteOne(_ model: any PersistentModel) {
    let state = model._$state
    guard state.link === link else {
      if state.link?.context != nil { deferredFaults.append(ModelErrors.otherContext(type(of: model))) }
      return
    }
    if state.flags.contains(.inserted) {
      RelationshipMaintenance.isolate(model)
      detach(model)
      insertedCount -= 1
      state.flags.remove(.inserted)
      state.flags.insert(.deleted)
      hasForgotten = true
      if link.recordsUndo { registerUndo { $0.insertReached(model) } }
      return
    }
    guard !state.flags.contains(.deletePending) else { return }
    if link.recordsUndo { readWhole(model) }
    if state.flags.contains(.listed) { changedCount -= 1 }
    state.flags.insert(.deletePending)
    deletedCount += 1
    append(model)
    if link.recordsUndo { registerUndo { $0.insertReached(model) } }
  }

  /// Takes an object out of the context; its values stay.
  func detach(_ model: any PersistentModel) {
    let state = model._$state
    if let record = state.record, registry[record] === model { registry[record] = nil }
    forget(model)
    state.link = nil
    state.forgetChanged()
    state.flags.subtract([.listed, .deletePending, .relationsTouched, .stale, .stored])
  }

  func plan(of model: any PersistentModel) -> ModelPlan? {
    let state = model._$state
    return state.link === link ? state.plan : plans.plan(for: type(of: model))
  }

  /// Throws the first of what could not be thrown where it happened.
  func throwDeferredFault() throws {
    guard let fault = deferredFaults.first else { return }
    deferredFaults = []
    throw fault
  }
}
