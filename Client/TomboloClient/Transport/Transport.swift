/// One HTTP exchange at a time, blocking.
package protocol Transport: Sendable {
  /// - Throws: ``TransportFailure`` when there was no whole answer.
  func perform(_ request: TransportRequest) throws -> TransportResponse
  /// Ends the exchange under way, from any thread, with ``TransportFailure/Kind/interrupted``.
  func interrupt()
  /// Forgets an interruption that came when no exchange was under way.
  func clearInterruption()
}

extension Transport {
  package func interrupt() {}
  package func clearInterruption() {}
}

package struct TransportRequest: Hashable, Sendable {
  /// Upper case.
  package var method: String
  package var url: String
  /// Names in lower case.
  package var headers: [String: String]
  package var body: [UInt8]
  /// How long the server may be silent before it answers, beyond the usual time: a long poll's wait.
  package var waitSeconds: Int

  /// The URL's scheme, host and port, for messages: the rest may say more than a message should.
  var server: String { url.split(separator: "/", maxSplits: 3).prefix(2).joined(separator: "//") }

  package init(method: String, url: String, headers: [String: String] = [:], body: [UInt8] = [], waitSeconds: Int = 0) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    self.waitSeconds = waitSeconds
  }
}

package struct TransportResponse: Hashable, Sendable {
  package var status: Int
  /// Names in lower case.
  package var headers: [String: String]
  /// Decompressed.
  package var body: [UInt8]

  package init(status: Int, headers: [String: String] = [:], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}

/// There was no whole answer: the request may or may not have had its effect.
package struct TransportFailure: Error, Hashable, Sendable {
  package enum Kind: String, Hashable, Sendable {
    /// No connection could be made.
    case unreachable
    case timedOut
    /// The connection ended in the middle.
    case lost
    /// The answer is larger than the client takes.
    case answerTooLarge
    /// TLS was refused: a certificate, a version.
    case insecure
    /// ``Transport/interrupt()`` was called.
    case interrupted
    /// The request could not be made at all: a malformed URL, a protocol that is not built in.
    case impossible
  }
  package var kind: Kind
  /// A sentence's end, as "could not connect".
  package var reason: String

  package init(_ kind: Kind, reason: String) {
    self.kind = kind
    self.reason = reason
  }

  package var isRetryable: Bool {
    switch kind {
    case .unreachable, .timedOut, .lost: true
    case .answerTooLarge, .insecure, .interrupted, .impossible: false
    }
  }

  /// Whether less at once might have come through.
  package var mayBeOfSize: Bool { kind == .timedOut || kind == .lost }
}
