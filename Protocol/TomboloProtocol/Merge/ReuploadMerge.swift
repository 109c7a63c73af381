/// Takes what a replica had of an earlier epoch into the state of this one.
///
/// Source: merge.md, "the server was restored, replaced or wiped" (E8, E11, E13). The parts of a re-upload are gone
/// through once for each phase, in the order of ``Phase``; then ``settle(_:into:)`` restores integrity over everything that was
/// touched. The caller writes the effects of each step before the next, all in one transaction and at one position.
///
/// Fields and pairs merge by stamp. Life and counters do not: they are taken from the greatest old position.
package struct ReuploadMerge: Sendable {
  package enum Phase: CaseIterable, Sendable { case records, aliases, names, links, tombstones }

  private let context: MergeContext
  private let replica: ReplicaID
  private let oldPosition: FeedPosition
  private let position: FeedPosition
  private let name: RecordID
  private var steps: UInt64 = 0
  private var fallen: Set<DeleteCause> = []
  private var aliasEnds: Set<RecordID> = []
  /// Aliases of the last pass whose survivor is not there, or not yet: the phase is gone through again while it gets fewer.
  package private(set) var openAliases = 0

  /// - Parameters:
  ///   - oldPosition: the replica's last complete pull in the earlier epoch.
  ///   - position: where everything that changes goes in this epoch's feed.
  ///   - name: the re-upload's session; entries of the conflict log are named after it.
  package init(
    from replica: ReplicaID, oldPosition: FeedPosition, at position: FeedPosition, name: RecordID,
    context: MergeContext
  ) {
    self.replica = replica
    self.oldPosition = oldPosition
    self.position = position
    self.name = name
    self.context = context
  }

  package mutating func beginPass() { openAliases = 0 }

  /// Takes the items of one part that belong to a phase.
  package mutating func take(
    _ phase: Phase, _ items: [FeedItem], into reader: any EpochReader
  ) throws -> MergeEffects {
    let session = session(reader)
    var counters: [RecordID: FeedPosition] = [:]
    for item in items {
      switch (phase, item) {
      case (.records, .record(let state)):
        try session.upload(state, from: oldPosition, reader: reader, counters: &counters)
      case (.aliases, .tombstone(let tombstone)):
        if try !session.uploadAlias(tombstone, reader: reader) { openAliases += 1 }
      case (.names, .tombstone(let tombstone)): try session.uploadName(tombstone)
      case (.links, .link(let link)): aliasEnds.formUnion(try session.upload(link))
      case (.tombstones, .tombstone(let tombstone)):
        session.fallenCauses = fallen
        try session.upload(tombstone, from: oldPosition)
        fallen = session.fallenCauses
      default: continue
      }
    }
    var effects = try finish(session)
    effects.counterPositions = counters
    for case .record(let state) in phase == .records ? items : [] {
      let stamps = state.fields.map(\.stamp.clock.milliseconds)
      effects.greatestMilliseconds = max(effects.greatestMilliseconds, stamps.max() ?? 0)
    }
    return effects
  }

  /// Restores integrity over records that were touched: everything at the re-upload's position, in any cut.
  package mutating func settle(_ records: [RecordID], into reader: any EpochReader) throws -> MergeEffects {
    let session = session(reader)
    for id in records {
      session.marks.insert(id, of: nil)
      if try session.record(id)?.survivor != nil { session.marks.aliases.insert(id) }
    }
    session.marks.aliases.formUnion(aliasEnds)
    aliasEnds = []
    try session.restoreIntegrity()
    return try finish(session)
  }

  private mutating func session(_ reader: any EpochReader) -> MergeSession {
    steps += 1
    let step = RecordID(high: name.high ^ steps &* 0x9E37_79B9_7F4A_7C15, low: name.low)
    let session = MergeSession(
      reader: reader, schema: context.schema, rules: context.rules, position: position, replica: replica,
      changeSet: ChangeSet(
        id: SaveID(step), number: .none, stamp: .zero, schemaVersion: SchemaVersion(1, 0, 0), base: oldPosition,
        changes: []))
    session.unitesRejected = true
    session.tracksEpoch = context.tracksEpoch
    return session
  }

  private func finish(_ session: MergeSession) throws -> MergeEffects {
    var effects = MergeEffects(verdict: .accepted(fell: []), greatestMilliseconds: context.greatestMilliseconds)
    effects.usesPosition = true
    try session.collect(into: &effects)
    return effects
  }
}
