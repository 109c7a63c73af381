import Foundation
import TomboloProtocol

extension ModelContext {
  // MARK: Saving

  /// Writes everything that is pending in one transaction, with its change set; only columns that were changed.
  ///
  /// Deletions come last, so that what was moved away before is not deleted with its old owner. A record that someone
  /// else deleted meanwhile stays deleted, and its object becomes a deleted one; what was changed in one that became one
  /// with another by a unique key is written to the record that stands, and what was given to it leads there. Without
  /// changes, nothing is written.
  ///
  /// In a container of several stores each has a transaction and a change set of its own. All of them write and check
  /// everything before the first one commits, so that a refusal anywhere leaves all as they were. If the disk fails between
  /// two commits, the error names the stores; what was committed is saved, and the rest stays pending.
  ///
  /// - Throws: ``TomboloError``; nothing was written then, and the context is as it was: mend it and save again, or call
  ///   ``rollback()``. In a store that syncs, `record_too_large` names the model and property that its server would refuse.
  ///   `read_only_store` names a configuration that does not allow the save.
  public func save() throws {
    try use {
      try throwDeferredFault()
      takeCommitsOfOthers()
      endUndoEvent()
      guard hasChanges else { return }
      let parts = changedParts
      for part in parts { try part.requireWritable() }
      let changes = changedIdentifiers(of: nil)
      NotificationCenter.default.post(name: Self.willSave, object: self, userInfo: changes)
      if parts.count > 1 { return try save(parts) }
      let (vanished, outcome) = try inbox.passingOverOwn {
        try parts[0].store.save(author: author) { writer in try write(to: writer, of: nil) }
      }
      settle(outcome, of: nil)
      for model in vanished { becomeDeleted(model) }
      updateResults()
      NotificationCenter.default.post(name: Self.didSave, object: self, userInfo: changes)
    }
  }

  /// The stores that something pending belongs to.
  private var changedParts: [StorePart] {
    if core.parts.count == 1 { return core.parts }
    var isChanged = core.parts.map { _ in false }
    for case let model? in pending { if let part = plan(of: model)?.part { isChanged[part.index] = true } }
    return core.parts.filter { isChanged[$0.index] }
  }

  /// Saves to several stores.
  private func save(_ parts: [StorePart]) throws {
    let saves = try inbox.passingOverOwn {
      try Store.save(in: parts.map(\.store), author: author) { writers in
        try zip(parts, writers).map { part, writer in try write(to: writer, of: part) }
      }
    }
    for (index, part) in parts.enumerated() {
      guard let outcome = saves.outcomes[index] else { continue }
      let changes = changedIdentifiers(of: part)
      settle(outcome, of: part)
      for model in saves.result[index] { becomeDeleted(model) }
      NotificationCenter.default.post(name: Self.didSave, object: self, userInfo: changes)
    }
    updateResults()
    guard let failure = saves.failure else { return }
    let names = parts.enumerated().filter { saves.outcomes[$0.offset] != nil }.map(\.element.storeIdentifier)
    var error =
      failure as? TomboloError
      ?? TomboloError(.databaseFailure, "The stores could not be saved: \(failure).")
    error.message += " What belongs to \(names.joined(separator: ", ")) is saved; the rest is still pending."
    throw error
  }

  /// Runs work and saves it; what the work or the save throws undoes all that is pending.
  ///
  /// A transaction inside another is part of it: only the outer one saves, and an error that leaves either undoes all,
  /// also one that the outer block catches: half of the inner block's work is never saved.
  public func transaction(block: () throws -> Void) throws {
    transactionDepth += 1
    defer { transactionDepth -= 1 }
    if transactionDepth > 1 {
      do { return try block() } catch {
        transactionFailure = transactionFailure ?? error
        throw error
      }
    }
    transactionFailure = nil
    do {
      try block()
      if let transactionFailure { throw transactionFailure }
      try save()
    } catch {
      rollback()
      throw error
    }
  }

  /// - Parameter part: the store whose records are written; nil for all.
  /// - Returns: changed objects whose record is not there any more.
  private func write(to writer: StoreWriter, of part: StorePart?) throws -> [any PersistentModel] {
    var vanished: [any PersistentModel] = []
    let pending = pending(of: part)
    let needsAssigned = writer.options.recordsHistory
    source.forgetStanding()
    defer { source.forgetStanding() }
    if plans.hasOrders, touched.contains(where: { plan(of: $0)?.orderedLists.isEmpty == false }) { writer.notePlaces() }
    for case let model? in pending {
      let state = model._$state
      guard state.flags.contains(.inserted), let plan = plan(of: model) else { continue }
      try settleTargets(of: model, plan, in: writer)
      source.point(at: model, plan)
      let assigned =
        needsAssigned || !plan.entity.uniqueKeys.isEmpty ? try source.assigned() : plan.entity.allColumns
      try writer.insert(plan.entity, state.recordID(), assigned: assigned, from: source)
    }
    for case let model? in pending {
      let state = model._$state
      guard state.flags.contains(.listed), state.flags.isDisjoint(with: [.inserted, .deletePending]),
        let plan = plan(of: model)
      else { continue }
      try settleTargets(of: model, plan, in: writer)
      var columns = ColumnSet()
      for (position, property) in plan.properties.enumerated() where property >= 0 && state.changed.contains(property) {
        columns.insert(position)
      }
      guard !columns.isEmpty else { continue }
      source.point(at: model, plan)
      let record = state.recordID()
      if try writer.update(plan.entity, record, changed: columns, from: source) { continue }
      if try !writer.updateSurvivor(plan.entity, record, changed: columns, from: source) { vanished.append(model) }
    }
    try writePartings(pending, to: writer)
    try writeLinks(to: writer, of: part)
    if plans.hasOrders { try writeOrders(to: writer, of: part) }
    for case let model? in pending where model._$state.flags.contains(.deletePending) {
      if let plan = plan(of: model) { try writer.delete(plan.entity, model._$state.recordID()) }
    }
    try checkCounts(pending, in: writer.connection)
    return vanished
  }

  private func pending(of part: StorePart?) -> [(any PersistentModel)?] {
    guard let part else { return pending }
    return pending.filter { model in model.flatMap { plan(of: $0)?.part } === part }
  }

  /// References that objects about to be deleted were given or have lost before: a rule follows what is written.
  private func writePartings(_ pending: [(any PersistentModel)?], to writer: StoreWriter) throws {
    for case let model? in pending {
      let state = model._$state
      guard state.flags.contains(.deletePending), state.flags.contains(.listed), let plan = plan(of: model) else {
        continue
      }
      var columns = ColumnSet()
      for relationship in plan.description.relationships where relationship.isOptional {
        guard state.changed.contains(relationship.property), let position = plan.positions[relationship.property]
        else { continue }
        columns.insert(position)
      }
      if columns.isEmpty { continue }
      try settleTargets(of: model, plan, in: writer)
      source.point(at: model, plan)
      try writer.update(plan.entity, state.recordID(), changed: columns, from: source)
    }
  }

  private func writeLinks(to writer: StoreWriter, of part: StorePart?) throws {
    for model in touched where model._$state.link === link {
      guard let plan = plan(of: model), part == nil || plan.part === part else { continue }
      let state = model._$state
      for (relationship, linkPlan) in plan.links {
        let cell = state.cells[relationship.cell]
        guard cell.hasDelta else { continue }
        let own = try source.standing(for: model, in: writer)
        for member in cell.removed { try writer.unlink(linkPlan, own, source.standing(for: member, in: writer)) }
        for member in cell.added
        where member._$state.link === link && !state.flags.contains(.deletePending) {
          try writer.link(linkPlan, own, source.standing(for: member, in: writer))
        }
      }
    }
  }

  // MARK: After a save

  /// Takes out of the list what was saved.
  private func takePending(of part: StorePart?) -> [(any PersistentModel)?] {
    let all = pending
    pending = []
    insertedCount = 0
    changedCount = 0
    deletedCount = 0
    guard let part else { return all }
    var saved: [(any PersistentModel)?] = []
    for case let model? in all {
      if plan(of: model)?.part === part {
        saved.append(model)
        continue
      }
      model._$state.pendingIndex = pending.count
      pending.append(model)
      let flags = model._$state.flags
      if flags.contains(.inserted) {
        insertedCount += 1
      } else if flags.contains(.deletePending) {
        deletedCount += 1
      } else {
        changedCount += 1
      }
    }
    return saved
  }

  private func settle(_ outcome: SaveOutcome, of part: StorePart?) {
    let saved = takePending(of: part)
    for case let model? in saved {
      let state = model._$state
      state.pendingIndex = -1
      state.forgetChanged()
      if state.flags.contains(.inserted) {
        state.flags.insert(.stored)
        for relationship in state.description(of: model).relationships
        where plan(of: model)?.isReference(relationship) == false {
          loadedSlots.append((model, relationship))
        }
      }
      state.flags.subtract([.inserted, .listed])
    }
    clearDeltas(of: part)
    for (gone, stands) in outcome.merged { rebind(gone, to: stands) }
    for (_, record) in outcome.deleted where outcome.merged[record] == nil {
      if let model = registry[record] { becomeDeleted(model) }
    }
    for case let model? in saved where model._$state.flags.contains(.deletePending) { becomeDeleted(model) }
    if hasForgotten || !outcome.deleted.isEmpty || !outcome.touched.isEmpty || !outcome.merged.isEmpty {
      hasForgotten = false
      unloadSlots(of: nil)
      for (_, record) in outcome.touched {
        if let model = registry[record] { markStale(model) }
      }
      for stands in outcome.merged.values {
        if let model = registry[stands] { markStale(model) }
      }
    }
  }

  private func clearDeltas(of part: StorePart?) {
    var kept: [any PersistentModel] = []
    for model in touched {
      if let part, plan(of: model)?.part !== part {
        kept.append(model)
        continue
      }
      let state = model._$state
      state.flags.remove(.relationsTouched)
      for index in state.cells.indices { state.cells[index].clearDelta() }
      if plans.hasOrders { unloadOutdated(model) }
    }
    touched = kept
  }

  /// A unique key has made one record of two: the object follows the record that stands.
  func rebind(_ gone: RecordID, to stands: RecordID) {
    guard let model = registry.removeValue(forKey: gone) else { return }
    let state = model._$state
    state.record = stands
    if registry[stands] == nil {
      registry[stands] = model
      return
    }
    // The record has its object already: this one keeps its values, and is a deleted one.
    if let standing = registry[stands] { carryOver(from: model, to: standing) }
    for index in state.cells.indices { state.cells[index].content = .loaded }
    state.link = nil
    state.flags.subtract([.stored, .stale])
    state.flags.insert(.deleted)
  }

  /// The record is gone: the object keeps its values, and leaves the context.
  func becomeDeleted(_ model: any PersistentModel) {
    let state = model._$state
    if state.pendingIndex >= 0 {
      if state.flags.contains(.deletePending) {
        deletedCount -= 1
      } else if state.flags.contains(.listed) {
        changedCount -= 1
      }
    }
    // What was not resolved cannot be any more, unless the object is at hand.
    if !state.cells.isEmpty {
      for relationship in state.description(of: model).relationships {
        if case .identifier(let target) = state.cells[relationship.cell].content, let known = registry[target] {
          relationship.setOne(model, known)
        }
        state.cells[relationship.cell].content = .loaded
      }
    }
    detach(model)
    state.flags.insert(.deleted)
  }

  // MARK: Rolling back

  /// Undoes everything since the last save: values, relationships, insertions and deletions.
  ///
  /// Inserted objects leave the context with their values; changed ones take the store's values again.
  public func rollback() {
    use {
      let undone = pending
      let touchedModels = touched
      deferredFaults = []
      forgetUndo(in: undoManager)
      pending = []
      insertedCount = 0
      changedCount = 0
      deletedCount = 0
      var inserted: [any PersistentModel] = []
      for case let model? in undone {
        let state = model._$state
        state.pendingIndex = -1
        if state.flags.contains(.inserted) {
          state.flags.remove(.inserted)
          inserted.append(model)
          detach(model)
        } else {
          let wasChanged = state.flags.contains(.listed)
          state.flags.subtract([.listed, .deletePending])
          state.forgetChanged()
          if wasChanged { unload(model) }
        }
      }
      for model in touchedModels {
        model._$state.flags.remove(.relationsTouched)
        for index in model._$state.cells.indices { model._$state.cells[index].clearDelta() }
      }
      touched = []
      for model in inserted { leaveStored(model) }
      for case let model? in undone where model._$state.link === link { restore(model) }
      updateResults()
    }
  }

  /// Empties slots and marks them as to be asked of the store.
  private func unload(_ model: any PersistentModel) {
    let state = model._$state
    guard let plan = plan(of: model) else { return }
    for relationship in plan.description.relationships {
      if plan.isReference(relationship) { continue }
      relationship.willSet(model)
      relationship.clear(model)
      state.cells[relationship.cell].clearDelta()
      state.cells[relationship.cell].content = .unloaded
      relationship.didSet(model)
    }
  }

  private func restore(_ model: any PersistentModel) {
    model._$state.flags.insert(.stale)
    reload(model)
  }

  /// A rolled-back new object no longer refers to records, whose other side does not know it any more.
  private func leaveStored(_ model: any PersistentModel) {
    for relationship in model._$state.description(of: model).relationships {
      if relationship.isToMany {
        let members = relationship.many(model)
        let kept = members.filter { $0._$state.link !== link }
        if kept.count != members.count { relationship.setMany(model, kept) }
      } else if let target = relationship.one(model), target._$state.link === link {
        relationship.clear(model)
      }
    }
  }
}
