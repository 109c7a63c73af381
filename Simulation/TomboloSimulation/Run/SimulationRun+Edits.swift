import Tombolo
import TomboloProtocol
import TomboloSQLite

/// What people do at the replicas.
extension SimulationRun {
  func open(_ index: Int) throws {
    let replica = replicas[index]
    try replica.boot()
    meet(replica)
    try observe(replica)
  }

  /// Gives a replica a person who knows its schema.
  func meet(_ replica: SimulatedReplica) {
    guard let roles = replica.roles else { return }
    replica.person = OperationGenerator(
      roles: roles, mix: plan.mix, recordsMax: plan.setting.recordsMax, deletes: plan.setting.deletes,
      cast: plan.setting.cast, rule: plan.setting.rule, clock: replica.clock,
      generator: choices.noise(.edit, of: replica.index))
  }

  func edit(_ place: Int) throws {
    let planned = plan.edits[place]
    guard replicas.indices.contains(planned.machine) else { return }
    let replica = replicas[planned.machine]
    guard let store = replica.store, let content = try replica.content() else { return }
    switch planned.action {
    case .drawn:
      guard var person = replica.person else { return }
      var operations: [Operation] = []
      for _ in 0..<4 where operations.isEmpty { operations = person.save(on: content) }
      replica.person = person
      if !operations.isEmpty { try save(operations, planned, replica, store, content) }
    case .save(let operations):
      var made: Set<RecordID> = []
      // In a replay that leaves something out, what hangs on it falls out too.
      let possible = operations.filter { operation in
        if let id = operation.made { made.insert(id) }
        return operation.needed.allSatisfy { made.contains($0) || content.record($0) != nil }
      }
      if !possible.isEmpty { try save(possible, planned, replica, store, content) }
    case .custom(let number, let seed):
      try runCustom(number, seed: seed, planned, replica, store, content)
    }
  }

  private func save(
    _ operations: [Operation], _ planned: SimulationPlan.Edit, _ replica: SimulatedReplica, _ store: Store,
    _ content: StoreContent
  ) throws {
    var planned = planned
    planned.action = .save(operations)
    let sentence = { [self] in Narrator.list(operations.map { narrator.sentence($0) }) }
    try attempt(planned, replica, store, content, sentence) {
      try store.save { writer in
        for operation in operations { try operation.apply(to: writer, store.schema) }
      }
    }
  }

  private func runCustom(
    _ number: Int, seed: UInt64, _ planned: SimulationPlan.Edit, _ replica: SimulatedReplica, _ store: Store,
    _ content: StoreContent
  ) throws {
    guard let schema = subject.schema, subject.operations.indices.contains(number),
      replica.document == subject.document
    else { return }
    let operation = subject.operations[number]
    try attempt(planned, replica, store, content, { "runs “\(operation.name)”" }) {
      do {
        try SimulatedSave.perform(
          operation.body, on: store, schema, replica: replica.name, clock: replica.clock, seed: seed)
      } catch  where !(error is TomboloError) && !replica.disk.hasFailed {
        throw SimulationFailure(.custom, "“\(operation.name)” throws on \(replica.name): \(error)")
      }
    }
  }

  /// One save, which may be refused, and may meet a power cut.
  private func attempt(
    _ planned: SimulationPlan.Edit, _ replica: SimulatedReplica, _ store: Store, _ content: StoreContent,
    _ sentence: () -> String, _ body: () throws -> Void
  ) throws {
    doneEdits.append(planned)
    replica.memory.hasPulledAll = false
    armCrash(replica, .saveCrash, chance: 0.04, operationsMax: 20)
    replica.memory.wasBusy = true
    do {
      try body()
    } catch {
      if error is SimulationFailure { throw error }
      let sentence = sentence()
      if replica.disk.hasFailed {
        statistics.count(.replicaCutShort)
        return try crash(replica, "while it saves: it \(sentence)")
      }
      replica.disk.cancelFailure()
      replica.memory.wasBusy = false
      guard let refusal = error as? TomboloError,
        Self.localRefusals.contains(refusal.code) || replica.isDiskFull && Self.diskCodes.contains(refusal.code)
      else { throw error }
      note("\(replica.name) may not save (\(refusal.code.rawValue)) what it tried: it \(sentence)")
      statistics.count("saves refused locally")
      if try replica.content() != content {
        throw SimulationFailure(
          .atomicity, "\(replica.name): a save that threw \(refusal.code.rawValue) left something behind")
      }
      return
    }
    if replica.disk.hasFailed { return try crash(replica, "after it has saved: it \(sentence())") }
    replica.disk.cancelFailure()
    replica.memory.wasBusy = false
    statistics.count("saves")
    if replica.isPushing { statistics.count(.editInFlight) }
    let text = sentence()
    note("\(replica.name) \(text)")
    let unsent = try store.outbox(recordsMax: Int.max, bytesMax: Int.max)
    if let newest = unsent.last {
      replica.memory.confirmed[newest.number] = newest.id
      fidelity.remember(newest)
    }
    try observe(replica)
    if let state = try store.replicaState(), let now = try replica.content() {
      try BookkeepingChecker().checkNewestSave(store, state, now, unsent, replica.name)
    }
  }

  /// What a store may refuse a person at once.
  static let localRefusals: Set<ErrorCode> = [
    .deleteDenied, .requiredReference, .uniqueViolation, .cyclicReference, .countOutOfRange, .requiredAttribute,
  ]
  /// What a store says where there is no room.
  static let diskCodes: Set<ErrorCode> = [.diskFull, .diskFailure]

  // MARK: Looking

  /// What anybody could see now must be right now.
  func observe(_ replica: SimulatedReplica) throws {
    guard let roles = replica.roles, let store = replica.store, let content = try replica.content(),
      !replica.memory.isDamaged
    else { return }
    try AtomicityChecker(roles: roles).check(content, on: replica.name)
    guard let state = try store.replicaState() else { return }
    machines[state.replica] = replica.family
    let digest = content.digest
    statistics.states.insert(digest)
    replica.memory.contents[ReplicaMemory.StateKey(state)] = digest
    try replica.memory.identify(as: state) { try store.outbox(recordsMax: Int.max, bytesMax: Int.max) }
    try CursorChecker().check(state, replica)
    // Until an answer to all of it has come with a complete pull, a replica may hold a key twice or show a cycle.
    if state.unsent == 0, replica.engine == nil, replica.memory.hasPulledAll {
      try IntegrityChecker(roles: roles).check(content, on: replica.name)
    }
    try checkInvariants(.always, replica)
  }

  /// The user's own.
  func checkInvariants(_ moment: SimulationMoment, _ replica: SimulatedReplica) throws {
    guard let schema = subject.schema, let store = replica.store else { return }
    for invariant in subject.invariants where invariant.moment == moment {
      let view = SimulatedView(store, schema, replica: replica.name)
      guard try invariant.holds(view) else {
        throw SimulationFailure(.custom, "\(replica.name) shows a state in which “\(invariant.name)” does not hold")
      }
    }
  }
}
