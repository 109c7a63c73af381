import TomboloClient
import TomboloProtocol
import TomboloSQLite
import TomboloServer

/// The server's machine: a disk, a clock, and the very service that the daemon runs.
final class SimulatedServer {
  static let directory = "/server"
  static let storeName = "main"
  static let url = "http://server/v1/stores/\(storeName)"

  /// What becomes of a request that reached the machine.
  enum Reply {
    case response(TransportResponse)
    /// A pull that waits for something new.
    case held(LongPoll)
    /// The machine is down, or went down with it.
    case none
  }

  let disk: MemoryFileSystem
  let clock: SkewedClock
  private let options: ServiceOptions
  private var service: Service?
  private(set) var token = ""

  init(
    disk: MemoryFileSystem, clock: SkewedClock, randomness: SeededRandomness, fault: PlantedFault? = nil,
    historyMilliseconds: UInt64? = nil
  ) throws {
    self.disk = disk
    self.clock = clock
    var options = ServiceOptions(clock: clock, randomness: randomness, vfs: disk.name)
    options.mergeRules = fault?.mergeRules ?? MergeRules()
    if let historyMilliseconds { options.limits.historyMilliseconds = historyMilliseconds }
    self.options = options
    try boot()
    token = try service?.createToken(store: Self.storeName, role: .owner) ?? ""
  }

  var isUp: Bool { service != nil }

  func boot() throws { service = try Service(directory: Self.directory, options: options) }

  /// Goes on with an older copy of its files; the operator says so.
  func restore(_ image: [String: [UInt8]]) throws {
    service = nil
    disk.restore(image)
    try boot()
    for name in try service?.storeNames() ?? [] { try service?.beginEpoch(store: name) }
  }

  /// Records that are deleted, or were merged into others.
  func deadRecords() throws -> Set<RecordID> {
    var dead: Set<RecordID> = []
    var options = Connection.Options()
    options.vfs = disk.name
    options.createsFile = false
    for path in disk.paths where path.hasSuffix("/\(Self.storeName).sqlite") {
      let connection = try Connection(path: path, options: options)
      let statement = try connection.prepare("SELECT id FROM record WHERE collectable = 1 OR survivor IS NOT NULL")
      while try statement.step() { if let id = RecordID(bytes: statement.bytes(0)) { dead.insert(id) } }
    }
    return dead
  }

  /// Ends this life of the machine.
  func powerCut(_ survival: MemoryFileSystem.Survival) {
    service = nil
    disk.powerCut(survival)
  }

  /// Handles what came in together; more than one push shares a commit.
  func handle(_ requests: [TransportRequest]) -> [Reply] {
    guard let service else { return requests.map { _ in .none } }
    let requests = requests.map(Self.serviceRequest)
    let replies = requests.count > 1 ? service.handle(batch: requests) : requests.map(service.handle)
    return replies.map(reply)
  }

  private func reply(_ reply: ServiceReply) -> Reply {
    if disk.hasFailed { return .none }
    switch reply {
    case .response(let response):
      return .response(TransportResponse(status: response.status, headers: response.headers, body: response.body))
    case .waits(let poll): return .held(poll)
    }
  }

  /// Answers a waiting pull, if there is something new or its time is up.
  func resume(_ poll: LongPoll) -> Reply {
    guard let service else { return .none }
    guard service.hasNews(for: poll) || clock.milliseconds() >= poll.deadline else { return .held(poll) }
    return reply(service.resume(poll))
  }

  /// One request over a perfect network.
  ///
  /// - Returns: nil where the machine is down, or went down with the request.
  func handle(_ request: TransportRequest) -> TransportResponse? {
    guard case .response(let response)? = handle([request]).first else { return nil }
    return response
  }

  /// Forgets the tombstones that nobody needs any more; how many.
  func collect() throws -> Int { try service?.collectTombstones() ?? 0 }

  private static func serviceRequest(_ request: TransportRequest) -> ServiceRequest {
    var path = Substring(request.url)
    // `http://server/v1/…`: the path begins at the third slash.
    for _ in 0..<3 { path = path.dropFirst(path.hasPrefix("/") ? 1 : 0).drop { $0 != "/" } }
    var query: [String: String] = [:]
    if let mark = path.firstIndex(of: "?") {
      for part in path[path.index(after: mark)...].split(separator: "&") {
        let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        query[String(sides[0])] = sides.count > 1 ? String(sides[1]) : ""
      }
      path = path[..<mark]
    }
    return ServiceRequest(
      method: request.method, path: String(path), query: query, headers: request.headers, body: request.body)
  }
}
