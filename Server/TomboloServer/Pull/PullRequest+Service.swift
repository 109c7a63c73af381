import TomboloProtocol

extension PullRequest {
  /// - Throws: `malformed_message`.
  init(_ request: ServiceRequest, limits: ServiceLimits) throws {
    func number(_ name: String, default fallback: Int, max: Int) throws -> Int {
      guard let text = request.query[name] else { return fallback }
      guard let number = Int(text), number >= 0 else { throw TomboloError.headerInvalid(name) }
      return min(number, max)
    }
    let cursor = try request.query["since"].flatMap { $0.isEmpty ? nil : try Cursor(text: $0) }
    self.init(
      introduction: try Introduction(headers: request.headers), cursor: cursor,
      limit: max(1, try number("limit", default: limits.pageItemsMax, max: limits.pageItemsMax)),
      wait: try number("wait", default: 0, max: limits.waitSecondsMax))
  }
}

extension ServiceRequest {
  private static let formerReplicasMax = 64

  /// `Tombolo-Former-Replicas`: the ids that the puller's file had before, whose conflict entries are its own as well.
  /// - Throws: `malformed_message`.
  func formerReplicas() throws -> [ReplicaID] {
    guard let header = headers["tombolo-former-replicas"] else { return [] }
    let parts = header.split(separator: ",").map { $0.trimmingPrefix { $0 == " " } }
    guard parts.count <= Self.formerReplicasMax else { throw TomboloError.headerInvalid("Tombolo-Former-Replicas") }
    return try parts.map { part in
      guard let value = UInt64(part, radix: 16) else { throw TomboloError.headerInvalid("Tombolo-Former-Replicas") }
      return ReplicaID(value)
    }
  }
}
