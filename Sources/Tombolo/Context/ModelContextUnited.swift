import TomboloProtocol
import TomboloSQLite

/// Records that a unique key has made one with another: whatever was given to the one belongs to the other.
extension ModelContext {
  /// Before an object is written: references to what was inserted and deleted again without ever being saved are emptied,
  /// and those to records that others have made one with another lead to the ones that stand.
  ///
  /// The transaction has begun: nobody unites anything any more before it ends.
  func settleTargets(of model: any PersistentModel, _ plan: ModelPlan, in writer: StoreWriter) throws {
    let own = model._$state
    for relationship in plan.description.relationships where !relationship.isToMany {
      guard let target = relationship.one(model) else { continue }
      let state = target._$state
      if state.link !== link {
        if !state.flags.contains(.stored) { RelationshipMaintenance.assign(model, relationship, nil) }
        continue
      }
      guard state.plan?.canBecomeAnother == true, plan.isReference(relationship),
        own.flags.contains(.inserted) || own.changed.contains(relationship.property)
      else { continue }
      let destination = plans.plan(for: relationship.destination)?.entity
      if try source.standing(for: target, destination, in: writer) != state.record {
        writer.noteWrittenOtherwise(plan.entity, own.recordID())
      }
    }
  }

  /// Gives what is pending of a record's object to the object of the one that it became one with.
  func carryOver(from gone: any PersistentModel, to standing: any PersistentModel) {
    for case let model? in pending where model !== gone && model !== standing {
      guard let plan = plan(of: model) else { continue }
      for relationship in plan.description.relationships where !relationship.isToMany {
        guard plan.isReference(relationship), relationship.one(model) === gone,
          relationship.destination.isBase(of: standing)
        else { continue }
        RelationshipMaintenance.assign(model, relationship, standing)
      }
    }
    for model in touched where model !== gone && model !== standing {
      guard let plan = plan(of: model) else { continue }
      for (relationship, _) in plan.links where model._$state.cells[relationship.cell].added.contains(gone) {
        guard relationship.destination.isBase(of: standing) else { continue }
        RelationshipMaintenance.append(model, relationship, standing)
      }
    }
  }

  /// The object that the context has of a record, or of the one that stands for it.
  func registered(_ identifier: PersistentIdentifier) -> (any PersistentModel)? {
    takeCommitsOfOthers()
    if let known = registry[identifier.record] {
      if known._$state.flags.contains(.stale) { reload(known) }
      if let known = registry[identifier.record] { return known }
    }
    guard let plan = plans.plan(named: identifier.entityName), plan.canBecomeAnother, !registry.isEmpty,
      let home = try? store(of: plan).survivor(of: identifier.record)
    else { return nil }
    return registry[home.id]
  }
}

extension PersistentModel {
  fileprivate static func isBase(of model: any PersistentModel) -> Bool { model is Self }
}
