import TomboloProtocol
import TomboloSQLite

/// The first remote: every row gets its stamp, and what is there goes into the outbox as ordinary saves.
///
/// Saves hold at most 2 000 records, what is referred to before what refers to it, and links last.
struct Adoption {
  private static let recordsMax = 2_000

  private let connection: Connection
  private let store: Store
  private let meta: StoreMeta
  private let replicas: ReplicaNumbers
  private let replica: ReplicaID
  private let bytesMax: Int

  init(_ connection: Connection, store: Store) throws {
    self.connection = connection
    self.store = store
    meta = StoreMeta(connection)
    replicas = ReplicaNumbers(connection)
    replica = try meta.replica
    bytesMax = try RemoteBook(connection).recordBytesMax
  }

  func run() throws {
    let offset = try meta.highestSave.rawValue
    try RemoteBook(connection).set(.numberOffset, to: .integer(Int64(clamping: offset)))
    try meta.set(.hasRemote, to: .integer(1))
    let records = try recordsInOrder()
    for start in stride(from: 0, to: records.count, by: Self.recordsMax) {
      let part = records[start..<min(records.count, start + Self.recordsMax)]
      try save(part.count) { stamp, number in
        for (position, record) in part.enumerated() {
          try adopt(record.entity, record.id, stamp: stamp, number: number, position: Int64(position))
        }
      }
    }
    for plan in store.schema.linkTables { try adoptLinks(plan) }
  }

  // MARK: Order

  private struct Node {
    var entity: EntityPlan
    var id: RecordID
    var targets: [RecordID]
  }

  /// All records, each behind what it refers to, as far as there are no cycles.
  private func recordsInOrder() throws -> [(entity: EntityPlan, id: RecordID)] {
    var nodes: [Node] = []
    var places: [RecordID: Int] = [:]
    for entity in store.schema.entities {
      let references = entity.columns.filter { if case .reference = $0.kind { true } else { false } }
      let names = references.map { ", \($0.column.quotedIdentifier)" }.joined()
      let scope = entity.hasEntityColumn ? " WHERE _tombolo_entity = \(entity.name.quotedLiteral)" : ""
      try connection.eachRow("SELECT _tombolo_id\(names) FROM \(entity.table.quotedIdentifier)\(scope) ORDER BY rowid")
      {
        row in
        guard let id = row.recordID(0) else { return }
        places[id] = nodes.count
        nodes.append(
          Node(entity: entity, id: id, targets: references.indices.compactMap { row.recordID(Int32($0 + 1)) }))
      }
    }
    var order: [(entity: EntityPlan, id: RecordID)] = []
    order.reserveCapacity(nodes.count)
    var isOpened = [Bool](repeating: false, count: nodes.count)
    for root in nodes.indices {
      var stack: [(place: Int, next: Int)] = isOpened[root] ? [] : [(root, 0)]
      isOpened[root] = true
      while let top = stack.last {
        let node = nodes[top.place]
        if top.next < node.targets.count {
          stack[stack.count - 1].next += 1
          if let target = places[node.targets[top.next]], !isOpened[target] {
            isOpened[target] = true
            stack.append((target, 0))
          }
        } else {
          order.append((node.entity, node.id))
          stack.removeLast()
        }
      }
    }
    return order
  }

  // MARK: Saves

  private func save(_ count: Int, _ body: (_ stamp: Stamp, _ number: Int64) throws -> Void) throws {
    let options = store.options
    let number = try meta.highestSave.next
    var clock = try meta.clock
    let wall = options.clock.milliseconds()
    let stamp = Stamp(clock: clock.tick(wall: wall), replica: replica)
    try body(stamp, Int64(clamping: number.rawValue))
    try connection.run(
      "INSERT INTO _tombolo_save(number, id, replica, clock, schema_version, base, time, state) "
        + "VALUES (?1, ?2, ?3, ?4, ?5, 0, ?6, ?7)"
    ) {
      $0.bind(Int64(clamping: number.rawValue), at: 1)
      $0.bind(options.randomness.saveID().bytes, at: 2)
      $0.bind(replica.bytes, at: 3)
      $0.bind(Int64(bitPattern: stamp.clock.rawValue), at: 4)
      $0.bind(store.schema.document.version.map { .text($0.description) } ?? .null, at: 5)
      $0.bind(Int64(clamping: wall), at: 6)
      $0.bind(SaveState.unsent.rawValue, at: 7)
    }
    try meta.set(clock)
    try meta.set(.highestSave, to: .integer(Int64(clamping: number.rawValue)))
  }

  private func adopt(_ entity: EntityPlan, _ id: RecordID, stamp: Stamp, number: Int64, position: Int64) throws {
    let names = entity.columns.map { $0.value(in: entity.table.quotedIdentifier) }.joined(separator: ", ")
    var stamps = RowStamps(created: stamp, columnCount: entity.tableColumnCount)
    try connection.eachRow(
      "SELECT \(names.isEmpty ? "1" : names) FROM \(entity.table.quotedIdentifier) WHERE _tombolo_id = ?1",
      { $0.bind(id, at: 1) }
    ) { row in
      var sizes: [Int: Int] = [:]
      for column in entity.columns {
        let value = row.value(Int32(column.position))
        if value.isNull || value == column.constantDefault { stamps.set(.zero, of: column.number) }
        sizes[column.number] = value.byteCount
      }
      do {
        try RecordSizes.check(entity, sizes, bytesMax: bytesMax)
      } catch var error as TomboloError {
        error.message = "The store cannot sync yet. \(error.message)"
        error.remedy += " The record is \(id)."
        throw error
      }
    }
    let bytes = try stamps.encoded(replicas)
    try connection.run("UPDATE \(entity.table.quotedIdentifier) SET _tombolo_stamps = ?2 WHERE _tombolo_id = ?1") {
      $0.bind(id, at: 1)
      $0.bind(bytes, at: 2)
    }
    try connection.run(
      "INSERT INTO _tombolo_change(save, position, entity, record, kind, detail) VALUES (?1, ?2, ?3, ?4, 0, NULL)"
    ) {
      $0.bind(number, at: 1)
      $0.bind(position, at: 2)
      $0.bind(entity.number, at: 3)
      $0.bind(id, at: 4)
    }
  }

  private func adoptLinks(_ plan: LinkPlan) throws {
    guard let entity = store.schema.entity(plan.link.source) else { return }
    var keys: [LinkKey] = []
    try connection.eachRow("SELECT source, target FROM \(plan.table.quotedIdentifier) ORDER BY rowid") { row in
      guard let source = row.recordID(0), let target = row.recordID(1) else { return }
      keys.append(LinkKey(relationship: plan.link.key, source: source, target: target))
    }
    for start in stride(from: 0, to: keys.count, by: Self.recordsMax) {
      let part = keys[start..<min(keys.count, start + Self.recordsMax)]
      try save(part.count) { stamp, number in
        for (position, key) in part.enumerated() {
          try adopt(key, of: entity, plan, stamp: stamp, number: number, position: Int64(position))
        }
      }
    }
  }

  private func adopt(
    _ key: LinkKey, of entity: EntityPlan, _ plan: LinkPlan, stamp: Stamp, number: Int64, position: Int64
  ) throws {
    let bytes = try stamp.encoded(replicas)
    try connection.run(
      "UPDATE \(plan.table.quotedIdentifier) SET _tombolo_stamps = ?3 WHERE source = ?1 AND target = ?2"
    ) {
      $0.bind(key.source, at: 1)
      $0.bind(key.target, at: 2)
      $0.bind(bytes, at: 3)
    }
    let detail = ChangeDetail.link(
      .init(link: key, isPresent: true, base: .zero, underIsPresent: false, underStamp: .zero))
    try connection.run(
      "INSERT INTO _tombolo_change(save, position, entity, record, kind, detail) VALUES (?1, ?2, ?3, ?4, 3, ?5)"
    ) {
      $0.bind(number, at: 1)
      $0.bind(position, at: 2)
      $0.bind(entity.number, at: 3)
      $0.bind(key.source, at: 4)
      if let encoded = detail.encoded { $0.bind(encoded, at: 5) } else { $0.bindNull(at: 5) }
    }
  }
}
