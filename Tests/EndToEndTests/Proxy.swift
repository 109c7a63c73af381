import TomboloProtocol
import Foundation
import Glibc

/// An HTTP proxy of the tests: passes each exchange on, or swallows its answer, or holds it for ever.
///
/// It understands just enough of HTTP/1.1 to find the ends of messages: heads, and bodies with a Content-Length.
final class Proxy: Sendable {
  enum Action: Sendable {
    case pass
    /// The server gets the request and answers; the client sees the connection closed.
    case swallowAnswer
    /// The server gets nothing; the client waits until somebody closes the connection.
    case hold
  }

  let port: UInt16
  private let listener: Int32
  private let upstream: Guarded<UInt16>
  private let decide: @Sendable (_ requestLine: String) -> Action
  private let done: @Sendable (_ requestLine: String, Action) -> Void

  /// - Parameters:
  ///   - decide: says what becomes of an exchange, by its request line.
  ///   - done: is told when the action is taken: after the server's answer was swallowed, when a request is held.
  init(
    upstream: UInt16, decide: @escaping @Sendable (String) -> Action,
    done: @escaping @Sendable (String, Action) -> Void = { _, _ in }
  ) throws {
    self.upstream = Guarded(upstream)
    self.decide = decide
    self.done = done
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = Self.loopback(port: 0)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listener = listener
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, size) == 0 && listen(listener, 16) == 0 && getsockname(listener, $0, &size) == 0
      }
    }
    guard isBound else { throw POSIXError(.EADDRINUSE) }
    port = UInt16(bigEndian: address.sin_port)
    let thread = Thread { [self] in accept() }
    thread.start()
  }

  /// Stops taking connections.
  func close() { shutdown(listener, Int32(SHUT_RDWR)) }

  func setUpstream(_ port: UInt16) { upstream.withLock { $0 = port } }

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
      let thread = Thread { [self] in
        serve(client)
        Glibc.close(client)
      }
      thread.start()
    }
    Glibc.close(listener)
  }

  private func serve(_ client: Int32) {
    var input = Input(client)
    while let request = input.message() {
      let line = String(decoding: request.prefix { $0 != 13 }, as: UTF8.self)
      let action = decide(line)
      if action == .hold {
        done(line, action)
        // Waits for the client's end.
        _ = input.message()
        return
      }
      let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      defer { Glibc.close(server) }
      var address = Self.loopback(port: upstream.withLock { $0 })
      let isConnected = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
      }
      guard isConnected, Self.write(request, to: server) else { return }
      var output = Input(server)
      guard let answer = output.message() else { return }
      if action == .swallowAnswer {
        done(line, action)
        return
      }
      guard Self.write(answer, to: client) else { return }
      done(line, action)
    }
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
    mutating func message() -> [UInt8]? {
      var headEnd: Int?
      while headEnd == nil {
        headEnd = buffer.firstRange(of: [13, 10, 13, 10])?.upperBound
        if headEnd == nil, !fill() { return nil }
      }
      guard let headEnd else { return nil }
      let head = String(decoding: buffer[..<headEnd], as: UTF8.self).lowercased()
      let length =
        head.split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
        .flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) } ?? 0
      while buffer.count < headEnd + length { if !fill() { return nil } }
      defer { buffer.removeFirst(headEnd + length) }
      return Array(buffer[..<(headEnd + length)])
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
