import Synchronization
import Tombolo
package import TomboloProtocol
import TomboloClient
import TomboloSQLite

/// Replays a captured trace: the confirmed state goes to a fresh server as a re-upload, the waiting change sets are pushed
/// in their order as the replica that made them, and a fresh replica pulls the whole. It is the code that ships, on a
/// virtual clock, network and disk.
package struct TraceReplay {
  /// What came of it.
  package struct Outcome: Sendable {
    /// What happened, a sentence an event.
    package var story: [String] = []
    /// Where the replay's end first differs from what the replica showed; nil where it is the same.
    package var difference: String?
    /// How many records and pairs were compared.
    package var compared = 0
    /// The digest of the replay's end: what the captured replica comes to when its waiting saves are through.
    package var checksum: Checksum?
  }

  private let bundle: TraceBundle
  private let time: VirtualTime
  private let server: SimulatedServer
  private var generator = SeededGenerator(seed: 11)
  private static let disks = Atomic<UInt64>(0)
  private static let stepsMax = 100_000
  private static let marginMilliseconds: UInt64 = 60_000
  private static let seed: UInt64 = 12

  /// - Throws: `damaged_bundle` for a trace without a version of its schema; `limit_exceeded` for one without records.
  package init(_ bundle: TraceBundle) throws {
    guard bundle.schema.version != nil else { throw TraceBundle.damaged("its schema has no version") }
    guard !bundle.isTooLarge else {
      throw TomboloError(
        .limitExceeded, "The replica was too large for its records to be in the bundle, so it cannot be replayed.",
        remedy: "Look into its queue and its findings; what concerns single records, 'tombolo explain' tells.")
    }
    self.bundle = bundle
    // Later than every stamp, so that no clock is taken for wrong.
    let newest = Self.newestStamp(of: bundle)
    time = VirtualTime(milliseconds: newest + Self.marginMilliseconds)
    let time = time
    let clock = SkewedClock(time, skewMilliseconds: 0)
    var fork = SeededGenerator(seed: Self.seed)
    server = try SimulatedServer(
      disk: Self.disk(time, fork.fork()), clock: clock, randomness: SeededRandomness(fork.fork()))
  }

  private static func disk(_ time: VirtualTime, _ generator: SeededGenerator) throws -> MemoryFileSystem {
    let randomness = SeededRandomness(generator)
    let number = disks.add(1, ordering: .relaxed).newValue
    return try MemoryFileSystem(
      name: "tombolo-replay-\(number)",
      environment: .init(
        milliseconds: { time.milliseconds }, random: { randomness.next() },
        sleep: { time.advance(byMicroseconds: $0) }))
  }

  private static func newestStamp(of bundle: TraceBundle) -> UInt64 {
    var newest = Stamp.zero
    for item in bundle.confirmed + bundle.shown {
      switch item {
      case .record(let record): newest = record.fields.map(\.stamp).reduce(max(newest, record.incarnation), max)
      case .tombstone(let tombstone): newest = max(newest, tombstone.stamp)
      case .link(let link): newest = max(newest, link.stamp)
      case .conflict: break
      }
    }
    for set in bundle.pending.map(\.changeSet) + bundle.parked.map(\.changeSet) { newest = max(newest, set.stamp) }
    return newest.clock.milliseconds
  }

  // MARK: The replay

  /// - Throws: ``SimulationFailure`` where a promise is broken on the way; ``TomboloError`` where the trace cannot be taken.
  package mutating func run() throws -> Outcome {
    var outcome = Outcome()
    let origin = try makeReplica("The captured replica")
    try restore(origin, &outcome)
    let page = try position(&outcome)
    try push(bundle.pending.map(\.changeSet), after: page, "waiting", &outcome)
    let fresh = try makeReplica("A fresh replica")
    try sync(fresh, recovery: nil)
    try sync(origin, recovery: nil)
    outcome.difference = try compare(fresh, &outcome)
    outcome.checksum = try fresh.store?.checksum()
    try ConvergenceChecker().check([origin], against: fresh)
    if let roles = fresh.roles, let content = try fresh.content() {
      try IntegrityChecker(roles: roles).check(content, on: fresh.name)
    }
    outcome.story.append("The two replicas are equal, and every rule of the schema holds.")
    return outcome
  }

  private mutating func makeReplica(_ name: String) throws -> SimulatedReplica {
    let replica = SimulatedReplica(
      name: name, disk: try Self.disk(time, generator.fork()), clock: SkewedClock(time, skewMilliseconds: 0),
      randomness: SeededRandomness(generator.fork()), document: bundle.schema, token: server.token,
      options: SyncEngine.Options(), fault: nil)
    try replica.boot()
    return replica
  }

  /// Gives a replica the confirmed state, as a pull would, and lets it upload that to the server.
  private func restore(_ replica: SimulatedReplica, _ outcome: inout Outcome) throws {
    guard let store = replica.store else { return }
    guard !bundle.confirmed.isEmpty else {
      try sync(replica, recovery: nil)
      return outcome.story.append("Nothing was confirmed by a pull: the server begins empty.")
    }
    let cursor = Cursor(
      epoch: Epoch(1), base: FeedPosition(1), position: FeedPosition(1), start: FeedPosition(1), commit: 1)
    let page = Page(
      cursor: cursor, items: bundle.confirmed, hasMore: false, processed: .none, answers: [], vector: [:],
      checksum: nil, serverTime: time.milliseconds)
    _ = try store.take(page)
    let uploaded = try sync(replica, recovery: .reupload).uploaded
    outcome.story.append(
      "The server takes the confirmed state from the captured replica: \(uploaded) of \(bundle.confirmed.count) records, "
        + "tombstones and pairs.")
  }

  /// Where the server stands.
  private func position(_ outcome: inout Outcome) throws -> Cursor {
    let introduction = Introduction(
      replica: bundle.replicaID, schemaVersion: bundle.schema.version ?? SchemaVersion(1, 0, 0), highestSave: .none,
      holds: nil, epoch: nil)
    let pull = PullRequest(introduction: introduction, cursor: nil, limit: 1_000_000)
    return try Page(decoding: try answer(to: try maker().pull(pull)), as: .cbor).cursor
  }

  private func maker() throws -> RequestMaker {
    RequestMaker(address: try RemoteAddress(SimulatedServer.url), token: server.token)
  }

  private func answer(to request: TransportRequest) throws -> [UInt8] {
    guard let response = server.handle(request) else {
      throw SimulationFailure(.progress, "the server gives no answer to \(SimulationRun.told(request))")
    }
    guard response.status == 200 else {
      throw SimulationFailure(
        .progress,
        "the server answers \(response.status): \(String(decoding: response.body.prefix(600), as: UTF8.self))")
    }
    return response.body
  }

  /// Pushes change sets as the replica that made them. What they had seen of others is what the confirmed state holds.
  private func push(_ sets: [ChangeSet], after cursor: Cursor, _ what: String, _ outcome: inout Outcome) throws {
    guard !sets.isEmpty else { return outcome.story.append("No save was \(what).") }
    var sets = sets
    for index in sets.indices {
      sets[index].number = SaveNumber(UInt64(index + 1))
      sets[index].base = cursor.position
      sets[index].origin = nil
    }
    let introduction = Introduction(
      replica: bundle.replicaID, schemaVersion: bundle.schema.version ?? SchemaVersion(1, 0, 0),
      highestSave: SaveNumber(UInt64(sets.count)), holds: nil, epoch: cursor.epoch)
    let numbers = Dictionary(
      zip(sets, bundle.pending).map { ($0.id, $1.changeSet.number) }, uniquingKeysWith: { first, _ in first })
    for set in sets {
      let body = PushRequest(introduction: introduction, changeSets: [set]).encoded(as: .cbor)
      let request = try maker().request("POST", "/changes", headers: introduction.headers, body: body)
      for var answer in try PushResponse(decoding: try answer(to: request), as: .cbor).answers {
        answer.number = numbers[answer.save] ?? answer.number
        outcome.story.append("The server is sent \(what) saves: \(answer.told).")
      }
    }
  }

  @discardableResult
  private func sync(_ replica: SimulatedReplica, recovery: SyncEngine.Recovery?) throws -> SyncReport {
    guard let store = replica.store else { throw SimulationFailure(.progress, "\(replica.name) is not open") }
    var options = SyncEngine.Options()
    options.recovery = recovery
    options.scansRows = true
    var engine = try SyncEngine(store: store, token: server.token, randomness: replica.randomness, options: options)
    var instruction = try engine.handle(.start)
    for _ in 0..<Self.stepsMax {
      switch instruction {
      case .finished(let report):
        if report.checksum == .different {
          throw SimulationFailure(.convergence, "\(replica.name)'s checksum differs from the server's after a sync")
        }
        return report
      case .wait(let milliseconds):
        time.advance(toMilliseconds: time.milliseconds + milliseconds)
        instruction = try engine.handle(.timer)
      case .send(let request):
        time.advance(toMilliseconds: time.milliseconds + 1)
        guard let response = server.handle(request) else {
          throw SimulationFailure(.progress, "the server gives no answer to \(SimulationRun.told(request))")
        }
        instruction = try engine.handle(.response(response))
      }
    }
    throw SimulationFailure(.progress, "\(replica.name)'s sync does not end")
  }

  // MARK: Comparing

  /// The first difference between what the captured replica showed and what a fresh one shows, in the order of the
  /// schema's tables and of identifiers.
  private func compare(_ fresh: SimulatedReplica, _ outcome: inout Outcome) throws -> String? {
    guard let store = fresh.store else { return nil }
    let capture = try StoreCapture(of: store, itemsMax: .max, savesMax: 0)
    func place(_ item: FeedItem) -> String {
      switch item {
      case .record(let record): "\(record.entity) \(record.id)"
      case .link(let link): "the pair \(link.link.relationship) \(link.link.source)–\(link.link.target)"
      case .tombstone(let tombstone): "\(tombstone.entity) \(tombstone.id)"
      case .conflict(let entry): "\(entry.id)"
      }
    }
    var theirs: [String: FeedItem] = [:]
    for item in capture.shown { theirs[place(item)] = item }
    outcome.compared = bundle.shown.count
    for item in bundle.shown {
      guard let other = theirs.removeValue(forKey: place(item)) else {
        return "\(place(item)) was shown, and is not there after the replay"
      }
      guard case .record(let mine) = item, case .record(let replayed) = other else { continue }
      if let difference = Self.difference(mine, replayed, store.schema) { return "\(place(item))\(difference)" }
    }
    guard let extra = theirs.keys.sorted().first else { return nil }
    return "\(extra) is there after the replay, and was not shown"
  }

  private static func difference(_ mine: RecordState, _ replayed: RecordState, _ schema: StoreSchema) -> String? {
    if !mine.incarnation.isSameWrite(as: replayed.incarnation) {
      return " was made at \(mine.incarnation.traceText), and at \(replayed.incarnation.traceText) in the replay"
    }
    let others = Dictionary(
      replayed.fields.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    for field in mine.fields {
      guard let other = others[field.name] else { return ".\(field.name) is not in the replay" }
      if field.value != other.value {
        return ".\(field.name) was \(field.value.traceText), and is \(other.value.traceText) after the replay"
      }
      if field.stamp != other.stamp {
        return ".\(field.name) was of \(field.stamp.traceText), and is of \(other.stamp.traceText) after the replay"
      }
    }
    return nil
  }
}
