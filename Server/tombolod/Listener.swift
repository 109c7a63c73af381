import CTomboloMicroHTTPD
import Foundation
import TomboloProtocol
import TomboloServer

/// libmicrohttpd in front of a ``Service``: epoll in a few threads, bodies bounded while they are read, connections
/// suspended while a commit or news is waited for.
final class Listener: @unchecked Sendable {
  // Guarded by `activity`: the number of requests under way. `daemon` is set once, before the first request can come
  // to `stop()`.
  private let activity = NSCondition()
  private var active = 0
  private var daemon: OpaquePointer?
  private let service: Service
  private let dispatcher: Dispatcher
  private let bodyMax: Int
  private let isVerbose: Bool
  private let clock = SystemClock()

  private static let connectionsMax: UInt32 = 16_384
  /// What one connection may use for its headers and for a piece of its body.
  private static let connectionMemory = 64 << 10
  private static let idleSecondsMax: UInt32 = 120
  private static let stopSecondsMax: TimeInterval = 20

  /// - Throws: `cannot_listen`.
  init(service: Service, bodyMax: Int, address: ListenAddress, threads: Int, isVerbose: Bool) throws {
    self.service = service
    self.bodyMax = bodyMax
    self.isVerbose = isVerbose
    dispatcher = Dispatcher(service: service)
    let context = Unmanaged.passUnretained(self).toOpaque()
    daemon = tombolo_mhd_start(
      address.descriptor, UInt32(threads), Self.connectionsMax, Self.connectionMemory, Self.idleSecondsMax,
      { context, connection, path, method, _, data, count, exchange in
        guard let context, let connection, let path, let method, let count, let exchange else { return .NO }
        let listener = Unmanaged<Listener>.fromOpaque(context).takeUnretainedValue()
        guard let current = exchange.pointee else {
          exchange.pointee = Unmanaged.passRetained(listener.begin(connection, method: method, path: path)).toOpaque()
          return listener.refuseEarly(Unmanaged<Exchange>.fromOpaque(exchange.pointee ?? context).takeUnretainedValue())
        }
        let state = Unmanaged<Exchange>.fromOpaque(current).takeUnretainedValue()
        guard count.pointee > 0, let data else { return listener.complete(state) }
        defer { count.pointee = 0 }
        return listener.receive(state, data: data, count: count.pointee)
      }, context,
      { context, _, exchange, _ in
        guard let context, let exchange, let current = exchange.pointee else { return }
        exchange.pointee = nil
        Unmanaged<Exchange>.fromOpaque(current).release()
        Unmanaged<Listener>.fromOpaque(context).takeUnretainedValue().end()
      }, context)
    guard daemon != nil else {
      dispatcher.stop()
      throw TomboloError(
        .cannotListen, "The HTTP library cannot start.", remedy: "Check the limit of open files ('ulimit -n').")
    }
  }

  /// Takes no new connections, finishes what is under way, ends.
  func stop() {
    guard let daemon else { return }
    let socket = MHD_quiesce_daemon(daemon)
    dispatcher.stop()
    activity.lock()
    let limit = Date(timeIntervalSinceNow: Self.stopSecondsMax)
    while active > 0, activity.wait(until: limit) {}
    activity.unlock()
    MHD_stop_daemon(daemon)
    if socket >= 0 { close(socket) }
    self.daemon = nil
  }

  // MARK: One request, on a thread of the library

  private func begin(_ connection: OpaquePointer, method: UnsafePointer<CChar>, path: UnsafePointer<CChar>) -> Exchange
  {
    activity.lock()
    active += 1
    activity.unlock()
    return Exchange(
      connection: connection, method: String(cString: method), path: String(cString: path),
      started: clock.milliseconds())
  }

  private func end() {
    activity.lock()
    active -= 1
    if active == 0 { activity.broadcast() }
    activity.unlock()
  }

  /// A request that is in doubt, and a body that says itself that it is too large, are refused before a byte of the body is
  /// read.
  private func refuseEarly(_ exchange: Exchange) -> MHD_Result {
    if let fault = exchange.fault { return send(service.refusal(of: exchange.request, because: fault), on: exchange) }
    guard let length = exchange.announcedLength, length > bodyMax else { return .YES }
    exchange.isTooLarge = true
    return send(service.refusal(of: exchange.request, bytesMax: bodyMax), on: exchange)
  }

  private func receive(_ exchange: Exchange, data: UnsafePointer<CChar>, count: Int) -> MHD_Result {
    if exchange.request.body.count + count > bodyMax {
      exchange.isTooLarge = true
      exchange.request.body = []
    }
    if !exchange.isTooLarge { exchange.append(data, count: count) }
    return .YES
  }

  /// The request is whole, or its connection was resumed with the answer.
  private func complete(_ exchange: Exchange) -> MHD_Result {
    if let response = exchange.response { return send(response, on: exchange) }
    if exchange.isTooLarge { return send(service.refusal(of: exchange.request, bytesMax: bodyMax), on: exchange) }
    if exchange.request.isPush, dispatcher.enqueue(exchange) { return .YES }
    switch service.handle(exchange.request) {
    case .response(let response): return send(response, on: exchange)
    case .waits(var poll):
      if dispatcher.enqueue(exchange, poll: poll) { return .YES }
      poll.deadline = 0
      guard case .response(let response) = service.resume(poll) else { return .NO }
      return send(response, on: exchange)
    }
  }

  private func send(_ response: ServiceResponse, on exchange: Exchange) -> MHD_Result {
    if isVerbose {
      let request = exchange.request
      let milliseconds = clock.milliseconds() - min(exchange.started, clock.milliseconds())
      let line =
        "\(request.method) \(request.path) \(response.status) \(request.body.count) \(response.body.count) \(milliseconds)ms"
      Console.note(line)
    }
    return exchange.respond(response)
  }
}
