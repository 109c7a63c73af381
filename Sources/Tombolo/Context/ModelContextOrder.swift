import TomboloProtocol

extension ModelContext {
  // MARK: Ordered to-many relationships

  /// Writes the order of lists: of those that were only added to, no member is read that was there before.
  func writeOrders(to writer: StoreWriter, of part: StorePart?) throws {
    for model in touched where model._$state.link === link {
      let state = model._$state
      guard let plan = plan(of: model), part == nil || plan.part === part, !state.flags.contains(.deletePending)
      else { continue }
      for (relationship, side) in plan.orderedLists {
        let cell = state.cells[relationship.cell]
        if cell.isArranged, cell.isLoaded {
          let owner = try source.standing(for: model, in: writer)
          try writer.arrange(identities(of: relationship.many(model), in: writer), in: side, of: owner)
        } else if !cell.added.isEmpty {
          let owner = try source.standing(for: model, in: writer)
          try writer.append(identities(of: cell.added, in: writer), to: side, of: owner)
        }
      }
    }
  }

  private func identities(
    of members: some Sequence<any PersistentModel>, in writer: StoreWriter
  ) throws -> [RecordID] {
    var identities: [RecordID] = []
    var isUnited = false
    for member in members {
      let state = member._$state
      guard state.link === link, !state.flags.contains(.deletePending) else { continue }
      let record = try source.standing(for: member, in: writer)
      if record != state.record { isUnited = true }
      identities.append(record)
    }
    if !isUnited { return identities }
    // Both of the two may be members.
    var met = Set<RecordID>()
    return identities.filter { met.insert($0).inserted }
  }

  /// Empties slots that were kept for the order in them, now that it is saved.
  func unloadOutdated(_ model: any PersistentModel) {
    let state = model._$state
    for (relationship, _) in plan(of: model)?.orderedLists ?? [] where state.cells[relationship.cell].isOutdated {
      state.cells[relationship.cell].isOutdated = false
      relationship.willSet(model)
      relationship.clear(model)
      state.cells[relationship.cell].content = .unloaded
      relationship.didSet(model)
    }
  }
}
