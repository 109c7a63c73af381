package import TomboloProtocol
import TomboloSQLite

/// What the sync engine asks of a store. Each call is one transaction.
extension Store {
  /// The replica's bookkeeping as the engine needs it; nil before a remote was added.
  package func replicaState() throws -> ReplicaState? {
    // A sync begins here, and what another program wrote meanwhile is to travel with it.
    try absorbShellNotes()
    return try read { connection in
      let book = RemoteBook(connection)
      guard let url = try book.text(.url) else { return nil }
      let meta = StoreMeta(connection)
      let offset = try book.numberOffset
      // Notes of other programs' writes are left where the store is open for reading only: they will be a save.
      let counts = try connection.firstRow(
        "SELECT count(*) FILTER (WHERE state = 1), count(*) FILTER (WHERE state = 4), min(base) "
          + "FROM _tombolo_save WHERE state IN (2, 4) OR state = 1 AND \(Outbox.hasChanges)"
      ) { (Int($0.int64(0)), Int($0.int64(1)), $0.isNull(2) ? nil : FeedPosition(UInt64(max(0, $0.int64(2))))) }
      let highest = Int64(clamping: try meta.highestSave.rawValue) - offset
      let cursor = try book.isSnapshot ? try book.walk : try book.walk ?? book.cursor
      return ReplicaState(
        replica: try meta.replica, formerReplicas: try book.formerReplicas, remoteURL: url,
        tokenFile: try book.text(.tokenFile), epoch: try book.epoch,
        cursor: cursor, highestSave: SaveNumber(UInt64(max(0, highest))), holds: counts?.2,
        unsent: (counts?.0 ?? 0) + (try ShellNotes.exist(connection) ? 1 : 0), parked: counts?.1 ?? 0,
        lastPush: try book.integer(.lastPush).map { UInt64(bitPattern: $0) },
        lastPull: try book.integer(.lastPull).map { UInt64(bitPattern: $0) })
    }
  }

  /// Adds or replaces the remote. The first one gives every row its stamp and puts what is there into the outbox.
  ///
  /// - Parameter isMoved: whether the URL is the same store's at another address; its epoch tells whether it really is.
  /// - Throws: `store_unversioned`, `history_disabled`, `remote_exists` (another URL, unsent work, and not moved).
  package func setRemote(_ url: String, tokenFile: String?, isMoved: Bool = false) throws {
    guard isVersioned else {
      throw TomboloError(
        .storeUnversioned, "The store at \(location) has no schema version, and only versioned stores sync.",
        remedy: "Release a version that is exactly what shipped (`tombolo schema adopt`), then add the remote.")
    }
    guard options.recordsHistory else {
      throw TomboloError(
        .historyDisabled, "The store at \(location) records no history, and sync sends what was recorded.",
        remedy: "Open it with `recordsHistory: true`.")
    }
    try write { connection in
      let book = RemoteBook(connection)
      if let existing = try book.text(.url) {
        if !isMoved { try Self.checkReplacement(of: existing, by: url, connection) }
      } else {
        try Adoption(connection, store: self).run()
      }
      try book.set(.url, to: .text(url))
      if let tokenFile { try book.set(.tokenFile, to: .text(tokenFile)) }
    }
  }

  private static func checkReplacement(of existing: String, by url: String, _ connection: Connection) throws {
    let hasUnsent =
      try connection.firstRow("SELECT 1 FROM _tombolo_save WHERE state = 1 LIMIT 1") { _ in true } ?? false
    guard existing != url, hasUnsent else { return }
    throw TomboloError(
      .remoteExists, "The store syncs with \(existing), and some of its saves were not sent there yet.",
      remedy:
        "Sync once more, then change the remote; or say that another store is meant ('tombolo remote add --switch', "
        + "Synchronizer(isSwitch:)): the next sync then asks for --reset or --reupload.")
  }

  /// The saves that no answer has settled, in order, whole, with the values that each wrote; at least one if there is any.
  package func outbox(recordsMax: Int, bytesMax: Int) throws -> [ChangeSet] {
    try read { connection in
      try Outbox(connection, schema: schema).changeSets(recordsMax: recordsMax, bytesMax: bytesMax)
    }
  }

  /// Marks saves as about to be sent, with `synchronous=FULL`, before a request leaves.
  package func markAttempted(upTo number: SaveNumber) throws {
    try writeDurably { connection in
      let last = Int64(clamping: number.rawValue) + (try RemoteBook(connection).numberOffset)
      try connection.run("UPDATE _tombolo_save SET attempted = 1 WHERE state = 1 AND attempted = 0 AND number <= ?1") {
        $0.bind(last, at: 1)
      }
    }
  }

  /// Takes the answers to a push: settles, parks, renames, restamps.
  package func take(_ response: PushResponse) throws -> PushOutcome {
    func takeAnswers(_ connection: Connection) throws -> (PushOutcome, CommitSummary?) {
      if let accepted = try PlainAcceptance(connection, wall: options.clock.milliseconds()).take(response) {
        return (PushOutcome.settled(accepted: accepted, parked: 0), nil)
      }
      let exchange = try ReplicaTransaction(connection, store: self)
      let outcome = try exchange.take(response)
      try exchange.keepHistory()
      return (outcome, isObserved ? exchange.summary : nil)
    }
    // New stamps travel with the next request, and no power cut may bring the old ones back: of a save that the server has
    // taken under the one, the other could win later.
    let isRestamped = response.answers.contains { $0.verdict == .clockSkew }
    if isRestamped { try absorbShellNotes() }
    let (outcome, summary) = isRestamped ? try writeDurably(takeAnswers) : try write(takeAnswers)
    if let summary { announce(summary) }
    return outcome
  }

  /// Stages a page; the last one applies all that are staged, in one transaction, with the cursor.
  ///
  /// - Parameter body: the page as it came, in CBOR, if it did: then it need not be encoded again to be staged.
  package func take(_ page: Page, body: [UInt8]? = nil) throws -> PullOutcome {
    if page.hasMore {
      return try write { connection in
        try Self.checkOrder(of: page, RemoteBook(connection))
        return try PageStage(connection).take(page, body: body) ? .staged : .epochChanged(page.cursor.epoch)
      }
    }
    func takeAll(_ connection: Connection) throws -> (PullOutcome, CommitSummary?) {
      try Self.checkOrder(of: page, RemoteBook(connection))
      let exchange = try ReplicaTransaction(connection, store: self)
      let outcome = try exchange.take(last: page)
      try exchange.keepHistory()
      try RemoteBook(connection).noteLimits(of: page)
      return (outcome, isObserved ? exchange.summary : nil)
    }
    // The next request tells the server that it may forget the entries: by then no power cut may take them from here.
    let isEntry = { (item: FeedItem) in if case .conflict = item { true } else { false } }
    let mayHaveEntries = try page.items.contains(where: isEntry) || read { try PageStage($0).count > 0 }
    if mayHaveEntries { try absorbShellNotes() }
    let (outcome, summary) = mayHaveEntries ? try writeDurably(takeAll) : try write(takeAll)
    if let summary { announce(summary) }
    return outcome
  }

  /// A page from before what was taken already is an answer that came twice, or a cache's: taking it would go back in time.
  private static func checkOrder(of page: Page, _ book: RemoteBook) throws {
    guard let standing = try book.isSnapshot ? book.walk : book.walk ?? book.cursor,
      standing.epoch == page.cursor.epoch, page.cursor.position < standing.position
    else { return }
    throw TomboloError(
      .unexpectedResponse, "The server's answer is older than one that was taken before.",
      remedy: "Sync again; if it happens again, look for a proxy that answers from a cache.")
  }

  /// Drops what is staged and asks for a snapshot: after `cursor_expired`. Unsent work is kept.
  package func beginSnapshot() throws {
    try write { connection in
      let book = RemoteBook(connection)
      try PageStage(connection).clear()
      try book.set(.snapshot, to: .integer(1))
      try book.set(.walk, to: .null)
    }
  }

  /// Takes a new replica id, after the server was asked which of the unsent saves it knows. It is on the disk before a
  /// request can carry it: saves that were marked before are not marked, and synced, again.
  package func takeNewReplicaID(known: [SaveID: Stamp]) throws {
    try writeDurably { connection in
      try ReplicaTransaction(connection, store: self).takeNewReplicaID(
        ReplicaID(options.randomness.next()), known: known)
    }
  }

  /// The sum over all living, stamped records, as merge.md defines it. Cost: a scan of every row.
  package func checksum() throws -> Checksum {
    try read { connection in try ChecksumScan(connection, schema: schema).sum() }
  }

  /// The newest first.
  package func saveLog(limit: Int) throws -> [SaveSummary] {
    try read { connection in
      let offset = try RemoteBook(connection).numberOffset
      var log: [SaveSummary] = []
      try connection.eachRow(
        "SELECT number, id, author, time, state, (SELECT count(*) FROM _tombolo_change WHERE save = number AND kind = 0), "
          + "(SELECT count(*) FROM _tombolo_change WHERE save = number AND kind IN (1, 3)), "
          + "(SELECT count(*) FROM _tombolo_change WHERE save = number AND kind = 2) "
          + "FROM _tombolo_save ORDER BY number DESC LIMIT ?1", { $0.bind(limit, at: 1) }
      ) { row in
        guard let id = SaveID(bytes: row.bytes(1)), let state = SaveState(rawValue: Int(row.int64(4))) else { return }
        let number = state == .local ? row.int64(0) : max(0, row.int64(0) - offset)
        log.append(
          SaveSummary(
            number: SaveNumber(UInt64(max(0, number))), id: id, author: row.isNull(2) ? nil : row.string(2),
            time: UInt64(max(0, row.int64(3))), state: SaveSummary.State(state), inserted: Int(row.int64(5)),
            updated: Int(row.int64(6)), deleted: Int(row.int64(7))))
      }
      return log
    }
  }
}

extension SaveSummary.State {
  init(_ state: SaveState) {
    switch state {
    case .local: self = .local
    case .unsent: self = .unsent
    case .answered: self = .sent
    case .confirmed: self = .confirmed
    case .parked: self = .parked
    case .discarded: self = .discarded
    }
  }
}
