import TomboloProtocol
import TomboloSQLite

/// What a sync changed in one record, as history tells it.
struct PulledChange: Hashable {
  enum Kind: UInt64 { case insert, update, delete }
  var kind: Kind
  /// The entity's number in the store.
  var entity: Int
  var record: RecordID
  /// Of an update: the numbers of the columns that show something else, and the relationships with other pairs.
  var columns: Set<Int> = []
  var links: Set<String> = []
  /// Of a delete: the values that are declared `.preserveValueOnDeletion`, by column number.
  var preserved: [Int: Value] = [:]
}

/// What an exchange changes beyond that it does: collected while the rows are written.
struct PulledNotes {
  private(set) var columns: [RecordID: Set<Int>] = [:]
  private(set) var links: [RecordID: Set<String>] = [:]
  private(set) var preserved: [RecordID: [Int: Value]] = [:]

  mutating func note(_ id: RecordID, columns written: some Sequence<Int>, of entity: EntityPlan) {
    columns[id, default: []].formUnion(written.map { entity.columns[$0].number })
  }

  mutating func note(_ id: RecordID, link property: String) { links[id, default: []].insert(property) }

  /// A row that goes: what history keeps of it.
  mutating func note(_ id: RecordID, deleting row: ReplicaRows.Row) {
    var kept: [Int: Value] = [:]
    for (column, value) in zip(row.entity.columns, row.values) {
      guard case .attribute(let attribute) = column.kind, attribute.options.contains("preserveValueOnDeletion"),
        !value.isNull
      else { continue }
      kept[column.number] = value
    }
    if !kept.isEmpty { preserved[id] = kept }
  }
}

/// The history of what syncs brought: the tables `_tombolo_pull` and `_tombolo_pulled`.
///
/// A pull takes its place in the history between two saves of the replica: its number is above that of the last save, in the
/// count of ``HistoryNumber``. The changes lie in parts, so that a large pull costs few rows.
struct PulledHistory {
  /// Changes of one part.
  static let partMax = 1_000
  /// How long what syncs brought is remembered.
  static let keptMilliseconds: UInt64 = 90 * 24 * 3_600 * 1_000
  let connection: Connection

  /// Writes the changes that `body` gives away, a part at a time: a first sync may bring a million.
  func keep(wall: UInt64, _ body: ((PulledChange) throws -> Void) throws -> Void) throws {
    try expire(wall: wall)
    var number: Int64?
    var part = 0
    var changes: [PulledChange] = []
    func write() throws {
      let pull = try number ?? begin(wall: wall)
      number = pull
      let bytes = Self.encoded(changes)
      try connection.run("INSERT INTO _tombolo_pulled(pull, part, body) VALUES (?1, ?2, ?3)") {
        $0.bind(pull, at: 1)
        $0.bind(part, at: 2)
        $0.bind(bytes, at: 3)
      }
      part += 1
      changes.removeAll(keepingCapacity: true)
    }
    try body { change in
      changes.append(change)
      if changes.count == Self.partMax { try write() }
    }
    if !changes.isEmpty { try write() }
  }

  private func begin(wall: UInt64) throws -> Int64 {
    let meta = StoreMeta(connection)
    let last = try connection.firstRow("SELECT max(number) FROM _tombolo_pull") { $0.isNull(0) ? 0 : $0.int64(0) } ?? 0
    let saved = HistoryNumber.number(ofSave: Int64(clamping: try meta.highestSave.rawValue))
    let number = max(saved, last, try meta.integer(.historyHorizon) ?? 0) + 1
    try connection.run("INSERT INTO _tombolo_pull(number, time) VALUES (?1, ?2)") {
      $0.bind(number, at: 1)
      $0.bind(Int64(clamping: wall), at: 2)
    }
    return number
  }

  /// Forgets what is too old; tokens from before it have expired then.
  private func expire(wall: UInt64) throws {
    let before = Int64(clamping: wall) - Int64(clamping: Self.keptMilliseconds)
    let last = try connection.firstRow(
      "SELECT max(number) FROM _tombolo_pull WHERE time < ?1", { $0.bind(before, at: 1) }
    ) {
      $0.isNull(0) ? nil : $0.int64(0)
    }
    guard let last = last ?? nil else { return }
    try connection.run("DELETE FROM _tombolo_pulled WHERE pull <= ?1") { $0.bind(last, at: 1) }
    try connection.run("DELETE FROM _tombolo_pull WHERE number <= ?1") { $0.bind(last, at: 1) }
    let meta = StoreMeta(connection)
    try meta.set(.historyHorizon, to: .integer(max(last, try meta.integer(.historyHorizon) ?? 0)))
  }

  /// - Throws: `corrupt_store`.
  func changes(of pull: Int64) throws -> [PulledChange] {
    var changes: [PulledChange] = []
    try connection.eachRow("SELECT body FROM _tombolo_pulled WHERE pull = ?1 ORDER BY part", { $0.bind(pull, at: 1) }) {
      changes += try Self.decoded($0.bytes(0))
    }
    return changes
  }

  // MARK: Bytes

  private static func encoded(_ changes: [PulledChange]) -> [UInt8] {
    var writer = CBORWriter(reservingCapacity: 24 * changes.count)
    writer.array(count: changes.count)
    for change in changes {
      writer.array(count: change.kind == .insert ? 3 : change.kind == .update ? 5 : 4)
      writer.unsigned(change.kind.rawValue)
      writer.integer(Int64(change.entity))
      writer.bytes(of: change.record, after: 0)
      switch change.kind {
      case .insert: break
      case .update:
        writer.array(count: change.columns.count)
        for column in change.columns.sorted() { writer.integer(Int64(column)) }
        writer.array(count: change.links.count)
        for link in change.links.sorted() { writer.text(link) }
      case .delete:
        writer.map(count: change.preserved.count)
        for (column, value) in change.preserved.sorted(by: { $0.key < $1.key }) {
          writer.integer(Int64(column))
          writer.value(value)
        }
      }
    }
    return writer.bytes
  }

  private static func decoded(_ bytes: [UInt8]) throws -> [PulledChange] {
    do {
      var reader = CBORReader(bytes)
      return try (0..<reader.array()).map { _ in try change(&reader) }
    } catch let error as CBORReader.Malformed {
      throw TomboloError.damaged("what a sync brought cannot be read: \(error.reason)")
    }
  }

  private static func change(_ reader: inout CBORReader) throws -> PulledChange {
    _ = try reader.array()
    guard let kind = PulledChange.Kind(rawValue: try reader.unsigned()) else {
      throw reader.malformed("an unknown kind of change")
    }
    let entity = Int(try reader.integer())
    guard let record = RecordID(bytes: try reader.bytes()) else { throw reader.malformed("no identity") }
    var change = PulledChange(kind: kind, entity: entity, record: record)
    switch kind {
    case .insert: break
    case .update:
      for _ in 0..<(try reader.array()) { change.columns.insert(Int(try reader.integer())) }
      for _ in 0..<(try reader.array()) { change.links.insert(try reader.text()) }
    case .delete:
      for _ in 0..<(try reader.map()) {
        let column = Int(try reader.integer())
        change.preserved[column] = try reader.value()
      }
    }
    return change
  }
}

/// The places of saves and pulls in one count: a save's is its number with room behind it for the pulls that follow.
enum HistoryNumber {
  private static let pullBits: Int64 = 24

  static func number(ofSave save: Int64) -> Int64 { save << pullBits }
  /// The save's number; nil for the place of a pull.
  static func save(of number: Int64) -> Int64? {
    number & ((1 << pullBits) - 1) == 0 ? number >> pullBits : nil
  }
}

extension ReplicaTransaction {
  /// Writes down what the exchange changed, for those who ask for the history; nothing where only stamps did.
  func keepHistory() throws {
    guard store.options.recordsHistory else { return }
    try PulledHistory(connection: connection).keep(wall: wall) { keep in
      func each(_ kind: ChangedRecords.Kind, _ body: (RecordID, Int) throws -> Void) rethrows {
        for id in changed.records(kind) { if let entity = changed.entity(of: id) { try body(id, entity) } }
      }
      try each(.inserted) { try keep(PulledChange(kind: .insert, entity: $1, record: $0)) }
      try each(.updated) { id, entity in
        let (columns, links) = (notes.columns[id] ?? [], notes.links[id] ?? [])
        if columns.isEmpty && links.isEmpty { return }
        try keep(PulledChange(kind: .update, entity: entity, record: id, columns: columns, links: links))
      }
      try each(.deleted) { id, entity in
        try keep(PulledChange(kind: .delete, entity: entity, record: id, preserved: notes.preserved[id] ?? [:]))
      }
    }
  }
}
