import TomboloProtocol
import TomboloSQLite

/// One exchange with the server, taken in one transaction: the pending saves, the rows, and what has to be laid anew.
///
/// Source of the rules: merge.md, "Feed and pull" and "Exactly once". The confirmed state lies nowhere by itself: it is
/// what the rows show once the pending changes are taken back.
final class ReplicaTransaction {
  let connection: Connection
  let store: Store
  let schema: StoreSchema
  let book: RemoteBook
  let meta: StoreMeta
  let replicas: ReplicaNumbers
  let rows: ReplicaRows
  let aside: Aside
  let queue: PendingQueue
  let numberOffset: Int64
  let wall: UInt64

  /// Records and pairs of saves that are settled, hidden or fallen, which have not been laid anew yet.
  var openRecords: [RecordID: EntityPlan] = [:]
  /// The records that entries of the pull under way name: what it takes away of them is kept.
  var reportedRecords: Set<RecordID> = []
  var openLinks: Set<LinkKey> = []
  /// The pair that each pending change of a pair was laid on when the transaction began.
  var linkHomes: [LinkKey: [PendingChange]] = [:]
  /// The sum over the confirmed state of records.
  var confirmedSum: Checksum
  /// The sum over the pairs; nil while it has to be made anew from the rows.
  var linkSum: Checksum?
  /// A repair looks at what is replaced.
  var watch: RepairWatch?
  /// Whether a record may have a tombstone here that has to go when it lives again.
  var mayHaveTombstones: Bool
  private(set) var changed = ChangedRecords()
  /// What history tells of the changes.
  var notes = PulledNotes()

  init(_ connection: Connection, store: Store) throws {
    self.connection = connection
    self.store = store
    schema = store.schema
    book = RemoteBook(connection)
    meta = StoreMeta(connection)
    replicas = ReplicaNumbers(connection)
    rows = try ReplicaRows(connection, schema: store.schema, replicas: replicas)
    aside = Aside(connection)
    queue = try PendingQueue(connection, schema: store.schema)
    numberOffset = try book.numberOffset
    confirmedSum = try book.checksum
    linkSum = try book.linkChecksum
    wall = store.options.clock.milliseconds()
    mayHaveTombstones = try connection.firstRow("SELECT 1 FROM _tombolo_tombstone LIMIT 1") { _ in true } ?? false
    linkHomes = try homesOfLinks()
    // Pairs that were linked or parted here count from when they are confirmed.
    if !linkHomes.isEmpty { linkSum = nil }
  }

  /// What the commit changed in the rows, for observers; nil if nothing.
  var summary: CommitSummary? {
    if changed.isEmpty { return nil }
    func list(_ kind: ChangedRecords.Kind) -> [(entity: String, id: RecordID)] {
      changed.records(kind).compactMap { id in
        changed.entity(of: id).flatMap(schema.entity(number:)).map { ($0.name, id) }
      }
    }
    return CommitSummary(
      author: nil, isRemote: true, inserted: list(.inserted), updated: list(.updated), deleted: list(.deleted))
  }

  func noteChange(_ id: RecordID, from old: EntityPlan?, to new: EntityPlan?) { changed.note(id, from: old, to: new) }

  // MARK: Time

  /// Measures the offset of this replica's clock against the server's.
  ///
  /// The server read its clock before its answer travelled and was decoded, so a small difference says nothing; taking
  /// it for an offset would set two good clocks apart by how long each replica's last exchange took.
  func noteServerTime(_ milliseconds: UInt64) throws {
    guard milliseconds > 0 else { return }
    let measured = Int64(clamping: milliseconds) - Int64(clamping: wall)
    let known = try meta.integer(.clockOffset) ?? 0
    guard abs(measured - known) > Self.exchangeMillisecondsMax else { return }
    try meta.set(.clockOffset, to: .integer(abs(measured) > Self.exchangeMillisecondsMax ? measured : 0))
  }

  /// How long an exchange may take before it looks like an offset of the clock.
  private static let exchangeMillisecondsMax: Int64 = 2_000

  /// The corrected wall clock, in milliseconds.
  var correctedWall: UInt64 {
    get throws { UInt64(max(0, Int64(clamping: wall) + (try meta.integer(.clockOffset) ?? 0))) }
  }

  // MARK: Saves

  /// The pending save that the server knows by this number.
  func save(_ number: SaveNumber) -> PendingSave? {
    let local = Int64(clamping: number.rawValue) + numberOffset
    return queue.saves.first { $0.number == local }
  }

  /// Puts everything that a save touched on the list of what has to be laid anew.
  func open(_ save: PendingSave) {
    for change in save.changes { open(change) }
  }

  func open(_ change: PendingChange) {
    switch change.detail {
    case .link(let link): openLinks.insert(link.link)
    case .delete(let delete):
      openRecords[change.record] = change.entity
      for pair in delete.links { openLinks.insert(pair.link) }
    default: openRecords[change.record] = change.entity
    }
  }

  /// Writes back what the saves came to, and the details that were changed.
  func writeQueue() throws {
    try settleWithheld()
    for save in queue.saves {
      let verdict = SaveVerdict.encode(save.now, isDependent: save.isDependent && save.state == .unsent)
      try connection.run(
        "UPDATE _tombolo_save SET state = ?2, verdict = ?3, clock = ?4, replica = ?5 WHERE number = ?1"
      ) {
        $0.bind(save.number, at: 1)
        $0.bind(save.state.rawValue, at: 2)
        if let verdict, save.state != .confirmed { $0.bind(verdict, at: 3) } else { $0.bindNull(at: 3) }
        $0.bind(Int64(bitPattern: save.stamp.clock.rawValue), at: 4)
        $0.bind(save.stamp.replica.bytes, at: 5)
      }
      for change in save.changes where change.isRewritten {
        let bytes = change.detail.encoded
        try connection.run("UPDATE _tombolo_change SET detail = ?3 WHERE save = ?1 AND position = ?2") {
          $0.bind(save.number, at: 1)
          $0.bind(change.position, at: 2)
          if let bytes { $0.bind(bytes, at: 3) } else { $0.bindNull(at: 3) }
        }
      }
    }
    try book.set(confirmedSum)
    try book.set(links: linkSum)
  }
}
