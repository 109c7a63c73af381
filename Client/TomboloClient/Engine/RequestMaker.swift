import Tombolo
package import TomboloProtocol

/// Builds the requests of one replica to one server's store.
package struct RequestMaker: Sendable {
  package let address: RemoteAddress
  private let token: String

  package init(address: RemoteAddress, token: String) {
    self.address = address
    self.token = token
  }

  private static let media = WireFormat.cbor.mediaType

  package func request(_ method: String, _ path: String, headers: [String: String] = [:], body: [UInt8] = [])
    -> TransportRequest
  {
    var headers = headers
    headers["authorization"] = "Bearer \(token)"
    if headers["accept"] == nil { headers["accept"] = Self.media }
    if !body.isEmpty, headers["content-type"] == nil { headers["content-type"] = Self.media }
    return TransportRequest(method: method, url: address.text + path, headers: headers, body: body)
  }

  func createStore() -> TransportRequest { request("PUT", "") }

  /// - Parameter document: in canonical form, which is always JSON.
  func registerSchema(_ document: SchemaDocument, version: SchemaVersion) -> TransportRequest {
    request(
      "PUT", "/schemas/\(version)", headers: ["content-type": "application/json"], body: document.canonicalJSON)
  }

  /// - Parameter cursor: where the replica stands: a server with another history must not merge anything first.
  func push(_ body: [UInt8], from introduction: Introduction, at cursor: Cursor?) -> TransportRequest {
    var headers = introduction.headers
    if let cursor, cursor.epoch == introduction.epoch { headers[Introduction.cursorHeader] = cursor.text }
    return request("POST", "/changes", headers: headers, body: body)
  }

  func known(_ saves: [SaveID], from introduction: Introduction) -> TransportRequest {
    request(
      "POST", "/changes/known", headers: introduction.headers,
      body: KnownRequest(introduction: introduction, saves: saves).encoded(as: .cbor))
  }

  func reupload(_ part: ReuploadPart, from introduction: Introduction) -> TransportRequest {
    let request = ReuploadRequest(
      introduction: introduction, session: part.session, part: part.part, cursor: part.cursor, answered: part.answered,
      items: part.items, vector: part.vector, isLast: part.isLast)
    return self.request("POST", "/reupload", body: request.encoded(as: .cbor))
  }

  package func compare(_ comparison: ComparisonRequest) -> TransportRequest {
    request("POST", "/checksum", body: comparison.encoded(as: .cbor))
  }

  package func compareRecords(_ comparison: ComparisonRequest) -> TransportRequest {
    request("POST", "/checksum/records", body: comparison.encoded(as: .cbor))
  }

  /// - Parameter former: the ids that the replica had before: entries that are addressed to them are wanted as well.
  package func pull(_ pull: PullRequest, former: [ReplicaID] = []) -> TransportRequest {
    var query = "limit=\(pull.limit)"
    if let cursor = pull.cursor { query = "since=\(cursor.text)&" + query }
    if pull.wait > 0 { query += "&wait=\(pull.wait)" }
    var request = request("GET", "/changes?" + query, headers: pull.introduction.headers)
    request.waitSeconds = pull.wait
    if !former.isEmpty {
      request.headers["tombolo-former-replicas"] = former.map(\.description).joined(separator: ",")
    }
    return request
  }
}
