import Testing
import Tombolo
import TomboloClient
import TomboloProtocol

@Suite("Batches and fragments")
struct BatchTests {
  private func sizes(_ exchange: Exchange) throws -> [Int] {
    try exchange.requests.filter { $0.method == "POST" }
      .map { try PushRequest(decoding: $0.body, as: .cbor) }
      .filter { $0.fragment == nil }.map(\.changeSets.count)
  }

  @Test("413 halves the batch until it passes")
  func halves() throws {
    let store = ScriptedStore()
    (1...16).forEach { store.enqueue(ScriptedStore.changeSet($0, bytes: 200)) }
    let exchange = try Exchange(store) { request, _ in
      guard request.method == "POST" else { return Answer.page() }
      let push = try PushRequest(decoding: request.body, as: .cbor)
      return push.changeSets.count > 3 ? Answer.error(.requestTooLarge, status: 413) : try Answer.usual(request)
    }
    #expect(exchange.report?.pushed == 16)
    #expect(try sizes(exchange).max() == 16)
    #expect(store.now.queue.isEmpty)
  }

  @Test(
    "A request that is too large for the server, or not understood by it, fails with what to do about it",
    arguments: [ErrorCode.requestTooLarge, .malformedMessage, .unknownMessageKind], [false, true])
  func remedies(code: ErrorCode, isOfProxy: Bool) throws {
    let store = ScriptedStore()
    store.enqueue(ScriptedStore.changeSet(1, bytes: 200))
    let status = code == .requestTooLarge ? 413 : 400
    let exchange = try Exchange(store) { request, _ in
      guard request.method == "GET" else { return try Answer.usual(request) }
      return isOfProxy
        ? .response(
          TransportResponse(status: status, headers: ["content-type": "text/html"], body: Array("<p>no".utf8)))
        : Answer.error(code, status: status)
    }
    let error = try #require(exchange.error)
    #expect(!error.remedy.isEmpty, "\(error)")
    if isOfProxy && status == 400 { return }
    #expect(error.code == code)
    #expect(error.remedy.contains(code == .requestTooLarge ? "--request-bytes" : "one version"), "\(error)")
  }

  @Test("A batch beyond the body's limit is cut before it is sent")
  func cutBefore() throws {
    let store = ScriptedStore()
    (1...8).forEach { store.enqueue(ScriptedStore.changeSet($0, bytes: 1_000)) }
    var options = SyncEngine.Options()
    options.limits.bodyBytesMax = 2_500
    let exchange = try Exchange(store, options: options) { request, _ in
      if request.method == "POST" { #expect(request.body.count <= 2_500) }
      return try Answer.usual(request)
    }
    #expect(exchange.report?.pushed == 8)
  }

  @Test(
    "On a line that breaks off every longer exchange, shorter ones get everything across",
    arguments: [TransportFailure.Kind.timedOut, .lost])
  func weakLine(_ kind: TransportFailure.Kind) throws {
    let store = ScriptedStore()
    (1...16).forEach { store.enqueue(ScriptedStore.changeSet($0, bytes: 1_000)) }
    let assembler = Assembler()
    let exchange = try Exchange(store) { request, _ in
      guard request.body.count <= 2_500 else {
        return .transportFailed(TransportFailure(kind, reason: "the line was cut"))
      }
      return try assembler.answer(request)
    }
    #expect(exchange.error == nil)
    #expect(exchange.report?.pushed == 16 && store.now.queue.isEmpty)
    #expect(exchange.waits.count < 6)
  }

  @Test("A page that does not come through is asked for in smaller parts")
  func weakLineDown() throws {
    var limits: [Int] = []
    let exchange = try Exchange(ScriptedStore()) { request, _ in
      let limit = try #require(
        request.url.split(separator: "&").first { $0.contains("limit=") }?.split(separator: "=").last.flatMap {
          Int($0)
        })
      limits.append(limit)
      return limit > 1_000
        ? .transportFailed(TransportFailure(.timedOut, reason: "the line is slow")) : try Answer.usual(request)
    }
    #expect(exchange.error == nil)
    #expect(limits == [5_000, 5_000, 2_500, 1_250, 625])
  }

  /// Takes fragments as the server does.
  private final class Assembler {
    var pieces: [UInt32: [UInt8]] = [:]
    var whole: [ChangeSet] = []

    func answer(_ request: TransportRequest, bodyBytesMax: Int = .max) throws -> SyncEvent {
      guard request.method == "POST" else { return Answer.page() }
      guard request.body.count <= bodyBytesMax else { return Answer.error(.requestTooLarge, status: 413) }
      let push = try PushRequest(decoding: request.body, as: .cbor)
      guard let fragment = push.fragment else { return try Answer.push(request) }
      pieces[fragment.index] = fragment.bytes
      var verdict = PushAnswer.Verdict.fragmentStored
      if fragment.index + 1 == fragment.count {
        let bytes = (0..<fragment.count).flatMap { pieces[$0] ?? [] }
        whole.append(try ChangeSet(decoding: bytes, as: .cbor))
        verdict = .accepted(fell: [])
      }
      return Answer.cbor(
        PushResponse(
          epoch: Answer.epoch, serverTime: 1,
          answers: [PushAnswer(save: fragment.save, number: .none, verdict: verdict)]))
    }
  }

  @Test("A change set larger than a request goes in pieces that fit together again")
  func fragments() throws {
    let store = ScriptedStore()
    let large = ScriptedStore.changeSet(1, changes: 50, bytes: 500)
    store.enqueue(large, ScriptedStore.changeSet(2))
    var options = SyncEngine.Options()
    options.limits.bodyBytesMax = 8_000
    options.limits.pieceBytesMax = 4_000
    let server = Assembler()
    let exchange = try Exchange(store, options: options) { request, _ in try server.answer(request) }
    #expect(server.whole == [large])
    #expect(exchange.report?.pushed == 2)
  }

  @Test("A change set with more records than a push may have goes in pieces, however small it is")
  func manyRecords() throws {
    let store = ScriptedStore()
    let large = ScriptedStore.changeSet(1, changes: 20)
    store.enqueue(large)
    var options = SyncEngine.Options()
    options.limits.recordsMax = 10
    let server = Assembler()
    let exchange = try Exchange(store, options: options) { request, _ in try server.answer(request) }
    #expect(server.whole == [large])
    #expect(exchange.report?.pushed == 1)
  }

  @Test("A server that takes less than it was thought to gets smaller pieces")
  func smallerPieces() throws {
    let store = ScriptedStore()
    let large = ScriptedStore.changeSet(1, changes: 50, bytes: 500)
    store.enqueue(large)
    let server = Assembler()
    let exchange = try Exchange(store) { request, _ in try server.answer(request, bodyBytesMax: 3_000) }
    #expect(server.whole == [large])
    #expect(exchange.report?.pushed == 1)
  }

  @Test("A save that can never pass is parked with the reason, and those behind it go on past its number")
  func parked() throws {
    let store = ScriptedStore()
    let large = ScriptedStore.changeSet(1, changes: 50, bytes: 500)
    store.enqueue(large, ScriptedStore.changeSet(2))
    var next: UInt64 = 1
    let exchange = try Exchange(store) { request, _ in
      guard request.method == "POST" else { return Answer.page() }
      let push = try PushRequest(decoding: request.body, as: .cbor)
      if push.fragment != nil || push.changeSets.contains(where: { $0.changes.count > 1 }) {
        return Answer.error(.requestTooLarge, status: 413)
      }
      // Numbers must follow each other, as on the server.
      let answers = push.changeSets.map { set in
        guard set.number.rawValue == next else {
          return PushAnswer(save: set.id, number: set.number, verdict: .gap(expected: SaveNumber(next)))
        }
        next += 1
        return PushAnswer(save: set.id, number: set.number, verdict: .accepted(fell: []))
      }
      return Answer.cbor(PushResponse(epoch: Answer.epoch, serverTime: 1, answers: answers))
    }
    #expect(exchange.report?.parked == 1)
    #expect(exchange.report?.pushed == 1)
    #expect(store.now.parked.map(\.code) == [.requestTooLarge])
    #expect(next == 3)
  }

  @Test("A server that loses its pieces again and again ends the sync as stalled")
  func lostPieces() throws {
    let store = ScriptedStore()
    store.enqueue(ScriptedStore.changeSet(1, changes: 20))
    var options = SyncEngine.Options()
    options.limits.recordsMax = 10
    let exchange = try Exchange(store, options: options) { request, _ in
      let fragment = try PushRequest(decoding: request.body, as: .cbor).fragment
      return Answer.cbor(
        PushResponse(
          epoch: Answer.epoch, serverTime: 1,
          answers: fragment.map { [PushAnswer(save: $0.save, number: .none, verdict: .fragmentStored)] } ?? []))
    }
    #expect(exchange.error?.code == .syncStalled)
    #expect(store.now.queue.count == 1)
  }
}
