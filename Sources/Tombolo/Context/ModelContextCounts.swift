import TomboloProtocol
import TomboloSQLite

extension ModelContext {
  // MARK: Numbers of members

  /// Checks the relationships with `minimumModelCount` or `maximumModelCount` of everything that the save has to do with,
  /// after all of it is written.
  ///
  /// - Throws: `count_out_of_range`, naming the relationship.
  func checkCounts(_ pending: [(any PersistentModel)?], in connection: Connection) throws {
    guard plans.hasCounts else { return }
    var checked = Set<RecordID>()
    for case let model? in pending where model._$state.flags.contains(.deletePending) == false {
      guard let plan = plan(of: model), checked.insert(model._$state.recordID()).inserted else { continue }
      try checkCounts(of: plan, model._$state.recordID(), in: connection)
    }
    for case let model? in pending where model._$state.flags.contains(.deletePending) {
      for (record, plan) in ownersLosing(model) where checked.insert(record).inserted {
        try checkCounts(of: plan, record, in: connection)
      }
    }
  }

  /// The owners of counted relationships that an object leaves by being deleted.
  private func ownersLosing(_ model: any PersistentModel) -> [(RecordID, ModelPlan)] {
    var owners: [(RecordID, ModelPlan)] = []
    for relationship in model._$state.description(of: model).relationships {
      guard let inverse = relationship.inverse, inverse.isCounted,
        let plan = plans.plan(for: relationship.destination)
      else { continue }
      RelationshipMaintenance.ensureLoaded(model, relationship)
      let partners = relationship.isToMany ? relationship.many(model) : relationship.one(model).map { [$0] } ?? []
      owners += partners.map { ($0._$state.recordID(), self.plan(of: $0) ?? plan) }
    }
    return owners
  }

  private func checkCounts(of plan: ModelPlan, _ record: RecordID, in connection: Connection) throws {
    for relationship in plan.description.relationships where relationship.isCounted {
      guard let question = Self.countQuestion(relationship, plan) else { continue }
      // No row: the record was deleted by a rule, or by somebody else.
      guard
        let count = try connection.firstRow(
          "SELECT (\(question)) FROM \(plan.entity.table.quotedIdentifier) AS t0 WHERE t0._tombolo_id = ?1",
          { $0.bind(record, at: 1) }, { Int($0.int64(0)) })
      else { continue }
      let (least, most) = (relationship.options.minimumModelCount, relationship.options.maximumModelCount)
      if count < least || (most > 0 && count > most) {
        throw countFault(plan.description.name, relationship, count)
      }
    }
  }

  private static func countQuestion(_ relationship: RelationshipDescription, _ plan: ModelPlan) -> String? {
    if let position = plan.positions[relationship.property] {
      return "t0.\(plan.entity.columns[position].column.quotedIdentifier) IS NOT NULL"
    }
    if let side = plan.farSide(relationship) {
      return "SELECT count(*) FROM \(side.table.quotedIdentifier) AS m WHERE m.\(side.column.quotedIdentifier) = ?1"
    }
    guard let link = plan.link(relationship) else { return nil }
    return "SELECT count(*) FROM \(link.table.quotedIdentifier) WHERE \(link.ownColumn) = ?1"
  }

  private func countFault(_ entity: String, _ relationship: RelationshipDescription, _ count: Int) -> TomboloError {
    let (least, most) = (relationship.options.minimumModelCount, relationship.options.maximumModelCount)
    let bounds = most > 0 ? "\(least) to \(most)" : "at least \(least)"
    return TomboloError(
      .countOutOfRange,
      "\(entity).\(relationship.name) has \(count) \(count == 1 ? "member" : "members"), and has to have \(bounds).",
      remedy: "Add or remove members before saving, or change minimumModelCount or maximumModelCount.",
      details: [
        TomboloError.Detail(
          code: ErrorCode.countOutOfRange.rawValue, entity: entity, property: relationship.name,
          text: "\(count) members, \(bounds) allowed")
      ])
  }
}

extension RelationshipDescription {
  /// Whether the number of its members has bounds. A to-one never has more than one.
  var isCounted: Bool { options.minimumModelCount > 0 || (isToMany && options.maximumModelCount > 0) }
}
