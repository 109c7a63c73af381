import TomboloProtocol
import Foundation
import Glibc

/// An HTTP proxy between real processes on one machine: passes each exchange on, or does something to it.
///
/// It understands just enough of HTTP/1.1 to find the ends of messages: heads, and bodies with a Content-Length.
package final class Proxy: Sendable {
  package enum Action: Hashable, Sendable {
    case pass
    /// The server gets nothing; the client sees the connection closed.
    case dropRequest
    /// The server gets the request and answers; the client sees the connection closed.
    case swallowAnswer
    /// The server gets the request twice, the second time so much later; the client gets the first answer.
    case double(laterMilliseconds: Int)
    /// So long until the request goes on: requests of others overtake it, and its sender may have gone.
    case delayRequest(milliseconds: Int)
    /// So long until the answer goes on.
    case delayAnswer(milliseconds: Int)
    /// The server gets a part of the request and the end of the connection.
    case cutRequest
    /// The client gets a part of the answer and the end of the connection.
    case cutAnswer
    /// The server gets nothing; the client waits until somebody closes the connection.
    case hold
  }

  /// One exchange with the server, as somebody sees it who stands at the server's door: `send` gives the answer, or nil
  /// where the connection ended without one.
  package typealias Witness =
    @Sendable (_ request: HTTPMessage, _ send: () -> HTTPMessage?) -> HTTPMessage?

  package let port: UInt16
  private let listener: Int32
  private let upstream: Guarded<UInt16>
  private let decide: @Sendable (_ requestLine: String) -> Action
  private let done: @Sendable (_ requestLine: String, Action) -> Void
  private let witness: Witness
  private let exchanges = Guarded(0)

  /// How many requests have come whose exchange has not ended, copies included.
  package var underWay: Int { exchanges.withLock { $0 } }

  /// - Parameters:
  ///   - decide: says what becomes of an exchange, by its request line.
  ///   - done: is told when the action is taken: after the server's answer was swallowed, when a request is held.
  ///   - witness: stands around each exchange with the server, also around those of which the client hears nothing.
  package init(
    upstream: UInt16, decide: @escaping @Sendable (String) -> Action,
    done: @escaping @Sendable (String, Action) -> Void = { _, _ in },
    witness: @escaping Witness = { _, send in send() }
  ) throws {
    self.upstream = Guarded(upstream)
    self.decide = decide
    self.done = done
    self.witness = witness
    listener = Self.openSocket()
    var address = Self.loopback(port: 0)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listener = listener
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, size) == 0 && listen(listener, 64) == 0 && getsockname(listener, $0, &size) == 0
      }
    }
    guard isBound else { throw POSIXError(.EADDRINUSE) }
    port = UInt16(bigEndian: address.sin_port)
    let thread = Thread { [self] in accept() }
    thread.start()
  }

  /// Stops taking connections.
  package func close() { shutdown(listener, Int32(SHUT_RDWR)) }

  package func setUpstream(_ port: UInt16) { upstream.withLock { $0 = port } }

  /// Closed in programs that are started meanwhile: else a connection would live as long as they do.
  private static func openSocket() -> Int32 {
    socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
  }

  private static func loopback(port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
  }

  private func accept() {
    while true {
      let client = Glibc.accept(listener, nil, nil)
      guard client >= 0 else { break }
      _ = fcntl(client, F_SETFD, FD_CLOEXEC)
      let thread = Thread { [self] in
        serve(client)
        // Ends the connection even where a program that was started just then has a copy of it.
        shutdown(client, Int32(SHUT_RDWR))
        Glibc.close(client)
      }
      thread.start()
    }
    Glibc.close(listener)
  }

  private func serve(_ client: Int32) {
    var input = Input(client)
    while let request = input.message() {
      exchanges.withLock { $0 += 1 }
      defer { exchanges.withLock { $0 -= 1 } }
      let line = request.startLine
      let action = decide(line)
      switch action {
      case .hold:
        done(line, action)
        // Waits for the client's end.
        _ = input.message()
        return
      case .dropRequest:
        done(line, action)
        return
      case .cutRequest:
        cut(request)
        done(line, action)
        return
      case .delayRequest(let milliseconds): Self.pause(milliseconds)
      default: break
      }
      guard let answer = witness(request, { exchange(request) }) else { return }
      if case .double(let milliseconds) = action {
        exchanges.withLock { $0 += 1 }
        let thread = Thread { [self] in
          Self.pause(milliseconds)
          _ = witness(request) { exchange(request) }
          exchanges.withLock { $0 -= 1 }
        }
        thread.start()
      }
      guard pass(answer, to: client, action) else {
        done(line, action)
        return
      }
      done(line, action)
    }
  }

  /// - Returns: whether the connection goes on.
  private func pass(_ answer: HTTPMessage, to client: Int32, _ action: Action) -> Bool {
    switch action {
    case .swallowAnswer: return false
    case .cutAnswer:
      _ = Self.write(Array(answer.bytes.prefix(answer.bytes.count * 2 / 3)), to: client)
      return false
    case .delayAnswer(let milliseconds): Self.pause(milliseconds)
    default: break
    }
    return Self.write(answer.bytes, to: client)
  }

  private static func pause(_ milliseconds: Int) { usleep(UInt32(clamping: milliseconds * 1_000)) }

  // MARK: The server's side

  private func connect() -> Int32? {
    let server = Self.openSocket()
    var address = Self.loopback(port: upstream.withLock { $0 })
    let isConnected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    if isConnected { return server }
    Glibc.close(server)
    return nil
  }

  private func exchange(_ request: HTTPMessage) -> HTTPMessage? {
    guard let server = connect() else { return nil }
    defer { Glibc.close(server) }
    guard Self.write(request.bytes, to: server) else { return nil }
    var output = Input(server)
    return output.message()
  }

  private func cut(_ request: HTTPMessage) {
    guard let server = connect() else { return }
    _ = Self.write(Array(request.bytes.prefix(request.bytes.count * 2 / 3)), to: server)
    Glibc.close(server)
  }

  private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes {
        send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }

  /// Reads whole HTTP messages from a connection.
  private struct Input {
    private let descriptor: Int32
    private var buffer: [UInt8] = []

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// The next message with its head, or nil at the end of the connection.
    mutating func message() -> HTTPMessage? {
      var headEnd: Int?
      while headEnd == nil {
        headEnd = buffer.firstRange(of: [13, 10, 13, 10])?.upperBound
        if headEnd == nil, !fill() { return nil }
      }
      guard let headEnd else { return nil }
      let head = HTTPMessage(Array(buffer[..<headEnd]), headEnd: headEnd)
      let length = head.headers["content-length"].flatMap { Int($0.trimmingCharacters(in: .whitespaces)) } ?? 0
      while buffer.count < headEnd + length { if !fill() { return nil } }
      defer { buffer.removeFirst(headEnd + length) }
      return HTTPMessage(Array(buffer[..<(headEnd + length)]), headEnd: headEnd)
    }

    private mutating func fill() -> Bool {
      var chunk = [UInt8](repeating: 0, count: 65_536)
      let count = chunk.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
      guard count > 0 else { return false }
      buffer.append(contentsOf: chunk[..<count])
      return true
    }
  }
}
