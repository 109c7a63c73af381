import TomboloProtocol

extension Service {
  /// `GET …/changes`: a page, or a wait for one.
  func pull(_ request: ServiceRequest, token: TokenRecord, poll: LongPoll?) throws -> Answer {
    let pull = try PullRequest(request, limits: options.limits)
    let file = try store(of: token)
    if let epoch = pull.introduction.epoch, epoch != file.state.epoch { throw TomboloError.epochChanged }
    if let cursor = pull.cursor { try file.check(cursor) }
    file.note(pull.introduction, base: pull.cursor?.base, token: token)
    if file.notes.count >= options.limits.notesMax { try file.transaction {} }
    let readers = [pull.introduction.replica] + (try request.formerReplicas())
    let page = try file.page(
      after: pull.cursor, limit: pull.limit, replica: pull.introduction.replica, readers: readers)
    if let wait = waiting(request, pull: pull, page: page, file: file, poll: poll) { return .waits(wait) }
    metrics.pagesServed += 1
    metrics.itemsServed += page.items.count
    return .body(.message(page, for: request))
  }

  /// The wait that a pull has to go through, nil if it is answered now.
  private func waiting(
    _ request: ServiceRequest, pull: PullRequest, page: Page, file: StoreFile, poll: LongPoll?
  ) -> LongPoll? {
    guard pull.wait > 0, let cursor = pull.cursor, page.cursor.position == cursor.position,
      page.cursor.base == cursor.base
    else { return nil }
    let now = options.clock.milliseconds()
    let deadline = poll?.deadline ?? now + UInt64(pull.wait) * 1_000
    guard now < deadline else { return nil }
    return LongPoll(request: request, store: file.name, position: file.position.rawValue, deadline: deadline)
  }
}
