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
          try writer.arrange(identities(of: relationship.many(model)), in: side, of: state.recordID())
        } else if !cell.added.isEmpty {
          try writer.append(identities(of: cell.added), to: side, of: state.recordID())
        }
      }
    }
  }

  private func identities(of members: some Sequence<any PersistentModel>) -> [RecordID] {
    members.compactMap { member in
      let state = member._$state
      return state.link === link && !state.flags.contains(.deletePending) ? state.recordID() : nil
    }
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
