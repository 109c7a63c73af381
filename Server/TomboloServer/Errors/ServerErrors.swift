import TomboloProtocol

/// The errors that the server itself raises, each with its sentence and its remedy in one place.
extension TomboloError {
  static var pathUnknown: TomboloError {
    TomboloError(
      .notFound, "The path names nothing that this server has.",
      remedy: "GET /v1 lists what it understands; stores live under /v1/stores/NAME.")
  }

  static func methodNotAllowed(_ methods: [String]) -> TomboloError {
    TomboloError(
      .methodNotAllowed, "The path does not understand this method.",
      remedy: "It understands \(methods.joined(separator: " and ")).")
  }

  static var tokenInvalid: TomboloError {
    TomboloError(
      .unauthorized, "The request carries no token that this server knows.",
      remedy: "Send 'Authorization: Bearer TOKEN'; the server's owner makes one with 'tombolod token create'.")
  }

  static func forbidden(_ role: Role, to action: String) -> TomboloError {
    TomboloError(
      .forbidden, "A \(role.rawValue)'s token may not \(action).",
      remedy: "Ask an owner of the store for a token with another role.")
  }

  static var tokenOfAnotherStore: TomboloError {
    TomboloError(
      .forbidden, "The token belongs to another store.",
      remedy: "A token is good for one store: use the one that was made for this store.")
  }

  static var storeNameInvalid: TomboloError {
    TomboloError(
      .invalidStoreName, "The store's name is not one.",
      remedy: "Use 1 to \(StoreName.bytesMax) letters, digits, '-' and '_', not starting with '-'.")
  }

  static func storeUnknown(_ name: String) -> TomboloError {
    TomboloError(
      .unknownStore, "The store '\(name)' does not exist yet.",
      remedy: "An owner's first sync creates it, or PUT /v1/stores/\(name) with an owner's token.")
  }

  static func storesExhausted(_ limit: Int) -> TomboloError {
    TomboloError(
      .limitExceeded, "The server holds its limit of \(limit) stores.",
      remedy: "Raise the limit, or start another server.")
  }

  static func requestTooLarge(limit: Int) -> TomboloError {
    TomboloError(
      .requestTooLarge, "The request's body is larger than \(limit) bytes.",
      remedy: "Send fewer change sets at once; one that is too large alone is sent as fragments.",
      details: [Detail(code: "bytes_max", text: String(limit))])
  }

  static func pushTooLarge(changes: Int, limit: Int) -> TomboloError {
    TomboloError(
      .requestTooLarge, "The push holds \(changes) changes; the limit is \(limit).",
      remedy: "Send fewer change sets at once; one that is too large alone is sent as fragments.",
      details: [Detail(code: "changes_max", text: String(limit))])
  }

  static func limitExceeded(_ what: String, limit: Int) -> TomboloError {
    TomboloError(
      .limitExceeded, "The limit of \(limit) \(what) is reached.", remedy: "Wait, or raise the server's limit.",
      details: [Detail(code: "limit", text: String(limit))])
  }

  static func malformed(_ reason: String) -> TomboloError {
    TomboloError(
      .malformedMessage, "The request cannot be read: \(reason).", remedy: "Protocol/SPEC.md describes every message.")
  }

  static func mediaTypeUnsupported(_ what: String) -> TomboloError {
    TomboloError(
      .unsupportedMediaType, "The body's \(what) is not one that the server reads.",
      remedy: "Send application/cbor or application/json, plain or with Content-Encoding: zstd.")
  }

  static func schemaUnknown(_ version: String) -> TomboloError {
    TomboloError(
      .unknownSchema, "The store knows no schema version \(version).",
      remedy: "Register it first: PUT /v1/stores/NAME/schemas/\(version).")
  }

  static func schemaVersionMismatch(path: String, document: String) -> TomboloError {
    TomboloError(
      .invalidSchema, "The path names version \(path), the document says \(document).",
      remedy: "Send the document under its own version.")
  }

  static func cursorExpired(_ reason: String) -> TomboloError {
    TomboloError(
      .cursorExpired, "The cursor is older than what the server kept: \(reason).",
      remedy: "Start again with a snapshot: rows neither in it nor unsent are removed, unsent work is kept.")
  }

  static var epochChanged: TomboloError {
    TomboloError(
      .otherEpoch, "The server's store is another one than the replica last spoke with.",
      remedy: "The server was restored, replaced or wiped: choose 'sync --reupload' or 'sync --reset'.")
  }

  static func headerInvalid(_ name: String) -> TomboloError {
    malformed("the header or parameter '\(name)' is missing or not what it must be")
  }

  static func internalFault(requestID: String) -> TomboloError {
    TomboloError(
      .internalFault, "The server failed; request \(requestID) is in its log.",
      remedy: "Try again; tell the server's owner.",
      isRetryable: true)
  }

  static var serverDiskFull: TomboloError {
    TomboloError(
      .diskFull, "The server's disk is full; nothing of the request was kept.", remedy: "Tell the server's owner.",
      isRetryable: true)
  }

  static func dataDirectoryUnusable(_ path: String) -> TomboloError {
    TomboloError(
      .dataDirectoryUnusable, "The data directory '\(path)' cannot be made or read.",
      remedy: "Check that the path is a directory that this user may write.")
  }

  static func tokenUnknown(_ id: String) -> TomboloError {
    TomboloError(.notFound, "There is no token '\(id)'.", remedy: "'tombolod token list' names them.")
  }
}
