import TomboloCompression

/// A request or an answer as it came over a connection: a head, and a body with a Content-Length.
package struct HTTPMessage: Sendable {
  /// All of it, as it goes on.
  package let bytes: [UInt8]
  /// `GET /path HTTP/1.1`, or `HTTP/1.1 200 OK`.
  package let startLine: String
  /// Names in small letters.
  package let headers: [String: String]
  private let bodyStart: Int
  private static let bodyBytesMax = 256 << 20

  init(_ bytes: [UInt8], headEnd: Int) {
    self.bytes = bytes
    bodyStart = headEnd
    let lines = String(decoding: bytes[..<headEnd], as: UTF8.self).split(separator: "\r\n")
    startLine = lines.first.map(String.init) ?? ""
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { continue }
      headers[line[..<colon].lowercased()] = line[line.index(after: colon)...].drop { $0 == " " }.description
    }
    self.headers = headers
  }

  package var method: Substring { startLine.prefix { $0 != " " } }
  /// With its query.
  package var target: Substring { startLine.dropFirst(method.count + 1).prefix { $0 != " " } }
  /// Of an answer; nil for a request.
  package var status: Int? { startLine.hasPrefix("HTTP/") ? Int(startLine.dropFirst(9).prefix(3)) : nil }

  /// The body, decompressed; nil for what is damaged or has another encoding.
  var body: [UInt8]? {
    let bytes = Array(bytes[bodyStart...])
    switch headers["content-encoding"]?.lowercased() {
    case nil, "", "identity": return bytes
    case "zstd": return try? Zstd.decompress(bytes, limit: Self.bodyBytesMax)
    default: return nil
    }
  }
}
