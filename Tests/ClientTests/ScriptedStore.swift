import Tombolo
import TomboloClient
import TomboloProtocol

/// A replica's bookkeeping in memory, for the engine's tests: it takes answers as a store does, and keeps no records.
final class ScriptedStore: ReplicaStoring {
  struct State {
    var queue: [ChangeSet] = []
    var parked: [ParkedSave] = []
    var attempted = SaveNumber.none
    var state: ReplicaState?
    var snapshots = 0
    var rechecks: [PullOutcome.ChecksumComparison] = []
    var differingBuckets: [UInt32] = []
    var differences: [RecordDifference] = []
    var pages: [Page] = []
    var identities = 0
    /// Given instead of what the answers say, first one first.
    var pushOutcomes: [PushOutcome] = []
    var pullOutcomes: [PullOutcome] = []
  }

  let document: SchemaDocument
  private let shared: Guarded<State>

  var now: State { shared.withLock { $0 } }
  func change(_ body: (inout State) -> Void) { shared.withLock { body(&$0) } }

  init(version: SchemaVersion? = SchemaVersion(1, 0, 0), epoch: Epoch? = Epoch(7), hasRemote: Bool = true) {
    document = SchemaDocument(name: "Library", version: version, entities: [SchemaEntity(name: "Book")])
    var state = State()
    if hasRemote {
      state.state = ReplicaState(
        replica: ReplicaID(0xA), remoteURL: "http://server:1/v1/stores/library", tokenFile: nil, epoch: epoch,
        cursor: nil,
        highestSave: .none, holds: nil, unsent: 0, parked: 0, lastPush: nil, lastPull: nil)
    }
    shared = Guarded(state)
  }

  static func changeSet(_ number: UInt64, changes: Int = 1, bytes: Int = 10) -> ChangeSet {
    let text = String(repeating: "x", count: bytes)
    return ChangeSet(
      id: SaveID(RecordID(high: 1, low: number)), number: SaveNumber(number),
      stamp: Stamp(clock: ClockReading(milliseconds: number), replica: ReplicaID(0xA)),
      schemaVersion: SchemaVersion(1, 0, 0), base: .start,
      changes: (0..<changes).map { index in
        .create(
          Change.Create(
            entity: "Book", id: RecordID(high: number, low: UInt64(index)),
            fields: [Change.InitialField(name: "title", value: .text(text), isAssigned: true)]))
      })
  }

  func isReuploading() throws -> Bool { false }
  func beginReupload() throws {}
  func cancelReupload() throws {}
  func reuploadPart(itemsMax: Int, bytesMax: Int) throws -> ReuploadPart? { nil }
  func take(_ response: ReuploadResponse, to part: ReuploadPart) throws -> Bool { response.isComplete }
  func beginReset() throws {}

  func enqueue(_ sets: ChangeSet...) {
    shared.withLock { shared in
      shared.queue += sets
      if let last = shared.queue.last { shared.state?.highestSave = last.number }
    }
  }

  func replicaState() throws -> ReplicaState? {
    shared.withLock { shared in
      shared.state?.unsent = shared.queue.count
      return shared.state
    }
  }

  func outbox(recordsMax: Int, bytesMax: Int) throws -> [ChangeSet] {
    shared.withLock { shared in
      var records = 0
      var taken: [ChangeSet] = []
      for set in shared.queue {
        records += set.changes.count
        if !taken.isEmpty, records > recordsMax { break }
        taken.append(set)
      }
      return taken
    }
  }

  func markAttempted(upTo number: SaveNumber) throws {
    shared.withLock { $0.attempted = max($0.attempted, number) }
  }

  func take(_ response: PushResponse) throws -> PushOutcome {
    shared.withLock { shared in
      if !shared.pushOutcomes.isEmpty { return shared.pushOutcomes.removeFirst() }
      if let epoch = shared.state?.epoch, epoch != response.epoch { return .epochChanged(response.epoch) }
      shared.state?.epoch = response.epoch
      var accepted = 0
      var parked = 0
      for answer in response.answers {
        switch answer.verdict {
        case .accepted, .known:
          accepted += 1
          shared.queue.removeAll { $0.id == answer.save }
        case .refused(let code, let message):
          parked += 1
          let sets = shared.queue.filter { $0.id == answer.save }
          shared.parked += sets.map { ParkedSave(changeSet: $0, code: code, message: message) }
          shared.queue.removeAll { $0.id == answer.save }
        case .clockSkew: return .restamped
        case .gap(let expected): return .gap(expected: expected)
        case .copiedReplica: return .copied
        case .fragmentStored: break
        }
      }
      return .settled(accepted: accepted, parked: parked)
    }
  }

  func take(_ page: Page, body: [UInt8]?) throws -> PullOutcome {
    shared.withLock { shared in
      if !shared.pullOutcomes.isEmpty { return shared.pullOutcomes.removeFirst() }
      if let epoch = shared.state?.epoch, epoch != page.cursor.epoch { return .epochChanged(page.cursor.epoch) }
      shared.pages.append(page)
      shared.state?.cursor = page.cursor
      return page.hasMore ? .staged : .applied(records: page.items.count, conflicts: 0, checksum: .equal)
    }
  }

  func recheck(_ theirs: Checksum?, at cursor: Cursor, isForced: Bool) throws -> PullOutcome.ChecksumComparison? {
    shared.withLock { shared in shared.rechecks.isEmpty ? nil : shared.rechecks.removeFirst() }
  }

  func differingBuckets(_ response: ComparisonResponse, at cursor: Cursor) throws -> [UInt32]? {
    shared.withLock { $0.differingBuckets }
  }

  func differingRecords(_ response: ComparisonResponse, at cursor: Cursor) throws -> [RecordDifference]? {
    shared.withLock { $0.differences }
  }

  func repair(_ page: Page, _ differences: [RecordDifference]) throws -> RepairOutcome? {
    RepairOutcome(records: differences.count)
  }

  func beginRepairSnapshot() throws { try beginSnapshot() }

  func beginSnapshot() throws {
    shared.withLock { shared in
      shared.snapshots += 1
      shared.state?.cursor = nil
    }
  }

  func takeNewReplicaID(known: [SaveID: Stamp]) throws {
    shared.withLock { shared in
      shared.identities += 1
      shared.state?.replica = ReplicaID(0xB)
      shared.queue.removeAll { known[$0.id] != nil }
    }
  }

  func parkedSaves() throws -> [ParkedSave] { shared.withLock { $0.parked } }

  func cancelOut() throws {}

  func takenNumbers(from first: SaveNumber, upTo end: SaveNumber) throws -> [ChangeSet] {
    shared.withLock { shared in
      shared.parked.map(\.changeSet).filter { $0.number >= first && $0.number < end }.sorted { $0.number < $1.number }
        .map { set in
          var placeholder = set
          placeholder.changes = []
          return placeholder
        }
    }
  }
}

/// Random bits that are always the same, so that a wait is known beforehand.
struct FixedRandomness: Randomness {
  var bits: UInt64 = .max
  func next() -> UInt64 { bits }
}
