import Testing
import Tombolo
import TomboloClient
import TomboloProtocol

@Suite("Sync driver")
struct DriverTests {
  /// Waits in no time.
  private final class VirtualSleeper: Sleeper {
    let waits = Guarded<[UInt64]>([])
    func sleep(milliseconds: UInt64) -> Bool {
      waits.withLock { $0.append(milliseconds) }
      return true
    }
    func wake() {}
  }

  private final class ScriptedTransport: Transport {
    let answers: @Sendable (TransportRequest, Int) throws -> SyncEvent
    private let count = Guarded(0)

    init(_ answers: @escaping @Sendable (TransportRequest, Int) throws -> SyncEvent) { self.answers = answers }

    func perform(_ request: TransportRequest) throws -> TransportResponse {
      let index = count.withLock { count in
        defer { count += 1 }
        return count
      }
      switch try answers(request, index) {
      case .response(let response): return response
      case .transportFailed(let failure): throw failure
      case .start, .timer: throw TransportFailure(.impossible, reason: "no answer")
      }
    }
  }

  private func driver(
    _ store: ScriptedStore, _ sleeper: any Sleeper,
    _ answers: @escaping @Sendable (TransportRequest, Int) throws -> SyncEvent
  ) -> SyncDriver {
    SyncDriver(
      store: store, token: "secret", transport: ScriptedTransport(answers), sleeper: sleeper,
      randomness: FixedRandomness())
  }

  @Test("A sync runs to its report, with its waits waited and its progress told")
  func runs() throws {
    let store = ScriptedStore()
    store.enqueue(ScriptedStore.changeSet(1))
    let sleeper = VirtualSleeper()
    let driver = driver(store, sleeper) { request, index in
      index == 0 ? .transportFailed(TransportFailure(.lost, reason: "cut")) : try Answer.usual(request)
    }
    var phases: [SyncProgress.Phase] = []
    var waits = 0
    let report = try driver.run { notice in
      switch notice {
      case .progress(let progress): phases.append(progress.phase)
      case .waiting: waits += 1
      }
    }
    #expect(report.pushed == 1)
    #expect(phases == [.pushing, .pushing, .pulling])
    #expect(waits == 1)
    #expect(sleeper.waits.withLock { $0.count } == 1)
  }

  @Test("A sync that is cancelled sends nothing more, and the next one runs")
  func cancelled() throws {
    let store = ScriptedStore()
    let driver = driver(store, VirtualSleeper()) { request, _ in try Answer.usual(request) }
    let error = #expect(throws: TomboloError.self) { try driver.run(isCancelled: { true }) }
    #expect(error?.code == .cancelled)
    #expect(store.now.pages.isEmpty)
    #expect(try driver.run().checksum == .equal)
  }

  @Test("An interruption between two syncs does not end the next one")
  func staleInterruption() throws {
    let driver = driver(ScriptedStore(), SemaphoreSleeper()) { request, _ in try Answer.usual(request) }
    driver.interrupt()
    #expect(try driver.run().exchanges == 1)
  }

  @Test("An interruption during a wait ends the sync as cancelled")
  func interruptedWait() throws {
    let store = ScriptedStore()
    let driver = driver(store, SemaphoreSleeper()) { _, _ in
      Answer.error(.unavailable, status: 503, headers: ["retry-after": "60"])
    }
    let error = #expect(throws: TomboloError.self) {
      try driver.run { notice in
        if case .waiting = notice { driver.interrupt() }
      }
    }
    #expect(error?.code == .cancelled)
  }

  @Test("A server that nobody runs is unreachable, and says so at once")
  func nobodyListens() throws {
    // Port 1 of the loopback address: nothing listens there, and nothing leaves the machine.
    let transport = CurlTransport()
    let failure = #expect(throws: TransportFailure.self) {
      try transport.perform(TransportRequest(method: "GET", url: "http://127.0.0.1:1/v1/stores/a/changes"))
    }
    #expect(failure?.kind == .unreachable)
    #expect(failure?.isRetryable == true)
  }

  @Test(
    "A URL of another kind is never asked", arguments: ["file:///etc/passwd", "ftp://127.0.0.1/x", "not a url", ""])
  func otherSchemes(_ url: String) throws {
    let failure = #expect(throws: TransportFailure.self) {
      try CurlTransport().perform(TransportRequest(method: "GET", url: url))
    }
    #expect(failure?.kind == .impossible)
  }

  @Test("An exchange that is interrupted before it begins ends at once; the one after it runs")
  func interruptedTransport() throws {
    let transport = CurlTransport()
    transport.interrupt()
    let request = TransportRequest(method: "GET", url: "http://127.0.0.1:1/")
    let first = #expect(throws: TransportFailure.self) { try transport.perform(request) }
    #expect(first?.kind == .interrupted)
    let second = #expect(throws: TransportFailure.self) { try transport.perform(request) }
    #expect(second?.kind == .unreachable)
  }
}
