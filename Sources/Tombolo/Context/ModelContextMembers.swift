import TomboloProtocol
import TomboloSQLite

extension ModelContext {
  // MARK: To-many relationships that are not loaded

  /// How many members the store has, with what is pending.
  func memberCount(_ relationship: RelationshipDescription, of model: any PersistentModel) throws -> Int {
    try use {
      guard let source = memberSource(relationship, of: model) else { return 0 }
      var count = try source.store.read { connection in
        try connection.firstRow(
          "SELECT count(*) FROM \(source.table) WHERE \(source.owner) = ?1", { $0.bind(source.record, at: 1) },
          { Int($0.int64(0)) }) ?? 0
      }
      let cell = model._$state.cells[relationship.cell]
      for member in cell.added where try !isStored(member, in: source) { count += 1 }
      for member in cell.removed where try isStored(member, in: source) { count -= 1 }
      return count
    }
  }

  /// Whether the store has an object as a member, and nothing pending says otherwise.
  func isStoredMember(
    _ relationship: RelationshipDescription, of model: any PersistentModel, _ member: any PersistentModel
  ) throws -> Bool {
    try use {
      guard !model._$state.cells[relationship.cell].removed.contains(member),
        let source = memberSource(relationship, of: model)
      else { return false }
      // The member's own reference has said already that it leads elsewhere.
      if let inverse = relationship.inverse, !inverse.isToMany { return false }
      return try isStored(member, in: source)
    }
  }

  /// Where the store has a relationship's members: quoted names.
  private struct MemberSource {
    let table: String
    let owner: String
    let member: String
    let record: RecordID
    let store: Store
  }

  private func memberSource(
    _ relationship: RelationshipDescription, of model: any PersistentModel
  ) -> MemberSource? {
    guard let plan = plan(of: model), let record = model._$state.record else { return nil }
    if let link = plan.link(relationship) {
      return MemberSource(
        table: link.table.quotedIdentifier, owner: link.ownColumn.quotedIdentifier,
        member: link.otherColumn.quotedIdentifier, record: record, store: store(of: plan))
    }
    guard let side = plan.farSide(relationship), let destination = plans.plan(for: relationship.destination) else {
      return nil
    }
    return MemberSource(
      table: destination.entity.table.quotedIdentifier, owner: side.column.quotedIdentifier,
      member: "\"_tombolo_id\"", record: record, store: store(of: plan))
  }

  private func isStored(_ member: any PersistentModel, in source: MemberSource) throws -> Bool {
    guard member._$state.link === link, member._$state.flags.contains(.stored), let record = member._$state.record
    else { return false }
    return try source.store.read { connection in
      try connection.firstRow(
        "SELECT 1 FROM \(source.table) WHERE \(source.owner) = ?1 AND \(source.member) = ?2",
        {
          $0.bind(source.record, at: 1)
          $0.bind(record, at: 2)
        }, { _ in true }) ?? false
    }
  }
}
