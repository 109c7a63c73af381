import TomboloProtocol
import TomboloSQLite

extension ModelContext {
  // MARK: Full-text search

  /// The records whose `.spotlight` attributes have all these words, the best match first. Beyond SwiftData.
  ///
  /// ```swift
  /// let first = try context.search(Note.self, "road \"long winter\" travel* -train", limit: 20)
  /// let next = try context.search(Note.self, "road \"long winter\" travel* -train", limit: 20, offset: 20)
  /// ```
  ///
  /// Words are found in any of the attributes and in any order. Between double quotes they have to follow each other; a star
  /// at the end stands for any ending; a word after a minus must not occur. Capitals and diacritics make no difference
  /// (`cafe` finds `Café`); other letters are what they are (`ss` does not find `ß`), and a word is what stands between
  /// characters that are no letters or digits. Best is what has the words most often in the fewest words (BM25).
  ///
  /// Objects with pending changes are found by the text that they have now, and come first: stored and pending text has no
  /// common measure. Text that other programs write to the file is found as well. Costs one query, with pending changes two.
  ///
  /// - Parameters:
  ///   - words: what to look for; text without a word finds nothing.
  ///   - limit: how many at most; nil for all.
  ///   - offset: how many of the best to leave out.
  /// - Throws: ``TomboloError`` `unsupported_feature` where the model has no attribute declared `.spotlight`.
  public func search<Model: PersistentModel>(
    _ model: Model.Type, _ words: String, limit: Int? = nil, offset: Int = 0
  ) throws -> [Model] {
    try use {
      takeCommitsOfOthers()
      let plan = try plans.requirePlan(for: model)
      try noticeOtherProcesses(plan)
      let store = store(of: plan)
      let clause = try SearchClause(plan.entity, in: store.schema)
      guard let expression = SearchWords(words).expression, limit != 0 else { return [] }
      let pending = pendingSearch(model)
      guard pending.isEmpty else {
        return try search(pending, plan, SearchWords(words), limit: limit, offset: offset)
      }
      let shape = plans.shape(of: plan)
      return try store.readOnce { connection in
        let statement = try connection.cached(
          "SELECT \(shape.columns) \(clause.from)\(SearchClause.order) LIMIT ?2 OFFSET ?3")
        statement.bind(expression, at: 1)
        statement.bind(limit.map { max(0, $0) } ?? -1, at: 2)
        statement.bind(max(0, offset), at: 3)
        defer { statement.reset() }
        let reader = _$RowReader(statement: statement, first: shape.first, plan: plan, link: link)
        var found: [Model] = []
        while try statement.step() {
          if let object = try materialize(reader, shape) as? Model { found.append(object) }
        }
        return found
      }
    }
  }

  /// How many records ``search(_:_:limit:offset:)`` finds in all. Beyond SwiftData.
  ///
  /// - Throws: what the search throws.
  public func searchCount<Model: PersistentModel>(_ model: Model.Type, _ words: String) throws -> Int {
    try use {
      let plan = try plans.requirePlan(for: model)
      let pending = pendingSearch(model)
      return pending.isEmpty
        ? try store(of: plan).searchCount(plan.entity, SearchWords(words))
        : try searchCount(pending, plan, SearchWords(words))
    }
  }
}
