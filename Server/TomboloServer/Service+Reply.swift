import TomboloCompression
import TomboloProtocol
import TomboloSQLite

/// From a request to its reply: who asks, which handler answers, in which encoding. Called with the lock held.
extension Service {
  enum Answer {
    case body(ResponseBody)
    case waits(LongPoll)
  }

  func reply(to request: ServiceRequest, since poll: LongPoll?) -> ServiceReply {
    let requestID = ReplicaID(options.randomness.next()).description
    var response: ServiceResponse
    do {
      switch try answer(to: request, since: poll) {
      case .waits(let poll): return .waits(poll)
      case .body(let body): response = encode(body, for: request)
      }
    } catch {
      response = failure(error, for: request, requestID: requestID)
    }
    stamp(&response, requestID: requestID)
    return .response(response)
  }

  private func answer(to request: ServiceRequest, since poll: LongPoll?) throws -> Answer {
    let route = try Route(path: request.path)
    let method = request.method == "HEAD" ? "GET" : request.method
    guard route.methods.contains(method) else { throw TomboloError.methodNotAllowed(route.methods) }
    guard let store = route.store else { return .body(try answerInPublic(route)) }
    let token = try authenticate(request, for: store)
    if case .changes = route, method == "GET" { return try pull(request, token: token, poll: poll) }
    var request = request
    request.body = try decodedBody(of: request)
    return .body(try answer(route, method: method, request: request, token: token))
  }

  /// What needs no token.
  private func answerInPublic(_ route: Route) throws -> ResponseBody {
    switch route {
    case .page: page()
    case .health: try health()
    case .metrics: .text(metrics.text(stores: try control.storeNames().count), contentType: "text/plain; version=0.0.4")
    default: try capabilities()
    }
  }

  private func answer(_ route: Route, method: String, request: ServiceRequest, token: TokenRecord) throws
    -> ResponseBody
  {
    switch (route, method) {
    case (.store, "PUT"): try createStore(token: token)
    case (.store, _): try describeStore(token: token)
    case (.schemas, _): try listSchemas(token: token)
    case (.schema(_, let version), "PUT"): try registerSchema(version, request: request, token: token)
    case (.schema(_, let version), _): try showSchema(version, token: token)
    case (.changes, _): try push(request, token: token)
    case (.known, _): try knownSaves(request, token: token)
    case (.reupload, _): try reupload(request, token: token)
    case (.records, _): try recordStates(request, token: token)
    case (.checksum, "POST"): try compare(request, token: token)
    case (.checksum, _): try showChecksum(token: token)
    case (.checksumRecords, _): try compareRecords(request, token: token)
    case (.replicas, _): try listReplicas(token: token)
    case (.tokens, "POST"): try makeToken(request, token: token)
    case (.tokens, _): try listTokens(token: token)
    case (.token(_, let id), _): try revokeToken(id, token: token)
    case (.page, _), (.health, _), (.metrics, _), (.capabilities, _): try answerInPublic(route)
    }
  }

  // MARK: Who asks

  private func authenticate(_ request: ServiceRequest, for store: String) throws -> TokenRecord {
    guard let secret = request.bearerSecret, let token = try control.token(secret: secret) else {
      throw TomboloError.tokenInvalid
    }
    try StoreName.validate(store)
    guard token.store == store else { throw TomboloError.tokenOfAnotherStore }
    return token
  }

  func requireOwner(_ token: TokenRecord, to action: String) throws {
    guard token.role.mayAdminister else { throw TomboloError.forbidden(token.role, to: action) }
  }

  /// The token's store, which must exist.
  func store(of token: TokenRecord) throws -> StoreFile {
    guard let file = try store(named: token.store) else { throw TomboloError.storeUnknown(token.store) }
    return file
  }

  // MARK: Encodings

  private func decodedBody(of request: ServiceRequest) throws -> [UInt8] {
    let limit = options.limits.requestBytesMax
    guard request.body.count <= limit else { throw TomboloError.requestTooLarge(limit: limit) }
    switch request.headers["content-encoding"]?.lowercased() {
    case nil, "", "identity": return request.body
    case "zstd":
      do {
        return try Zstd.decompress(request.body, limit: limit)
      } catch Zstd.Failure.tooLarge {
        throw TomboloError.requestTooLarge(limit: limit)
      } catch {
        throw TomboloError.malformed("the body is no whole Zstandard frame")
      }
    default: throw TomboloError.mediaTypeUnsupported("Content-Encoding")
    }
  }

  private func encode(_ body: ResponseBody, for request: ServiceRequest) -> ServiceResponse {
    var response = ServiceResponse(status: body.status, headers: body.headers, body: body.bytes)
    if !body.contentType.isEmpty { response.headers["content-type"] = body.contentType }
    guard body.bytes.count >= options.limits.compressionBytesMin,
      request.headers["accept-encoding"].map({ $0.lowercased().contains("zstd") }) ?? false,
      let compressed = try? Zstd.compress(body.bytes), compressed.count < body.bytes.count
    else { return response }
    response.body = compressed
    response.headers["content-encoding"] = "zstd"
    response.headers["vary"] = "Accept, Accept-Encoding"
    return response
  }

  private func stamp(_ response: inout ServiceResponse, requestID: String) {
    response.headers["tombolo-request-id"] = requestID
    response.headers["tombolo-time"] = String(options.clock.milliseconds())
    metrics.requests[response.status, default: 0] += 1
  }

  // MARK: Failures

  /// The response to a request whose group could not be committed.
  func groupFailure(for request: ServiceRequest) -> ServiceResponse { failureResponse(nil, for: request) }

  /// Nil is a fault that was logged already.
  func failureResponse(_ error: (any Error)?, for request: ServiceRequest) -> ServiceResponse {
    let requestID = ReplicaID(options.randomness.next()).description
    let error = error ?? TomboloError.internalFault(requestID: requestID)
    var response = failure(error, for: request, requestID: requestID)
    stamp(&response, requestID: requestID)
    return response
  }

  private func failure(_ error: any Error, for request: ServiceRequest, requestID: String) -> ServiceResponse {
    var told: TomboloError
    switch error {
    case let error as TomboloError: told = error
    case let error as SQLiteError where error.isDiskFull: told = .serverDiskFull
    default: told = .internalFault(requestID: requestID)
    }
    if told.remedy.isEmpty, told.code == .malformedMessage || told.code == .unknownMessageKind {
      told.remedy = TomboloError.malformed("").remedy
    }
    if told.code.httpStatus >= 500 { log(error, requestID: requestID) }
    let format = WireFormat(failureFor: request)
    var response = ServiceResponse(
      status: told.code.httpStatus, headers: ["content-type": format.mediaType],
      body: WireError(told).encoded(as: format))
    if told.code == .unauthorized { response.headers["www-authenticate"] = "Bearer" }
    if told.isRetryable { response.headers["retry-after"] = "1" }
    return response
  }

  func log(_ error: any Error, requestID: String) {
    metrics.faults += 1
    options.log("request \(requestID): \(error)")
  }
}
