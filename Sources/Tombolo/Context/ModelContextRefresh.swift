import Synchronization
import TomboloProtocol
import TomboloSQLite

extension ModelContext {
  // MARK: Commits of others

  /// Takes over what other contexts, processes and pulls have committed: clean objects show it, edits stay.
  func takeCommitsOfOthers() {
    guard link.isStale.exchange(false, ordering: .acquiringAndReleasing) else { return }
    let commits = inbox.drain()
    guard !commits.isEmpty else { return }
    var entities = Set<String>()
    for commit in commits {
      for (entity, record) in commit.deleted {
        entities.insert(entity)
        if let model = registry[record] {
          lose(model, record)
          if hasChanges { hasForgotten = true }
        }
      }
      for (entity, _) in commit.inserted { entities.insert(entity) }
      for (entity, record) in commit.updated + commit.inserted {
        entities.insert(entity)
        if let model = registry[record] { markStale(model) }
      }
    }
    unloadSlots(of: entities)
    updateResults()
  }

  /// Notices what another process committed to a model's store: everything of it that is clean may be out of date.
  func noticeOtherProcesses(_ plan: ModelPlan) throws {
    guard let part = plan.part, case .file = part.store.location else { return }
    let version = try part.store.dataVersion()
    defer { knownDataVersions[part.index] = version }
    guard let known = knownDataVersions[part.index], known != version else { return }
    for (_, model) in registry where model._$state.flags.contains(.stored) && model._$state.plan?.part === part {
      markStale(model)
    }
    unloadSlots(of: nil)
  }

  /// Whether there is a commit to a model's store that the context has not taken over yet.
  func haveOthersCommitted(_ plan: ModelPlan) throws -> Bool {
    if link.isStale.load(ordering: .acquiring) { return true }
    guard let part = plan.part, case .file = part.store.location, let known = knownDataVersions[part.index] else {
      return false
    }
    return try part.store.dataVersion() != known
  }

  /// Has a known object show the row that a fetch is at, if it is out of date or may be. One that is observed, and one of
  /// which the fetch reads a part, waits for the end of the statement: observers must not run in the middle of it.
  func refresh(_ model: any PersistentModel, from reader: _$RowReader) {
    metKnownObjects = true
    let state = model._$state
    guard refreshesKnownObjects || state.flags.contains(.stale), state.flags.contains(.stored),
      let record = state.record
    else { return }
    guard state.registrar == nil, !reader.isPartial else { return unreadOfFetch.append(model) }
    state.flags.remove(.stale)
    reader.record = record
    reader.target = state
    defer { reader.target = nil }
    do {
      try model._$reload(reader)
      state.noteReloaded(reader)
    } catch {
      state.flags.insert(.stale)
    }
  }

  /// Has the row read again: now if somebody observes the object, else before the next access.
  func markStale(_ model: any PersistentModel) {
    model._$state.flags.insert(.stale)
    if model._$state.registrar != nil { reload(model) }
  }

  /// Empties clean to-many and far-side slots that lead to these entities, or all.
  func unloadSlots(of entities: Set<String>?) {
    guard !loadedSlots.isEmpty else { return }
    var roots = Set<String>()
    if let entities {
      for entity in entities { roots.insert(plans.plan(named: entity)?.entity.lineage.first ?? entity) }
    }
    var kept: [(model: any PersistentModel, relationship: RelationshipDescription)] = []
    for (model, relationship) in loadedSlots {
      let state = model._$state
      guard state.link === link else { continue }
      let destination = plans.plan(for: relationship.destination)?.entity.lineage.first ?? ""
      let isEdited = !relationship.isToMany && state.changed.contains(relationship.property)
      let isArranged = relationship.isOrdered && state.cells[relationship.cell].isArranged
      guard !isEdited, !isArranged, entities == nil || roots.contains(destination) else {
        if isArranged { state.cells[relationship.cell].isOutdated = true }
        kept.append((model, relationship))
        continue
      }
      relationship.willSet(model)
      relationship.clear(model)
      state.cells[relationship.cell].content = .unloaded
      relationship.didSet(model)
    }
    loadedSlots = kept
  }

  /// Reads an object's row again. Properties with edits keep them; if the row is gone, the object is a deleted one.
  ///
  /// - Parameter connection: one in a transaction whose state is to be shown; nil for the latest state.
  func reload(_ model: any PersistentModel, on connection: Connection? = nil) {
    let state = model._$state
    state.flags.remove(.stale)
    guard let plan = plan(of: model), state.flags.contains(.stored), let record = state.record else { return }
    do {
      func read(_ connection: Connection) throws -> Bool {
        let statement = try connection.cached(
          "SELECT t0.\"_tombolo_id\", \(plan.columnList.isEmpty ? "NULL" : plan.columnList) FROM \(plan.entity.table.quotedIdentifier) AS t0 WHERE t0.\"_tombolo_id\" = ?1"
        )
        statement.bind(record, at: 1)
        defer { statement.reset() }
        guard try statement.step() else { return false }
        let reader = _$RowReader(statement: statement, first: 1, plan: plan, link: link)
        reader.record = record
        reader.target = state
        try model._$reload(reader)
        state.noteReloaded(reader)
        return true
      }
      let isThere = try connection.map(read) ?? store(of: plan).read(read)
      if !isThere { lose(model, record, on: connection) }
    } catch {
      // Tried again at the next access: until then the object has the values that it had.
      state.flags.insert(.stale)
    }
  }

  /// A record is not there any more. Where it became one with another by a unique key, the object follows to the record
  /// that stands: at once, or with the save that writes what is changed in it. Else it is a deleted one.
  private func lose(_ model: any PersistentModel, _ record: RecordID, on connection: Connection? = nil) {
    let state = model._$state
    guard !state.flags.contains(.deletePending), let plan = plan(of: model),
      let home = try? survivor(of: record, plan, on: connection), let entity = plans.plan(named: home.entity)?.entity,
      entity.lineage.contains(plan.entity.name)
    else { return becomeDeleted(model) }
    if state.flags.contains(.listed) { return }
    rebind(record, to: home.id)
    if let known = registry[home.id] { markStale(known) }
  }

  private func survivor(
    of record: RecordID, _ plan: ModelPlan, on connection: Connection? = nil
  ) throws -> (entity: String, id: RecordID)? {
    let store = store(of: plan)
    return try connection.map { try store.survivor(of: record, on: $0) } ?? store.survivor(of: record)
  }

  /// The object of the record that stands for one that is gone; nil if there is none.
  func standing(for record: RecordID, _ plan: ModelPlan?) throws -> (any PersistentModel)? {
    guard let plan, let home = try survivor(of: record, plan) else { return nil }
    return try object(home.id, plans.plan(named: home.entity))
  }
}
