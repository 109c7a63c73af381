import Foundation
import Glibc

/// Bytes sent to a server as they are: what no HTTP library would send.
struct RawRequest {
  private static let secondsMax = 20

  /// The status of each answer up to the connection's end, in order; "closed" if there is none.
  static func statuses(_ bytes: [UInt8], port: UInt16) throws -> [String] {
    let connection = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(connection) }
    var limit = timeval(tv_sec: secondsMax, tv_usec: 0)
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let isConnected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(connection, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    guard isConnected else { throw POSIXError(.ECONNREFUSED) }
    let sent = bytes.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    guard sent == bytes.count else { throw POSIXError(.EPIPE) }
    // Nothing more will come: a server that waits for more gives up.
    shutdown(connection, Int32(SHUT_WR))
    var answer: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4_096)
    while true {
      let count = chunk.withUnsafeMutableBytes { recv(connection, $0.baseAddress, $0.count, 0) }
      guard count > 0 else { break }
      answer += chunk[..<count]
    }
    let lines = String(decoding: answer, as: UTF8.self).split(separator: "\r\n").filter { $0.hasPrefix("HTTP/1.1 ") }
    return lines.isEmpty ? ["closed"] : lines.map { String($0.dropFirst(9).prefix(3)) }
  }
}
