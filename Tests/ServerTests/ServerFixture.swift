import Synchronization
import Testing
import TomboloProtocol
import TomboloSQLite
import TomboloServer

/// A clock that a test moves.
final class TestClock: WallClock {
  static let start: UInt64 = 1_796_000_000_000
  private let now = Atomic<UInt64>(start)
  func milliseconds() -> UInt64 { now.load(ordering: .relaxed) }
  func advance(milliseconds: UInt64) { now.add(milliseconds, ordering: .relaxed) }
  func set(_ milliseconds: UInt64) { now.store(milliseconds, ordering: .relaxed) }
}

/// SplitMix64, so that a failure shows again.
final class TestRandomness: Randomness {
  private let state: Guarded<UInt64>
  init(seed: UInt64 = 7) { state = Guarded(seed) }
  func next() -> UInt64 {
    state.withLock { state in
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = state
      mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return mixed ^ (mixed >> 31)
    }
  }
}

/// A service on a disk in memory, with tokens of every role for the store `library`.
final class ServerFixture {
  let clock = TestClock()
  let randomness = TestRandomness()
  let disk: MemoryFileSystem
  private(set) var service: Service
  let owner: String
  let writer: String
  let reader: String
  let log = LogBook()
  private let limits: ServiceLimits

  final class LogBook: Sendable {
    let lines = Guarded<[String]>([])
  }

  private static let count = Atomic<Int>(0)

  /// - Parameter schema: registered by the owner, unless it is nil.
  init(schema: String? = Library.version1, limits: ServiceLimits = ServiceLimits()) throws {
    self.limits = limits
    let (clock, randomness) = (clock, randomness)
    let number = ServerFixture.count.add(1, ordering: .relaxed).newValue
    disk = try MemoryFileSystem(
      name: "server-test-\(number)",
      environment: .init(
        milliseconds: { clock.milliseconds() }, random: { randomness.next() },
        sleep: { microseconds in clock.advance(milliseconds: UInt64(microseconds) / 1_000 + 1) }))
    service = try Self.open(disk, clock: clock, randomness: randomness, limits: limits, log: log)
    owner = try service.createToken(store: "library", role: .owner, name: "Ada")
    writer = try service.createToken(store: "library", role: .writer, name: "Bob")
    reader = try service.createToken(store: "library", role: .reader, name: "Cyd")
    if let schema {
      let response = send("PUT", "/v1/stores/library/schemas/1.0.0", token: owner, body: Array(schema.utf8), json: true)
      #expect(response.status == 201, "the fixture's schema was not taken: \(response.text)")
    }
  }

  /// At the end of each test nothing may be left half done.
  deinit { #expect(service.isIdle, "a statement or a transaction was left open") }

  private static func open(
    _ disk: MemoryFileSystem, clock: TestClock, randomness: TestRandomness, limits: ServiceLimits, log: LogBook
  ) throws -> Service {
    var options = ServiceOptions(clock: clock, randomness: randomness, limits: limits, vfs: disk.name)
    options.log = { line in log.lines.withLock { $0.append(line) } }
    return try Service(directory: "data", options: options)
  }

  /// Opens the same files again, as after a crash of the process.
  func reopen() throws {
    service = try Self.open(disk, clock: clock, randomness: randomness, limits: limits, log: log)
  }

  func powerCut(_ survival: MemoryFileSystem.Survival) throws {
    disk.powerCut(survival)
    try reopen()
  }

  // MARK: Requests

  func reply(
    _ method: String, _ path: String, token: String?, query: [String: String] = [:], headers: [String: String] = [:],
    body: [UInt8] = []
  ) -> ServiceReply {
    service.handle(request(method, path, token: token, query: query, headers: headers, body: body))
  }

  func request(
    _ method: String, _ path: String, token: String?, query: [String: String] = [:], headers: [String: String] = [:],
    body: [UInt8] = []
  ) -> ServiceRequest {
    var headers = headers
    if let token { headers["authorization"] = "Bearer \(token)" }
    if headers["accept"] == nil { headers["accept"] = "application/cbor" }
    return ServiceRequest(method: method, path: path, query: query, headers: headers, body: body)
  }

  /// A request that does not wait.
  func send(
    _ method: String, _ path: String, token: String?, query: [String: String] = [:], headers: [String: String] = [:],
    body: [UInt8] = [], json: Bool = false
  ) -> ServiceResponse {
    var headers = headers
    if json { headers["content-type"] = "application/json" }
    let reply = reply(method, path, token: token, query: query, headers: headers, body: body)
    guard case .response(let response) = reply else {
      Issue.record("\(method) \(path) waits")
      return ServiceResponse(status: 0)
    }
    return response
  }

  func push(_ push: PushRequest, token: String? = nil) throws -> PushResponse {
    let response = send(
      "POST", "/v1/stores/library/changes", token: token ?? writer, body: push.encoded(as: .cbor))
    try #require(response.status == 200, "\(response.failure)")
    return try PushResponse(decoding: response.body, as: .cbor)
  }

  func page(
    _ replica: TestReplica, limit: Int = 5_000, token: String? = nil, headers: [String: String] = [:]
  ) throws -> Page {
    let response = pull(replica, limit: limit, token: token, headers: headers)
    try #require(response.status == 200, "\(response.failure)")
    return try Page(decoding: response.body, as: .cbor)
  }

  func pull(
    _ replica: TestReplica, limit: Int = 5_000, token: String? = nil, headers: [String: String] = [:]
  ) -> ServiceResponse {
    var query = ["limit": String(limit)]
    if let cursor = replica.cursor { query["since"] = cursor.text }
    return send(
      "GET", "/v1/stores/library/changes", token: token ?? reader, query: query,
      headers: replica.introduction.headers.merging(headers) { $1 })
  }
}

extension ServiceResponse {
  var text: String { String(decoding: body, as: UTF8.self) }

  /// For messages.
  var failure: String { (try? error().description) ?? "no error" }

  /// The error that the body carries, whichever way it is written.
  func error() throws -> TomboloError {
    let format = headers["content-type"].flatMap { WireFormat(mediaType: $0) } ?? .cbor
    return try WireError(decoding: body, as: format).error
  }
}
