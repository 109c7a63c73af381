import Foundation
import TomboloProtocol
import TomboloSQLite

extension ModelContext {
  // MARK: Fetching

  /// The records that a descriptor describes, as objects: one object for each record, in the descriptor's order, or in the
  /// order of their making.
  ///
  /// Changes that were not saved take part, unless the descriptor leaves them out: then the records are those that the
  /// store finds, and their objects still show their edits.
  ///
  /// - Throws: ``TomboloError`` `unsupported_predicate`, `unsupported_sort`, naming the construct; `undecodable_value`.
  public func fetch<Model: PersistentModel>(_ descriptor: FetchDescriptor<Model>) throws -> [Model] {
    try use {
      takeCommitsOfOthers()
      let plan = try plans.requirePlan(for: Model.self)
      try noticeOtherProcesses(plan)
      let found: [Model]
      if descriptor.includePendingChanges, hasPending(of: Model.self, descriptor) {
        found = try merged(descriptor, plan)
      } else {
        found = try stored(
          descriptor, plan, limit: Self.limit(descriptor.fetchLimit), offset: descriptor.fetchOffset)
      }
      if !descriptor.relationshipKeyPathsForPrefetching.isEmpty {
        try prefetch(descriptor.relationshipKeyPathsForPrefetching, of: found, plan)
      }
      return found
    }
  }

  /// How many records ``fetch(_:)`` would return.
  ///
  /// - Throws: what ``fetch(_:)`` throws.
  public func fetchCount<Model: PersistentModel>(_ descriptor: FetchDescriptor<Model>) throws -> Int {
    try use {
      takeCommitsOfOthers()
      let plan = try plans.requirePlan(for: Model.self)
      if descriptor.includePendingChanges, hasPending(of: Model.self, descriptor) {
        try noticeOtherProcesses(plan)
        return try merged(descriptor, plan).count
      }
      let store = store(of: plan)
      return try store.read { connection in
        let query = try FetchPlan(
          predicate: descriptor.predicate, limit: Self.limit(descriptor.fetchLimit), offset: descriptor.fetchOffset,
          entity: plan.entity, schema: store.schema, maps: plans.maps,
          textForms: TextForms(of: store.schema, on: connection))
        if Self.limit(descriptor.fetchLimit) == 0 { return 0 }
        return try FetchPlan.translatingErrors {
          let statement = try query.statement(query.countStatement, on: connection)
          defer { statement.reset() }
          return try statement.step() ? Int(statement.int64(0)) : 0
        }
      }
    }
  }

  /// The identities of the records that ``fetch(_:)`` would return, without making objects of them.
  ///
  /// - Throws: what ``fetch(_:)`` throws.
  public func fetchIdentifiers<Model: PersistentModel>(
    _ descriptor: FetchDescriptor<Model>
  ) throws -> [PersistentIdentifier] {
    try use {
      takeCommitsOfOthers()
      let plan = try plans.requirePlan(for: Model.self)
      if plan.entity.concreteNames.count > 1
        || (descriptor.includePendingChanges && hasPending(of: Model.self, descriptor))
      {
        return try fetch(descriptor).map(\.persistentModelID)
      }
      let limit = Self.limit(descriptor.fetchLimit)
      if limit == 0 { return [] }
      let store = store(of: plan)
      return try store.read { connection in
        let query = try FetchPlan(
          predicate: descriptor.predicate, sortBy: descriptor.sortBy, limit: limit,
          offset: descriptor.fetchOffset, entity: plan.entity, schema: store.schema, maps: plans.maps,
          textForms: TextForms(of: store.schema, on: connection))
        return try FetchPlan.translatingErrors {
          let statement = try query.statement(query.identifierStatement, on: connection)
          defer { statement.reset() }
          var found: [PersistentIdentifier] = []
          while try statement.step() {
            guard let record = statement.recordID(0) else { throw ModelErrors.malformedIdentity(plan.entity) }
            found.append(
              PersistentIdentifier(
                record: record, entityName: plan.entity.name, storeIdentifier: plan.part?.storeIdentifier,
                isTemporary: false)
            )
          }
          return found
        }
      }
    }
  }

  // MARK: One record

  /// The object of a record that the context knows already; nil otherwise. Of one that became one with another by a unique
  /// key, that of the record that stands. Costs no query, but where a record of a model with a unique key is not known.
  public func registeredModel<Model: PersistentModel>(for identifier: PersistentIdentifier) -> Model? {
    use { registered(identifier) as? Model }
  }

  /// The object of a record, fetched if need be; of the record that stands, for one that became one with another by a
  /// unique key. Where there is no such record, or it cannot be read, the answer is a deleted object with the model's
  /// default values; where its model is not in the container's schema, a deleted object of no model, which no cast takes
  /// for one. ``existingModel(for:)`` answers nil, or throws, instead.
  public func model(for identifier: PersistentIdentifier) -> any PersistentModel {
    use {
      takeCommitsOfOthers()
      if let known = registry[identifier.record] {
        if known._$state.flags.contains(.stale) { reload(known) }
        if registry[identifier.record] != nil { return known }
      }
      let plan = plans.plan(named: identifier.entityName)
      if let found = try? object(identifier.record, plan) ?? standing(for: identifier.record, plan) { return found }
      let stands = plan.flatMap { DeletedPlaceholder.make($0.description.type, identifier.record) }
      return stands ?? UnknownModel(identifier.record)
    }
  }

  /// The object of a record, fetched if need be; nil if there is none. Beyond SwiftData.
  ///
  /// - Throws: `undecodable_value`, or what reading the store throws.
  public func existingModel<Model: PersistentModel>(for identifier: PersistentIdentifier) throws -> Model? {
    try use {
      takeCommitsOfOthers()
      let plan = plans.plan(for: Model.self)
      return try (object(identifier.record, plan) ?? standing(for: identifier.record, plan)) as? Model
    }
  }

  func object(_ record: RecordID, _ plan: ModelPlan?) throws -> (any PersistentModel)? {
    if let known = registry[record] { return known }
    guard let plan else { return nil }
    let shape = plans.shape(of: plan)
    return try store(of: plan).readOnce { connection in
      let statement = try connection.numbered(shape.lookUpNumber) {
        "SELECT \(shape.columns) FROM \(plan.entity.table.quotedIdentifier) AS t0 WHERE t0.\"_tombolo_id\" = ?1"
      }
      statement.bind(record, at: 1)
      defer { statement.reset() }
      guard try statement.step() else { return nil }
      return try materialize(_$RowReader(statement: statement, first: shape.first, plan: plan, link: link), shape)
    }
  }
}

extension ModelContext {
  // MARK: From rows to objects

  static func limit(_ limit: Int?) -> Int? { limit.map { max(0, $0) } }

  /// What the store finds, as of one moment: no object shows less, or more, of a save than another one.
  func stored<Model: PersistentModel>(
    _ descriptor: FetchDescriptor<Model>, _ plan: ModelPlan, limit: Int?, offset: Int?
  ) throws -> [Model] {
    metKnownObjects = false
    let found = try rowsOfStore(descriptor, plan, limit: limit, offset: offset)
    // New objects show what was committed since commits were taken over, objects that were known do not.
    guard metKnownObjects, try haveOthersCommitted(plan) else { return found }
    takeCommitsOfOthers()
    try noticeOtherProcesses(plan)
    refreshesKnownObjects = true
    defer { refreshesKnownObjects = false }
    return try rowsOfStore(descriptor, plan, limit: limit, offset: offset)
  }

  private func rowsOfStore<Model: PersistentModel>(
    _ descriptor: FetchDescriptor<Model>, _ plan: ModelPlan, limit: Int?, offset: Int?
  ) throws -> [Model] {
    let isWhole = descriptor.propertiesToFetch.isEmpty
    let shape = try isWhole ? plans.shape(of: plan) : plans.shape(of: plan, reading: descriptor.propertiesToFetch)
    let store = store(of: plan)
    let fetches = (plan.part ?? core.parts[0]).fetches
    // What is read is no part of a kept plan.
    let key =
      isWhole
      ? PlanShape(
        predicate: descriptor.predicate, sortBy: descriptor.sortBy, limit: limit, offset: offset, entity: plan.entity)
      : nil
    if limit != 0, let key, let known = fetches.entry(key) {
      func answer(_ connection: Connection) throws -> [Model] {
        try FetchPlan.translatingErrors {
          try rows(try known.statement(key.arguments, on: connection), plan, shape, on: connection)
        }
      }
      return try refreshesKnownObjects ? store.read(answer) : store.readOnce(answer)
    }
    return try store.read { connection in
      let forms = { TextForms(of: store.schema, on: connection) }
      if limit != 0, let key, let known = fetches.entry(key, textForms: forms) {
        return try FetchPlan.translatingErrors {
          try rows(try known.statement(key.arguments, on: connection), plan, shape, on: connection)
        }
      }
      var texts: [FetchPlanCache.TextColumn] = []
      let query = try FetchPlan(
        predicate: descriptor.predicate, sortBy: descriptor.sortBy, limit: limit, offset: offset, entity: plan.entity,
        schema: store.schema, maps: plans.maps, textForms: forms().noting { texts.append($0) })
      if limit == 0 { return [] }
      let select = query.select(shape.columns)
      if let key { fetches.keep(query, select: select, key, texts) }
      return try FetchPlan.translatingErrors {
        try rows(try query.statement(select, on: connection), plan, shape, on: connection)
      }
    }
  }

  /// The objects of all rows of a statement.
  private func rows<Model: PersistentModel>(
    _ statement: Statement, _ plan: ModelPlan, _ shape: FetchShape, on connection: Connection
  ) throws -> [Model] {
    let found: [Model]
    do {
      defer { statement.reset() }
      let reader = _$RowReader(statement: statement, first: shape.first, plan: plan, link: link)
      reader.isPartial = !shape.leftOut.isEmpty
      if shape.concrete == nil, let leftOut = shape.leftOut[plan.entity.name] { reader.leaveOut(leftOut) }
      found = try shape.concrete == nil ? objects(reader) : concreteObjects(reader, shape)
    }
    let unread = unreadOfFetch
    unreadOfFetch = []
    for model in unread { reload(model, on: connection) }
    return found
  }

  /// All rows, of one class. They are registered together at the end: a fetch returns no record twice.
  private func objects<Model: PersistentModel>(_ reader: _$RowReader) throws -> [Model] {
    let type: any PersistentModel.Type = Model.self
    var found = ContiguousArray<any PersistentModel>()
    var made: ContiguousArray<(record: RecordID, place: Int)> = []
    let statement = reader.statement
    let knowsNone = registry.isEmpty
    while try statement.step() {
      guard let halves = statement.halves(0) else { throw ModelErrors.malformedIdentity(reader.plan.entity) }
      let record = RecordID(high: halves.high, low: halves.low)
      if !knowsNone, let known = registry[record] {
        refresh(known, from: reader)
        if known is Model { found.append(known) }
        continue
      }
      reader.record = record
      made.append((record, found.count))
      found.append(try type.init(_$row: reader))
    }
    // Only where it at least doubles, so that many small fetches do not make it grow a little each time.
    if made.count > registry.count { registry.reserveCapacity(registry.count + made.count) }
    for (record, place) in made { registry[record] = found[place] }
    return Self.typed(found)
  }

  /// The objects as an array of their class, which each of them is known to have.
  private static func typed<Model: PersistentModel>(_ models: ContiguousArray<any PersistentModel>) -> [Model] {
    [Model](unsafeUninitializedCapacity: models.count) { buffer, count in
      for index in models.indices {
        buffer.initializeElement(at: index, to: unsafeDowncast(models[index], to: Model.self))
      }
      count = models.count
    }
  }

  /// All rows, of several classes.
  private func concreteObjects<Model: PersistentModel>(_ reader: _$RowReader, _ shape: FetchShape) throws -> [Model] {
    var found: [Model] = []
    while try reader.statement.step() {
      if let model = try materialize(reader, shape) as? Model { found.append(model) }
    }
    return found
  }

  /// The current row's object.
  func materialize(_ reader: _$RowReader, _ shape: FetchShape) throws -> (any PersistentModel)? {
    guard let record = reader.statement.recordID(0) else { throw ModelErrors.malformedIdentity(reader.plan.entity) }
    if let concrete = shape.concrete {
      guard let (plan, first) = concrete[reader.statement.string(1)] else { return registry[record] }
      reader.select(plan, first: first)
      if !shape.leftOut.isEmpty { reader.leaveOut(shape.leftOut[plan.entity.name] ?? ColumnSet()) }
    }
    if let known = registry[record] {
      refresh(known, from: reader)
      return known
    }
    reader.record = record
    let made = try reader.plan.description.type.init(_$row: reader)
    registry[record] = made
    return made
  }

  // MARK: Pending changes

  private func hasPending<Model: PersistentModel>(of type: Model.Type, _ descriptor: FetchDescriptor<Model>) -> Bool {
    guard hasChanges else { return false }
    return pending.contains { $0 is Model }
  }

  /// What the store finds with what is pending: filtered in memory, in sorted position, then limit and offset.
  private func merged<Model: PersistentModel>(
    _ descriptor: FetchDescriptor<Model>, _ plan: ModelPlan
  ) throws -> [Model] {
    let changed = pending.compactMap { $0 as? Model }
    let offset = max(0, descriptor.fetchOffset ?? 0)
    // So many of the first are enough, as each pending object can take one away at most.
    let enough = Self.limit(descriptor.fetchLimit).map { $0 + offset + changed.count }
    var found = try stored(descriptor, plan, limit: enough, offset: nil)
    found.removeAll { $0._$state.pendingIndex >= 0 }
    let evaluation = descriptor.predicate.map { CheckedEvaluation($0) }
    for model in changed where !model._$state.flags.contains(.deletePending) {
      if try evaluation?.holds(for: model) ?? true { found.append(model) }
    }
    let order = try RecordOrder(sortBy: descriptor.sortBy)
    let keyed = found.map { ($0, $0._$state.recordID()) }
    found = keyed.sorted { order.precedes($0.0, $0.1, $1.0, $1.1) }.map(\.0)
    let page = found.dropFirst(offset)
    return Array(Self.limit(descriptor.fetchLimit).map { page.prefix($0) } ?? page)
  }
}
