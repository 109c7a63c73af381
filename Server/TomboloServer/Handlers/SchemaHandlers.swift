import TomboloProtocol

extension Service {
  /// `GET …/schemas`.
  func listSchemas(token: TokenRecord) throws -> ResponseBody {
    struct Listed: Encodable {
      var version: String
      var registered: UInt64
    }
    let file = try store(of: token)
    let versions = file.registry.entries.map { Listed(version: $0.version.description, registered: $0.registered) }
    return .json(try JSONBody.encode(["versions": versions]))
  }

  /// `GET …/schemas/VERSION` or `…/schemas/latest`: the canonical document.
  func showSchema(_ text: String, token: TokenRecord) throws -> ResponseBody {
    let file = try store(of: token)
    let entry = text == "latest" ? file.registry.latest : SchemaVersion(text).flatMap { file.registry[$0] }
    guard let entry else { throw TomboloError.schemaUnknown(text) }
    var body = ResponseBody.json(entry.json)
    body.headers["tombolo-schema"] = entry.version.description
    return body
  }

  /// `PUT …/schemas/VERSION`: an owner's first registration makes the store; a writer may add a version to a store
  /// that has one, since that is what an upgraded app on a writer's machine has to do.
  func registerSchema(_ text: String, request: ServiceRequest, token: TokenRecord) throws -> ResponseBody {
    guard token.role.mayPush else { throw TomboloError.forbidden(token.role, to: "register a schema") }
    guard request.body.count <= options.limits.schemaBytesMax else {
      throw TomboloError.requestTooLarge(limit: options.limits.schemaBytesMax)
    }
    let document = try SchemaDocument(parsing: request.body)
    guard let version = document.version else { throw SchemaLint.unversioned(document.name) }
    guard SchemaVersion(text) == version else {
      throw TomboloError.schemaVersionMismatch(path: text, document: version.description)
    }
    let file = try storeToRegister(for: token)
    let isNew = try file.register(document, as: version)
    struct Registered: Encodable {
      var version: String
      var registered: Bool
      var epoch: String
    }
    return .json(
      try JSONBody.encode(
        Registered(version: version.description, registered: isNew, epoch: file.state.epoch.text)),
      status: isNew ? 201 : 200)
  }

  private func storeToRegister(for token: TokenRecord) throws -> StoreFile {
    if let file = try store(named: token.store), token.role.mayAdminister || file.registry.latest != nil { return file }
    try requireOwner(token, to: "register a store's first schema")
    return try makeStore(named: token.store).file
  }
}
