import Synchronization
import Testing
import Tombolo
import TomboloClient
import TomboloProtocol
import TomboloSQLite
import TomboloServer
import TomboloSimulation

/// A server and replicas in one process, on one virtual clock.
final class World {
  static let url = "http://server:1/v1/stores/house"
  private static let count = Atomic<UInt64>(0)

  let time = VirtualTime(milliseconds: 1_796_000_000_000)
  let document: SchemaDocument
  private(set) var token: String
  private(set) var service: Service
  private let number: UInt64
  private let disk: MemoryFileSystem
  private let serverClock: SkewedClock
  private let randomness: SeededRandomness
  private var limits: ServiceLimits
  private(set) var replicas: [Replica] = []
  /// What the replicas sent, in order.
  private(set) var requests: [TransportRequest] = []
  /// Answers that are lost on the way, from now on.
  var answersToLose = 0
  /// Of the next push only this share of its bytes arrives, and no answer.
  var shareOfNextPush: Double?
  /// Gives another answer than the server's, for the tests of what a server may say.
  var answer: ((TransportRequest) -> TransportResponse?)?

  init(document: SchemaDocument? = nil, limits: ServiceLimits = ServiceLimits()) throws {
    number = Self.count.add(1, ordering: .relaxed).newValue
    self.document = try document ?? House.document()
    self.limits = limits
    let time = time
    randomness = SeededRandomness(SeededGenerator(seed: number))
    serverClock = SkewedClock(time, skewMilliseconds: 0)
    disk = try Self.disk("scenario-\(number)", time, randomness)
    service = try Service(
      directory: "server",
      options: ServiceOptions(clock: serverClock, randomness: randomness, limits: limits, vfs: disk.name))
    token = try service.createToken(store: "house", role: .owner)
  }

  /// A replica that knows the server; its clock differs from the true time by `skew`.
  func replica(_ name: String, skew: Int64 = 0, isOffline: Bool = false, document: SchemaDocument? = nil) throws
    -> Replica
  {
    let clock = SkewedClock(time, skewMilliseconds: skew)
    let randomness = SeededRandomness(SeededGenerator(seed: number &* 1_000 &+ UInt64(replicas.count)))
    let replica = Replica(
      name, in: self, clock: clock, randomness: randomness,
      disk: try Self.disk("scenario-\(number)-\(name)", time, randomness), document ?? self.document)
    try replica.opens()
    if !isOffline { try replica.store.setRemote(Self.url, tokenFile: nil) }
    replicas.append(replica)
    return replica
  }

  /// A machine's own disk.
  private static func disk(_ name: String, _ time: VirtualTime, _ randomness: SeededRandomness) throws
    -> MemoryFileSystem
  {
    try MemoryFileSystem(
      name: name,
      environment: .init(
        milliseconds: { time.milliseconds }, random: { randomness.next() },
        sleep: { time.advance(byMicroseconds: $0) }))
  }

  // MARK: The server's fate

  /// A copy of the server's files, as a backup has them.
  func backup() -> [String: [UInt8]] {
    service.close()
    return disk.image()
  }

  /// The server goes on with an older copy of its files, an empty one for a server that was wiped.
  ///
  /// - Parameter isTold: whether the operator says so.
  func restores(_ image: [String: [UInt8]], isTold: Bool = true) throws {
    disk.restore(image)
    service = try Service(
      directory: "server",
      options: ServiceOptions(clock: serverClock, randomness: randomness, limits: limits, vfs: disk.name))
    if image.isEmpty {
      token = try service.createToken(store: "house", role: .owner)
    } else if isTold {
      try service.beginEpoch(store: "house")
    }
  }

  /// Lets the server's disk be full, or have room again.
  func limitsServerDisk(_ isFull: Bool) { disk.fill(isFull) }

  /// The machine that takes the server's place has a clock that is behind.
  func serverGoesBack(milliseconds: Int64) { serverClock.setSkew(milliseconds: -milliseconds) }

  func passes(milliseconds: UInt64 = 1_000) { time.advance(toMilliseconds: time.milliseconds + milliseconds) }

  /// Everybody syncs until nothing is left to say.
  func settles() throws {
    for _ in 0..<2 { for replica in replicas { try replica.syncs() } }
  }

  /// Every replica shows the same, and every checksum equals the server's.
  func expectAllEqual(_ location: SourceLocation = #_sourceLocation) throws {
    try settles()
    guard let first = replicas.first else { return }
    let content = try first.content()
    for replica in replicas {
      let report = try replica.syncs()
      #expect(report.checksum == .equal, "\(replica.name) and the server", sourceLocation: location)
      #expect(try replica.content() == content, "\(replica.name)", sourceLocation: location)
      #expect(try replica.store.checksum() == first.store.checksum(), "\(replica.name)", sourceLocation: location)
      #expect(replica.store.isQuiescent, sourceLocation: location)
    }
  }

  func carry(_ request: TransportRequest) throws -> TransportResponse? {
    requests.append(request)
    passes(milliseconds: 1)
    if let given = answer?(request) { return given }
    if let share = shareOfNextPush, request.method == "POST", request.url.hasSuffix("/changes") {
      shareOfNextPush = nil
      var torn = request
      torn.body = Array(torn.body.prefix(Int(Double(torn.body.count) * share)))
      _ = service.handle(Self.serviceRequest(torn))
      return nil
    }
    var reply = service.handle(Self.serviceRequest(request))
    var patience = 0
    while case .waits(let poll) = reply, patience < 4 {
      reply = service.resume(poll)
      patience += 1
    }
    guard case .response(let response) = reply else { return nil }
    if answersToLose > 0 {
      answersToLose -= 1
      return nil
    }
    return TransportResponse(status: response.status, headers: response.headers, body: response.body)
  }

  /// The pushes among what was sent.
  func pushes(since count: Int = 0) -> [TransportRequest] {
    requests.dropFirst(count).filter { $0.method == "POST" && $0.url.hasSuffix("/changes") }
  }

  private static func serviceRequest(_ request: TransportRequest) -> ServiceRequest {
    let parts = request.url.dropFirst("http://server:1".count).split(separator: "?", maxSplits: 1)
    var query: [String: String] = [:]
    for part in parts.count > 1 ? parts[1].split(separator: "&") : [] {
      let sides = part.split(separator: "=", maxSplits: 1)
      query[String(sides[0])] = sides.count > 1 ? String(sides[1]) : ""
    }
    return ServiceRequest(
      method: request.method, path: String(parts[0]), query: query, headers: request.headers, body: request.body)
  }
}

extension MemoryFileSystem {
  /// No file may grow any more.
  func fill(_ isFull: Bool) { limit(toBytes: isFull ? image().values.reduce(0) { $0 + $1.count } : nil) }
}
