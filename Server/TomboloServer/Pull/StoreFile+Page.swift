import TomboloProtocol
import TomboloSQLite

/// The feed: everything after a position, cut into pages between positions only, so that no save is torn.
extension StoreFile {
  /// How far back a replica is told again of refused saves: more than it ever sends before it pulls.
  private static let answersBackMax: UInt64 = 5_000

  /// Checks that the cursor belongs to this history and is not older than the tombstones kept.
  /// - Throws: `other_epoch`, `cursor_expired`.
  func check(_ cursor: Cursor) throws {
    guard cursor.epoch == state.epoch, cursor.base <= cursor.position else { throw TomboloError.epochChanged }
    switch try commitID(at: cursor.position) {
    case cursor.commit?: break
    case nil where try isForgotten(cursor.position):
      // A walk through everything passes positions whose commits are forgotten; it is judged below by where it began.
      guard cursor.base == .start else {
        throw TomboloError.cursorExpired("the history up to its position is forgotten")
      }
    default: throw TomboloError.epochChanged
    }
    // A first pull has no base to be judged by: it starts again when collection has passed where it began.
    let isFirst = cursor.base == .start
    if isFirst ? cursor.position > .start && cursor.start < state.collected : cursor.base < state.collected {
      throw TomboloError.cursorExpired("deletions up to position \(state.collected.rawValue) are forgotten")
    }
  }

  /// Checks that who stands at the cursor knows this history, however old the cursor is: before anything of his is merged.
  /// - Throws: `other_epoch`.
  func checkHistory(of cursor: Cursor) throws {
    do {
      try check(cursor)
    } catch let error as TomboloError where error.code == .cursorExpired {
      // The pull that follows says so; what is sent is merged all the same.
    }
  }

  /// Whether the ids of commits at a position are forgotten: then nothing tells another history.
  func isForgotten(_ position: FeedPosition) throws -> Bool {
    let query = try connection.cached("SELECT min(position) FROM commit_id")
    defer { query.reset() }
    return try query.step() && !query.isNull(0) ? position < query.position(0) : false
  }

  /// One page, read in one transaction.
  /// - Parameter readers: the puller and the ids that it had before.
  func page(after cursor: Cursor?, limit: Int, replica: ReplicaID, readers: [ReplicaID]) throws -> Page {
    guard !connection.isInTransaction else {
      return try readPage(after: cursor, limit: limit, replica: replica, readers: readers)
    }
    return try connection.deferred { try readPage(after: cursor, limit: limit, replica: replica, readers: readers) }
  }

  private func readPage(after cursor: Cursor?, limit: Int, replica: ReplicaID, readers: [ReplicaID]) throws -> Page {
    let walked = cursor?.position ?? .start
    let base = cursor?.base ?? .start
    var items: [FeedItem] = []
    var end = state.position
    var hasMore = false
    if walked < end, let schema = registry.merged {
      end = try cut(after: walked, limit: limit, readers: readers) ?? end
      end = try readRecords(after: walked, upTo: end, since: base, schema: schema, into: &items)
      try readLinks(after: walked, upTo: end, into: &items)
      try readConflicts(after: walked, upTo: end, readers: readers, into: &items)
      hasMore = end < state.position ? try cut(after: end, limit: 1, readers: readers) != nil : false
      if !hasMore { end = state.position }
    }
    let isNews = walked < end || cursor == nil
    let next = Cursor(
      epoch: state.epoch, base: hasMore ? base : end, position: end,
      start: walked == .start ? state.position : cursor?.start ?? state.position, commit: try commitID(at: end) ?? 0)
    return Page(
      cursor: next, items: items, hasMore: hasMore, processed: try highestSave(of: replica),
      answers: hasMore ? [] : try answers(for: replica), vector: hasMore || !isNews ? [:] : try vector(),
      checksum: hasMore ? nil : state.checksum, serverTime: max(state.now, options.clock.milliseconds()),
      recordBytesMax: options.limits.unusualRecordBytesMax)
  }

  /// The position of the last of `limit` items after a position; nil if there are fewer.
  private func cut(after position: FeedPosition, limit: Int, readers: [ReplicaID]) throws -> FeedPosition? {
    // The parts come ordered from their indexes; SQLite merges them without sorting.
    let conflicts = readers.map { _ in " UNION ALL SELECT position FROM conflict WHERE replica = ? AND position > ?" }
    let query = try connection.cached(
      "SELECT position FROM record WHERE position > ? UNION ALL SELECT position FROM link WHERE position > ?"
        + conflicts.joined() + " ORDER BY 1 LIMIT 1 OFFSET ?")
    query.bind(position, at: 1)
    query.bind(position, at: 2)
    var index: Int32 = 3
    for reader in readers {
      query.bind(Int64(bitPattern: reader.rawValue), at: index)
      query.bind(position, at: index + 1)
      index += 2
    }
    query.bind(limit - 1, at: index)
    defer { query.reset() }
    return try query.step() ? query.position(0) : nil
  }

  /// - Returns: where the page ends: earlier than asked for if its bytes are enough.
  private func readRecords(
    after start: FeedPosition, upTo end: FeedPosition, since base: FeedPosition, schema: MergeSchema,
    into items: inout [FeedItem]
  ) throws -> FeedPosition {
    // Not from the cache: the merge's own look-ups run in between.
    let query = try connection.cached(
      "SELECT position, payload FROM record WHERE position > ? AND position <= ? ORDER BY position, id")
    query.bind(start, at: 1)
    query.bind(end, at: 2)
    defer { query.reset() }
    var bytes = 0
    var last = start
    while try query.step() {
      let position = query.position(0)
      if position != last, bytes >= options.limits.pageBytesMax { return last }
      last = position
      let payload = query.bytes(1)
      bytes += payload.count
      items.append(
        try MergeEngine.item(for: try MergeRecord(decoding: payload), since: base, reader: self, schema: schema))
    }
    return end
  }

  private func readLinks(after start: FeedPosition, upTo end: FeedPosition, into items: inout [FeedItem]) throws {
    let query = try connection.cached(
      "SELECT \(Self.linkColumns) FROM link WHERE position > ? AND position <= ? ORDER BY position, 1, 2, 3")
    query.bind(start, at: 1)
    query.bind(end, at: 2)
    defer { query.reset() }
    while try query.step() { if let link = try Self.link(query) { items.append(.link(link.state)) } }
  }

  private func readConflicts(
    after start: FeedPosition, upTo end: FeedPosition, readers: [ReplicaID], into items: inout [FeedItem]
  ) throws {
    let query = try connection.cached(
      "SELECT body FROM conflict WHERE replica = ? AND position > ? AND position <= ? ORDER BY position, id")
    for reader in readers {
      query.bind(Int64(bitPattern: reader.rawValue), at: 1)
      query.bind(start, at: 2)
      query.bind(end, at: 3)
      defer { query.reset() }
      while try query.step() { items.append(try FeedItem(decoding: query.bytes(0), as: .cbor)) }
    }
  }

  /// The verdicts that a replica may have missed.
  private func answers(for replica: ReplicaID) throws -> [PushAnswer] {
    let query = try connection.cached(
      """
      SELECT save, number, verdict FROM queue WHERE replica = ?1 AND notable = 1
        AND number > (SELECT coalesce(max(processed), 0) - \(Self.answersBackMax) FROM replica WHERE id = ?1)
      ORDER BY number
      """)
    query.bind(Int64(bitPattern: replica.rawValue), at: 1)
    defer { query.reset() }
    var answers: [PushAnswer] = []
    while try query.step() {
      guard let save = SaveID(bytes: query.bytes(0)) else { continue }
      answers.append(
        PushAnswer(
          save: save, number: SaveNumber(UInt64(bitPattern: query.int64(1))),
          verdict: try VerdictCoding.verdict(query.bytes(2))))
    }
    return answers
  }

  private func vector() throws -> [ReplicaID: SaveNumber] {
    let query = try connection.cached("SELECT id, processed FROM replica WHERE processed > 0")
    defer { query.reset() }
    var vector: [ReplicaID: SaveNumber] = [:]
    while try query.step() {
      vector[ReplicaID(UInt64(bitPattern: query.int64(0)))] = SaveNumber(UInt64(bitPattern: query.int64(1)))
    }
    return vector
  }
}
