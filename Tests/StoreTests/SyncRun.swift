import Testing
import Tombolo
import TomboloProtocol
import TomboloSQLite

/// One random run: people save on replicas, replicas push and pull in any order, answers get lost, clocks lie; then all is
/// quiet, and replicas and server are compared.
final class SyncRun {
  struct Mix: Sendable, CustomTestStringConvertible {
    var name: String
    var entities: [String]
    var features: Set<String> = []
    var testDescription: String { name }
  }

  final class Replica {
    let store: Store
    let clock: TestClock
    init(store: Store, clock: TestClock) {
      self.store = store
      self.clock = clock
    }
  }

  let mix: Mix
  let server: SyncServer
  private(set) var replicas: [Replica] = []
  private let random: TestRandomness
  private var saves = 0
  private(set) var trace: [String] = []

  init(_ mix: Mix, seed: UInt64, replicas count: Int = 3) throws {
    self.mix = mix
    random = TestRandomness(seed: seed)
    server = SyncServer(SyncSchema.document, now: TestClock().milliseconds())
    for index in 0..<count {
      let clock = TestClock()
      let options = Store.Options(clock: clock, randomness: TestRandomness(seed: seed &* 100 &+ UInt64(index)))
      let store = try Store(.memory(name: "r\(index)"), document: SyncSchema.document, options: options)
      replicas.append(Replica(store: store, clock: clock))
      if mix.features.contains("adopt") { for _ in 0..<4 { try save(replicas[index]) } }
      try store.setRemote("http://127.0.0.1/v1/stores/test", tokenFile: nil)
    }
  }

  func below(_ bound: Int) -> Int { bound <= 1 ? 0 : Int(random.next() % UInt64(bound)) }
  private func chance(_ percent: Int) -> Bool { below(100) < percent }
  private func pick<Element>(_ list: [Element]) -> Element? { list.isEmpty ? nil : list[below(list.count)] }

  func run(steps: Int) throws {
    for _ in 0..<steps {
      tick(UInt64(1 + below(2_000)))
      let replica = replicas[below(replicas.count)]
      if mix.features.contains("skew"), chance(5) {
        replica.clock.advance(by: [100_000, 400_000, 50_000_000][below(3)])
      }
      switch below(100) {
      case ..<50: try save(replica)
      case ..<75: try push(replica, upTo: [1, 2, 3, 99][below(4)], losesAnswer: chance(25))
      default: try pull(replica, limit: [1, 2, 5, 99][below(4)], pages: chance(30) ? 1 : 99)
      }
    }
    try settle()
  }

  private func tick(_ milliseconds: UInt64) {
    server.now += milliseconds
    for replica in replicas { replica.clock.advance(by: milliseconds) }
  }

  func settle() throws {
    for _ in 0..<4 {
      for replica in replicas {
        for _ in 0..<60 {
          tick(1)
          if try replica.store.outbox(recordsMax: 1, bytesMax: .max).isEmpty { break }
          try push(replica, upTo: 99, losesAnswer: false)
        }
        try #require(try replica.store.outbox(recordsMax: 1, bytesMax: .max).isEmpty, "a queue cannot be emptied")
        try pull(replica, limit: [2, 99][below(2)], pages: 999)
      }
    }
    for replica in replicas { try pull(replica, limit: 99, pages: 999) }
  }

  // MARK: Saves

  private func ids(_ store: Store, _ entity: String) throws -> [RecordID] {
    try store.read { connection in
      var ids: [RecordID] = []
      try connection.eachRow("SELECT _tombolo_id FROM \(entity.quotedIdentifier) ORDER BY 1") { row in
        if let id = row.recordID(0) { ids.append(id) }
      }
      return ids
    }
  }

  func save(_ replica: Replica) throws {
    let store = replica.store
    saves += 1
    do {
      try store.save { writer in for _ in 0..<(1 + below(3)) { try act(writer, store) } }
    } catch let error as TomboloError {
      // What the rules forbid was undone whole.
      let expected: Set<ErrorCode> = [.cyclicReference, .deleteDenied, .requiredReference, .uniqueViolation]
      try #require(expected.contains(error.code), "\(error)")
    }
  }

  private func act(_ writer: StoreWriter, _ store: Store) throws {
    guard let name = pick(mix.entities), let entity = store.schema.entity(name) else { return }
    var ids: [RecordID] = []
    try writer.connection.eachRow("SELECT _tombolo_id FROM \(name.quotedIdentifier) ORDER BY 1") { row in
      if let id = row.recordID(0) { ids.append(id) }
    }
    let roll = below(100)
    guard let id = pick(ids), roll >= 30 else {
      let row = try ValueRow(entity, try values(of: entity, writer, isNew: true))
      let id = store.makeRecordID()
      trace.append("insert \(name) \(id) \(row.values)")
      return try writer.insert(entity, id, assigned: row.assigned, from: row)
    }
    if roll < 70 || !mix.features.contains("delete") && !mix.features.contains("link") {
      let row = try ValueRow(entity, try values(of: entity, writer, isNew: false))
      trace.append("update \(name) \(id) \(row.values)")
      try writer.update(entity, id, changed: row.assigned, from: row)
    } else if roll < 85, mix.features.contains("delete") {
      trace.append("delete \(name) \(id)")
      try writer.delete(entity, id)
    } else if mix.features.contains("link"), let task = store.schema.entity("Task"),
      let plan = task.links.first(where: { $0.property == "labels" })
    {
      let tasks = try list(writer, "Task")
      let labels = try list(writer, "Label")
      guard let own = pick(tasks), let other = pick(labels) else { return }
      if chance(65) { try writer.link(plan, own, other) } else { try writer.unlink(plan, own, other) }
    }
  }

  private func list(_ writer: StoreWriter, _ name: String) throws -> [RecordID] {
    var ids: [RecordID] = []
    try writer.connection.eachRow("SELECT _tombolo_id FROM \(name.quotedIdentifier) ORDER BY 1") { row in
      if let id = row.recordID(0) { ids.append(id) }
    }
    return ids
  }

  private func values(of entity: EntityPlan, _ writer: StoreWriter, isNew: Bool) throws -> [String: Value] {
    var values: [String: Value] = [:]
    for column in entity.columns where chance(isNew ? 50 : 35) {
      switch column.kind {
      case .reference(let reference):
        if reference.isAcyclic, !mix.features.contains("tree") { continue }
        values[column.property] = Value(reference: chance(15) ? nil : pick(try list(writer, reference.destination)))
      case .attribute(let attribute):
        if column.property == "code", !mix.features.contains("unique") { continue }
        if attribute.type == .int64 {
          values[column.property] = .integer(Int64(below(20)))
        } else {
          values[column.property] = chance(10) ? .null : .text("\(column.property)\(below(3))")
        }
      }
    }
    return values
  }

  // MARK: Exchanges

  func push(_ replica: Replica, upTo count: Int, losesAnswer: Bool) throws {
    let store = replica.store
    let state = try #require(try store.replicaState())
    let sets = Array(try store.outbox(recordsMax: 1_000, bytesMax: .max).prefix(count))
    guard let last = sets.last else { return }
    try store.markAttempted(upTo: last.number)
    let response = try server.push(sets, from: state.replica)
    trace.append("push \(state.replica) \(sets.map { "\($0)" }) \(response.answers.map(\.verdict)) lost \(losesAnswer)")
    if losesAnswer { return }
    switch try store.take(response) {
    case .settled, .restamped: break
    case .copied:
      let saves = try store.outbox(recordsMax: .max, bytesMax: .max).map(\.id)
      try store.takeNewReplicaID(known: server.known(saves))
    case .gap(let expected): Issue.record("a gap: \(expected)")
    case .epochChanged: Issue.record("another epoch")
    }
  }

  func pull(_ replica: Replica, limit: Int, pages: Int) throws {
    let store = replica.store
    for _ in 0..<pages {
      let state = try #require(try store.replicaState())
      guard let page = try server.page(after: state.cursor, limit: limit, for: [state.replica]) else {
        try store.beginSnapshot()
        continue
      }
      let outcome = try store.take(page)
      trace.append("pull \(state.replica) \(page.items) -> \(outcome)")
      switch outcome {
      case .staged: continue
      case .applied(_, _, let checksum): try #require(checksum != .different, "a checksum differs")
      case .copied:
        let saves = try store.outbox(recordsMax: .max, bytesMax: .max).map(\.id)
        try store.takeNewReplicaID(known: server.known(saves))
        continue
      case .epochChanged: Issue.record("another epoch")
      }
      return
    }
  }

  // MARK: Comparison

  /// What differs between a replica and the server, values and stamps; empty where nothing does.
  func differences(_ store: Store) throws -> [String] {
    var expected: [RecordID: [String: FieldMerge.Version]] = [:]
    for record in server.state.records.values where record.isLiving {
      let item = try MergeEngine.item(for: record, since: .start, reader: server.state, schema: server.schema)
      guard case .record(let state) = item else { continue }
      expected[record.id] = Dictionary(
        state.fields.map { ($0.name, FieldMerge.Version(value: $0.value, stamp: $0.stamp)) },
        uniquingKeysWith: { first, _ in first })
    }
    var found: [RecordID: [String: FieldMerge.Version]] = [:]
    var pairs: Set<LinkKey> = []
    try store.read { connection in
      let replicas = ReplicaNumbers(connection)
      for entity in store.schema.entities {
        let names = entity.columns.map { ", \($0.column.quotedIdentifier)" }.joined()
        try connection.eachRow("SELECT _tombolo_id, _tombolo_stamps\(names) FROM \(entity.table.quotedIdentifier)") {
          row in
          guard let id = row.recordID(0) else { return }
          let stamps = try RowStamps(row.bytes(1), replicas)
          for column in entity.columns {
            found[id, default: [:]][column.property] = FieldMerge.Version(
              value: row.value(Int32(column.position + 2)), stamp: stamps.stamp(of: column.number))
          }
        }
      }
      for plan in store.schema.linkTables {
        try connection.eachRow("SELECT source, target FROM \(plan.table.quotedIdentifier)") { row in
          guard let source = row.recordID(0), let target = row.recordID(1) else { return }
          pairs.insert(LinkKey(relationship: plan.link.key, source: source, target: target))
        }
      }
    }
    var differences: [String] = []
    for id in Set(expected.keys).union(found.keys).sorted() where expected[id] != found[id] {
      differences.append(
        "record \(id): \(found[id].map { "\($0)" } ?? "none"), the server \(expected[id].map { "\($0)" } ?? "none")")
    }
    let linked = server.state.pairs.values.filter {
      $0.isPresent && expected[$0.key.source] != nil && expected[$0.key.target] != nil
    }
    if Set(linked.map(\.key)) != pairs { differences.append("links \(pairs), the server \(linked)") }
    if try store.checksum() != server.state.checksum { differences.append("checksum") }
    return differences
  }
}
