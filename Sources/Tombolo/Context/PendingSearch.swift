import TomboloProtocol
import TomboloSQLite

/// What a search finds among objects that are not saved as they are: in an index of their own, in memory.
struct PendingSearch {
  /// Records whose stored text does not count: their objects are deleted, or have other text.
  private(set) var hidden: Set<RecordID> = []
  /// Objects whose text is not stored yet.
  private var candidates: [any PersistentModel] = []

  var isEmpty: Bool { hidden.isEmpty && candidates.isEmpty }

  /// Takes an object with pending changes.
  mutating func take(_ model: any PersistentModel, _ plan: ModelPlan) {
    let state = model._$state
    if state.flags.contains(.deletePending) {
      if state.flags.contains(.stored) { hidden.insert(state.recordID()) }
      return
    }
    if !state.flags.contains(.inserted) {
      let isOtherwise = plan.entity.columns.contains {
        $0.isSearched && state.changed.contains(plan.properties[$0.position])
      }
      guard isOtherwise else { return }
      hidden.insert(state.recordID())
    }
    candidates.append(model)
  }

  /// Those objects that have the words, the best first; of equally good ones the one that was changed last.
  func matches(
    _ expression: String, _ search: SearchPlan, plan planOf: (any PersistentModel) -> ModelPlan?
  ) throws -> [any PersistentModel] {
    if candidates.isEmpty { return [] }
    let connection = try Connection(path: ":memory:")
    let columns = search.columns.indices.map { "c\($0)" }.joined(separator: ", ")
    try connection.execute("CREATE VIRTUAL TABLE pending USING fts5(\(columns), tokenize='\(SearchPlan.tokenizer)')")
    let marks = search.columns.indices.map { "?\($0 + 2)" }.joined(separator: ", ")
    let source = ModelSource()
    for (number, model) in candidates.enumerated() {
      guard let plan = planOf(model) else { continue }
      source.point(at: model, plan)
      let values = try search.columns.map { searched in
        try plan.entity.columns.first { $0.column == searched.column }.map { try source.value(of: $0) } ?? .null
      }
      try connection.run("INSERT INTO pending(rowid, \(columns)) VALUES (?1, \(marks))") { statement in
        statement.bind(Int64(number), at: 1)
        for (index, value) in values.enumerated() { statement.bind(value, at: Int32(index + 2)) }
      }
    }
    var found: [any PersistentModel] = []
    try connection.eachRow(
      "SELECT rowid FROM pending WHERE pending MATCH ?1 ORDER BY rank, rowid DESC", { $0.bind(expression, at: 1) }
    ) { found.append(candidates[Int($0.int64(0))]) }
    return found
  }
}

extension ModelContext {
  /// The pending objects of a class that a search has to look at itself.
  func pendingSearch<Model: PersistentModel>(_ type: Model.Type) -> PendingSearch {
    var search = PendingSearch()
    for case let model? in pending where model is Model {
      if let plan = plan(of: model) { search.take(model, plan) }
    }
    return search
  }

  /// Finds among stored records and pending objects: these first, since both have a measure of their own.
  func search<Model: PersistentModel>(
    _ pending: PendingSearch, _ plan: ModelPlan, _ words: SearchWords, limit: Int?, offset: Int
  ) throws -> [Model] {
    guard let expression = words.expression else { return [] }
    let store = store(of: plan)
    var found = try pendingMatches(pending, plan, expression).compactMap { $0 as? Model }
    let wanted = limit.map { max(0, $0).addingReportingOverflow(max(0, offset)) }
    let most = wanted.flatMap { $0.overflow ? nil : $0.partialValue }
    if most.map({ $0 > found.count }) ?? true {
      // So many that those which do not count leave enough.
      let records = try store.search(plan.entity, words, limit: most.map { $0 + pending.hidden.count })
        .filter { !pending.hidden.contains($0) }
      let identifiers = records.map {
        PersistentIdentifier(
          record: $0, entityName: plan.entity.name, storeIdentifier: plan.part?.storeIdentifier, isTemporary: false)
      }
      let stored = try fetch(
        FetchDescriptor<Model>(predicate: #Predicate { identifiers.contains($0.persistentModelID) }))
      let byRecord = Dictionary(stored.map { ($0._$state.recordID(), $0) }, uniquingKeysWith: { first, _ in first })
      found += records.compactMap { byRecord[$0] }
    }
    let rest = found.dropFirst(max(0, offset))
    return Array(limit.map { rest.prefix(max(0, $0)) } ?? rest)
  }

  private func pendingMatches(
    _ pending: PendingSearch, _ plan: ModelPlan, _ expression: String
  ) throws -> [any PersistentModel] {
    let schema = store(of: plan).schema
    guard let root = schema.entity(plan.entity.root), let search = SearchPlan(root: root, in: schema) else { return [] }
    return try pending.matches(expression, search) { self.plan(of: $0) }
  }

  func searchCount(_ pending: PendingSearch, _ plan: ModelPlan, _ words: SearchWords) throws -> Int {
    guard let expression = words.expression else { return 0 }
    let stored = try store(of: plan).search(plan.entity, words).count { !pending.hidden.contains($0) }
    return try stored + pendingMatches(pending, plan, expression).count
  }
}
