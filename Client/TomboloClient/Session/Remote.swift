public import Foundation
public import Tombolo
import TomboloProtocol

/// A server's store, and the token that opens it.
///
/// A program names both once; the store remembers the URL and where the token's file is:
///
/// ```swift
/// let remote = try Remote.known(to: container) ?? Remote(url: address, tokenFile: file)
/// ```
public struct Remote: Hashable, Sendable {
  /// `http(s)://HOST[:PORT]/v1/stores/NAME`, without a slash at the end.
  public let url: String
  /// The bearer token; never written into the replica.
  public let token: String
  /// The file that the token was read from; nil where it was given. A ``Synchronizer`` writes its path into the replica.
  public let tokenFile: URL?

  /// Names a store on a server.
  ///
  /// - Throws: `remote_invalid` when the URL is not `http(s)://HOST[:PORT]/v1/stores/NAME`, `token_invalid` when the
  ///   token is empty or could not stand in a header.
  public init(url: String, token: String) throws {
    self.url = try RemoteAddress(url).text
    self.token = try Self.validated(token)
    tokenFile = nil
  }

  /// Names a store on a server, with a token in a file as `tombolod token create --out FILE` wrote it.
  ///
  /// - Throws: what ``init(url:token:)`` throws, and `file_unreadable`.
  public init(url: String, tokenFile: URL) throws {
    self.url = try RemoteAddress(url).text
    self.tokenFile = tokenFile.absoluteURL
    token = try TokenFile.read(tokenFile.path)
  }

  /// The remote that a container's store has synced with, its token read from the file that was named then; nil where
  /// none was named, or only a token without a file.
  ///
  /// - Parameter configuration: the name of the configuration whose store it is; nil where the container has only one.
  /// - Throws: `file_unreadable`, `token_invalid` for that file; `ambiguous` where the container has several stores and none
  ///   is named; a ``TomboloError`` when the store cannot be read.
  public static func known(to container: ModelContainer, configuration: String? = nil) throws -> Remote? {
    try known(to: container.store(of: configuration))
  }

  package static func known(to store: Store) throws -> Remote? {
    guard let state = try store.replicaState(), let file = state.tokenFile else { return nil }
    return try Remote(url: state.remoteURL, tokenFile: URL(fileURLWithPath: file))
  }

  /// A token as a file holds it: white space around it is none of it.
  package static func validated(_ text: String) throws -> String {
    var bytes = Substring(text).utf8
    while let first = bytes.first, first <= 0x20 { bytes.removeFirst() }
    while let last = bytes.last, last <= 0x20 { bytes.removeLast() }
    let token = String(Substring(bytes))
    guard !token.isEmpty, token.utf8.count <= 4096, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw TomboloError(
        .tokenInvalid, "The token is empty or holds characters that cannot stand in a request.",
        remedy: "Give the token exactly as `tombolod token create` wrote it.")
    }
    return token
  }
}

/// The parts of a remote's URL.
package struct RemoteAddress: Hashable, Sendable {
  /// `https://host:port`.
  package let server: String
  package let store: String
  package var text: String { "\(server)/v1/stores/\(store)" }

  /// - Throws: `remote_invalid`.
  package init(_ text: String) throws {
    func invalid(_ reason: String) -> TomboloError {
      TomboloError(
        .remoteInvalid, "The remote's URL \(reason).",
        remedy: "Write it as http://HOST:PORT/v1/stores/NAME or https://HOST/v1/stores/NAME.")
    }
    guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), text.utf8.count <= 2048 else {
      throw invalid("holds white space or other characters that a URL does not have")
    }
    let name = text.prefix { $0 != ":" }.lowercased()
    guard text.dropFirst(name.count).hasPrefix("://") else { throw invalid("has no scheme") }
    guard name == "http" || name == "https" else {
      throw invalid("has the scheme \(name); only http and https are known")
    }
    let rest = text.dropFirst(name.count + 3)
    guard !rest.contains("?"), !rest.contains("#") else { throw invalid("has a query or a fragment") }
    let parts = rest.split(separator: "/", omittingEmptySubsequences: false)
    guard let host = parts.first, !host.isEmpty else { throw invalid("names no host") }
    guard !host.contains("@") else { throw invalid("holds a user name; the token belongs in the token file") }
    guard Self.isHost(host) else { throw invalid("has a host or port that cannot be") }
    var path = parts.dropFirst()
    if path.last?.isEmpty == true { path = path.dropLast() }
    guard path.count == 3, path.first == "v1", path.dropFirst().first == "stores", let store = path.last else {
      throw invalid("does not end in /v1/stores/NAME")
    }
    guard Self.isStoreName(store) else {
      throw invalid(
        "names the store \(store); a store's name has letters, digits, - and _, at most 64, and starts without -")
    }
    server = "\(name)://\(host.lowercased())"
    self.store = String(store)
  }

  private static func isStoreName(_ name: Substring) -> Bool {
    let isKnown = name.utf8.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
      default: false
      }
    }
    return isKnown && !name.isEmpty && name.utf8.count <= 64 && name.utf8.first != 0x2D
  }

  private static func isHost(_ text: Substring) -> Bool {
    var host = text
    var port: Substring?
    if text.hasPrefix("[") {
      guard let end = text.firstIndex(of: "]") else { return false }
      host = text[text.index(after: text.startIndex)..<end]
      let rest = text[text.index(after: end)...]
      if !rest.isEmpty {
        guard rest.hasPrefix(":") else { return false }
        port = rest.dropFirst()
      }
      guard !host.isEmpty, host.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." }) else { return false }
    } else {
      if let colon = text.firstIndex(of: ":") {
        host = text[..<colon]
        port = text[text.index(after: colon)...]
      }
      let isKnown = host.allSatisfy { $0.isLetter || $0.isNumber || $0 == "." || $0 == "-" || $0 == "_" }
      guard !host.isEmpty, isKnown else { return false }
    }
    guard let port else { return true }
    guard port.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(port) else { return false }
    return (1...65535).contains(number)
  }
}
