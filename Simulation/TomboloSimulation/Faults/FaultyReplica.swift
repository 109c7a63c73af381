import Synchronization
import Tombolo
import TomboloClient
import TomboloProtocol

/// What a faulty replica keeps from one sync to the next: the stamps of what it has pulled.
final class FaultMemory: Sendable {
  private let stamps = Guarded<[RecordID: [String: Stamp]]>([:])

  func stamp(of record: RecordID, _ field: String) -> Stamp? { stamps.withLock { $0[record]?[field] } }

  func take(_ page: Page) {
    stamps.withLock { stamps in
      for case .record(let state) in page.items {
        for field in state.fields { stamps[state.id, default: [:]][field.name] = field.stamp }
      }
    }
  }
}

/// A replica's store with one defect of its own, for runs that have to notice it.
final class FaultyReplica: ReplicaStoring {
  private let store: Store
  private let fault: PlantedFault
  private let memory: FaultMemory
  private let count = Atomic<UInt64>(0)

  private init(_ store: Store, fault: PlantedFault, memory: FaultMemory) {
    self.store = store
    self.fault = fault
    self.memory = memory
  }

  /// The store itself where the defect is none of a replica's.
  static func wrapping(_ store: Store, fault: PlantedFault?, memory: FaultMemory) -> any ReplicaStoring {
    guard let fault, fault.isOfReplica else { return store }
    return FaultyReplica(store, fault: fault, memory: memory)
  }

  var document: SchemaDocument { store.document }
  func replicaState() throws -> ReplicaState? { try store.replicaState() }

  func outbox(recordsMax: Int, bytesMax: Int) throws -> [ChangeSet] {
    var sets = try store.outbox(recordsMax: recordsMax, bytesMax: bytesMax)
    for index in sets.indices {
      switch fault {
      case .newIdentityEachTime:
        let number = count.add(1, ordering: .relaxed).newValue
        let id = sets[index].id.record
        sets[index].id = SaveID(RecordID(high: id.high &+ number, low: id.low))
      case .sendsHalfASave where sets[index].changes.count > 1: sets[index].changes.removeLast()
      case .baseAdvancedOnSend: sets[index].changes = sets[index].changes.map { advanced($0, below: sets[index].stamp) }
      case .cascadeUnrecorded:
        sets[index].changes.removeAll {
          if case .delete(let delete) = $0 { delete.cause.root != delete.id } else { false }
        }
      default: break
      }
    }
    return sets
  }

  /// The change as if all that was pulled had been seen by whoever made it.
  private func advanced(_ change: Change, below stamp: Stamp) -> Change {
    guard case .update(var update) = change else { return change }
    for index in update.writes.indices {
      let write = update.writes[index]
      guard let pulled = memory.stamp(of: update.id, write.name), pulled > write.base, pulled < stamp else { continue }
      update.writes[index].base = pulled
    }
    return .update(update)
  }

  func markAttempted(upTo number: SaveNumber) throws {
    guard fault != .sendsBeforeMark else { return }
    try store.markAttempted(upTo: number)
  }

  func take(_ response: PushResponse) throws -> PushOutcome {
    var response = response
    switch fault {
    case .newIdentityEachTime:
      // The answers name identities that the store never gave: it is told about its own.
      let sets = try store.outbox(recordsMax: Int.max, bytesMax: Int.max)
      for index in response.answers.indices {
        guard let own = sets.first(where: { $0.number == response.answers[index].number }) else { continue }
        response.answers[index].save = own.id
      }
    case .settlesUnsent:
      guard let last = response.answers.last?.number else { break }
      for set in try store.outbox(recordsMax: Int.max, bytesMax: Int.max) where set.number > last {
        response.answers.append(PushAnswer(save: set.id, number: set.number, verdict: .accepted(fell: [])))
      }
    case .refusalUnread:
      for index in response.answers.indices {
        if case .refused = response.answers[index].verdict { response.answers[index].verdict = .accepted(fell: []) }
      }
    case .answersUnread: response.answers = []
    default: break
    }
    return try store.take(response)
  }

  func take(_ page: Page, body: [UInt8]?) throws -> PullOutcome {
    var page = page
    memory.take(page)
    switch fault {
    case .cursorBeforeData where count.add(1, ordering: .relaxed).newValue % 3 == 0: page.items = []
    case .pagesShownOneByOne: page.hasMore = false
    case .checksumIgnored: page.checksum = nil
    default: return try store.take(page, body: body)
    }
    return try store.take(page)
  }

  func beginSnapshot() throws { try store.beginSnapshot() }
  func recheck(_ theirs: Checksum?, at cursor: Cursor, isForced: Bool) throws -> PullOutcome.ChecksumComparison? {
    try store.recheck(theirs, at: cursor, isForced: isForced)
  }
  func differingBuckets(_ response: ComparisonResponse, at cursor: Cursor) throws -> [UInt32]? {
    try store.differingBuckets(response, at: cursor)
  }
  func differingRecords(_ response: ComparisonResponse, at cursor: Cursor) throws -> [RecordDifference]? {
    try store.differingRecords(response, at: cursor)
  }
  func repair(_ page: Page, _ differences: [RecordDifference]) throws -> RepairOutcome? {
    try store.repair(page, differences)
  }
  func beginRepairSnapshot() throws { try store.beginRepairSnapshot() }
  func takeNewReplicaID(known: [SaveID: Stamp]) throws { try store.takeNewReplicaID(known: known) }
  func isReuploading() throws -> Bool { try store.isReuploading() }
  func beginReupload() throws { try store.beginReupload() }
  func cancelReupload() throws { try store.cancelReupload() }
  func reuploadPart(itemsMax: Int, bytesMax: Int) throws -> ReuploadPart? {
    var part = try store.reuploadPart(itemsMax: itemsMax, bytesMax: bytesMax)
    if fault == .reuploadsNothing { part?.items = [] }
    return part
  }
  func take(_ response: ReuploadResponse, to part: ReuploadPart) throws -> Bool {
    try store.take(response, to: part)
  }
  func beginReset() throws { try store.beginReset() }
  func cancelOut() throws { try store.cancelOut() }
  func takenNumbers(from first: SaveNumber, upTo end: SaveNumber) throws -> [ChangeSet] {
    try store.takenNumbers(from: first, upTo: end)
  }
}
