import TomboloProtocol

extension Service {
  /// `POST …/changes`: merges change sets in order, each whole or not at all, until one stops the queue.
  func push(_ request: ServiceRequest, token: TokenRecord) throws -> ResponseBody {
    guard token.role.mayPush else { throw TomboloError.forbidden(token.role, to: "push") }
    let push = try PushRequest(decoding: request.body, as: try WireFormat(ofBodyIn: request))
    let file = try store(of: token)
    try checkLimits(of: push)
    let introduction = push.introduction
    if let epoch = introduction.epoch, epoch != file.state.epoch { throw TomboloError.epochChanged }
    if let text = request.headers[Introduction.cursorHeader] { try file.checkHistory(of: Cursor(text: text)) }
    guard try file.knowsSchema(introduction.schemaVersion), let schema = file.registry.merged else {
      throw TomboloError.schemaUnknown(introduction.schemaVersion.description)
    }
    let answers = try file.transaction {
      file.note(introduction, base: nil, token: token)
      try file.makeRow(for: introduction.replica)
      if let fragment = push.fragment {
        return [try file.take(fragment, from: introduction.replica, schema: schema)]
      }
      return try file.take(push.changeSets, from: introduction.replica, schema: schema)
    }
    count(answers)
    return .message(
      PushResponse(epoch: file.state.epoch, serverTime: file.state.now, answers: answers), for: request)
  }

  private func checkLimits(of push: PushRequest) throws {
    let limits = options.limits
    let changes = push.changeSets.reduce(0) { $0 + $1.changes.count }
    // One save alone is never cut here: it is atomic, and the bytes of a request bound it.
    guard push.changeSets.count <= 1 || changes <= limits.pushRecordsMax else {
      throw TomboloError.pushTooLarge(changes: changes, limit: limits.pushRecordsMax)
    }
    if push.fragment != nil, !push.changeSets.isEmpty {
      throw TomboloError.malformed("a fragment travels without change sets")
    }
  }

  private func count(_ answers: [PushAnswer]) {
    for answer in answers {
      switch answer.verdict {
      case .accepted: metrics.changeSetsAccepted += 1
      case .known: metrics.changeSetsKnown += 1
      case .refused: metrics.changeSetsRefused += 1
      case .clockSkew, .gap, .copiedReplica, .fragmentStored: break
      }
    }
  }

  /// `POST …/changes/known`: which of these saves were taken, under whatever number and replica id.
  func knownSaves(_ request: ServiceRequest, token: TokenRecord) throws -> ResponseBody {
    guard token.role.mayPush else { throw TomboloError.forbidden(token.role, to: "push") }
    let known = try KnownRequest(decoding: request.body, as: try WireFormat(ofBodyIn: request))
    let file = try store(of: token)
    var taken: [KnownResponse.Known] = []
    for save in known.saves where options.mergeRules.savesHaveIdentity {
      guard let processed = try file.processed(save) else { continue }
      if case .refused = processed.verdict { continue }
      taken.append(.init(save: save, stamp: processed.stamp))
    }
    return .message(KnownResponse(saves: taken), for: request)
  }
}
