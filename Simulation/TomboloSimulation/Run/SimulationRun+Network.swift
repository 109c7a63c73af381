import Tombolo
import TomboloClient
import TomboloProtocol
import TomboloSQLite
import TomboloServer

/// A pull that waits at the server.
struct HeldPull {
  var poll: LongPoll
  var delivery: Delivery
}

/// What happens between the replicas and the server.
extension SimulationRun {
  // MARK: The replicas' side

  func beginSync(_ index: Int) throws {
    let replica = replicas[index]
    var noise = choices.noise(.sync, of: index)
    guard replica.store != nil, replica.engine == nil else {
      return schedule(.beginSync(machine: index), in: noise.within(500...2_000))
    }
    let wait = plan.kinds.contains(.longPoll) && isEditing && noise.chance(0.5) ? noise.within(1...4) : 0
    try engineTurn(replica) { try replica.beginSync(now: time.milliseconds, waitSeconds: wait) }
  }

  /// Hands an event to the replica's engine, if it is still the one that waits for it.
  func step(_ index: Int, _ session: Int, _ event: SyncEvent) throws {
    let replica = replicas[index]
    guard replica.session == session, replica.engine != nil else { return }
    try engineTurn(replica) { try replica.engine?.handle(event) }
  }

  /// An answer that would come while there is no way from the server is none.
  func answered(_ index: Int, _ session: Int, _ event: SyncEvent) throws {
    guard replicas[index].cutOffUntil > time.milliseconds, case .response = event else {
      return try step(index, session, event)
    }
    statistics.count(.partition)
    try step(index, session, .transportFailed(TransportFailure(.lost, reason: "the way was cut off")))
  }

  private func engineTurn(_ replica: SimulatedReplica, _ turn: () throws -> SyncInstruction?) throws {
    armCrash(replica, .syncCrash, chance: 0.02, operationsMax: 30)
    replica.isPushing = false
    replica.memory.wasBusy = true
    do {
      let instruction = try turn()
      if replica.disk.hasFailed {
        statistics.count(.replicaCutShort)
        return try crash(replica, "while it syncs")
      }
      replica.disk.cancelFailure()
      replica.memory.wasBusy = false
      try observe(replica)
      if let instruction { try follow(instruction, replica) }
    } catch let failure as SimulationFailure {
      throw failure
    } catch {
      if replica.disk.hasFailed { return try crash(replica, "while it syncs") }
      replica.disk.cancelFailure()
      replica.memory.wasBusy = false
      guard let reason = error as? TomboloError, isExpected(reason, replica) else { throw error }
      note("\(replica.name) gives up syncing (\(reason.code.rawValue))")
      replica.engine = nil
      replica.meetsAnotherServer = reason.code == .otherEpoch
      if reason.code == .otherEpoch { statistics.count(.otherServer) }
      try observe(replica)
      resync(replica, within: 500...4_000)
    }
  }

  private func isExpected(_ error: TomboloError, _ replica: SimulatedReplica) -> Bool {
    if error.isRetryable { return true }
    if replica.isDiskFull, Self.diskCodes.contains(error.code) { return true }
    if error.code == .otherEpoch, ledger.hasLostServer { return true }
    return error.code == .unauthorized && plan.kinds.contains(.tokenLoss)
  }

  private func resync(_ replica: SimulatedReplica, within range: ClosedRange<Int>) {
    guard isEditing else { return }
    var noise = choices.noise(.sync, of: replica.index)
    schedule(.beginSync(machine: replica.index), in: noise.within(range))
  }

  private func follow(_ instruction: SyncInstruction, _ replica: SimulatedReplica) throws {
    switch instruction {
    case .wait(let milliseconds):
      schedule(.timer(machine: replica.index, session: replica.session), in: Int(milliseconds))
    case .finished(let report):
      statistics.count("syncs")
      note("\(replica.name) has synced: \(report.told)")
      replica.engine = nil
      replica.memory.hasPulledAll = true
      try checkRepairs(report, of: replica)
      if report.checksum == .different {
        throw SimulationFailure(.convergence, "\(replica.name)'s checksum differs from the server's after a sync")
      }
      try observe(replica)
      resync(replica, within: 100...5_000)
    case .send(let request): try send(request, replica)
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

  private func send(_ request: TransportRequest, _ replica: SimulatedReplica) throws {
    try noteSent(request, by: replica)
    var fate =
      MessageFate(
        rawValue: choices.fault(.request, of: replica.index) { MessageFate.drawn(plan.kinds, &$0).rawValue })
      ?? .delivered
    if replica.cutOffUntil > time.milliseconds { fate = .cutOff }
    if let fault = fate.fault { statistics.count(fault) }
    replica.isPushing = Self.isPush(request)
    if fate == .answerLost, replica.isPushing { statistics.count(.answerLost) }
    note("\(replica.name) sends \(Self.told(request))\(fate.sentence)")
    let delivery = Delivery(machine: replica.index, session: replica.session, request: request)
    var noise = choices.noise(.network, of: replica.index)
    let (deliveries, timesOut) = Delivery.deliveries(of: delivery, fate, &noise)
    for (delay, delivery) in deliveries { schedule(.arrive(delivery), in: delay) }
    guard timesOut else { return }
    schedule(
      .answer(
        machine: replica.index, session: replica.session,
        event: .transportFailed(TransportFailure(.timedOut, reason: "no answer came"))),
      in: MessageFate.timeoutMilliseconds)
  }

  /// From the moment that a request has left, what it carries must outlive any crash, and must be what was saved.
  func noteSent(_ request: TransportRequest, by replica: SimulatedReplica) throws {
    try BoundsChecker(options: engineOptions).check(request)
    guard let push = Self.push(in: request) else { return }
    try fidelity.check(push, replica: replica.name, ledger: ledger)
    // A fragment is always one of the oldest save.
    let first = push.fragment == nil ? nil : try replica.store?.outbox(recordsMax: 1, bytesMax: 1).first
    guard let last = push.changeSets.last ?? first else { return }
    replica.memory.sentUpTo = max(replica.memory.sentUpTo, last.number)
  }

  // MARK: The server's side

  /// A request reaches the server's machine.
  func arrive(_ delivery: Delivery) throws {
    guard plan.kinds.contains(.groupCommit), Self.isPush(delivery.request) else { return try serve([delivery]) }
    waitingPushes.append(delivery)
    if waitingPushes.count == 1 {
      var noise = choices.noise(.network, of: SimulationPlan.server)
      schedule(.commitGroup, in: noise.within(1...60))
    }
  }

  func commitGroup() throws {
    let group = waitingPushes
    waitingPushes = []
    guard !group.isEmpty else { return }
    if group.count > 1 { statistics.count(.groupCommit) }
    try serve(group)
  }

  private func serve(_ deliveries: [Delivery]) throws {
    let cut = choices.fault(.serverCrash, of: SimulationPlan.server) { [self] generator in
      guard plan.kinds.contains(.serverCrash), isEditing, server.isUp, generator.chance(0.01) else { return 0 }
      return generator.within(1...25)
    }
    if cut > 0, server.isUp { server.disk.failAfter(operations: UInt64(cut)) }
    let wasUp = server.isUp
    let replies = server.handle(deliveries.map(\.request))
    let hasFailed = wasUp && server.disk.hasFailed
    if !hasFailed { server.disk.cancelFailure() }
    for (delivery, reply) in zip(deliveries, replies) { try pass(reply, to: delivery, wasUp: wasUp) }
    if hasFailed {
      statistics.count("requests cut short at the server")
      return crashServer("in the middle of a request")
    }
    try wakePolls()
  }

  /// Takes a reply down, and sends it back.
  private func pass(_ reply: SimulatedServer.Reply, to delivery: Delivery, wasUp: Bool) throws {
    let event: SyncEvent
    switch reply {
    case .held(let poll):
      if delivery.answerDelay != nil {
        statistics.count(.longPoll)
        heldPulls.append(HeldPull(poll: poll, delivery: delivery))
        queue.add(.wakePolls, at: poll.deadline)
      }
      return
    case .response(let response):
      try witness(delivery.request, response, delivery)
      event = .response(response)
    case .none:
      event = .transportFailed(TransportFailure(wasUp ? .lost : .unreachable, reason: "the server is down"))
    }
    guard let delay = delivery.answerDelay else { return }
    schedule(.answer(machine: delivery.machine, session: delivery.session, event: event), in: delay)
  }

  /// Answers the waiting pulls for which there is something new, or whose time is up.
  func wakePolls() throws {
    let held = heldPulls
    heldPulls = []
    for pull in held {
      let reply = server.resume(pull.poll)
      if case .held = reply { heldPulls.append(pull) } else { try pass(reply, to: pull.delivery, wasUp: false) }
    }
  }

  /// Takes down what an answer promises, before it is known whether it will arrive.
  func witness(_ request: TransportRequest, _ response: TransportResponse, _ delivery: Delivery?) throws {
    statistics.count("exchanges")
    let whom = delivery.map { replicas[$0.machine].name + ($0.isCopy ? " (to a copy of the request)" : "") } ?? "it"
    guard response.status == 200 else {
      if response.status >= 500, Self.isPush(request) { statistics.count(.notTaken) }
      let carried = try? WireError(decoding: response.body, as: .cbor)
      if carried?.error.code == .cursorExpired { statistics.count(.cursorExpired) }
      note("the server answers \(whom) with status \(response.status)")
      if response.status >= 500, !isServerFull {
        throw SimulationFailure(.progress, "the server answers \(response.status) to \(Self.told(request))")
      }
      return
    }
    if let push = Self.push(in: request) {
      let answers = try PushResponse(decoding: response.body, as: .cbor)
      if answers.answers.contains(where: { $0.verdict == .copiedReplica }) { statistics.count(.copyNoticed) }
      note("the server answers \(whom): \(Narrator.list(answers.answers.map(\.told)))")
      try ledger.take(push, answers)
    } else if Self.isPull(request) {
      let page = try Page(decoding: response.body, as: .cbor)
      try BoundsChecker(options: engineOptions).check(page, to: request)
      note(
        "the server gives \(whom) \(page.items.count) items up to position \(page.cursor.position.rawValue)"
          + (page.hasMore ? ", and has more" : ""))
      ledger.take(page)
    }
  }
}
