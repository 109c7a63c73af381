import Tombolo
import TomboloClient
import TomboloProtocol
import TomboloSQLite

/// What happens at the replicas: edits, syncs, and the look that the checkers take after each.
extension SimulationRun {
  // MARK: Opening

  func open(_ index: Int) throws {
    let replica = replicas[index]
    try replica.boot()
    guard let store = replica.store else { return }
    let roles = self.roles ?? SchemaRoles(store.schema)
    self.roles = roles
    if replica.person == nil {
      replica.person = OperationGenerator(
        roles: roles, mix: mix, recordsMax: recordsMax, clock: replica.clock, generator: generator.fork())
    }
    try observe(replica)
  }

  // MARK: Edits

  func edit(_ index: Int) throws {
    guard isEditing else { return }
    schedule(.edit(replica: index), in: generator.within(20...4_000))
    let replica = replicas[index]
    guard let store = replica.store, let content = try replica.content(), var person = replica.person else { return }
    let operations = person.save(on: content) { store.makeRecordID() }
    replica.person = person
    guard !operations.isEmpty else { return }
    savesLeft -= 1
    replica.memory.hasPulledAll = false
    armCrash(replica, chance: 0.04, operationsMax: 20)
    replica.memory.wasBusy = true
    do {
      try store.save { writer in
        for operation in operations { try operation.apply(to: writer) }
      }
    } catch {
      if replica.disk.hasFailed { return try crash(index, "while saving") }
      guard let refusal = error as? TomboloError, Self.localRefusals.contains(refusal.code) else { throw error }
      replica.memory.wasBusy = false
      note("\(replica.name) may not save: \(refusal.code.rawValue)")
      count("saves refused locally")
      let after = try replica.content()
      if after != content {
        throw SimulationFailure(
          .atomicity, "\(replica.name): a save that threw \(refusal.code.rawValue) left something behind")
      }
      return
    }
    if replica.disk.hasFailed { return try crash(index, "after a save") }
    replica.disk.cancelFailure()
    replica.memory.wasBusy = false
    count("saves")
    note("\(replica.name) saves: " + operations.map(\.traceText).joined(separator: "; "))
    if let newest = try store.outbox(recordsMax: Int.max, bytesMax: Int.max).last {
      replica.memory.confirmed[newest.number] = newest.id
    }
    try observe(replica)
    if let state = try store.replicaState(), let now = try replica.content() {
      try BookkeepingChecker().checkNewestSave(store, state, now, replica.name)
    }
  }

  /// What a store may refuse a person at once.
  static let localRefusals: Set<ErrorCode> = [
    .deleteDenied, .requiredReference, .uniqueViolation, .cyclicReference, .countOutOfRange, .requiredAttribute,
  ]

  // MARK: Looking

  /// What anybody could see now must be right now.
  func observe(_ replica: SimulatedReplica) throws {
    guard let roles, let store = replica.store, let content = try replica.content(), !replica.memory.isDamaged else {
      return
    }
    try AtomicityChecker(roles: roles).check(content, on: replica.name)
    guard let state = try store.replicaState() else { return }
    machines[state.replica] = replica.name
    replica.memory.contents[ReplicaMemory.StateKey(state)] = content.digest
    try replica.memory.identify(as: state.replica) { try store.outbox(recordsMax: Int.max, bytesMax: Int.max) }
    // Until an answer to all of it has come with a complete pull, a replica may hold a key twice or show a cycle.
    if state.unsent == 0, replica.engine == nil, replica.memory.hasPulledAll {
      try IntegrityChecker(roles: roles).check(content, on: replica.name)
    }
  }

  // MARK: Syncing

  func beginSync(_ index: Int) throws {
    let replica = replicas[index]
    guard replica.store != nil, replica.engine == nil else {
      return schedule(.beginSync(replica: index), in: generator.within(500...2_000))
    }
    guard let instruction = try replica.beginSync() else { return }
    note("\(replica.name) begins to sync")
    try follow(instruction, index)
  }

  /// Hands an event to the replica's engine, if it is still the one that waits for it.
  func step(_ index: Int, _ session: Int, _ event: SyncEvent) throws {
    let replica = replicas[index]
    guard replica.session == session, replica.engine != nil else { return }
    armCrash(replica, chance: 0.02, operationsMax: 30)
    replica.memory.wasBusy = true
    do {
      let instruction = try replica.engine?.handle(event)
      if replica.disk.hasFailed { return try crash(index, "while syncing") }
      replica.disk.cancelFailure()
      replica.memory.wasBusy = false
      try observe(replica)
      if let instruction { try follow(instruction, index) }
    } catch let failure as SimulationFailure {
      throw failure
    } catch {
      if replica.disk.hasFailed { return try crash(index, "while syncing") }
      replica.disk.cancelFailure()
      replica.memory.wasBusy = false
      guard let reason = error as? TomboloError, reason.isRetryable else { throw error }
      note("\(replica.name) gives up: \(reason.code.rawValue)")
      replica.engine = nil
      try observe(replica)
      if isEditing { schedule(.beginSync(replica: index), in: generator.within(500...4_000)) }
    }
  }

  private func follow(_ instruction: SyncInstruction, _ index: Int) throws {
    let replica = replicas[index]
    switch instruction {
    case .wait(let milliseconds):
      schedule(.timer(replica: index, session: replica.session), in: Int(milliseconds))
    case .finished(let report):
      count("syncs")
      note(
        "\(replica.name) has synced: pushed \(report.pushed), parked \(report.parked), pulled \(report.pulled), "
          + "conflicts \(report.conflicts), checksum \(report.checksum.rawValue)")
      replica.engine = nil
      replica.memory.hasPulledAll = true
      try checkRepairs(report, of: replica)
      if report.checksum == .different {
        throw SimulationFailure(.convergence, "\(replica.name)'s checksum differs from the server's after a sync")
      }
      try observe(replica)
      if isEditing { schedule(.beginSync(replica: index), in: generator.within(100...5_000)) }
    case .send(let request):
      noteSent(request, by: replica)
      let fate = network.fate(of: request, replica: index, session: replica.session)
      note("\(replica.name) → \(request.method) \(Self.name(of: request)): \(fate.text)")
      for (delay, delivery) in fate.deliveries { schedule(.arrive(delivery), in: Int(delay)) }
      if let timeout = fate.timeout {
        count("messages lost")
        schedule(
          .answer(
            replica: index, session: replica.session,
            event: .transportFailed(TransportFailure(.timedOut, reason: "no answer came"))), in: Int(timeout))
      }
    }
  }

  /// A repair where nothing was damaged hides a fault of the exchange.
  func checkRepairs(_ report: SyncReport, of replica: SimulatedReplica) throws {
    if report.repaired > 0, !replica.memory.isDamaged {
      throw SimulationFailure(
        .convergence, "\(replica.name) had to repair \(report.repaired) records that nothing had damaged")
    }
    if report.checksum == .equal { replica.memory.isDamaged = false }
  }

  /// From the moment that a request has left, what it carries must outlive any crash.
  func noteSent(_ request: TransportRequest, by replica: SimulatedReplica) {
    guard let push = Self.push(in: request) else { return }
    // A fragment is always one of the oldest save.
    let first = push.fragment == nil ? nil : try? replica.store?.outbox(recordsMax: 1, bytesMax: 1).first
    guard let last = push.changeSets.last ?? first else { return }
    replica.memory.sentUpTo = max(replica.memory.sentUpTo, last.number)
  }

  static func push(in request: TransportRequest) -> PushRequest? {
    guard request.method == "POST", request.url.hasSuffix("/changes") else { return nil }
    return try? PushRequest(decoding: request.body, as: .cbor)
  }

  static func name(of request: TransportRequest) -> String {
    let path = request.url.split(separator: "?")[0]
    return String(path.dropFirst(SimulatedServer.url.count))
  }
}
