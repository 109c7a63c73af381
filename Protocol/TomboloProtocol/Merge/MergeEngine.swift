/// The server's merge as a pure function of the state, one change set and the schema.
package enum MergeEngine {
  /// Merges one change set into the state behind `reader`.
  ///
  /// - Parameters:
  ///   - replica: who sends it; its saves are numbered one after the other.
  ///   - position: the place in the feed that the change set takes if it is accepted: the head's next.
  /// - Returns: what to answer and what to write, in the same transaction.
  package static func merge(
    _ changeSet: ChangeSet, from replica: ReplicaID, at position: FeedPosition, into reader: any MergeReader,
    context: MergeContext
  ) throws -> MergeEffects {
    if let answered = try answeredBefore(changeSet, from: replica, reader: reader, context: context) { return answered }
    let standing = try changeSet.origin.map(reader.standing) ?? .unknownEpoch
    if standing == .contained {
      return try foldAgain(changeSet, from: replica, at: position, into: reader, context: context)
    }
    let latest = max(context.now + context.aheadMillisecondsMax, context.greatestMilliseconds)
    let admission = MergeAdmission(changeSet: changeSet, schema: context.schema)
    // What an earlier epoch took may be ahead of this server's clock; its limit held then.
    let isInTime = changeSet.stamp.clock.milliseconds <= latest || standing == .missing
    guard isInTime, admission.isAboveItsBases else {
      return MergeEffects(verdict: .clockSkew, greatestMilliseconds: context.greatestMilliseconds)
    }
    let session = MergeSession(
      reader: reader, schema: context.schema, rules: context.rules, position: position, replica: replica,
      changeSet: changeSet)
    do {
      try admission.validate()
      if context.rules.refuseDependents { try checkDependencies(admission, reader: reader) }
      return try run(session, context: context)
    } catch let refusal as MergeAdmission.Refusal {
      return try refuse(refusal, admission, reader: reader, context: context)
    } catch let rejection as UniqueRejection {
      let refusal = MergeAdmission.Refusal(
        code: .uniqueViolation, message: "Another record has the same value of \(rejection.key) already.")
      return try refuse(refusal, admission, reader: reader, context: context)
    }
  }

  /// What a pull since `base` delivers of a record: only the fields that changed since, references as readers get
  /// them (resolved through aliases, nil where the target is dead).
  package static func item(
    for record: MergeRecord, since base: FeedPosition, reader: any MergeReader, schema: MergeSchema
  ) throws -> FeedItem {
    try MergeFeed(reader: reader, schema: schema).item(for: record, since: base)
  }

  /// The answer to a save that was processed before, under this number or another, or that is not the next one.
  private static func answeredBefore(
    _ changeSet: ChangeSet, from replica: ReplicaID, reader: any MergeReader, context: MergeContext
  ) throws -> MergeEffects? {
    let nothing = { (verdict: PushAnswer.Verdict) in
      MergeEffects(verdict: verdict, greatestMilliseconds: context.greatestMilliseconds)
    }
    let highest = try reader.highestSave(of: replica)
    if changeSet.number <= highest {
      guard let earlier = try reader.processed(changeSet.number, of: replica),
        earlier.id == changeSet.id || !context.rules.noticeCopies
      else {
        return nothing(.copiedReplica)
      }
      return nothing(earlier.stamp == changeSet.stamp ? earlier.verdict : earlier.answerAgain)
    }
    guard changeSet.number == highest.next else { return nothing(.gap(expected: highest.next)) }
    guard context.rules.savesHaveIdentity, let known = try reader.processed(changeSet.id) else { return nil }
    var effects = nothing(known.answerAgain)
    effects.processed = ProcessedSave(id: changeSet.id, verdict: known.answerAgain, stamp: known.stamp)
    return effects
  }

  private static func checkDependencies(_ admission: MergeAdmission, reader: any MergeReader) throws {
    let created = Set(admission.created)
    for id in admission.named.sorted() where !created.contains(id) {
      if try reader.isRefused(id), try reader.record(id) == nil {
        throw MergeAdmission.Refusal(
          code: .dependsOnRefused, message: "The save touches record \(id), whose creation was refused.")
      }
    }
  }

  private static func refuse(
    _ refusal: MergeAdmission.Refusal, _ admission: MergeAdmission, reader: any MergeReader, context: MergeContext
  ) throws -> MergeEffects {
    let changeSet = admission.changeSet
    let verdict = PushAnswer.Verdict.refused(code: refusal.code, message: refusal.message)
    var effects = MergeEffects(
      verdict: verdict, processed: ProcessedSave(id: changeSet.id, verdict: verdict, stamp: changeSet.stamp),
      greatestMilliseconds: context.greatestMilliseconds)
    effects.refusedRecords = admission.created
    let session = MergeSession(
      reader: reader, schema: context.schema, rules: context.rules, position: .start, replica: changeSet.stamp.replica,
      changeSet: changeSet)
    for case .update(let update) in changeSet.changes {
      let id = try session.resolve(update.id)
      for write in update.writes {
        let key = RefusedWrite.Key(record: id, field: write.name, stamp: changeSet.stamp)
        effects.refusedWrites.append(RefusedWrite(key: key, base: write.base))
      }
    }
    return effects
  }

  /// A save of an earlier epoch that what was uploaded contains: known, and its fields and pairs, which merge by stamp,
  /// are folded in once more. Its deltas, creates and deletes are not.
  private static func foldAgain(
    _ changeSet: ChangeSet, from replica: ReplicaID, at position: FeedPosition, into reader: any MergeReader,
    context: MergeContext
  ) throws -> MergeEffects {
    let session = MergeSession(
      reader: reader, schema: context.schema, rules: context.rules, position: position, replica: replica,
      changeSet: changeSet)
    session.unitesRejected = true
    for change in changeSet.changes {
      switch change {
      case .update(let update): for write in update.writes { try session.foldAgain(write, of: update) }
      case .link(let link): _ = try session.apply(link)
      case .create, .delete: break
      }
    }
    try session.restoreIntegrity()
    let verdict = PushAnswer.Verdict.known(stamp: changeSet.stamp)
    var effects = MergeEffects(
      verdict: verdict, processed: ProcessedSave(id: changeSet.id, verdict: verdict, stamp: changeSet.stamp),
      greatestMilliseconds: max(context.greatestMilliseconds, changeSet.stamp.clock.milliseconds))
    effects.usesPosition = true
    try session.collect(into: &effects)
    return effects
  }

  private static func run(
    _ session: MergeSession, context: MergeContext
  ) throws -> MergeEffects {
    let changeSet = session.changeSet
    session.tracksEpoch = context.tracksEpoch
    var fallen: [FallenPart] = []
    for (index, change) in changeSet.changes.enumerated() {
      let index = UInt32(index)
      switch change {
      case .create(let create):
        if try !session.apply(create) { fallen.append(FallenPart(change: index)) }
      case .update(let update):
        for write in update.writes where try !session.apply(write, of: update) {
          fallen.append(FallenPart(change: index, field: write.name))
        }
        for addition in update.additions where try !session.apply(addition, of: update) {
          fallen.append(FallenPart(change: index, field: addition.name))
        }
      case .delete(let delete): try session.apply(delete)
      case .link(let link):
        if try !session.apply(link) { fallen.append(FallenPart(change: index)) }
      }
    }
    try session.restoreIntegrity()
    fallen += try session.fallenDeletes()
    let verdict = PushAnswer.Verdict.accepted(fell: fallen)
    var effects = MergeEffects(
      verdict: verdict, processed: ProcessedSave(id: changeSet.id, verdict: verdict, stamp: changeSet.stamp),
      greatestMilliseconds: max(context.greatestMilliseconds, changeSet.stamp.clock.milliseconds))
    effects.usesPosition = true
    try session.collect(into: &effects)
    return effects
  }
}
