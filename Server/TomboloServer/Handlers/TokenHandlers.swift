import TomboloProtocol

extension Service {
  private struct Listed: Encodable {
    var id: String
    var store: String
    var role: String
    var name: String
    var created: UInt64
    var revoked: UInt64?

    init(_ record: TokenRecord) {
      id = record.id
      store = record.store
      role = record.role.rawValue
      name = record.name
      created = record.created
      revoked = record.revoked
    }
  }

  /// `GET …/tokens`.
  func listTokens(token: TokenRecord) throws -> ResponseBody {
    try requireOwner(token, to: "list tokens")
    return .json(try JSONBody.encode(["tokens": try control.tokens(store: token.store).map(Listed.init)]))
  }

  /// `POST …/tokens` with `{"role":"writer","name":"Ana's laptop"}`: the answer is the only place where the secret stands.
  func makeToken(_ request: ServiceRequest, token: TokenRecord) throws -> ResponseBody {
    struct Wish: Decodable {
      var role: String
      var name: String?
    }
    struct Made: Encodable {
      var token: String
      var id: String
      var role: String
      var name: String
    }
    try requireOwner(token, to: "make tokens")
    let wish = try JSONBody.decode(Wish.self, from: request.body)
    guard let role = Role(rawValue: wish.role) else {
      throw TomboloError.malformed("the role is none of owner, writer and reader")
    }
    let name = wish.name ?? ""
    guard name.utf8.count <= 200 else { throw TomboloError.malformed("the name is longer than 200 bytes") }
    let made = try control.createToken(
      store: token.store, role: role, name: name, randomness: options.randomness, clock: options.clock,
      limit: options.limits.tokensMax)
    return .json(
      try JSONBody.encode(Made(token: made.secret, id: made.record.id, role: role.rawValue, name: name)), status: 201)
  }

  /// `DELETE …/tokens/ID`: from the next request on the token is good for nothing.
  func revokeToken(_ id: String, token: TokenRecord) throws -> ResponseBody {
    try requireOwner(token, to: "revoke tokens")
    guard try control.revokeToken(id: id, store: token.store, clock: options.clock) else {
      throw TomboloError.tokenUnknown(id)
    }
    return .nothing
  }
}
