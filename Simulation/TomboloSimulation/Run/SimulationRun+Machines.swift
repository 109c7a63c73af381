import Tombolo
import TomboloClient
import TomboloProtocol
import TomboloSQLite

/// What happens to the machines: power cuts at chosen writes, restarts, older copies, wrong clocks, full disks.
extension SimulationRun {
  /// A fault of the plan, at its moment.
  func inject(_ place: Int) throws {
    guard isEditing else { return }
    let fault = plan.faults[place]
    doneFaults.insert(place)
    if fault.machine == SimulationPlan.server { return try injectIntoServer(fault) }
    guard replicas.indices.contains(fault.machine) else { return }
    let replica = replicas[fault.machine]
    switch fault.kind {
    case .replicaCrash:
      if replica.store != nil { try crash(replica, "at rest") }
    case .clockJump:
      statistics.count(.clockJump)
      replica.clock.setSkew(milliseconds: Int64(fault.amount))
      note("\(replica.name)'s clock is wrong by \(fault.amount) ms from now on")
    case .partition:
      replica.cutOffUntil = time.milliseconds + UInt64(fault.amount)
      note("\(replica.name) is cut off from the server for \(fault.amount) ms")
    case .tokenLoss:
      statistics.count(.tokenLoss)
      replica.tokenLostUntil = time.milliseconds + UInt64(fault.amount)
      note("\(replica.name) loses its token for \(fault.amount) ms")
    case .diskFull:
      statistics.count(.diskFull)
      replica.isDiskFull = true
      replica.disk.limit(toBytes: replica.disk.byteCount + fault.amount % 3 * 4_096)
      note("\(replica.name)'s disk is full for \(fault.amount) ms")
      schedule(.makeRoom(machine: replica.index), in: fault.amount)
    case .backupRestore:
      guard replica.store != nil else { return }
      note("\(replica.name) is backed up")
      schedule(.restore(machine: replica.index, image: replica.disk.image()), in: fault.amount)
    case .fileCopy: try copy(replica)
    case .schemaUpgrade: try upgrade(replica)
    default: break
    }
  }

  private func injectIntoServer(_ fault: SimulationPlan.Fault) throws {
    guard server.isUp else { return }
    switch fault.kind {
    case .serverCrash: crashServer("at rest")
    case .diskFull:
      statistics.count(.diskFull)
      isServerFull = true
      server.disk.limit(toBytes: server.disk.byteCount + fault.amount % 3 * 4_096)
      note("the server's disk is full for \(fault.amount) ms")
      schedule(.makeRoom(machine: SimulationPlan.server), in: fault.amount)
    case .collection:
      do {
        let count = try server.collect()
        if count > 0 {
          statistics.count(.collection)
          note("the server forgets \(count) tombstones")
        }
      } catch  where isServerFull {
        note("the server finds no room to forget tombstones")
      }
    case .serverRestore:
      note("the server is backed up")
      schedule(.restoreServer(image: server.disk.image()), in: fault.amount)
    default: break
    }
  }

  // MARK: Power

  /// Perhaps lets the power go at one of the next writes.
  func armCrash(_ replica: SimulatedReplica, _ kind: Choices.Kind, chance: Double, operationsMax: Int) {
    let cut = choices.fault(kind, of: replica.index) { [self] generator in
      guard plan.kinds.contains(.replicaCrash), isEditing, generator.chance(chance) else { return 0 }
      return generator.within(1...operationsMax)
    }
    if cut > 0 { replica.disk.failAfter(operations: UInt64(cut)) }
  }

  /// What is left of what was not synced; 0 is all of it.
  private func survival(of machine: Int) -> MemoryFileSystem.Survival {
    let torn = plan.kinds.contains(.tornWrite)
    let choice = choices.fault(.survival, of: machine) { $0.pick(torn ? [0, 1, 2, 2] : [0, 1]) ?? 0 }
    if choice == 2 { statistics.count(.tornWrite) }
    return choice == 0 ? .everything : choice == 1 ? .synced : .chosen
  }

  private static func told(_ survival: MemoryFileSystem.Survival) -> String {
    switch survival {
    case .everything: "the disk keeps all that was written"
    case .synced: "what was not synced is gone"
    case .chosen: "of what was not synced some is gone and some is torn"
    }
  }

  func crash(_ replica: SimulatedReplica, _ when: String) throws {
    let survival = survival(of: replica.index)
    statistics.count(.replicaCrash)
    note("\(replica.name) loses power \(when); \(Self.told(survival))")
    replica.memory.mayLoseUnsynced = survival != .everything
    replica.shutDown()
    replica.disk.powerCut(survival)
    makeRoom(replica.index)
    var noise = choices.noise(.boot, of: replica.index)
    schedule(.boot(machine: replica.index), in: noise.within(10...3_000))
  }

  private static let bootAgainMilliseconds = 500

  func boot(_ index: Int) throws {
    let replica = replicas[index]
    guard replica.store == nil else { return }
    do {
      try replica.boot()
    } catch let error as TomboloError where replica.isDiskFull && Self.diskCodes.contains(error.code) {
      note("\(replica.name) finds no room to open its file, and tries again")
      return schedule(.boot(machine: index), in: Self.bootAgainMilliseconds)
    }
    note("\(replica.name) is back")
    // Upgraded while it was off.
    if replica.person == nil { meet(replica) }
    try BookkeepingChecker().checkRestart(replica, mayLoseUnsynced: replica.memory.mayLoseUnsynced)
    replica.memory.wasBusy = false
    // What was not synced may be gone, the newest pulls too.
    replica.memory.cursor = nil
    try forgetLost(replica)
    try observe(replica)
    var noise = choices.noise(.boot, of: index)
    if isEditing { schedule(.beginSync(machine: index), in: noise.within(10...2_000)) }
  }

  /// Saves that were never sent may be lost with the power; nobody was promised more.
  private func forgetLost(_ replica: SimulatedReplica) throws {
    guard let store = replica.store, let state = try store.replicaState() else { return }
    if replica.memory.replica != nil, !replica.memory.isSameLife(as: state) {
      // A new id that no request had carried is lost with the saves that were made under it.
      let unsent = try store.outbox(recordsMax: Int.max, bytesMax: Int.max)
      replica.memory.confirmed = Dictionary(unsent.map { ($0.number, $0.id) }, uniquingKeysWith: { first, _ in first })
      replica.memory.replica = state.replica
      replica.memory.epoch = state.epoch
      return
    }
    let lost = replica.memory.confirmed.keys.filter { $0 > state.highestSave }
    for number in lost { replica.memory.confirmed[number] = nil }
    // Their numbers are given again.
    replica.memory.contents = replica.memory.contents.filter { $0.key.highestSave <= state.highestSave }
    if !lost.isEmpty { note("\(replica.name) has lost \(lost.count) saves that were never sent") }
  }

  func crashServer(_ when: String) {
    let survival = survival(of: SimulationPlan.server)
    statistics.count(.serverCrash)
    note("the server loses power \(when); \(Self.told(survival))")
    server.powerCut(survival)
    makeRoom(SimulationPlan.server)
    loseHeldPulls()
    var noise = choices.noise(.boot, of: SimulationPlan.server)
    schedule(.serverBoot, in: noise.within(10...4_000))
  }

  private func loseHeldPulls() {
    for pull in heldPulls {
      let event = SyncEvent.transportFailed(TransportFailure(.lost, reason: "the server is down"))
      schedule(.answer(machine: pull.delivery.machine, session: pull.delivery.session, event: event), in: 1)
    }
    heldPulls = []
  }

  /// Its operator puts the server back to a backup, and says so.
  func restoreServer(_ image: [String: [UInt8]]) throws {
    guard isEditing else { return }
    try bootServer()
    statistics.count(.serverRestore)
    note("the server is put back to its backup")
    ledger.loseServer(dead: try server.deadRecords())
    makeRoom(SimulationPlan.server)
    loseHeldPulls()
    try server.restore(image)
  }

  func bootServer() throws {
    guard !server.isUp else { return }
    try server.boot()
    note("the server is back")
  }

  func makeRoom(_ machine: Int) {
    if machine == SimulationPlan.server {
      isServerFull = false
      server.disk.limit(toBytes: nil)
    } else if replicas.indices.contains(machine) {
      replicas[machine].isDiskFull = false
      replicas[machine].disk.limit(toBytes: nil)
    }
  }

  // MARK: Copies and versions

  func restore(_ index: Int, _ image: [String: [UInt8]]) {
    let replica = replicas[index]
    guard isEditing else { return }
    statistics.count(.backupRestore)
    note("\(replica.name) is put back to its backup")
    replica.shutDown()
    replica.disk.restore(image)
    makeRoom(index)
    // What it did since then is forgotten, but for what the server knows.
    replica.memory = ReplicaMemory()
    fidelity.forgetSent()
    // Its log too: the server may have forgotten what it had delivered.
    let machines = machines
    ledger.forgetDeliveries { machines[$0] == replica.family }
    replica.memory.wasBusy = true
    var noise = choices.noise(.boot, of: index)
    schedule(.boot(machine: index), in: noise.within(10...500))
  }

  /// A second machine goes on with the file of the first.
  private func copy(_ replica: SimulatedReplica) throws {
    guard replica.store != nil else { return }
    statistics.count(.fileCopy)
    let twin = try makeReplica(replicas.count, "Replica \(Self.letter(replicas.count))", family: replica.family)
    twin.document = replica.document
    twin.disk.restore(replica.disk.image())
    twin.memory.wasBusy = true
    fidelity.forgetSent()
    note("\(replica.name)'s file is copied; \(twin.name) goes on with the copy")
    replicas.append(twin)
    try open(twin.index)
    var noise = choices.noise(.sync, of: twin.index)
    schedule(.beginSync(machine: twin.index), in: noise.within(1...2_000))
  }

  func upgrade(_ replica: SimulatedReplica) throws {
    guard replica.document != subject.document else { return }
    statistics.count(.schemaUpgrade)
    note("\(replica.name) is upgraded to schema version \(subject.document.version?.description ?? "")")
    replica.document = subject.document
    // Another version shows other columns: the content of a state under the older one is no measure any more.
    replica.memory.contents = [:]
    replica.memory.wasBusy = true
    replica.person = nil
    guard let store = replica.store else { return }
    let hasAside = try store.read { try $0.firstRow("SELECT 1 FROM _tombolo_aside LIMIT 1") { _ in true } ?? false }
    if hasAside { statistics.count(.setAside) }
    replica.shutDown()
    makeRoom(replica.index)
    try configuration.plantedFault?.damageBeforeUpgrade(replica.disk)
    try replica.boot()
    meet(replica)
    replica.memory.wasBusy = false
    try observe(replica)
    if isEditing { schedule(.beginSync(machine: replica.index), in: 100) }
  }
}
