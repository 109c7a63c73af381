import Testing
import Tombolo
import TomboloClient
import TomboloProtocol
import TomboloSQLite
import TomboloSimulation

/// One replica, with verbs for what a person does on it.
final class Replica {
  let name: String
  let clock: SkewedClock
  private unowned let world: World
  private let randomness: SeededRandomness
  private let disk: MemoryFileSystem
  private let document: SchemaDocument
  private var opened: Store?
  /// What its own saves united: the record that is gone, and the one that stands.
  private(set) var merged: [RecordID: RecordID] = [:]
  private var path: String { "\(name).store" }

  init(
    _ name: String, in world: World, clock: SkewedClock, randomness: SeededRandomness, disk: MemoryFileSystem,
    _ document: SchemaDocument
  ) {
    self.name = name
    self.world = world
    self.clock = clock
    self.randomness = randomness
    self.disk = disk
    self.document = document
  }

  var store: Store {
    guard let opened else { preconditionFailure("\(name) is closed") }
    return opened
  }

  func opens(with document: SchemaDocument? = nil) throws {
    opened = nil
    var options = Store.Options(clock: clock, randomness: randomness)
    options.vfs = disk.name
    opened = try Store(.file(path: path), document: document ?? self.document, options: options)
  }

  /// The same file on another device, or an older state of it.
  func takesFile(of other: Replica) throws {
    let (from, to) = (other.path, path)
    other.opened = nil
    opened = nil
    var image: [String: [UInt8]] = [:]
    for (path, bytes) in other.disk.image() where path.hasPrefix(from) {
      image[to + path.dropFirst(from.count)] = bytes
    }
    disk.restore(image)
    try other.opens()
    try opens()
  }

  /// The power fails: what was not on the disk is gone.
  func losesPower() throws {
    disk.powerCut(.synced)
    try opens()
  }

  /// Lets this replica's disk be full, or have room again.
  func limitsDisk(_ isFull: Bool) { disk.fill(isFull) }

  /// Lets the program die at the `write`-th write from now.
  func dies(atWrite write: UInt64) { disk.failAfter(operations: write) }

  /// The program is started again, with all that it had written.
  ///
  /// - Returns: whether it had died.
  func comesBack() throws -> Bool {
    let hasFailed = disk.hasFailed
    disk.cancelFailure()
    opened = nil
    disk.powerCut(.everything)
    try opens()
    return hasFailed
  }

  /// The rows' own numbers, which a row that is put in the place of another does not keep.
  func rowNumbers(_ entity: String) throws -> [Int64] {
    let table = try plan(entity).table.quotedIdentifier
    return try store.read { connection in
      var numbers: [Int64] = []
      try connection.eachRow("SELECT rowid FROM \(table) ORDER BY 1") { numbers.append($0.int64(0)) }
      return numbers
    }
  }

  // MARK: Edits

  @discardableResult
  func inserts(_ entity: String, _ values: [String: Value] = [:], id: RecordID? = nil) throws -> RecordID {
    let id = id ?? store.makeRecordID()
    let plan = try plan(entity)
    let row = try ValueRow(plan, values)
    world.passes(milliseconds: 10)
    note(try store.save { try $0.insert(plan, id, assigned: row.assigned, from: row) }.outcome)
    return id
  }

  func sets(_ entity: String, _ id: RecordID, _ property: String, to value: Value) throws {
    let plan = try plan(entity)
    let row = try ValueRow(plan, [property: value])
    world.passes(milliseconds: 10)
    note(try store.save { _ = try $0.update(plan, id, changed: row.assigned, from: row) }.outcome)
  }

  private func note(_ outcome: SaveOutcome) { merged.merge(outcome.merged) { _, last in last } }

  /// Several acts in one save.
  func saves(_ operations: [TomboloSimulation.Operation]) throws {
    world.passes(milliseconds: 10)
    note(try store.save { for operation in operations { try operation.apply(to: $0, store.schema) } }.outcome)
  }

  func deletes(_ entity: String, _ id: RecordID) throws {
    let plan = try plan(entity)
    world.passes(milliseconds: 10)
    try store.save { _ = try $0.delete(plan, id) }
  }

  func links(_ entity: String, _ id: RecordID, _ property: String, to other: RecordID, isPresent: Bool = true) throws {
    let link = try #require(try plan(entity).links.first { $0.property == property })
    world.passes(milliseconds: 10)
    try store.save { isPresent ? try $0.link(link, id, other) : try $0.unlink(link, id, other) }
  }

  func parts(_ entity: String, _ id: RecordID, _ property: String, from other: RecordID) throws {
    try links(entity, id, property, to: other, isPresent: false)
  }

  /// What a person writes in the `sqlite3` shell: triggers fire, and none of our functions is there.
  func types(_ sql: String) throws {
    var options = Connection.Options()
    options.vfs = disk.name
    try Connection(path: path, options: options).execute(sql)
  }

  // MARK: Exchanges

  @discardableResult
  func syncs(pageItems: Int? = nil, _ recovery: SyncEngine.Recovery? = nil) throws -> SyncReport {
    try #require(try exchange(pageItems: pageItems, recovery: recovery))
  }

  /// The error that ends a sync.
  func failsToSync() throws -> TomboloError {
    try #require(throws: TomboloError.self) { try syncs() }
  }

  /// Sends what is unsent, and receives nothing.
  func pushes() throws { _ = try exchange { $0.method == "GET" } }

  /// Goes off in the middle: what would be sent next is not.
  func exchange(
    pageItems: Int? = nil, recovery: SyncEngine.Recovery? = nil,
    until isOver: (TransportRequest) -> Bool = { _ in false }
  ) throws -> SyncReport? {
    var options = SyncEngine.Options()
    options.recovery = recovery
    if let pageItems {
      options.limits.pageItemsMax = pageItems
      options.limits.recordsMax = pageItems
    }
    var engine = try SyncEngine(store: store, token: world.token, randomness: randomness, options: options)
    var instruction = try engine.handle(.start)
    for _ in 0..<10_000 {
      switch instruction {
      case .finished(let report): return report
      case .wait(let milliseconds):
        world.passes(milliseconds: milliseconds)
        instruction = try engine.handle(.timer)
      case .send(let request):
        if isOver(request) { return nil }
        if let response = try world.carry(request) {
          instruction = try engine.handle(.response(response))
        } else {
          instruction = try engine.handle(
            .transportFailed(TransportFailure(.unreachable, reason: "the network is down")))
        }
      }
    }
    throw TomboloError(.syncStalled, "The sync of \(name) never ends.")
  }

  // MARK: What is seen

  func value(_ entity: String, _ id: RecordID, _ property: String) throws -> Value? {
    try store.row(try plan(entity), id)?[property]
  }

  /// Everything that a reader sees, a line for each value and pair, in whatever order the columns lie.
  func content() throws -> Set<String> {
    let content = try StoreContent(of: store)
    var lines: Set<String> = []
    for record in content.records {
      lines.insert("\(record.entity) \(record.id)")
      for (column, value) in zip(try plan(record.entity).columns, record.values) {
        lines.insert("\(record.id) \(column.property) \(value)")
      }
    }
    for (key, pairs) in content.links { for pair in pairs { lines.insert("\(key) \(pair.source) \(pair.target)") } }
    return lines
  }

  func has(_ entity: String, _ id: RecordID) throws -> Bool { try store.row(try plan(entity), id) != nil }

  func ids(_ entity: String) throws -> [RecordID] {
    try StoreContent(of: store).records.filter { $0.entity == entity }.map(\.id)
  }

  func count(_ entity: String) throws -> Int { try ids(entity).count }

  /// How many pairs the relationship has on this replica, of all records.
  func pairs() throws -> Int { try StoreContent(of: store).links.reduce(0) { $0 + $1.pairs.count } }

  var conflicts: [ConflictEntry] { get throws { try store.conflicts() } }
  var unsent: Int { get throws { try store.replicaState()?.unsent ?? 0 } }
  var parked: [ParkedSave] { get throws { try store.parkedSaves() } }

  private func plan(_ entity: String) throws -> EntityPlan { try #require(store.schema.entity(entity)) }
}
