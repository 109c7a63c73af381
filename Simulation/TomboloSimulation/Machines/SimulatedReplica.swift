import Tombolo
import TomboloClient
import TomboloProtocol
import TomboloSQLite

/// One replica's machine: a disk, a clock, a person who edits, and the very store and sync engine of the product.
final class SimulatedReplica: CheckedReplica {
  static let path = "/replica.store"

  let index: Int
  let name: String
  /// The machine that this one's file was copied from, or its own name.
  let family: String
  let disk: MemoryFileSystem
  let clock: SkewedClock
  let randomness: SeededRandomness
  /// Another one after an upgrade.
  var document: SchemaDocument
  private let token: String
  private let options: SyncEngine.Options
  private let fault: PlantedFault?
  /// Whether operations of the user's own write too.
  private let isShared: Bool
  private let faultMemory = FaultMemory()
  /// Which of ``FreshStores`` it begins with; nil makes a store of its own.
  private let identity: Int?

  private(set) var store: Store?
  var engine: SyncEngine?
  /// Counts syncs and lives, so that an answer to an earlier one finds nobody.
  private(set) var session = 0
  /// What the person does next.
  var person: OperationGenerator?
  /// What the schema that the store was opened with permits.
  private(set) var roles: SchemaRoles?
  var memory = ReplicaMemory()
  /// Milliseconds of virtual time up to which there is no way to the server.
  var cutOffUntil: UInt64 = 0
  var tokenLostUntil: UInt64 = 0
  var isDiskFull = false
  /// Whether a push is under way, to which no answer has come.
  var isPushing = false
  /// Whether the server said that it is another one: the next sync uploads what the replica has.
  var meetsAnotherServer = false
  private var cached: (version: Int64, content: StoreContent)?

  init(
    index: Int = 0, name: String, family: String? = nil, disk: MemoryFileSystem, clock: SkewedClock,
    randomness: SeededRandomness, document: SchemaDocument, token: String, options: SyncEngine.Options,
    fault: PlantedFault?, isShared: Bool = false, identity: Int? = nil
  ) {
    self.index = index
    self.name = name
    self.family = family ?? name
    self.disk = disk
    self.clock = clock
    self.randomness = randomness
    self.document = document
    self.token = token
    self.options = options
    self.fault = fault
    self.isShared = isShared
    self.identity = identity
  }

  /// Opens the store, makes it where there is none, and gives it its remote.
  func boot() throws {
    if let identity, disk.paths.isEmpty { disk.restore(try FreshStores.shared.image(of: document, number: identity)) }
    try fault?.damage(disk)
    var options = Store.Options(clock: clock, randomness: randomness)
    options.vfs = disk.name
    let store = try Store(.file(path: Self.path), document: document, options: options)
    if try store.replicaState() == nil { try store.setRemote(SimulatedServer.url, tokenFile: nil) }
    self.store = store
    if roles?.schema.document != document { roles = SchemaRoles(store.schema, isShared: isShared) }
  }

  func shutDown() {
    store = nil
    engine = nil
    isPushing = false
    cached = nil
    session += 1
  }

  /// - Parameter waitSeconds: how long the last pull waits for something new.
  func beginSync(now: UInt64 = 0, waitSeconds: Int = 0) throws -> SyncInstruction? {
    guard let store else { return nil }
    session += 1
    var options = options
    options.waitSeconds = waitSeconds
    // Said once: a re-upload that is cut off is gone on with by the next plain sync.
    if meetsAnotherServer { options.recovery = .reupload }
    meetsAnotherServer = false
    // Told of the loss once it is over: by a new token.
    let token = tokenLostUntil > now ? "tbo_lost" : token
    var engine = try SyncEngine(
      store: FaultyReplica.wrapping(store, fault: fault, memory: faultMemory), token: token, randomness: randomness,
      options: options)
    let instruction = try engine.handle(.start)
    self.engine = engine
    return instruction
  }

  /// What a reader sees now; read anew only where something was committed since the last time.
  func content() throws -> StoreContent? {
    guard let store else { return nil }
    let version = try store.read { connection in try connection.firstRow("PRAGMA data_version") { $0.int64(0) } ?? 0 }
    if let cached, cached.version == version { return cached.content }
    let content = try StoreContent(of: store)
    cached = (version, content)
    return content
  }
}

/// What a run remembers of a replica from outside, to hold it to.
struct ReplicaMemory {
  /// Names one state of the bookkeeping.
  struct StateKey: Hashable {
    var replica: ReplicaID
    var epoch: Epoch?
    var highestSave: SaveNumber
    var cursor: Cursor?
    var unsent: Int
    var parked: Int

    init(_ state: ReplicaState) {
      replica = state.replica
      epoch = state.epoch
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
  /// The server's, under which they count as well.
  var epoch: Epoch?
  /// The cursor that was seen last.
  var cursor: Cursor?
  /// Takes note of the id and the epoch; with another one of either the numbers of saves begin anew.
  mutating func identify(as state: ReplicaState, outbox: () throws -> [ChangeSet]) rethrows {
    defer { epoch = state.epoch ?? epoch }
    guard !isSameLife(as: state) else { return }
    if replica != nil {
      sentUpTo = .none
      let unsent = Dictionary(try outbox().map { ($0.number, $0.id) }, uniquingKeysWith: { first, _ in first })
      promised.formUnion(Set(confirmed.values).subtracting(unsent.values))
      confirmed = unsent
    }
    replica = state.replica
  }

  /// Whether the numbers of saves that are remembered here are those of the state.
  func isSameLife(as state: ReplicaState) -> Bool {
    replica == state.replica && (epoch == nil || state.epoch == nil || epoch == state.epoch)
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
