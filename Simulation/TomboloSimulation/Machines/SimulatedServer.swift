import TomboloClient
import TomboloProtocol
import TomboloSQLite
import TomboloServer

/// The server's machine: a disk, a clock, and the very service that the daemon runs.
final class SimulatedServer {
  static let directory = "/server"
  static let storeName = "main"
  static let url = "http://server/v1/stores/\(storeName)"

  let disk: MemoryFileSystem
  let clock: SkewedClock
  private let options: ServiceOptions
  private var service: Service?
  private(set) var token = ""
  /// Takes a line about each fault that no client is told the reason of.
  private(set) var lastFault: String?

  init(disk: MemoryFileSystem, clock: SkewedClock, randomness: SeededRandomness, fault: PlantedFault?) throws {
    self.disk = disk
    self.clock = clock
    var options = ServiceOptions(clock: clock, randomness: randomness, vfs: disk.name)
    options.mergeRules = fault?.mergeRules ?? MergeRules()
    self.options = options
    try boot()
    token = try service?.createToken(store: Self.storeName, role: .owner) ?? ""
  }

  var isUp: Bool { service != nil }

  func boot() throws { service = try Service(directory: Self.directory, options: options) }

  /// Ends this life of the machine.
  func powerCut(_ survival: MemoryFileSystem.Survival) {
    service = nil
    disk.powerCut(survival)
  }

  /// - Returns: nil where the machine is down, or went down with the request.
  func handle(_ request: TransportRequest) -> TransportResponse? {
    guard let service else { return nil }
    var reply = service.handle(Self.serviceRequest(request))
    var patience = 0
    while case .waits(let poll) = reply, patience < 4 {
      // Nobody else's request comes between: the wait is over at once.
      reply = service.resume(poll)
      patience += 1
    }
    guard !disk.hasFailed, case .response(let response) = reply else { return nil }
    return TransportResponse(status: response.status, headers: response.headers, body: response.body)
  }

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
