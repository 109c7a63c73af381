import TomboloProtocol

/// Merging a push: inside the transaction of the request or of the group.
extension StoreFile {
  /// Merges change sets in order; a clock fault, a gap or a copied replica ends it.
  func take(_ changeSets: [ChangeSet], from replica: ReplicaID, schema: MergeSchema) throws -> [PushAnswer] {
    var answers: [PushAnswer] = []
    for changeSet in changeSets {
      let answer = try take(changeSet, from: replica, schema: schema)
      answers.append(answer)
      if answer.verdict.stopsTheQueue { break }
    }
    return answers
  }

  private func take(_ changeSet: ChangeSet, from replica: ReplicaID, schema: MergeSchema) throws -> PushAnswer {
    let context = mergeContext(schema)
    var changeSet = changeSet
    var fault: TomboloError?
    do {
      changeSet = try ChangeSetCheck(schema: schema, recordBytesMax: options.limits.recordBytesMax).normalized(
        changeSet)
    } catch let error as TomboloError {
      fault = error
    }
    let verdict = try transaction {
      let effects =
        try fault.flatMap { try refusal(of: changeSet, from: replica, because: $0) }
        ?? MergeEngine.merge(changeSet, from: replica, at: position.next, into: self, context: context)
      try write(effects, of: changeSet, from: replica)
      return effects.verdict
    }
    return PushAnswer(save: changeSet.id, number: changeSet.number, verdict: verdict)
  }

  func mergeContext(_ schema: MergeSchema) -> MergeContext {
    var context = MergeContext(
      schema: schema, rules: options.mergeRules, now: advanceNow(),
      greatestMilliseconds: state.greatestMilliseconds,
      aheadMillisecondsMax: options.limits.clockAheadMillisecondsMax)
    context.tracksEpoch = formerEpochs.contains(where: \.isOpen)
    return context
  }

  /// A refusal for what the merge does not look at. Nil for a save that is no new one: the merge has its answer.
  private func refusal(
    of changeSet: ChangeSet, from replica: ReplicaID, because fault: TomboloError
  ) throws -> MergeEffects? {
    guard changeSet.number == (try highestSave(of: replica)).next, try processed(changeSet.id) == nil else {
      return nil
    }
    let verdict = PushAnswer.Verdict.refused(code: fault.code, message: fault.message)
    var effects = MergeEffects(
      verdict: verdict, processed: ProcessedSave(id: changeSet.id, verdict: verdict, stamp: changeSet.stamp),
      greatestMilliseconds: state.greatestMilliseconds)
    for change in changeSet.changes {
      switch change {
      case .create(let create): effects.refusedRecords.append(create.id)
      case .update(let update):
        for write in update.writes {
          let key = RefusedWrite.Key(record: try resolve(update.id), field: write.name, stamp: changeSet.stamp)
          effects.refusedWrites.append(RefusedWrite(key: key, base: write.base))
        }
      case .delete, .link: break
      }
    }
    return effects
  }

  /// Follows aliases to the record that is left; a chain is never longer than the number of merges.
  func resolve(_ id: RecordID) throws -> RecordID {
    var id = id
    for _ in 0..<1_000 {
      guard let survivor = try record(id)?.survivor else { return id }
      id = survivor
    }
    return id
  }
}

extension PushAnswer.Verdict {
  /// Nothing behind it was looked at.
  var stopsTheQueue: Bool {
    switch self {
    case .clockSkew, .gap, .copiedReplica: true
    case .accepted, .known, .refused, .fragmentStored: false
    }
  }
}
