import Testing
import Tombolo
import TomboloClient
import TomboloProtocol

/// A whole sync against a scripted server, in no time: waits are noted, not waited.
struct Exchange {
  var requests: [TransportRequest] = []
  var waits: [UInt64] = []
  var report: SyncReport?
  var error: TomboloError?

  /// - Parameter server: the answer to each request, which is also told its place, from 0.
  init(
    _ store: ScriptedStore, options: SyncEngine.Options = SyncEngine.Options(), randomness: FixedRandomness = .init(),
    server: (TransportRequest, Int) throws -> SyncEvent
  ) throws {
    var engine = try SyncEngine(store: store, token: "secret", randomness: randomness, options: options)
    do {
      var instruction = try engine.handle(.start)
      for _ in 0..<1_000 {
        switch instruction {
        case .finished(let report):
          self.report = report
          return
        case .wait(let milliseconds):
          waits.append(milliseconds)
          instruction = try engine.handle(.timer)
        case .send(let request):
          requests.append(request)
          instruction = try engine.handle(try server(request, requests.count - 1))
        }
      }
      Issue.record("the sync does not end")
    } catch let error as TomboloError {
      self.error = error
    }
  }

  var paths: [String] {
    requests.map { request in
      let path = request.url.dropFirst("http://server:1/v1/stores/library".count).prefix { $0 != "?" }
      return "\(request.method) \(path)"
    }
  }
}

/// The answers of a server that takes everything.
enum Answer {
  static let epoch = Epoch(7)

  static func cbor(_ message: some WireMessage, status: Int = 200, headers: [String: String] = [:]) -> SyncEvent {
    var headers = headers
    headers["content-type"] = "application/cbor"
    return .response(TransportResponse(status: status, headers: headers, body: message.encoded(as: .cbor)))
  }

  static func error(_ code: ErrorCode, status: Int, headers: [String: String] = [:]) -> SyncEvent {
    cbor(WireError(TomboloError(code, "The server says so.")), status: status, headers: headers)
  }

  static func push(_ request: TransportRequest, verdict: PushAnswer.Verdict = .accepted(fell: [])) throws -> SyncEvent {
    let push = try PushRequest(decoding: request.body, as: .cbor)
    return cbor(
      PushResponse(
        epoch: epoch, serverTime: 1,
        answers: push.changeSets.map { PushAnswer(save: $0.id, number: $0.number, verdict: verdict) }))
  }

  static func page(_ position: UInt64 = 1, hasMore: Bool = false, epoch: Epoch = epoch) -> SyncEvent {
    cbor(
      Page(
        cursor: Cursor(
          epoch: epoch, base: .start, position: FeedPosition(position), start: .start, commit: 1), items: [],
        hasMore: hasMore, processed: .none, answers: [], vector: [:], checksum: nil, serverTime: 1))
  }

  static let empty = SyncEvent.response(
    TransportResponse(status: 200, headers: ["content-type": "application/json"], body: Array("{}".utf8)))

  /// What a healthy server answers.
  static func usual(_ request: TransportRequest) throws -> SyncEvent {
    switch request.method {
    case "GET": page()
    case "PUT": empty
    default: try push(request)
    }
  }
}
