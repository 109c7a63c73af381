import Observation
import Testing
import Tombolo
import TomboloClient
import TomboloProtocol

@Suite("Synchronizer")
struct SynchronizerTests {
  private static let schema = """
    {"name":"Library","version":"1.0.0","entities":[
      {"name":"Book","attributes":[{"name":"title","type":"string","default":""}]}]}
    """

  /// Later by a millisecond whenever it is read, so that of two saves the second one is later.
  private final class SteppingClock: WallClock {
    private let last = Guarded(SystemClock().milliseconds())
    func milliseconds() -> UInt64 {
      last.withLock { last in
        last += 1
        return last
      }
    }
  }

  private static let clock = SteppingClock()

  private func store(_ hub: ServiceHub, _ name: String, version: Bool = true) throws -> Store {
    let text = version ? Self.schema : Self.schema.replacing("\"version\":\"1.0.0\",", with: "")
    return try Store(
      .file(path: hub.folder + "/" + name), document: SchemaDocument(parsing: Array(text.utf8)),
      options: Store.Options(clock: Self.clock, randomness: SystemRandomness()))
  }

  @discardableResult
  private func add(_ title: String, to store: Store) throws -> RecordID {
    let plan = try #require(store.schema.entity("Book"))
    let id = store.makeRecordID()
    try store.save { writer in
      let row = try ValueRow(plan, ["title": .text(title)])
      try writer.insert(plan, id, assigned: row.assigned, from: row)
    }
    return id
  }

  private func title(_ id: RecordID, in store: Store) throws -> Value? {
    try store.row(try #require(store.schema.entity("Book")), id)?["title"]
  }

  private func synchronizer(
    _ store: Store, _ hub: ServiceHub,
    outcome: @escaping @Sendable (Result<SyncReport, TomboloError>) -> Void = { _ in }
  ) throws -> Synchronizer {
    try Synchronizer(
      store: store, remote: hub.remote(), transport: ServiceHub.Line(hub), sleeper: SemaphoreSleeper(), outcome: outcome
    )
  }

  @Test("A store remembers the server and where its token is, and takes the server's new address with work unsent")
  func known() throws {
    let hub = try ServiceHub()
    let store = try store(hub, "a.store")
    try add("Dunes", to: store)
    #expect(try Remote.known(to: store) == nil)
    let file = URL(fileURLWithPath: hub.folder + "/token")
    try Data(hub.token.utf8).write(to: file)
    func connect(_ url: String) throws {
      _ = try Synchronizer(
        store: store, remote: Remote(url: url, tokenFile: file), transport: ServiceHub.Line(hub),
        sleeper: SemaphoreSleeper())
    }
    try connect(ServiceHub.url)
    #expect(try Remote.known(to: store) == Remote(url: ServiceHub.url, tokenFile: file))
    let moved = ServiceHub.url.replacing("http://", with: "http://moved.")
    try connect(moved)
    #expect(try Remote.known(to: store)?.url == moved)
    let other = #expect(throws: TomboloError.self) { try connect(ServiceHub.url + "2") }
    #expect(other?.code == .remoteExists)
  }

  @Test("sync sends and receives once; what is there before the first remote is sent too")
  func once() async throws {
    let hub = try ServiceHub()
    let first = try store(hub, "a.store")
    let second = try store(hub, "b.store")
    let id = try add("Dune", to: first)
    let sent = try await synchronizer(first, hub).sync()
    #expect(sent.checksum == .equal)
    let synchronizer = try synchronizer(second, hub)
    let received = try await synchronizer.sync()
    #expect(received.applied == 1)
    #expect(received.checksum == .equal)
    #expect(synchronizer.state == .idle)
    #expect(try synchronizer.conflicts.isEmpty)
    #expect(try title(id, in: second) == .text("Dune"))
  }

  @Test("An unversioned store is refused when the synchronizer is made")
  func unversioned() throws {
    let hub = try ServiceHub()
    let plain = try store(hub, "a.store", version: false)
    let error = #expect(throws: TomboloError.self) { try synchronizer(plain, hub) }
    #expect(error?.code == .storeUnversioned)
  }

  @Test("A write that lost is reported to its author in a sentence, with both values")
  func conflict() async throws {
    let hub = try ServiceHub()
    let stores = [try store(hub, "a.store"), try store(hub, "b.store")]
    let id = try add("Dune", to: stores[0])
    let synchronizers = try stores.map { try synchronizer($0, hub) }
    for synchronizer in synchronizers { try await synchronizer.sync() }
    for (store, text) in zip(stores, ["Dune I", "Dune II"]) {
      let plan = try #require(store.schema.entity("Book"))
      try store.save { writer in
        let row = try ValueRow(plan, ["title": .text(text)])
        try writer.update(plan, id, changed: row.assigned, from: row)
      }
    }
    for index in [0, 1, 0] { try await synchronizers[index].sync() }
    let conflicts = try synchronizers[0].conflicts
    #expect(conflicts.map(\.rule) == ["later_edit"])
    #expect(conflicts.first?.lost == "Dune I" && conflicts.first?.standing == "Dune II")
    #expect(conflicts.first?.isFromAnotherReplica == true)
    #expect(conflicts.first?.sentence.contains("“Dune I”") == true)
    #expect(conflicts.first?.base == "Dune" && conflicts.first?.standingAt != nil)
    #expect(conflicts.first?.standingReplica?.count == 16)
    let heard = Guarded(0)
    withObservationTracking {
      _ = try? synchronizers[0].conflicts
    } onChange: {
      heard.withLock { $0 += 1 }
    }
    try synchronizers[0].restore(try #require(conflicts.first))
    #expect(heard.withLock { $0 } == 1)
    #expect(try synchronizers[0].conflicts.isEmpty)
    #expect(try synchronizers[1].conflicts.isEmpty)
  }

  @Test("While it runs, a save here is there without anybody asking, through the open long poll")
  func live() async throws {
    let hub = try ServiceHub()
    let first = try store(hub, "a.store")
    let second = try store(hub, "b.store")
    let (arrivals, arrived) = AsyncStream.makeStream(of: Int.self)
    let sender = try synchronizer(first, hub)
    let receiver = try synchronizer(second, hub) { outcome in
      if case .success(let report) = outcome { arrived.yield(report.applied) }
    }
    try await sender.sync()
    try await receiver.sync()
    sender.start()
    receiver.start()
    receiver.start()
    let id = try add("Dune", to: first)
    for await applied in arrivals where applied > 0 { break }
    #expect(try title(id, in: second) == .text("Dune"))
    sender.stop()
    receiver.stop()
    #expect(receiver.state == .idle)
    // After stop, a sync by hand still works.
    #expect(try await receiver.sync().checksum == .equal)
  }

  @Test("A server that nobody runs leaves the state offline, and nothing is lost")
  func offline() async throws {
    let hub = try ServiceHub()
    let store = try store(hub, "a.store")
    try add("Dune", to: store)
    let synchronizer = try Synchronizer(
      store: store, remote: hub.remote(), transport: DeadLine(), sleeper: NoSleep())
    await #expect(throws: TomboloError.self) { try await synchronizer.sync() }
    #expect(synchronizer.state == .offline)
    #expect(try store.replicaState()?.unsent == 1)
  }

  @Test("A busy server leaves a running synchronizer waiting for a moment that it names; one by hand is stalled")
  func busy() async throws {
    let hub = try ServiceHub()
    let store = try store(hub, "a.store")
    try add("Dune", to: store)
    let (failures, failed) = AsyncStream.makeStream(of: ErrorCode.self)
    let synchronizer = try Synchronizer(
      store: store, remote: hub.remote(), transport: Answering(status: 503), sleeper: NoSleep()
    ) { outcome in if case .failure(let error) = outcome { failed.yield(error.code) } }
    await #expect(throws: TomboloError.self) { try await synchronizer.sync() }
    guard case .stalled(let error) = synchronizer.state else {
      Issue.record("\(synchronizer.state)")
      return
    }
    #expect(error.code == .unavailable)
    synchronizer.start()
    var codes: [ErrorCode] = []
    for await code in failures {
      codes.append(code)
      if codes.count == 2 { break }
    }
    if case .waiting(let moment) = synchronizer.state {
      #expect(moment > 0)
    } else {
      Issue.record("\(synchronizer.state)")
    }
    synchronizer.finish()
    #expect(synchronizer.state == .idle)
    #expect(synchronizer.lastSent == nil && synchronizer.lastReceived == nil)
  }

  @Test("A token that is refused says so, and a sync that went well says when; whoever observes hears of it")
  func refusedAndTimes() async throws {
    let hub = try ServiceHub()
    let store = try store(hub, "a.store")
    try add("Dune", to: store)
    let refused = try Synchronizer(
      store: store, remote: hub.remote(), transport: Answering(status: 401), sleeper: NoSleep())
    await #expect(throws: TomboloError.self) { try await refused.sync() }
    guard case .refused(let error) = refused.state else {
      Issue.record("\(refused.state)")
      return
    }
    #expect(error.code == .unauthorized)
    let synchronizer = try synchronizer(store, hub)
    let heard = Guarded(0)
    withObservationTracking {
      _ = synchronizer.lastReceived
    } onChange: {
      heard.withLock { $0 += 1 }
    }
    try await synchronizer.sync()
    #expect(heard.withLock { $0 } == 1)
    #expect(synchronizer.lastSent != nil && synchronizer.lastReceived != nil)
    // The times are the store's: another synchronizer has them from the start.
    #expect(try self.synchronizer(store, hub).lastReceived == synchronizer.lastReceived)
  }

  private struct Answering: Transport {
    let status: Int
    func perform(_ request: TransportRequest) throws -> TransportResponse { TransportResponse(status: status) }
  }

  private struct DeadLine: Transport {
    func perform(_ request: TransportRequest) throws -> TransportResponse {
      throw TransportFailure(.unreachable, reason: "nobody is there")
    }
  }

  private struct NoSleep: Sleeper {
    func sleep(milliseconds: UInt64) -> Bool { true }
    func wake() {}
  }
}
