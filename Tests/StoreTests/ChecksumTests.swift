import Testing
import Tombolo
import TomboloProtocol
import TomboloSQLite

/// What the checksum sees of a replica that was changed behind the library's back.
@Suite struct ChecksumTests {
  /// A replica with two tasks, a label on the first, and a task of which nobody assigned anything; all confirmed.
  private static func run() throws -> (run: SyncRun, task: RecordID) {
    let run = try SyncRun(SyncRun.Mix(name: "checksum", entities: ["Task"]), seed: 1, replicas: 2)
    let store = run.replicas[0].store
    let task = try store.insert("Task", ["title": .text("one")])
    try store.insert("Task", ["title": .text("two")])
    try store.insert("Task", [:])
    let label = try store.insert("Label", ["name": .text("red")])
    let plan = try #require(try store.plan("Task").links.first { $0.property == "labels" })
    try store.save { try $0.link(plan, task, label) }
    try run.settle()
    return (run, task)
  }

  enum Damage: String, CaseIterable, Sendable {
    case value, stamp, row, bareRow, extraRow, pair, extraPair, pairStamp

    var sql: String {
      switch self {
      case .value: #"UPDATE "Task" SET "title" = 'damaged' WHERE "title" = 'one'"#
      case .stamp: #"UPDATE "Task" SET _tombolo_stamps = NULL WHERE "title" = 'one'"#
      case .row: #"DELETE FROM "Task" WHERE "title" = 'two'"#
      case .bareRow: #"DELETE FROM "Task" WHERE "title" IS NULL"#
      case .extraRow: #"INSERT INTO "Task"("title") VALUES ('three')"#
      case .pair: #"DELETE FROM "Label_tagged""#
      case .extraPair:
        #"INSERT INTO "Label_tagged" SELECT l._tombolo_id, t._tombolo_id, t._tombolo_stamps FROM "Label" l, "Task" t "#
          + #"WHERE t."title" = 'two'"#
      case .pairStamp: #"UPDATE "Label_tagged" SET _tombolo_stamps = NULL"#
      }
    }
  }

  @Test(
    "104: the checksum is made from the rows, pairs included: no damage leaves it equal", arguments: Damage.allCases)
  func damage(_ damage: Damage) throws {
    let (run, _) = try Self.run()
    for replica in run.replicas {
      #expect(try replica.store.checksum() == run.server.state.checksum)
      // The library's own connections run without the shell's triggers.
      try replica.store.write { try $0.execute(damage.sql) }
      #expect(try replica.store.checksum() != run.server.state.checksum)
    }
  }

  @Test("pairs of a record that dies leave the checksum, and come back with it")
  func hiddenPairs() throws {
    let (run, task) = try Self.run()
    let (a, b) = (run.replicas[0].store, run.replicas[1].store)
    // Labels come back when somebody edits them (`editWins`).
    let label = try #require(
      try a.read { try $0.firstRow("SELECT source FROM Label_tagged") { $0.recordID(0) } } ?? nil)
    let plan = try a.plan("Label")
    try a.save { try $0.delete(plan, label) }
    try run.push(run.replicas[0], upTo: 99, losesAnswer: false)
    #expect(run.server.state.pairs.values.contains { $0.isPresent })
    try run.pull(run.replicas[0], limit: 99, pages: 9)
    #expect(try a.checksum() == run.server.state.checksum)
    try b.set("Label", label, ["name": .text("green")])
    try run.settle()
    for store in [a, b] {
      #expect(try store.integer("SELECT count(*) FROM Label_tagged") == 1)
      #expect(try run.differences(store) == [])
    }
    // A task stays dead, and its pairs with it.
    try b.save { try $0.delete(try b.plan("Task"), task) }
    try run.settle()
    for store in [a, b] {
      #expect(try store.integer("SELECT count(*) FROM Label_tagged") == 0)
      #expect(try run.differences(store) == [])
    }
  }

  @Test("C04: pairs that an older schema cannot show are kept aside, counted, and there after the upgrade")
  func pairsAside() throws {
    try StoreFixture.run { fixture in
      var newer = SyncSchema.document
      newer.version = SchemaVersion(1, 1, 0)
      newer.entities.append(SchemaEntity(name: "Banner", superentity: "Label"))
      newer.entities.sort { $0.name < $1.name }
      let clock = TestClock()
      let options = Store.Options(clock: clock, randomness: TestRandomness(seed: 99))
      let new = try Store(.memory(name: "new"), document: newer, options: options)
      let path = Store.Location.file(path: fixture.path("old.store"))
      var old = try Store(path, document: SyncSchema.document, options: fixture.options())
      let server = SyncServer(newer, now: clock.milliseconds())
      for store in [new, old] { try store.setRemote("http://127.0.0.1/v1/stores/test", tokenFile: nil) }
      let task = try new.insert("Task", ["title": .text("t")])
      let banner = try new.insert("Banner", ["name": .text("b")])
      let plan = try #require(try new.plan("Task").links.first { $0.property == "labels" })
      try new.save { try $0.link(plan, task, banner) }
      let sets = try new.outbox(recordsMax: 99, bytesMax: .max)
      try new.markAttempted(upTo: try #require(sets.last).number)
      _ = try new.take(try server.push(sets, from: try #require(try new.replicaState()).replica))
      let pull = { (store: Store) throws -> PullOutcome in
        let state = try #require(try store.replicaState())
        return try store.take(try #require(try server.page(after: state.cursor, limit: 99, for: [state.replica])))
      }
      #expect(try pull(old) == .applied(records: 1, conflicts: 0, checksum: .equal))
      #expect(try old.integer("SELECT count(*) FROM Label_tagged") == 0)
      #expect(try old.checksum() == server.state.checksum)
      old = try Store(.memory(name: "closed"), document: newer, options: options)
      old = try Store(path, document: newer, options: fixture.options())
      #expect(try old.integer("SELECT count(*) FROM Label_tagged") == 1)
      #expect(try old.checksum() == server.state.checksum)
    }
  }
}
