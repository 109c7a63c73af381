import TomboloProtocol
import TomboloSQLite

/// The last page of a pull: everything staged becomes visible at once, with the cursor.
extension ReplicaTransaction {
  func take(last page: Page) throws -> PullOutcome {
    if let epoch = try book.epoch, epoch != page.cursor.epoch { return .epochChanged(page.cursor.epoch) }
    guard try !isCopied(page) else { return .copied }
    // What the server had answered is not among what it has processed: it went back to an older copy of itself.
    let last = Int64(clamping: page.processed.rawValue) + numberOffset
    if queue.saves.contains(where: { $0.state == .answered && $0.number > last }) {
      return .epochChanged(page.cursor.epoch)
    }
    let stage = PageStage(connection)
    let hadConflicts = try conflictCount()
    try book.set(.epoch, to: page.cursor.epoch.rawValue)
    try noteServerTime(page.serverTime)
    try settle(page)
    let isSnapshot = try book.isSnapshot
    // A first sync finds nothing that it could have to drop.
    let dropsOthers = try isSnapshot && holdsAnything()
    var pulledRecords: Set<RecordID> = []
    var pulledLinks: [LinkKey: LinkState] = [:]
    func takeItems(of staged: Page) throws {
      try applyRecords(of: staged)
      for case .link(let state) in staged.items { pulledLinks[state.link] = state }
      for case .conflict(let entry) in staged.items { try keep(entry, position: page.cursor.position) }
      if dropsOthers { for item in staged.items { if let id = Self.record(of: item) { pulledRecords.insert(id) } } }
    }
    if try !isSnapshot && book.cursor != nil {
      reportedRecords = Self.recordsReported(by: page)
      try stage.forEach { reportedRecords.formUnion(Self.recordsReported(by: $0)) }
    }
    try stage.forEach(takeItems)
    try takeItems(of: page)
    if dropsOthers {
      try dropRecords(except: pulledRecords)
      try dropTombstones(except: pulledRecords)
    }
    try relayOpen()
    try settleReferences()
    try apply(pulledLinks, isSnapshot: isSnapshot)
    for save in queue.saves where save.state == .answered && save.now.isHidden { save.state = .confirmed }
    try writeQueue()
    try moveCursor(to: page, stage)
    return .applied(
      records: changed.count, conflicts: try conflictCount() - hadConflicts, checksum: try compareChecksum(page))
  }

  private func conflictCount() throws -> Int {
    try connection.firstRow("SELECT count(*) FROM _tombolo_conflict") { Int($0.int64(0)) } ?? 0
  }

  /// Whether somebody else pushes under this replica's id.
  private func isCopied(_ page: Page) throws -> Bool {
    let highest = Int64(clamping: try meta.highestSave.rawValue) - numberOffset
    if Int64(clamping: page.processed.rawValue) > highest { return true }
    for save in queue.saves where save.state == .unsent {
      let number = save.number - numberOffset
      guard number <= Int64(clamping: page.processed.rawValue) else { continue }
      // What this file never sent cannot have been processed.
      if !save.isAttempted { return true }
      if page.answers.contains(where: { Int64(clamping: $0.number.rawValue) == number && $0.save != save.id }) {
        return true
      }
    }
    return false
  }

  /// Settles the saves that the server had processed when the page was read; they are laid over it no longer.
  private func settle(_ page: Page) throws {
    let last = Int64(clamping: page.processed.rawValue) + numberOffset
    let answers = Dictionary(page.answers.map { ($0.save, $0.verdict) }, uniquingKeysWith: { first, _ in first })
    for save in queue.saves where save.state == .unsent && save.number <= last {
      try take(answers[save.id] ?? .accepted(fell: []), for: save)
    }
    for save in queue.saves where save.state == .answered && save.number <= last {
      save.now.isHidden = true
      open(save)
    }
  }

  // MARK: Records

  private static func recordsReported(by page: Page) -> Set<RecordID> {
    var records: Set<RecordID> = []
    for case .conflict(let entry) in page.items { records.insert(entry.record) }
    return records
  }

  private static func record(of item: FeedItem) -> RecordID? {
    switch item {
    case .record(let state): state.id
    case .tombstone(let tombstone): tombstone.id
    case .link, .conflict: nil
    }
  }

  private func applyRecords(of page: Page) throws {
    var batch = RecordBatch(isPlain: try takesPlainRecords)
    var greatest = ClockReading.zero
    for item in page.items {
      guard let id = Self.record(of: item) else { continue }
      if batch.count >= 1_000 || !batch.ids.insert(id).inserted {
        try apply(batch)
        batch = RecordBatch(isPlain: try takesPlainRecords)
        batch.ids.insert(id)
      }
      switch item {
      case .record(let state):
        for field in state.fields { greatest = max(greatest, field.stamp.clock) }
        greatest = max(greatest, state.incarnation.clock)
        if batch.isPlain, let record = try plainRecord(state) {
          batch.plain.append(record)
        } else if let work = try work(for: state) {
          batch.works.append(work)
        } else {
          batch.isPlain = false
        }
      case .tombstone(let tombstone):
        greatest = max(greatest, tombstone.stamp.clock)
        // What is pending on a record that was merged away goes on with the survivor, which this batch may bring.
        if tombstone.survivor != nil { try batch.makeLong(work(for:)) }
        if let entity = schema.entity(tombstone.entity) {
          if try !aside.isEmpty { try removeFromSum(asideOf: id) }
          batch.works.append(RecordWork(id: id, entity: entity, pulled: .tombstone(tombstone)))
        } else {
          try removeFromSum(asideOf: id)
          try aside.removeFields(of: id)
        }
      case .link, .conflict: break
      }
    }
    try apply(batch)
    try receive(greatest)
  }

  /// Records of a page that are taken together, so that references among them find their targets.
  private struct RecordBatch {
    var isPlain: Bool
    var plain: [PlainRecord] = []
    var works: [RecordWork] = []
    var ids: Set<RecordID> = []

    var count: Int { plain.count + works.count }

    init(isPlain: Bool) { self.isPlain = isPlain }

    mutating func makeLong(_ work: (RecordState) throws -> RecordWork?) rethrows {
      for record in plain { if let work = try work(record.state) { works.append(work) } }
      plain = []
      isPlain = false
    }
  }

  private func apply(_ batch: RecordBatch) throws {
    rows.limitMemory()
    for record in batch.plain { rows.expect(record.state.id, isVisible: true) }
    try relay(batch.works)
    for record in batch.plain where try !take(record) {
      if let work = try work(for: record.state) { try relay([work]) }
    }
  }

  /// The clock is above everything received.
  func receive(_ reading: ClockReading) throws {
    var clock = try meta.clock
    clock.receive(reading)
    try meta.set(clock)
    try book.note(reading)
  }

  /// The part of a record's state that this schema knows; the rest is set aside.
  func work(for state: RecordState) throws -> RecordWork? {
    guard let plan = schema.entity(state.entity), let entity = rows.merge.entity(state.entity) else {
      try removeFromSum(asideOf: state.id)
      try aside.keep(state)
      try addToSum(asideOf: state.id)
      return nil
    }
    var known: [FieldState] = []
    var unknown: [FieldState] = []
    for field in state.fields {
      if let own = entity.field(field.name), own.admits(field.value) {
        known.append(field)
      } else {
        unknown.append(field)
      }
    }
    // A whole record has all that there is: what it lacks a server that was put back has forgotten with the schema.
    let isRenewed = try state.isWhole && !aside.isEmpty
    if isRenewed || !unknown.isEmpty {
      try removeFromSum(asideOf: state.id)
      if isRenewed { try aside.forget(aside.fieldStates(of: state.id).flatMap(\.fields).map(\.name), of: state.id) }
      try aside.keep(unknown, of: state)
      try addToSum(asideOf: state.id)
    }
    var state = state
    state.fields = known
    return RecordWork(id: state.id, entity: plan, pulled: .state(state))
  }

  func removeFromSum(asideOf id: RecordID) throws { confirmedSum.subtract(try aside.sum(of: id)) }

  private func addToSum(asideOf id: RecordID) throws { confirmedSum.add(try aside.sum(of: id)) }

  /// Whether the replica has records, or anything that it keeps of some.
  private func holdsAnything() throws -> Bool {
    let roots = schema.entities.filter { $0.lineage.count == 1 }.map(\.table.quotedIdentifier)
    let tables = roots + ["_tombolo_tombstone", "_tombolo_aside"]
    let hasRow = try tables.contains { table in
      try connection.firstRow("SELECT 1 FROM \(table) LIMIT 1") { _ in true } ?? false
    }
    return hasRow || !queue.records.isEmpty
  }

  /// After a snapshot: what it does not have is gone, but for unsent work.
  private func dropRecords(except pulled: Set<RecordID>) throws {
    for entity in schema.entities where entity.lineage.count == 1 {
      var gone: [RecordID] = []
      try connection.eachRow("SELECT _tombolo_id FROM \(entity.table.quotedIdentifier) ORDER BY 1") { row in
        if let id = row.recordID(0), !pulled.contains(id) { gone.append(id) }
      }
      for start in stride(from: 0, to: gone.count, by: 1_000) {
        try relay(
          gone[start..<min(gone.count, start + 1_000)].map { RecordWork(id: $0, entity: entity, pulled: .absent) })
      }
    }
    for id in Set(try aside.states().map(\.id)).subtracting(pulled) {
      try removeFromSum(asideOf: id)
      try aside.removeFields(of: id)
    }
    // Records that only a pending delete still holds the image of.
    let held = queue.records.filter { !pulled.contains($0) }
    try relay(
      held.compactMap { id in
        queue.changes(of: id).first.map { RecordWork(id: id, entity: $0.entity, pulled: .absent) }
      })
  }

  /// Tombstones that a snapshot does not have.
  private func dropTombstones(except pulled: Set<RecordID>) throws {
    var gone: [RecordID] = []
    try connection.eachRow("SELECT record FROM _tombolo_tombstone ORDER BY 1") { row in
      if let id = row.recordID(0), !pulled.contains(id) { gone.append(id) }
    }
    for id in gone { try connection.run("DELETE FROM _tombolo_tombstone WHERE record = ?1") { $0.bind(id, at: 1) } }
  }

  // MARK: Links

  func apply(_ links: [LinkKey: LinkState], isSnapshot: Bool) throws {
    var pulled = links
    if isSnapshot {
      try aside.removeLinks()
      linkSum = nil
    }
    let known = Set(schema.linkTables.map(\.link.key))
    for (key, state) in links.sorted(by: { $0.key < $1.key }) where !known.contains(key.relationship) {
      try aside.keep(state)
      linkSum = nil
    }
    if isSnapshot {
      for plan in schema.linkTables {
        try connection.eachRow("SELECT source, target FROM \(plan.table.quotedIdentifier)") { row in
          guard let source = row.recordID(0), let target = row.recordID(1) else { return }
          let key = LinkKey(relationship: plan.link.key, source: source, target: target)
          if pulled[key] == nil { pulled[key] = LinkState(link: key, isPresent: false, stamp: .zero) }
        }
      }
    }
    try receive(links.values.reduce(.zero) { max($0, $1.stamp.clock) })
    try relayLinks(pulled)
  }

  // MARK: The end

  private func moveCursor(to page: Page, _ stage: PageStage) throws {
    try stage.clear()
    try book.set(.cursor, to: .text(page.cursor.text))
    try book.set(.snapshot, to: .null)
    // A page without news carries none: nothing was processed since.
    if !page.vector.isEmpty { try book.set(page.vector) }
    try book.set(.lastPull, to: wall)
    try meta.set(.base, to: .integer(Int64(clamping: page.cursor.base.rawValue)))
  }

  /// With an empty queue what readers see is what the server has.
  private func compareChecksum(_ page: Page) throws -> PullOutcome.ChecksumComparison {
    let isPending = queue.saves.contains { save in
      (save.state == .unsent || save.state == .answered) && !save.changes.isEmpty
    }
    guard let theirs = page.checksum, !isPending else { return .notCompared }
    let scan = ChecksumScan(connection, schema: schema)
    let links = try linkSum ?? scan.linkSum()
    try book.set(links: links)
    var sum = confirmedSum
    sum.add(links)
    if theirs == sum { return .equal }
    let scanned = try scan.sum()
    guard theirs == scanned else { return .different }
    var records = scanned
    records.subtract(links)
    try book.set(records)
    return .equal
  }
}
