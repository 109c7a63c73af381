import TomboloProtocol

extension Service {
  private struct Description: Encodable {
    var store: String
    var epoch: String
    var position: UInt64
    var schema: String?
    var checksum: String
    /// What the token that asked permits.
    var role: String
  }

  private func describe(_ file: StoreFile, to token: TokenRecord) throws -> [UInt8] {
    try JSONBody.encode(
      Description(
        store: file.name, epoch: file.state.epoch.text, position: file.position.rawValue,
        schema: file.registry.latest?.version.description, checksum: file.state.checksum.text,
        role: token.role.rawValue))
  }

  /// `PUT /v1/stores/S`: makes the store, or finds it there.
  func createStore(token: TokenRecord) throws -> ResponseBody {
    try requireOwner(token, to: "create a store")
    let (file, isNew) = try makeStore(named: token.store)
    return .json(try describe(file, to: token), status: isNew ? 201 : 200)
  }

  /// `GET /v1/stores/S`.
  func describeStore(token: TokenRecord) throws -> ResponseBody { .json(try describe(try store(of: token), to: token)) }

  /// `GET …/checksum`.
  func showChecksum(token: TokenRecord) throws -> ResponseBody {
    struct Answer: Encodable {
      var epoch: String
      var position: UInt64
      var checksum: String
    }
    let file = try store(of: token)
    return .json(
      try JSONBody.encode(
        Answer(epoch: file.state.epoch.text, position: file.position.rawValue, checksum: file.state.checksum.text)))
  }

  /// `GET …/replicas`: who synced, when, how far behind, on which schema version.
  func listReplicas(token: TokenRecord) throws -> ResponseBody {
    struct Entry: Encodable {
      var replica: String
      var token: String
      var schema: String
      var processed: UInt64
      var highest: UInt64
      var base: UInt64?
      var behind: UInt64?
      var holds: UInt64?
      var seen: UInt64
      var live: Bool
    }
    let file = try store(of: token)
    // Who only polled stands in the notes until the next commit.
    try file.transaction {}
    let liveSince = file.liveSince
    let entries = try file.replicas().map { replica in
      Entry(
        replica: replica.id.description, token: replica.tokenName, schema: replica.schema,
        processed: replica.processed.rawValue, highest: replica.highest.rawValue, base: replica.base?.rawValue,
        behind: replica.base.map { file.position.rawValue - min($0.rawValue, file.position.rawValue) },
        holds: replica.holds?.rawValue, seen: replica.seen, live: replica.seen >= liveSince)
    }
    return .json(try JSONBody.encode(["replicas": entries]))
  }
}

extension Epoch {
  /// Sixteen hexadecimal digits.
  var text: String { ReplicaID(rawValue).description }

  init?(text: some StringProtocol) {
    guard let value = UInt64(text, radix: 16) else { return nil }
    self.init(value)
  }
}
