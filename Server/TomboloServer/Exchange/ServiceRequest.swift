/// One HTTP request, as the listener or the simulation hands it in.
package struct ServiceRequest: Sendable, Hashable {
  /// Upper case.
  package var method: String
  /// Percent-decoded, without the query.
  package var path: String
  package var query: [String: String]
  /// Names in lower case.
  package var headers: [String: String]
  package var body: [UInt8]

  package init(
    method: String, path: String, query: [String: String] = [:], headers: [String: String] = [:], body: [UInt8] = []
  ) {
    self.method = method
    self.path = path
    self.query = query
    self.headers = headers
    self.body = body
  }

  /// Whether a listener should hand it to ``Service/handle(batch:)``, so that it shares a commit with others.
  package var isPush: Bool { method == "POST" && path.hasPrefix("/v1/stores/") && path.hasSuffix("/changes") }
}

package struct ServiceResponse: Sendable, Hashable {
  package var status: Int
  /// Names in lower case.
  package var headers: [String: String]
  package var body: [UInt8]

  package init(status: Int, headers: [String: String] = [:], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}

package enum ServiceReply: Sendable, Hashable {
  case response(ServiceResponse)
  /// A pull with nothing to deliver yet; ask ``Service/resume(_:)`` when ``Service/hasNews(for:)`` or when its time is up.
  case waits(LongPoll)
}

/// A suspended pull.
package struct LongPoll: Sendable, Hashable {
  package var request: ServiceRequest
  package var store: String
  /// The feed's end when it was suspended.
  package var position: UInt64
  /// Milliseconds since 1970; then it is answered with an empty page.
  package var deadline: UInt64
}
