import TomboloProtocol

extension ServiceRequest {
  /// The secret of `Authorization: Bearer SECRET`.
  var bearerSecret: Substring? {
    guard let header = headers["authorization"] else { return nil }
    let parts = header.split(separator: " ", omittingEmptySubsequences: true)
    guard parts.count == 2, parts[0].lowercased() == "bearer", parts[1].utf8.count <= 512 else { return nil }
    return parts[1]
  }
}
