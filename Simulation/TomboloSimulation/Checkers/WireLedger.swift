import TomboloProtocol

/// What went over the wire and took effect, as an honest witness at the server's door has it: the oracle of the checkers.
struct WireLedger {
  struct Accepted {
    var changeSet: ChangeSet
    var replica: ReplicaID
    /// How many servers were lost before.
    var life: Int
    /// How many were accepted before.
    var order: Int
    var fell: [FallenPart]
  }

  private(set) var accepted: [SaveID: Accepted] = [:]
  /// In the order of acceptance.
  private(set) var order: [SaveID] = []
  private(set) var refused: [SaveID: ErrorCode] = [:]
  private(set) var refusedSets: [ChangeSet] = []
  /// Saves whose acceptance was only heard of later ("known"): the first answer never left the server.
  private(set) var heardOf: Set<SaveID> = []
  /// Whether the place in ``order`` is the position in the server's feed; not where a first answer never left the server.
  private(set) var knowsPositions = true
  /// Entries that were delivered, whether or not the replica kept them.
  private(set) var delivered: [ConflictEntry] = []
  /// What was delivered to a machine before it was put back to an older copy of itself: told once, and in no log any more.
  private(set) var toldBefore: [ConflictEntry] = []

  /// A machine is put back to an older copy of itself, its log too.
  mutating func forgetDeliveries(to isOfMachine: (ReplicaID) -> Bool) {
    hasForgottenMachine = true
    toldBefore += delivered.filter { isOfMachine($0.replica) }
    delivered.removeAll { isOfMachine($0.replica) }
  }

  /// Whether any machine was put back to an older copy of itself.
  private(set) var hasForgottenMachine = false

  /// How often the server was put back to an older copy of itself.
  private(set) var lostServers = 0
  var hasLostServer: Bool { lostServers > 0 }
  /// Records that were dead when it was: a re-upload brings no values of the dead, so that what becomes of them after it
  /// does not follow from what had been accepted before (merge.md, "Things that go wrong").
  private(set) var deadWhenLost: Set<RecordID> = []

  /// The server is put back to an older copy of itself.
  mutating func loseServer(dead: Set<RecordID>) {
    lostServers += 1
    // What was on the way is lost with it; what has arrived is in a log.
    toldBefore += delivered
    delivered = []
    knowsPositions = false
    deadWhenLost = dead
  }

  /// Records that were merged into others.
  private(set) var survivors: [RecordID: RecordID] = [:]
  /// The epoch whose server said so.
  private var unitedIn: [RecordID: Epoch] = [:]

  /// The pieces of change sets that are too large for one request, by their index.
  private var pieces: [SaveID: [UInt32: [UInt8]]] = [:]

  init() {}

  mutating func take(_ request: PushRequest, _ response: PushResponse) throws {
    var sets = Dictionary(request.changeSets.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    if let fragment = request.fragment, let set = try assemble(fragment) { sets[set.id] = set }
    for answer in response.answers where answer.verdict != .fragmentStored {
      guard let set = sets[answer.save] else {
        throw SimulationFailure(.exactlyOnce, "save \(answer.number.rawValue) was answered and not sent")
      }
      switch answer.verdict {
      case .accepted(let fell):
        if let before = accepted[set.id] {
          // The same request again has the same answer; whether it had its effect again shows in the counters.
          guard before.fell == fell || heardOf.contains(set.id) || hasLostServer else {
            throw SimulationFailure(.determinism, "save \(set.id) was taken twice, with different parts")
          }
          continue
        }
        // The server that had refused it is lost.
        if hasLostServer { refused[set.id] = nil }
        guard refused[set.id] == nil else {
          throw SimulationFailure(.determinism, "save \(set.id) was refused first and then taken")
        }
        note(set, from: request.introduction.replica, fell: fell)
      case .known(let stamp):
        guard accepted[set.id] == nil else { continue }
        var set = set
        set.stamp = stamp
        heardOf.insert(set.id)
        note(set, from: request.introduction.replica, fell: [])
      case .refused(let code, _):
        if hasLostServer, accepted[set.id] != nil { forget(set.id) }
        guard accepted[set.id] == nil else {
          throw SimulationFailure(.noLostWrite, "save \(set.id) was taken first and then refused with \(code.rawValue)")
        }
        if refused.updateValue(code, forKey: set.id) == nil { refusedSets.append(set) }
      case .clockSkew, .gap, .copiedReplica, .fragmentStored: break
      }
    }
  }

  /// A save that the lost server had taken, and whose answer got lost with it: the next one refuses it.
  private mutating func forget(_ id: SaveID) {
    accepted[id] = nil
    order.removeAll { $0 == id }
  }

  /// The change set that a fragment completes.
  private mutating func assemble(_ fragment: PushRequest.Fragment) throws -> ChangeSet? {
    // The first piece of another cut: the save was restamped, or is cut smaller.
    if fragment.index == 0 { pieces[fragment.save] = [:] }
    pieces[fragment.save, default: [:]][fragment.index] = fragment.bytes
    let parts = pieces[fragment.save, default: [:]].sorted { $0.key < $1.key }
    guard parts.count == Int(fragment.count) else { return nil }
    return try ChangeSet(decoding: parts.flatMap(\.value), as: .cbor)
  }

  private mutating func note(_ set: ChangeSet, from replica: ReplicaID, fell: [FallenPart]) {
    accepted[set.id] = Accepted(changeSet: set, replica: replica, life: lostServers, order: order.count, fell: fell)
    order.append(set.id)
  }

  /// - Parameter isAlone: whether nothing else was under way, so that the server stood where the page says.
  mutating func take(_ page: Page, isAlone: Bool = true) {
    if isAlone, !page.hasMore, page.cursor.position.rawValue != UInt64(order.count) { knowsPositions = false }
    for item in page.items {
      switch item {
      case .tombstone(let tombstone):
        if let survivor = tombstone.survivor {
          survivors[tombstone.id] = survivor.id
          unitedIn[tombstone.id] = page.cursor.epoch
        }
      case .record(let state):
        // What a lost server had united may have been written apart before anybody knew.
        if unitedIn[state.id] != page.cursor.epoch { survivors[state.id] = nil }
      case .conflict(let entry): delivered.append(entry)
      case .link: break
      }
    }
  }

  /// The record that an id stands for in the end.
  func resolve(_ id: RecordID) -> RecordID {
    var id = id
    var steps = 0
    while let next = survivors[id], steps < survivors.count {
      id = next
      steps += 1
    }
    return id
  }
}
