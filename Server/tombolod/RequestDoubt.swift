/// Whether a request can be understood in two ways, as by a proxy in one and by this server in the other: the gap through
/// which one request is smuggled inside another (RFC 9112, section 11.2), or one path passes for another.
struct RequestDoubt {
  let path: String
  let query: [String: String]
  /// Names in lower case.
  let headers: [String: String]
  /// Headers that came more than once, with different values.
  let contradicted: Set<String>

  /// Headers that say where a request ends, whom it is for and whom it is from.
  private static let decisive = [
    "authorization", "content-encoding", "content-length", "content-type", "host", "transfer-encoding",
  ]

  /// Nil for a request without doubt.
  var reason: String? {
    if let name = Self.decisive.first(where: contradicted.contains) {
      return "the header \(name) came twice, with different values"
    }
    if headers["transfer-encoding"] != nil, headers["content-length"] != nil {
      return "it has both a content-length and a transfer-encoding"
    }
    if let coding = headers["transfer-encoding"], coding.lowercased() != "chunked" {
      return "its transfer-encoding is not chunked"
    }
    if let length = headers["content-length"], length.isEmpty || !length.utf8.allSatisfy({ (0x30...0x39).contains($0) })
    {
      return "its content-length is no number"
    }
    let texts = [path] + query.flatMap { [$0.key, $0.value] }
    if texts.contains(where: { $0.utf8.contains { $0 < 0x20 || $0 == 0x7F } }) {
      return "its path or query holds a control character"
    }
    return nil
  }
}
