import TomboloProtocol
import TomboloSQLite

/// Writes one save's change set while the save is made: a row for each change, and at the end one for the save.
///
/// What cancels out within the save leaves nothing: a field set and set back, a record created and deleted, a pair
/// linked and parted.
final class ChangeRecorder {
  let connection: Connection
  let replicas: ReplicaNumbers
  let meta: StoreMeta
  let number: SaveNumber
  /// The save's stamp; nil while the store has no remote.
  let stamp: Stamp?
  private let id: SaveID
  private let clock: HybridClock
  private let replica: ReplicaID
  private let base: FeedPosition
  private let wall: UInt64
  private let insert: Statement

  private var nextPosition: Int64 = 0
  private(set) var changeCount = 0
  /// The records that this save created, with their positions; in order, since most saves never ask for one.
  private var created: [(id: RecordID, position: Int64)] = []
  /// The same by identity, once somebody asked.
  private var createdIndex: [RecordID: Int64]?
  private var touched: [RecordID: (kind: ChangeKind, position: Int64)] = [:]
  private var links: [LinkKey: Int64] = [:]
  private var hasCreateDetails = false
  /// References that were hidden and were written since; they are forgotten at the end of the save.
  private var uncovered: Set<HiddenKey> = []

  private struct HiddenKey: Hashable {
    var id: RecordID
    var attribute: String
    init(id: RecordID, _ column: ColumnPlan) {
      self.id = id
      attribute = column.property
    }
  }
  /// The stamps of a new row, which are the same for all rows of an entity with the same columns assigned.
  private var lastRow: (entity: Int, assigned: ColumnSet, bytes: [UInt8])?

  init(_ connection: Connection, statements: WriterStatements, options: Store.Options) throws {
    self.connection = connection
    meta = StoreMeta(connection)
    replicas = statements.replicas
    replica = try meta.replica
    number = try meta.highestSave.next
    base = try meta.base
    id = options.randomness.saveID()
    wall = options.clock.milliseconds()
    var clock = try meta.clock
    let offset = try meta.integer(.clockOffset) ?? 0
    let reading = clock.tick(wall: UInt64(max(0, Int64(clamping: wall) + offset)))
    self.clock = clock
    stamp = try meta.hasRemote ? Stamp(clock: reading, replica: replica) : nil
    insert = try statements.recording()
  }

  /// The save's place in time, also where the store has no remote.
  var moment: Stamp { Stamp(clock: clock.last, replica: replica) }

  // MARK: Rows

  /// The bytes of `_tombolo_stamps` for a new row; nil without a remote.
  func newRowStamps(_ entity: EntityPlan, assigned: ColumnSet) throws -> [UInt8]? {
    guard let stamp else { return nil }
    if let lastRow, lastRow.entity == entity.index, lastRow.assigned == assigned { return lastRow.bytes }
    var stamps = RowStamps(created: stamp, columnCount: entity.tableColumnCount)
    for column in entity.columns where !assigned.contains(column.position) { stamps.set(.zero, of: column.number) }
    let bytes = try stamps.encoded(replicas)
    lastRow = (entity.index, assigned, bytes)
    return bytes
  }

  /// One field of an update: the column, what the row showed, and what it shows now.
  struct Write {
    var column: ColumnPlan
    var old: Value
    var new: Value
    var isConsequence = false
  }

  func create(_ entity: EntityPlan, _ id: RecordID) throws {
    let position = try append(entity, id, .create, nil)
    created.append((id, position))
    createdIndex?[id] = position
  }

  /// Records the update of a record.
  /// - Returns: the row's stamps after it.
  func update(_ entity: EntityPlan, _ id: RecordID, _ writes: [Write], stamps: [UInt8]?) throws -> [UInt8]? {
    var rowStamps = try stamps.map { try RowStamps($0, replicas) }
    let covered = try writes.map { try noteHidden(entity, id, $0, under: rowStamps?.stamp(of: $0.column.number)) }
    if let position = createdPosition(id) {
      try keepReferences(writes, position: position)
      stampWrites(writes, in: &rowStamps)
      return try rowStamps?.encoded(replicas)
    }
    var detail = ChangeDetail.UpdateDetail(incarnation: rowStamps?.created, fields: [])
    let earlier = touched[id]
    if let earlier, earlier.kind == .update, case .update(let kept) = try read(earlier.position, .update) {
      detail = kept
    }
    for (write, hidden) in zip(writes, covered) {
      if let index = detail.fields.firstIndex(where: { $0.column == write.column.number }) {
        let key = HiddenKey(id: id, write.column)
        if uncovered.contains(key), write.new.isNull {
          // Written and taken back: what was hidden is hidden again.
          detail.fields[index].isConsequence = true
          detail.fields[index].own = nil
          uncovered.remove(key)
          if let stamp = detail.fields[index].underStamp { rowStamps?.set(stamp.consequence, of: write.column.number) }
          continue
        }
        if detail.fields[index].under == write.new {
          if let stamp = detail.fields[index].underStamp { rowStamps?.set(stamp, of: write.column.number) }
          uncovered.remove(key)
          detail.fields.remove(at: index)
          continue
        }
        if !write.isConsequence { detail.fields[index].isConsequence = false }
        detail.fields[index].delta = delta(write.column, from: detail.fields[index].under, to: write.new)
        // A reference that this save wrote, to a record that it then deleted, still travels as it was written.
        detail.fields[index].own = write.isConsequence ? write.old : nil
      } else {
        let under = hidden?.stamp ?? rowStamps?.stamp(of: write.column.number)
        detail.fields.append(
          ChangeDetail.FieldDetail(
            column: write.column.number, base: under?.written, under: hidden?.value ?? write.old, underStamp: under,
            delta: delta(write.column, from: write.old, to: write.new), isConsequence: write.isConsequence))
      }
      stampWrites([write], in: &rowStamps)
    }
    if detail.fields.isEmpty {
      if let earlier { try drop(earlier.position) }
      touched[id] = nil
    } else if let earlier, earlier.kind == .update {
      try rewrite(earlier.position, .update(detail))
    } else {
      touched[id] = (.update, try append(entity, id, .update, ChangeDetail.update(detail).encoded))
    }
    return try rowStamps?.encoded(replicas)
  }

  private func stampWrites(_ writes: [Write], in stamps: inout RowStamps?) {
    guard let stamp else { return }
    for write in writes {
      let under = stamps?.stamp(of: write.column.number) ?? stamp
      stamps?.set(write.isConsequence ? under.consequence : stamp, of: write.column.number)
    }
  }

  /// A hidden reference is kept aside with the stamp that it had; an explicit write ends that.
  /// - Returns: the reference that an explicit write covers though the row did not show it: an earlier save may have written
  ///   it, and still has to send it.
  private func noteHidden(_ entity: EntityPlan, _ id: RecordID, _ write: Write, under: Stamp?) throws
    -> FieldMerge.Version?
  {
    guard let under else { return nil }
    if write.isConsequence {
      guard let target = write.old.reference else { return nil }
      let bytes = try under.encoded(replicas)
      try connection.run(
        "INSERT OR REPLACE INTO _tombolo_hidden(record, entity, attribute, target, stamp) VALUES (?1, ?2, ?3, ?4, ?5)"
      ) {
        $0.bind(id, at: 1)
        $0.bind(entity.name, at: 2)
        $0.bind(write.column.property, at: 3)
        $0.bind(target, at: 4)
        $0.bind(bytes, at: 5)
      }
      uncovered.remove(HiddenKey(id: id, write.column))
    } else if under.isDerived {
      uncovered.insert(HiddenKey(id: id, write.column))
      return try hidden(id, write.column, under: under)
    }
    return nil
  }

  /// What is hidden behind the nil that a consequence left; nothing, if that was written over since.
  private func hidden(_ id: RecordID, _ column: ColumnPlan, under: Stamp) throws -> FieldMerge.Version? {
    let kept = try connection.firstRow(
      "SELECT target, stamp FROM _tombolo_hidden WHERE record = ?1 AND attribute = ?2",
      {
        $0.bind(id, at: 1)
        $0.bind(column.property, at: 2)
      },
      { row in
        FieldMerge.Version(
          value: Value(reference: row.recordID(0)), stamp: row.isNull(1) ? .zero : try Stamp(row.bytes(1), replicas))
      })
    guard let kept, kept.stamp.consequence == under else { return nil }
    return kept
  }

  /// A new record whose reference became nil in the same save still travels with the reference that it was given.
  private func keepReferences(_ writes: [Write], position: Int64) throws {
    guard writes.contains(where: \.isConsequence) || hasCreateDetails,
      case .create(var detail) = try read(position, .create)
    else { return }
    for write in writes { detail.own[write.column.number] = write.isConsequence ? write.old : nil }
    hasCreateDetails = true
    try rewrite(position, .create(detail))
  }

  private func delta(_ column: ColumnPlan, from old: Value, to new: Value) -> Int64? {
    column.isCounter ? CounterMerge.delta(from: old, to: new) : nil
  }

  /// Records a delete. The detail has the row as it is; what this save did to it is taken back first.
  func delete(_ entity: EntityPlan, _ id: RecordID, _ detail: ChangeDetail.DeleteDetail) throws {
    if let position = takeCreated(id) {
      try drop(position)
      for (key, position) in links where key.source == id || key.target == id {
        try drop(position)
        links[key] = nil
      }
      return
    }
    var detail = detail
    detail.links.removeAll { links[$0.link] != nil }
    if let earlier = touched[id], earlier.kind == .update,
      case .update(let update) = try read(earlier.position, .update)
    {
      var stamps = try detail.stamps.map { try RowStamps($0, replicas) }
      for field in update.fields {
        detail.values[field.column] = field.under
        if let stamp = field.underStamp { stamps?.set(stamp, of: field.column) }
      }
      detail.stamps = try stamps?.encoded(replicas)
      try drop(earlier.position)
    }
    if let stamps = detail.stamps { detail.incarnation = try RowStamps(stamps, replicas).created }
    touched[id] = (.delete, try append(entity, id, .delete, ChangeDetail.delete(detail).encoded))
  }

  /// Records a pair that was linked or parted.
  /// - Parameter under: the stamp that the pair had, zero if it never was; nil without a remote.
  func link(_ entity: EntityPlan, _ key: LinkKey, isPresent: Bool, under: Stamp?) throws -> Stamp? {
    if let position = links[key], case .link(let earlier) = try read(position, .link) {
      try drop(position)
      links[key] = nil
      return earlier.underStamp
    }
    let detail = ChangeDetail.LinkDetail(
      link: key, isPresent: isPresent, base: under?.written, underIsPresent: !isPresent, underStamp: under)
    links[key] = try append(entity, key.source, .link, ChangeDetail.link(detail).encoded)
    return stamp
  }

  // MARK: The save

  /// Writes the save itself. Nothing was changed if ``changeCount`` is 0: then it is not called.
  func finish(author: String?, schema: StoreSchema) throws {
    for key in uncovered {
      try connection.run("DELETE FROM _tombolo_hidden WHERE record = ?1 AND attribute = ?2") {
        $0.bind(key.id, at: 1)
        $0.bind(key.attribute, at: 2)
      }
    }
    try connection.run(
      "INSERT INTO _tombolo_save(number, id, replica, clock, author, schema_version, base, time, state) "
        + "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"
    ) {
      $0.bind(Int64(number.rawValue), at: 1)
      $0.bind(id.bytes, at: 2)
      $0.bind(replica.bytes, at: 3)
      $0.bind(Int64(bitPattern: clock.last.rawValue), at: 4)
      $0.bind(author.map { .text($0) } ?? .null, at: 5)
      $0.bind(schema.document.version.map { .text($0.description) } ?? .null, at: 6)
      $0.bind(Int64(base.rawValue), at: 7)
      $0.bind(Int64(clamping: wall), at: 8)
      $0.bind((stamp == nil ? SaveState.local : .unsent).rawValue, at: 9)
    }
    try meta.set(clock)
    try meta.set(.highestSave, to: .integer(Int64(number.rawValue)))
  }

  // MARK: Change rows

  /// Where this save created the record; nil if it did not.
  func createdPosition(_ id: RecordID) -> Int64? { created.isEmpty ? nil : index()[id] }

  private func takeCreated(_ id: RecordID) -> Int64? {
    if created.isEmpty { return nil }
    guard let position = index()[id] else { return nil }
    createdIndex?[id] = nil
    return position
  }

  private func index() -> [RecordID: Int64] {
    if let createdIndex { return createdIndex }
    let index = Dictionary(created.map { ($0.id, $0.position) }, uniquingKeysWith: { _, last in last })
    createdIndex = index
    return index
  }

  private func append(_ entity: EntityPlan, _ id: RecordID, _ kind: ChangeKind, _ detail: [UInt8]?) throws -> Int64 {
    let position = nextPosition
    nextPosition += 1
    changeCount += 1
    insert.bind(Int64(number.rawValue), at: 1)
    insert.bind(position, at: 2)
    insert.bind(entity.number, at: 3)
    insert.bind(high: id.high, low: id.low, at: 4)
    insert.bind(kind.rawValue, at: 5)
    if let detail { insert.bind(detail, at: 6) } else { insert.bindNull(at: 6) }
    try insert.run()
    return position
  }

  private func read(_ position: Int64, _ kind: ChangeKind) throws -> ChangeDetail {
    let bytes =
      try connection.firstRow(
        "SELECT detail FROM _tombolo_change WHERE save = ?1 AND position = ?2",
        {
          $0.bind(Int64(number.rawValue), at: 1)
          $0.bind(position, at: 2)
        }, { $0.isNull(0) ? nil : $0.bytes(0) }) ?? nil
    return try ChangeDetail(kind, decoding: bytes)
  }

  private func rewrite(_ position: Int64, _ detail: ChangeDetail) throws {
    let bytes = detail.encoded
    try connection.run("UPDATE _tombolo_change SET detail = ?3 WHERE save = ?1 AND position = ?2") {
      $0.bind(Int64(number.rawValue), at: 1)
      $0.bind(position, at: 2)
      if let bytes { $0.bind(bytes, at: 3) } else { $0.bindNull(at: 3) }
    }
  }

  private func drop(_ position: Int64) throws {
    changeCount -= 1
    try connection.run("DELETE FROM _tombolo_change WHERE save = ?1 AND position = ?2") {
      $0.bind(Int64(number.rawValue), at: 1)
      $0.bind(position, at: 2)
    }
  }
}
