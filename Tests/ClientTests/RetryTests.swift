import Testing
import Tombolo
import TomboloClient
import TomboloProtocol

@Suite("Retries")
struct RetryTests {
  @Test("The ladder doubles up to its cap, and gives up after its number of failures")
  func ladder() {
    var ladder = RetryLadder()
    ladder.failuresMax = 10
    let waits = (0..<10).map { _ in ladder.fail(retryAfter: nil, random: .max) }
    let steps: [UInt64] = [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]
    #expect(waits.last == .some(nil))
    for (wait, step) in zip(waits, steps) {
      #expect(wait.map { $0 <= step } == true)
    }
    ladder.succeed()
    #expect(ladder.failures == 0)
  }

  @Test("Jitter draws evenly from zero to the step", arguments: [0, 1, 124, 250, 251, 1_000] as [UInt64])
  func jitter(_ random: UInt64) {
    var ladder = RetryLadder()
    #expect(ladder.fail(retryAfter: nil, random: random) == random % 251)
  }

  @Test("Retry-After is never undercut, and given up on beyond its cap")
  func retryAfter() {
    var ladder = RetryLadder()
    #expect(ladder.fail(retryAfter: 5_000, random: 0) == 5_000)
    let second = ladder.fail(retryAfter: 5_000, random: .max)
    #expect(second.map { (5_000...5_250).contains($0) } == true)
    #expect(ladder.fail(retryAfter: 10_000_000, random: 0) == nil)
  }

  @Test("A busy server is asked again with what is unsent still there", arguments: [429, 500, 502, 503, 504, 408])
  func busyServer(_ status: Int) throws {
    let store = ScriptedStore()
    store.enqueue(ScriptedStore.changeSet(1))
    let exchange = try Exchange(store) { request, index in
      index < 3 ? .response(TransportResponse(status: status)) : try Answer.usual(request)
    }
    #expect(exchange.report?.pushed == 1)
    #expect(exchange.report?.retries == 3)
    #expect(exchange.waits.count == 3)
  }

  @Test("429 with Retry-After waits that long")
  func rateLimited() throws {
    let exchange = try Exchange(ScriptedStore(), randomness: FixedRandomness(bits: 0)) { request, index in
      index == 0
        ? Answer.error(.rateLimited, status: 429, headers: ["retry-after": "7"]) : try Answer.usual(request)
    }
    #expect(exchange.waits == [7_000])
  }

  @Test(
    "A Retry-After that is no number of seconds is answered with the usual wait",
    arguments: ["", "soon", "-1", "1.5", "Wed, 21 Oct 2026 07:28:00 GMT"])
  func oddRetryAfter(_ header: String) throws {
    let exchange = try Exchange(ScriptedStore(), randomness: FixedRandomness(bits: 100)) { request, index in
      index == 0
        ? Answer.error(.rateLimited, status: 429, headers: ["retry-after": header]) : try Answer.usual(request)
    }
    #expect(exchange.waits == [100])
  }

  @Test(
    "A Retry-After beyond the cap, or beyond all numbers, ends the sync at once",
    arguments: ["3600", "18446744073709551615"])
  func longRetryAfter(_ header: String) throws {
    let exchange = try Exchange(ScriptedStore()) { _, _ in
      Answer.error(.rateLimited, status: 429, headers: ["retry-after": header])
    }
    #expect(exchange.error?.code == .rateLimited)
    #expect(exchange.waits == [])
  }

  @Test("A server that is away is given up after the ladder's end, as retryable")
  func unreachable() throws {
    let store = ScriptedStore()
    store.enqueue(ScriptedStore.changeSet(1))
    let exchange = try Exchange(store) { _, _ in .transportFailed(TransportFailure(.unreachable, reason: "refused")) }
    #expect(exchange.error?.code == .serverUnreachable)
    #expect(exchange.error?.isRetryable == true)
    #expect(exchange.requests.count == RetryLadder().failuresMax)
    #expect(store.now.queue.count == 1)
  }

  @Test("Progress between failures starts the ladder anew")
  func progressResets() throws {
    let store = ScriptedStore()
    (1...4).forEach { store.enqueue(ScriptedStore.changeSet($0)) }
    var options = SyncEngine.Options()
    options.limits.recordsMax = 1
    let exchange = try Exchange(store, options: options) { request, index in
      index % 4 < 3 ? .transportFailed(TransportFailure(.lost, reason: "cut")) : try Answer.usual(request)
    }
    #expect(exchange.report?.pushed == 4)
    #expect(exchange.report?.retries == 15)
  }

  @Test(
    "A failure that will not go away by itself is not tried again",
    arguments: [TransportFailure.Kind.insecure, .answerTooLarge, .interrupted, .impossible])
  func permanentFailure(_ kind: TransportFailure.Kind) throws {
    let exchange = try Exchange(ScriptedStore()) { _, _ in .transportFailed(TransportFailure(kind, reason: "so")) }
    #expect(exchange.requests.count == 1)
    #expect(exchange.error != nil)
  }

  @Test("Bytes that are no message are asked for again, and given up on in the end")
  func badBytes() throws {
    let good = try Exchange(ScriptedStore()) { request, index in
      index == 0
        ? .response(TransportResponse(status: 200, headers: ["content-type": "application/cbor"], body: [1, 2, 3]))
        : try Answer.usual(request)
    }
    #expect(good.report?.retries == 1)
    let bad = try Exchange(ScriptedStore()) { _, _ in
      .response(TransportResponse(status: 200, headers: ["content-type": "application/cbor"], body: [0xA0]))
    }
    #expect(bad.error?.code == .unexpectedResponse)
  }

  @Test("A sign-in page instead of an answer is called what it is", arguments: ["text/html", "", "image/png"])
  func foreignContent(_ type: String) throws {
    let exchange = try Exchange(ScriptedStore()) { _, _ in
      .response(TransportResponse(status: 200, headers: ["content-type": type], body: Array("<html>".utf8)))
    }
    #expect(exchange.error?.code == .unexpectedResponse)
  }

  @Test("A redirection is never followed", arguments: [301, 302, 307, 308])
  func redirection(_ status: Int) throws {
    let exchange = try Exchange(ScriptedStore()) { _, _ in
      .response(TransportResponse(status: status, headers: ["location": "http://elsewhere/"]))
    }
    #expect(exchange.requests.count == 1)
    #expect(exchange.error?.code == .unexpectedResponse)
  }
}
