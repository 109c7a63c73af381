import TomboloProtocol
import TomboloSQLite

/// A save that no complete pull has passed yet.
final class PendingSave {
  /// What of the save is laid over the confirmed state, and what not.
  struct Laying: Hashable {
    /// The save is not shown: it was refused, settled, or hangs on a refused one.
    var isHidden = false
    /// Whole changes that did not stand, by position.
    var fallen: Set<Int64> = []
    /// Single fields that did not stand.
    var fallenFields: [Int64: Set<String>] = [:]
  }

  let number: Int64
  let id: SaveID
  var stamp: Stamp
  let author: String?
  let schemaVersion: SchemaVersion
  let base: FeedPosition
  let isAttempted: Bool
  /// Where it stood in the queue of an earlier epoch.
  var origin: ChangeSet.Origin?
  /// The place among the pending saves that it is laid at: its number, but when saves are numbered anew.
  var order: Int64
  var state: SaveState
  /// As the rows show it, and as they will when the transaction is over.
  let before: Laying
  var now: Laying
  /// Hangs on a refused save: kept in the store so that it stays hidden until it is answered.
  var isDependent: Bool
  var changes: [PendingChange] = []

  init(_ row: Statement) throws {
    guard let id = SaveID(bytes: row.bytes(1)), let replica = ReplicaID(bytes: row.bytes(2)),
      let state = SaveState(rawValue: Int(row.int64(7)))
    else { throw TomboloError.damaged("a save cannot be read") }
    number = row.int64(0)
    order = number
    self.id = id
    stamp = Stamp(clock: ClockReading(rawValue: UInt64(bitPattern: row.int64(3))), replica: replica)
    author = row.isNull(4) ? nil : row.string(4)
    schemaVersion = SchemaVersion(row.string(5)) ?? SchemaVersion(1, 0, 0)
    base = FeedPosition(UInt64(max(0, row.int64(6))))
    self.state = state
    isAttempted = row.int64(8) != 0
    origin = try Self.origin(row.isNull(10) ? [] : row.bytes(10))
    before = try SaveVerdict.decode(row.isNull(9) ? nil : row.bytes(9))
    now = before
    isDependent = before.isHidden
  }

  static let columns = "number, id, replica, clock, author, schema_version, base, state, attempted, verdict, origin"
}

/// One change of such a save.
final class PendingChange {
  unowned let save: PendingSave
  let position: Int64
  let entity: EntityPlan
  /// The record as the save named it; a link's source.
  let record: RecordID
  var detail: ChangeDetail
  private(set) var isRewritten = false
  /// What it wrote, by column number: known once the rows were taken back past it.
  var own: [Int: Value] = [:]
  /// For a create: the columns that somebody assigned.
  var assigned: Set<Int> = []

  init(save: PendingSave, position: Int64, entity: EntityPlan, record: RecordID, detail: ChangeDetail) {
    self.save = save
    self.position = position
    self.entity = entity
    self.record = record
    self.detail = detail
  }

  /// The change of the same record before this one; its save keeps it.
  fileprivate(set) unowned var previous: PendingChange?
  /// What travels, where it was made without taking the record back.
  var prepared: Change?

  /// Whether this transaction has laid it already: what counts now is what the rows show then.
  var isRelaid = false

  var wasLaid: Bool { isRelaid ? isLaid : !save.before.isHidden && !save.before.fallen.contains(position) }
  var isLaid: Bool { !save.now.isHidden && !save.now.fallen.contains(position) }
  func wasLaid(_ field: String) -> Bool {
    isRelaid ? isLaid(field) : !(save.before.fallenFields[position]?.contains(field) ?? false)
  }
  func isLaid(_ field: String) -> Bool { !(save.now.fallenFields[position]?.contains(field) ?? false) }

  func rewrite(_ detail: ChangeDetail) {
    guard detail != self.detail else { return }
    self.detail = detail
    isRewritten = true
  }

  /// Whether it travels: a nullified reference is derived on every side.
  var isSent: Bool {
    guard case .update(let update) = detail else { return true }
    return update.fields.contains { !$0.isConsequence }
  }

  func column(_ number: Int) -> ColumnPlan? { entity.columns.first { $0.number == number } }
}

extension [PendingChange] {
  /// In the order in which they were made, or are to be laid.
  func inOrder(_ order: (PendingSave) -> Int64) -> [PendingChange] {
    sorted { (order($0.save), $0.position) < (order($1.save), $1.position) }
  }
}

/// The bytes of `_tombolo_save.verdict` while a save is pending: null for a hidden one, else its fallen parts.
enum SaveVerdict {
  static func encode(_ laying: PendingSave.Laying, isDependent: Bool) -> [UInt8]? {
    var writer = CBORWriter()
    if isDependent {
      writer.null()
      return writer.bytes
    }
    if laying.fallen.isEmpty, laying.fallenFields.isEmpty { return nil }
    let fieldCount = laying.fallenFields.values.reduce(0) { $0 + $1.count }
    writer.array(count: laying.fallen.count + 2 * fieldCount)
    for position in laying.fallen.sorted() { writer.integer(position) }
    for position in laying.fallenFields.keys.sorted() {
      for name in laying.fallenFields[position, default: []].sorted() {
        writer.text(name)
        writer.integer(position)
      }
    }
    return writer.bytes
  }

  static func decode(_ bytes: [UInt8]?) throws -> PendingSave.Laying {
    var laying = PendingSave.Laying()
    guard let bytes else { return laying }
    do {
      var reader = CBORReader(bytes)
      if try reader.null() {
        laying.isHidden = true
        return laying
      }
      var left = try reader.array()
      while left > 0 {
        if try reader.peek() == .text {
          let name = try reader.text()
          laying.fallenFields[try reader.integer(), default: []].insert(name)
          left -= 2
        } else {
          laying.fallen.insert(try reader.integer())
          left -= 1
        }
      }
    } catch let error as CBORReader.Malformed {
      throw TomboloError.damaged(error.reason)
    }
    return laying
  }
}

/// The pending saves with their changes, in order, and by what they touch.
struct PendingQueue {
  private(set) var saves: [PendingSave] = []
  /// The latest change by the record as named; each leads to the one before.
  private var latest: [RecordID: PendingChange] = [:]
  /// Changes of pairs, and deletes that took pairs along.
  private(set) var byLink: [LinkKey: [PendingChange]] = [:]

  init(_ connection: Connection, schema: StoreSchema) throws {
    saves = try Self.saves(connection)
    for save in saves { try load(save, connection, schema) }
  }

  /// What the unsent saves up to a number need, so that each of their changes comes to know what it wrote: their own
  /// changes, and later ones of the same records.
  ///
  /// No record may have been merged into another: then records are found by other names as well.
  init(_ connection: Connection, schema: StoreSchema, sendingUpTo last: Int64) throws {
    saves = try Self.saves(connection)
    for save in saves where save.number <= last && save.state == .unsent { try load(save, connection, schema) }
    guard let greatest = saves.last?.number, greatest > last else { return }
    var later: Set<Int64> = []
    // A create of a later save wrote nothing over.
    try connection.eachRow(
      "SELECT DISTINCT c.save FROM _tombolo_save s CROSS JOIN _tombolo_change a ON a.save = s.number "
        + "CROSS JOIN _tombolo_change c INDEXED BY _tombolo_change_record "
        + "ON c.record = a.record AND c.kind <> 0 AND c.save > ?1 WHERE s.state = 1 AND s.number <= ?1",
      { $0.bind(last, at: 1) }
    ) { later.insert($0.int64(0)) }
    let touched = latest
    for save in saves where later.contains(save.number) {
      try load(save, connection, schema, scope: " AND kind <> 0") { touched[$0] != nil }
    }
  }

  private static func saves(_ connection: Connection) throws -> [PendingSave] {
    var saves: [PendingSave] = []
    try connection.eachRow(
      "SELECT \(PendingSave.columns) FROM _tombolo_save WHERE state IN (1, 2) ORDER BY number"
    ) { saves.append(try PendingSave($0)) }
    return saves
  }

  private mutating func load(
    _ save: PendingSave, _ connection: Connection, _ schema: StoreSchema, scope: String = "",
    where isWanted: (RecordID) -> Bool = { _ in true }
  ) throws {
    try connection.eachRow(
      "SELECT position, entity, record, kind, detail FROM _tombolo_change WHERE save = ?1\(scope) ORDER BY position",
      { $0.bind(save.number, at: 1) }
    ) { row in
      guard let entity = schema.entity(number: Int(row.int64(1))), let record = row.recordID(2),
        let kind = ChangeKind(rawValue: Int(row.int64(3)))
      else { throw TomboloError.damaged("a change cannot be read") }
      guard isWanted(record) else { return }
      let change = PendingChange(
        save: save, position: row.int64(0), entity: entity, record: record,
        detail: try ChangeDetail(kind, decoding: row.isNull(4) ? nil : row.bytes(4)))
      save.changes.append(change)
      switch change.detail {
      case .link(let link): byLink[link.link, default: []].append(change)
      case .delete(let delete):
        insert(change)
        for pair in delete.links { byLink[pair.link, default: []].append(change) }
      default: insert(change)
      }
    }
  }

  private mutating func insert(_ change: PendingChange) {
    change.previous = latest.updateValue(change, forKey: change.record)
  }

  /// The changes of a record, by the name that they have for it, in the order in which they were made.
  func changes(of record: RecordID) -> [PendingChange] {
    guard let last = latest[record] else { return [] }
    guard var previous = last.previous else { return [last] }
    var changes = [last, previous]
    while let next = previous.previous {
      changes.append(next)
      previous = next
    }
    return changes.reversed()
  }

  /// Every record that a change names as its own, ascending.
  var records: [RecordID] { latest.keys.sorted() }

  /// The changes of a save that travel, in the order in which the server numbers them.
  static func sent(_ save: PendingSave) -> [PendingChange] { save.changes.filter(\.isSent) }
}
