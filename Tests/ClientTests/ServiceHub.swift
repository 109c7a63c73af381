import Foundation
import Tombolo
import TomboloClient
import TomboloProtocol
import TomboloServer

/// The real server in this process, with its long polls: they end when somebody pushes, or when they are interrupted.
final class ServiceHub: @unchecked Sendable {
  // `condition` guards `commits`; the service has its own lock.
  private let condition = NSCondition()
  private var commits = 0
  let service: Service
  let token: String
  let folder: String
  static let url = "http://server:1/v1/stores/library"

  init() throws {
    folder = NSTemporaryDirectory() + "/tombolo-hub-" + String(SystemRandomness().next(), radix: 36)
    service = try Service(
      directory: folder, options: ServiceOptions(clock: SystemClock(), randomness: SystemRandomness()))
    token = try ControlStore(directory: folder).createToken(
      store: "library", role: .owner, name: "test", randomness: SystemRandomness(), clock: SystemClock(), limit: 10
    ).secret
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  func remote() throws -> Remote { try Remote(url: Self.url, token: token) }

  fileprivate func handle(_ request: ServiceRequest, isInterrupted: () -> Bool) -> ServiceResponse? {
    var reply = service.handle(request)
    if request.method == "POST" {
      condition.withLock {
        commits += 1
        condition.broadcast()
      }
    }
    while true {
      switch reply {
      case .response(let response): return response
      case .waits(let poll):
        condition.lock()
        let seen = commits
        while commits == seen, !isInterrupted(), !service.hasNews(for: poll) { condition.wait() }
        condition.unlock()
        if isInterrupted() { return nil }
        reply = service.resume(poll)
      }
    }
  }

  fileprivate func wake() { condition.withLock { condition.broadcast() } }

  /// One replica's way to the server.
  final class Line: Transport, @unchecked Sendable {
    // `lock` guards `isInterrupted`.
    private let hub: ServiceHub
    private let lock = NSLock()
    private var isInterrupted = false

    init(_ hub: ServiceHub) { self.hub = hub }

    func interrupt() {
      lock.withLock { isInterrupted = true }
      hub.wake()
    }

    func clearInterruption() { lock.withLock { isInterrupted = false } }

    func perform(_ request: TransportRequest) throws -> TransportResponse {
      let parts = request.url.dropFirst("http://server:1".count).split(separator: "?", maxSplits: 1)
      var query: [String: String] = [:]
      for pair in parts.count > 1 ? parts[1].split(separator: "&") : [] {
        let sides = pair.split(separator: "=", maxSplits: 1)
        query[String(sides[0])] = sides.count > 1 ? String(sides[1]) : ""
      }
      let answer = hub.handle(
        ServiceRequest(
          method: request.method, path: String(parts[0]), query: query, headers: request.headers, body: request.body)
      ) { lock.withLock { isInterrupted } }
      guard let answer else {
        clearInterruption()
        throw TransportFailure(.interrupted, reason: "it was stopped")
      }
      return TransportResponse(status: answer.status, headers: answer.headers, body: answer.body)
    }
  }
}
