import TomboloProtocol
import TomboloSQLite

/// Re-uploads: parts are kept until the last one is there, then all are taken, part by part, at one position.
extension StoreFile {
  /// Parts of one re-upload, and records that integrity looks at in one go: what bounds the memory.
  private static let partsMax: UInt64 = 1 << 20
  private static let batchMax = 1_000
  private static let aliasPassesMax = 64

  /// Inside a transaction.
  func take(_ upload: ReuploadRequest, token: TokenRecord, schema: MergeSchema) throws -> ReuploadResponse {
    if try isComplete(upload.session) { return answer(upload.part + 1, isComplete: true) }
    try checkIsNeeded(upload)
    guard upload.part < Self.partsMax else {
      throw TomboloError.limitExceeded("parts of a re-upload", limit: Int(Self.partsMax))
    }
    note(upload.introduction, base: nil, token: token)
    try keep(upload)
    let parts = try partCount(of: upload.session)
    guard upload.isLast else { return answer(parts, isComplete: false) }
    guard parts == upload.part + 1 else {
      throw TomboloError.malformed("the last part of a re-upload came before others")
    }
    try apply(upload, parts: parts, schema: schema)
    try finish(upload.session)
    return answer(parts, isComplete: true)
  }

  private func answer(_ parts: UInt64, isComplete: Bool) -> ReuploadResponse {
    ReuploadResponse(epoch: state.epoch, parts: parts, isComplete: isComplete, serverTime: advanceNow())
  }

  /// A replica that speaks of this very life shows that it knows more of it than the file does: then the file is an old
  /// copy that was put back, and nobody said so. It begins a new life now.
  private func checkIsNeeded(_ upload: ReuploadRequest) throws {
    if let former = formerEpochs.first(where: { $0.epoch == upload.cursor?.epoch ?? upload.introduction.epoch }) {
      guard former.isOpen else { throw TomboloError.reuploadTooLate }
      return
    }
    guard let epoch = upload.cursor?.epoch ?? upload.introduction.epoch, epoch == state.epoch else { return }
    let isAhead = try upload.answered > highestSave(of: upload.introduction.replica)
    let isElsewhere =
      try upload.cursor.map { try !isForgotten($0.position) && commitID(at: $0.position) != $0.commit } ?? false
    guard isAhead || isElsewhere else { throw TomboloError.reuploadNeedless }
    options.log("store \(name): a replica knows a later history: the file was restored, a new epoch begins")
    try beginEpoch()
  }

  // MARK: Parts

  private func keep(_ upload: ReuploadRequest) throws {
    let replica = Int64(bitPattern: upload.introduction.replica.rawValue)
    // What the same replica began before is over.
    let forget = try connection.cached(
      "DELETE FROM upload_part WHERE session IN (SELECT session FROM upload WHERE replica = ? AND session <> ?)")
    forget.bind(replica, at: 1)
    forget.bind(upload.session, at: 2)
    try forget.run()
    let begin = try connection.cached(
      "INSERT OR IGNORE INTO upload(session, replica, parts, complete, stored) VALUES(?, ?, 0, 0, ?)")
    begin.bind(upload.session, at: 1)
    begin.bind(replica, at: 2)
    begin.bind(Int64(clamping: advanceNow()), at: 3)
    try begin.run()
    let part = try connection.cached("INSERT OR REPLACE INTO upload_part(session, part, body) VALUES(?, ?, ?)")
    part.bind(upload.session, at: 1)
    part.bind(Int64(clamping: upload.part), at: 2)
    part.bind(upload.encoded(as: .cbor), at: 3)
    try part.run()
  }

  /// How many parts there are from the first on, without a gap.
  private func partCount(of session: RecordID) throws -> UInt64 {
    let query = try connection.cached("SELECT part FROM upload_part WHERE session = ? ORDER BY part")
    query.bind(session, at: 1)
    defer { query.reset() }
    var count: UInt64 = 0
    while try query.step(), query.int64(0) == Int64(clamping: count) { count += 1 }
    return count
  }

  private func items(of session: RecordID, part: UInt64) throws -> [FeedItem] {
    let query = try connection.cached("SELECT body FROM upload_part WHERE session = ? AND part = ?")
    query.bind(session, at: 1)
    query.bind(Int64(clamping: part), at: 2)
    defer { query.reset() }
    guard try query.step() else { return [] }
    return try ReuploadRequest(decoding: query.bytes(0), as: .cbor).items
  }

  private func isComplete(_ session: RecordID) throws -> Bool {
    let query = try connection.cached("SELECT 1 FROM upload WHERE session = ? AND complete = 1")
    query.bind(session, at: 1)
    defer { query.reset() }
    return try query.step()
  }

  private func finish(_ session: RecordID) throws {
    for sql in ["DELETE FROM upload_part WHERE session = ?", "UPDATE upload SET complete = 1 WHERE session = ?"] {
      let statement = try connection.cached(sql)
      statement.bind(session, at: 1)
      try statement.run()
    }
  }

  // MARK: Taking

  private func apply(_ upload: ReuploadRequest, parts: UInt64, schema: MergeSchema) throws {
    let old = upload.cursor?.base ?? .start
    if let epoch = upload.cursor?.epoch ?? upload.introduction.epoch {
      _ = try formerEpoch(epoch, position: old)
      try take(upload.vector, at: old, of: epoch)
    }
    try advancePosition()
    var merge = ReuploadMerge(
      from: upload.introduction.replica, oldPosition: old, at: position, name: upload.session,
      context: mergeContext(schema))
    for phase in ReuploadMerge.Phase.allCases {
      var open = Int.max
      for _ in 0..<Self.aliasPassesMax {
        merge.beginPass()
        for part in 0..<parts {
          let effects = try merge.take(phase, try items(of: upload.session, part: part), into: self)
          try write(effects)
          state.greatestMilliseconds = max(state.greatestMilliseconds, effects.greatestMilliseconds)
        }
        // An alias of an alias waits for the other; what is left in the end names records that are nowhere.
        guard merge.openAliases > 0, merge.openAliases < open else { break }
        open = merge.openAliases
      }
    }
    try settle(&merge)
  }

  /// Integrity over everything that was touched, in batches.
  private func settle(_ merge: inout ReuploadMerge) throws {
    var last = RecordID(high: 0, low: 0)
    var isFirst = true
    while true {
      let query = try connection.cached("SELECT id FROM record WHERE position = ? AND id >= ? ORDER BY id LIMIT ?")
      query.bind(position, at: 1)
      query.bind(last, at: 2)
      query.bind(Self.batchMax, at: 3)
      var batch: [RecordID] = []
      while try query.step() { if let id = query.record(0), isFirst || id > last { batch.append(id) } }
      query.reset()
      try write(try merge.settle(batch, into: self))
      guard let end = batch.last else { return }
      (last, isFirst) = (end, false)
    }
  }
}

extension TomboloError {
  static var reuploadNeedless: TomboloError {
    TomboloError(
      .reuploadNeedless, "The server has everything that this replica knows of: there is nothing to upload again.",
      remedy: "Sync without --reupload.")
  }

  static var reuploadTooLate: TomboloError {
    TomboloError(
      .cursorExpired, "The server was restored longer ago than it keeps what a re-upload needs.",
      remedy: "Take the server's content with 'tombolo sync --reset'; unsent work is kept.")
  }
}
