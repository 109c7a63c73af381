import Tombolo
import TomboloClient
import TomboloProtocol
import TomboloServer

/// The real server in this process, reached without a network.
final class ServiceTransport: Transport {
  let service: Service
  private let directory: String
  let url = "http://server:1/v1/stores/library"
  private let failures = Guarded<[TransportFailure]>([])
  private let seen = Guarded<[String]>([])

  /// - Parameter directory: where its files go.
  init(directory: String, limits: ServiceLimits = ServiceLimits()) throws {
    self.directory = directory
    service = try Service(
      directory: directory,
      options: ServiceOptions(clock: SystemClock(), randomness: SystemRandomness(), limits: limits))
  }

  /// Requests from now on: method and path.
  var requests: [String] { seen.withLock { $0 } }

  /// The next exchanges have their effect, and their answers are lost.
  func loseAnswers(_ count: Int) {
    failures.withLock { $0 = Array(repeating: TransportFailure(.lost, reason: "cut"), count: count) }
  }

  /// Makes a token and returns the path of a file with it.
  func token(_ role: Role = .owner, in fixture: CommandFixture) throws -> String {
    let control = try ControlStore(directory: directory, vfs: nil)
    let secret = try control.createToken(
      store: "library", role: role, name: role.rawValue, randomness: SystemRandomness(), clock: SystemClock(),
      limit: 100
    ).secret
    return try fixture.write(secret + "\n", to: "\(role.rawValue).token")
  }

  func perform(_ request: TransportRequest) throws -> TransportResponse {
    let rest = request.url.dropFirst("http://server:1".count)
    let parts = rest.split(separator: "?", maxSplits: 1)
    var query: [String: String] = [:]
    for pair in parts.count > 1 ? parts[1].split(separator: "&") : [] {
      let sides = pair.split(separator: "=", maxSplits: 1)
      query[String(sides[0])] = sides.count > 1 ? String(sides[1]) : ""
    }
    seen.withLock { $0.append("\(request.method) \(parts[0])") }
    let reply = service.handle(
      ServiceRequest(
        method: request.method, path: String(parts[0]), query: query, headers: request.headers, body: request.body))
    let lost = failures.withLock { $0.popLast() }
    if let lost { throw lost }
    guard case .response(let response) = reply else { throw TransportFailure(.timedOut, reason: "it waits") }
    return TransportResponse(status: response.status, headers: response.headers, body: response.body)
  }
}
