import TomboloProtocol
import TomboloSQLite

extension ModelContext {
  // MARK: Batches

  /// The records that a descriptor describes, loaded a batch at a time as they are asked for.
  ///
  /// The identities are fetched at once; changes that were not saved take part as in ``fetch(_:)``.
  ///
  /// - Throws: what ``fetch(_:)`` throws.
  public func fetch<Model: PersistentModel>(
    _ descriptor: FetchDescriptor<Model>, batchSize: Int
  ) throws -> FetchResultsCollection<Model> {
    let identifiers = try fetchIdentifiers(descriptor)
    return FetchResultsCollection(count: identifiers.count, batchSize: batchSize) { range in
      self.models(identifiers[range])
    }
  }

  /// The identities of the records that a descriptor describes. They are small, and are all held.
  ///
  /// - Throws: what ``fetch(_:)`` throws.
  public func fetchIdentifiers<Model: PersistentModel>(
    _ descriptor: FetchDescriptor<Model>, batchSize: Int
  ) throws -> FetchResultsCollection<PersistentIdentifier> {
    let identifiers = try fetchIdentifiers(descriptor)
    return FetchResultsCollection(count: identifiers.count, batchSize: batchSize) { Array(identifiers[$0]) }
  }

  /// Gives the records that a descriptor describes to `block`, in order, loading a batch at a time.
  ///
  /// The records are those of the moment of the call; one that was deleted meanwhile is passed over. After each batch the
  /// context forgets the objects that nobody holds and nobody changed, so that memory is bounded by a batch. What
  /// the block changes is pending, as anywhere else, whatever `allowEscapingMutations` says.
  ///
  /// - Throws: what ``fetch(_:)`` and the block throw.
  public func enumerate<Model: PersistentModel>(
    _ fetch: FetchDescriptor<Model>, batchSize: Int = 5000, allowEscapingMutations: Bool = false,
    block: (Model) throws -> Void
  ) throws {
    let identifiers = try fetchIdentifiers(fetch)
    let batchSize = max(1, batchSize)
    var start = 0
    while start < identifiers.count {
      let batch = identifiers[start..<min(start + batchSize, identifiers.count)]
      start += batchSize
      let fresh = batch.filter { registry[$0.record] == nil }
      try use {
        try loadRows(batch)
        for identifier in batch {
          if let model = registry[identifier.record] as? Model, !model.isDeleted { try block(model) }
        }
      }
      forgetUnused(fresh)
    }
  }

  /// Makes objects of those records that have none yet.
  private func loadRows(_ identifiers: ArraySlice<PersistentIdentifier>) throws {
    guard let name = identifiers.first?.entityName, let plan = plans.plan(named: name) else { return }
    // They are of one hierarchy, and so in one store.
    try store(of: plan).read { _ in
      for identifier in identifiers where registry[identifier.record] == nil {
        _ = try object(identifier.record, plans.plan(named: identifier.entityName))
      }
    }
  }

  private func models<Model: PersistentModel>(_ identifiers: ArraySlice<PersistentIdentifier>) -> [Model] {
    use {
      takeCommitsOfOthers()
      // What cannot be read shows as a deleted object.
      try? loadRows(identifiers)
      return identifiers.map { identifier in
        if let known = registry[identifier.record] as? Model { return known }
        guard let stands = DeletedPlaceholder.make(Model.self, identifier.record) as? Model else {
          preconditionFailure(
            "A record of \(identifier.entityName) is gone, and no object can stand for it: fetch without batchSize.")
        }
        return stands
      }
    }
  }

  /// Drops the objects of these records that only the context holds. One that somebody holds stays: there is one object
  /// for each record.
  private func forgetUnused(_ identifiers: [PersistentIdentifier]) {
    struct Holding {
      let record: RecordID
      weak var model: (any PersistentModel)?
    }
    var holdings: [Holding] = []
    holdings.reserveCapacity(identifiers.count)
    for identifier in identifiers {
      guard let model = registry.removeValue(forKey: identifier.record) else { continue }
      holdings.append(Holding(record: identifier.record, model: model))
    }
    for holding in holdings {
      if let model = holding.model { registry[holding.record] = model }
    }
  }
}
