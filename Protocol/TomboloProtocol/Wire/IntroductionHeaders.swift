extension Introduction {
  /// The names of the headers that introduce a replica in requests without a body; lower case, as they are looked up.
  private enum Header {
    static let replica = "tombolo-replica"
    static let schema = "tombolo-schema"
    static let highestSave = "tombolo-highest-save"
    static let holds = "tombolo-holds"
    static let epoch = "tombolo-epoch"
  }

  /// Where the replica stands, beside a push.
  package static let cursorHeader = "tombolo-cursor"

  /// The introduction as headers, with names in lower case.
  package var headers: [String: String] {
    var headers = [
      Header.replica: replica.description,
      Header.schema: schemaVersion.description,
      Header.highestSave: String(highestSave.rawValue),
    ]
    if let holds { headers[Header.holds] = String(holds.rawValue) }
    if let epoch { headers[Header.epoch] = ReplicaID(epoch.rawValue).description }
    return headers
  }

  /// - Parameter headers: a request's headers, names in lower case.
  /// - Throws: ``TomboloError`` with ``ErrorCode/malformedMessage``, which names the header.
  package init(headers: [String: String]) throws {
    func number(_ name: String, radix: Int) throws -> UInt64? {
      guard let text = headers[name] else { return nil }
      guard let number = UInt64(text, radix: radix), text.first != "+" else {
        throw TomboloError(
          .malformedMessage, "The header \(name) is not a \(radix == 16 ? "hexadecimal" : "decimal") number.")
      }
      return number
    }
    func required<T>(_ value: T?, _ name: String) throws -> T {
      guard let value else { throw TomboloError(.malformedMessage, "The header \(name) is missing.") }
      return value
    }
    let schema = try required(headers[Header.schema], Header.schema)
    guard let version = SchemaVersion(schema) else {
      throw TomboloError(.malformedMessage, "The header \(Header.schema) is not a version such as 1.0.0.")
    }
    self.init(
      replica: ReplicaID(try required(try number(Header.replica, radix: 16), Header.replica)),
      schemaVersion: version,
      highestSave: SaveNumber(try required(try number(Header.highestSave, radix: 10), Header.highestSave)),
      holds: try number(Header.holds, radix: 10).map { FeedPosition($0) },
      epoch: try number(Header.epoch, radix: 16).map { Epoch($0) })
  }
}
