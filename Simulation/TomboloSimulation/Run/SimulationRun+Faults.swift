import Tombolo
import TomboloClient
import TomboloProtocol
import TomboloSQLite

/// What happens to the machines: power cuts at chosen writes, restarts, older copies, wrong clocks.
extension SimulationRun {
  /// Perhaps lets the power go at one of the next writes.
  func armCrash(_ replica: SimulatedReplica, chance: Double, operationsMax: Int) {
    guard configuration.hasCrashes, isEditing, generator.chance(chance) else { return }
    replica.disk.failAfter(operations: UInt64(generator.within(1...operationsMax)))
  }

  private func survival() -> MemoryFileSystem.Survival {
    generator.pick([.everything, .synced, .chosen, .chosen]) ?? .chosen
  }

  func crash(_ index: Int, _ when: String) throws {
    let replica = replicas[index]
    let survival = survival()
    count("power cuts")
    note("\(replica.name) loses power \(when); \(survival)")
    replica.memory.mayLoseUnsynced = survival != .everything
    replica.shutDown()
    replica.disk.powerCut(survival)
    schedule(.boot(replica: index), in: generator.within(10...3_000))
  }

  func cutPower(_ index: Int) throws {
    guard isEditing else { return }
    schedule(.powerCut(replica: index), in: generator.within(8_000...40_000))
    guard replicas[index].store != nil else { return }
    try crash(index, "at rest")
  }

  func boot(_ index: Int) throws {
    let replica = replicas[index]
    guard replica.store == nil else { return }
    try replica.boot()
    note("\(replica.name) is back")
    try BookkeepingChecker().checkRestart(replica, mayLoseUnsynced: replica.memory.mayLoseUnsynced)
    replica.memory.wasBusy = false
    try forgetLost(replica)
    try observe(replica)
    if isEditing { schedule(.beginSync(replica: index), in: generator.within(10...2_000)) }
  }

  /// Saves that were never sent may be lost with the power; nobody was promised more.
  private func forgetLost(_ replica: SimulatedReplica) throws {
    guard let store = replica.store, let state = try store.replicaState() else { return }
    if let known = replica.memory.replica, known != state.replica {
      // A new id that no request had carried is lost with the saves that were made under it.
      let unsent = try store.outbox(recordsMax: Int.max, bytesMax: Int.max)
      replica.memory.confirmed = Dictionary(unsent.map { ($0.number, $0.id) }, uniquingKeysWith: { first, _ in first })
      replica.memory.replica = state.replica
      return
    }
    let lost = replica.memory.confirmed.keys.filter { $0 > state.highestSave }
    for number in lost { replica.memory.confirmed[number] = nil }
    if !lost.isEmpty { note("\(replica.name) has lost \(lost.count) saves that were never sent") }
  }

  // MARK: Older copies

  func backUp(_ index: Int) {
    let replica = replicas[index]
    guard isEditing, replica.store != nil else { return }
    replica.backup = replica.disk.image()
    note("\(replica.name) is backed up")
    schedule(.restore(replica: index), in: generator.within(2_000...20_000))
  }

  func restore(_ index: Int) throws {
    let replica = replicas[index]
    guard isEditing, let backup = replica.backup else { return }
    replica.backup = nil
    count("restores")
    note("\(replica.name) is put back to its backup")
    replica.shutDown()
    replica.disk.restore(backup)
    // What it did since then is forgotten, but for what the server knows.
    replica.memory = ReplicaMemory()
    replica.memory.wasBusy = true
    schedule(.boot(replica: index), in: generator.within(10...500))
  }

  // MARK: Clocks

  func changeClock(_ index: Int) {
    guard isEditing else { return }
    let skew = Int64(generator.pick([0, -3_000, 90, -120_000, 45_000, 400_000, 86_400_000]) ?? 0)
    replicas[index].clock.setSkew(milliseconds: skew)
    note("\(replicas[index].name)'s clock is now wrong by \(skew) ms")
    schedule(.changeClock(replica: index), in: generator.within(10_000...40_000))
  }

  // MARK: The server

  func cutServerPower() {
    guard isEditing else { return }
    schedule(.serverPowerCut, in: generator.within(10_000...40_000))
    guard server.isUp else { return }
    crashServer("at rest")
  }

  func crashServer(_ when: String) {
    let survival = survival()
    count("server power cuts")
    note("the server loses power \(when); \(survival)")
    server.powerCut(survival)
    schedule(.serverBoot, in: generator.within(10...4_000))
  }

  func bootServer() throws {
    guard !server.isUp else { return }
    try server.boot()
    note("the server is back")
  }

  /// A request reaches the server's machine.
  func arrive(_ delivery: SimulatedNetwork.Delivery) throws {
    if configuration.hasCrashes, isEditing, server.isUp, generator.chance(0.01) {
      server.disk.failAfter(operations: UInt64(generator.within(1...25)))
    }
    let wasUp = server.isUp
    let response = server.handle(delivery.request)
    if let response {
      server.disk.cancelFailure()
      try witness(delivery.request, response, isCopy: delivery.isCopy)
    } else if wasUp {
      crashServer("in the middle of a request")
    }
    guard let delay = delivery.answerDelay else { return }
    let event: SyncEvent =
      response.map { .response($0) }
      ?? .transportFailed(TransportFailure(wasUp ? .lost : .unreachable, reason: "the server is down"))
    schedule(.answer(replica: delivery.replica, session: delivery.session, event: event), in: Int(delay))
  }

  /// Takes down what an answer promises, before it is known whether it will arrive.
  func witness(_ request: TransportRequest, _ response: TransportResponse, isCopy: Bool) throws {
    count("exchanges")
    guard response.status == 200 else {
      note("the server answers \(response.status) to \(request.method) \(Self.name(of: request))")
      if response.status >= 500 {
        throw SimulationFailure(.progress, "the server answers \(response.status) to \(Self.name(of: request))")
      }
      return
    }
    if let push = Self.push(in: request) {
      let answers = try PushResponse(decoding: response.body, as: .cbor)
      note(
        "the server" + (isCopy ? ", to a copy," : "") + " answers "
          + answers.answers.map(\.traceText).joined(separator: ", "))
      try ledger.take(push, answers)
    } else if request.method == "GET", Self.name(of: request) == "/changes" {
      let page = try Page(decoding: response.body, as: .cbor)
      note(
        "the server gives \(page.items.count) items up to \(page.cursor.position.rawValue)"
          + (page.hasMore ? ", more" : ""))
      ledger.take(page)
    }
  }
}

extension PushAnswer {
  var traceText: String {
    let name =
      switch verdict {
      case .accepted(let fell): fell.isEmpty ? "taken" : "taken but \(fell.count)"
      case .known: "known"
      case .refused(let code, _): "refused (\(code.rawValue))"
      case .clockSkew: "clock skew"
      case .gap(let expected): "gap, expects \(expected.rawValue)"
      case .copiedReplica: "copied replica"
      case .fragmentStored: "fragment"
      }
    return "\(number.rawValue) \(name)"
  }
}
