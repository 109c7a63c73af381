import Foundation
import TomboloProtocol

/// A socket that listens on `HOST:PORT`, and the port that it got.
struct ListenAddress {
  let descriptor: Int32
  let port: UInt16
  /// As it is shown: with brackets around an IPv6 address.
  let text: String

  private static let backlog: Int32 = 1_024

  /// - Throws: `usage` for something that is no address, `cannot_listen`.
  init(_ address: String) throws {
    guard let colon = address.lastIndex(of: ":"), let port = UInt16(address[address.index(after: colon)...]) else {
      throw TomboloError(
        .usage, "'\(address)' is not HOST:PORT.", remedy: "Write it as 127.0.0.1:8440, or port 0 for any.")
    }
    let host = address[..<colon].trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
    var hints = addrinfo()
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host.isEmpty ? nil : host, String(port), &hints, &found) == 0, let first = found else {
      throw TomboloError(.cannotListen, "The host '\(host)' is not known.", remedy: "Give an address of this machine.")
    }
    defer { freeaddrinfo(found) }
    descriptor = try Self.listening(on: first.pointee, address: address)
    self.port = Self.port(of: descriptor) ?? port
    text = host.contains(":") ? "[\(host)]:\(self.port)" : "\(host):\(self.port)"
  }

  private static func listening(on info: addrinfo, address: String) throws -> Int32 {
    let descriptor = socket(info.ai_family, info.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), info.ai_protocol)
    guard descriptor >= 0 else { throw failure(address) }
    var yes: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    guard bind(descriptor, info.ai_addr, info.ai_addrlen) == 0, listen(descriptor, backlog) == 0 else {
      let error = failure(address)
      close(descriptor)
      throw error
    }
    return descriptor
  }

  private static func failure(_ address: String) -> TomboloError {
    TomboloError(
      .cannotListen, "It is not possible to listen on \(address): \(String(cString: strerror(errno))).",
      remedy: "Take another port with --listen, or port 0 for a free one.")
  }

  private static func port(of descriptor: Int32) -> UInt16? {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address -> UInt16? in
        guard getsockname(descriptor, address, &length) == 0 else { return nil }
        // The port stands in the same place in both families' addresses.
        return UnsafeRawPointer(address).loadUnaligned(fromByteOffset: 2, as: UInt16.self).bigEndian
      }
    }
  }
}
