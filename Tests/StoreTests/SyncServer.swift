import Testing
import Tombolo
import TomboloProtocol

/// A server in memory: the merge engine, a feed and answers, without transport, tokens or files.
final class SyncServer {
  let schema: MergeSchema
  var state = MemoryMergeReader()
  var epoch = Epoch(1)
  var now: UInt64
  private var entries: [(position: FeedPosition, entry: ConflictEntry)] = []
  /// Positions below it are forgotten: an older cursor has expired.
  var collected = FeedPosition.start

  init(_ document: SchemaDocument, now: UInt64) {
    schema = MergeSchema(document: document)
    self.now = now
  }

  func push(_ sets: [ChangeSet], from replica: ReplicaID) throws -> PushResponse {
    var answers: [PushAnswer] = []
    for set in sets {
      let position = state.head.next
      let context = MergeContext(schema: schema, now: now, greatestMilliseconds: state.greatestMilliseconds)
      let effects = try MergeEngine.merge(set, from: replica, at: position, into: state, context: context)
      state.apply(effects, of: set, from: replica)
      entries += effects.conflicts.map { (position, $0) }
      answers.append(PushAnswer(save: set.id, number: set.number, verdict: effects.verdict))
      switch effects.verdict {
      case .clockSkew, .gap, .copiedReplica: return PushResponse(epoch: epoch, serverTime: now, answers: answers)
      default: break
      }
    }
    return PushResponse(epoch: epoch, serverTime: now, answers: answers)
  }

  /// Nil: the cursor has expired.
  func page(after cursor: Cursor?, limit: Int, for readers: [ReplicaID]) throws -> Page? {
    let (walk, base) = (cursor?.position ?? .start, cursor?.base ?? .start)
    if base == .start ? walk > .start && (cursor?.start ?? .start) < collected : base < collected { return nil }
    let replica = readers[0]
    var found: [(FeedPosition, FeedItem)] = []
    for record in state.records.values.sorted(by: { $0.id < $1.id }) where record.position > walk {
      found.append(
        (record.position, try MergeEngine.item(for: record, since: base, reader: state, schema: schema)))
    }
    for link in state.pairs.values.sorted(by: { $0.key < $1.key }) where link.position > walk {
      found.append((link.position, .link(link.state)))
    }
    for (position, entry) in entries where position > walk && readers.contains(entry.replica) {
      found.append((position, .conflict(entry)))
    }
    found.sort { $0.0 < $1.0 }
    let end = found.count > limit ? found[limit - 1].0 : state.head
    let items = found.filter { $0.0 <= end }
    let hasMore = items.count < found.count
    let position = hasMore ? end : state.head
    let start = walk == .start ? state.head : cursor?.start ?? state.head
    return Page(
      cursor: Cursor(epoch: epoch, base: hasMore ? base : position, position: position, start: start, commit: 7),
      items: items.map(\.1), hasMore: hasMore, processed: state.highestSave(of: replica),
      answers: hasMore ? [] : answers(for: replica), vector: [:], checksum: hasMore ? nil : state.checksum,
      serverTime: now)
  }

  private func answers(for replica: ReplicaID) -> [PushAnswer] {
    (state.numbers[replica] ?? [:]).sorted { $0.key < $1.key }.map { number, processed in
      PushAnswer(save: processed.id, number: number, verdict: processed.answerAgain(accepted: processed.verdict))
    }
  }

  func known(_ saves: [SaveID]) -> [SaveID: Stamp] {
    var known: [SaveID: Stamp] = [:]
    for save in saves { if let processed = state.saves[save] { known[save] = processed.stamp } }
    return known
  }
}

extension ProcessedSave {
  /// What a page tells of it: the stamp of an accepted one, and a refusal.
  func answerAgain(accepted: PushAnswer.Verdict) -> PushAnswer.Verdict {
    if case .accepted = accepted { return accepted }
    return answerAgain
  }
}
