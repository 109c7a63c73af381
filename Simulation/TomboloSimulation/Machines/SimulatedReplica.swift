import Tombolo
import TomboloClient
import TomboloProtocol
import TomboloSQLite

/// One replica's machine: a disk, a clock, a person who edits, and the very store and sync engine of the product.
final class SimulatedReplica {
  static let path = "/replica.store"

  let name: String
  let disk: MemoryFileSystem
  let clock: SkewedClock
  let randomness: SeededRandomness
  private let document: SchemaDocument
  private let token: String
  private let options: SyncEngine.Options
  private let fault: PlantedFault?

  private(set) var store: Store?
  var engine: SyncEngine?
  /// Counts syncs and lives, so that an answer to an earlier one finds nobody.
  private(set) var session = 0
  /// What the person does next.
  var person: OperationGenerator?
  /// A copy of the disk, as a backup keeps it.
  var backup: [String: [UInt8]]?
  var memory = ReplicaMemory()

  init(
    name: String, disk: MemoryFileSystem, clock: SkewedClock, randomness: SeededRandomness, document: SchemaDocument,
    token: String, options: SyncEngine.Options, fault: PlantedFault?
  ) {
    self.name = name
    self.disk = disk
    self.clock = clock
    self.randomness = randomness
    self.document = document
    self.token = token
    self.options = options
    self.fault = fault
  }

  /// Opens the store, makes it where there is none, and gives it its remote.
  func boot() throws {
    var options = Store.Options(clock: clock, randomness: randomness)
    options.vfs = disk.name
    let store = try Store(.file(path: Self.path), document: document, options: options)
    if try store.replicaState() == nil { try store.setRemote(SimulatedServer.url, tokenFile: nil) }
    self.store = store
  }

  func shutDown() {
    store = nil
    engine = nil
    session += 1
  }

  func beginSync() throws -> SyncInstruction? {
    guard let store else { return nil }
    session += 1
    var engine = try SyncEngine(
      store: FaultyReplica.wrapping(store, fault: fault), token: token, randomness: randomness, options: options)
    let instruction = try engine.handle(.start)
    self.engine = engine
    return instruction
  }

  func content() throws -> StoreContent? { try store.map { try StoreContent(of: $0) } }
}

/// What a run remembers of a replica from outside, to hold it to.
struct ReplicaMemory {
  /// Names one state of the bookkeeping.
  struct StateKey: Hashable {
    var replica: ReplicaID
    var highestSave: SaveNumber
    var cursor: Cursor?
    var unsent: Int
    var parked: Int

    init(_ state: ReplicaState) {
      replica = state.replica
      highestSave = state.highestSave
      cursor = state.cursor
      unsent = state.unsent
      parked = state.parked
    }
  }

  /// The content that belonged to each state of the bookkeeping.
  var contents: [StateKey: UInt64] = [:]
  /// Saves that were confirmed to the person, by their number under the present replica id.
  var confirmed: [SaveNumber: SaveID] = [:]
  /// Those that were confirmed under a former id of the replica.
  var promised: Set<SaveID> = []
  /// The highest save that a request carried: from there on it must never be lost.
  var sentUpTo = SaveNumber.none
  /// The replica id under which those numbers count.
  var replica: ReplicaID?
  /// Takes note of the id; a new one numbers the saves anew.
  mutating func identify(as id: ReplicaID, outbox: () throws -> [ChangeSet]) rethrows {
    guard replica != id else { return }
    if replica != nil {
      sentUpTo = .none
      let unsent = Dictionary(try outbox().map { ($0.number, $0.id) }, uniquingKeysWith: { first, _ in first })
      promised.formUnion(Set(confirmed.values).subtracting(unsent.values))
      confirmed = unsent
    }
    replica = id
  }

  /// Whether rows were damaged behind the store's back, and no sync has mended them yet.
  var isDamaged = false
  /// Whether an operation on the store was under way when the machine went down.
  var wasBusy = false
  /// Whether the last power cut may have taken what was not synced.
  var mayLoseUnsynced = false
  /// Whether a sync has finished since the last edit: only then must the rules between records hold.
  var hasPulledAll = false
}
