import Testing
import Tombolo
import TomboloProtocol
import TomboloSQLite

/// Single exchanges, each with the outcome that merge.md names for it.
@Suite struct SyncTests {
  private static func run(replicas: Int = 2) throws -> SyncRun {
    try SyncRun(SyncRun.Mix(name: "by hand", entities: ["Task"]), seed: 1, replicas: replicas)
  }

  private static func sync(_ run: SyncRun) throws {
    for replica in run.replicas {
      try run.push(replica, upTo: 999, losesAnswer: false)
      try run.pull(replica, limit: 99, pages: 99)
    }
    for replica in run.replicas { try run.pull(replica, limit: 99, pages: 99) }
  }

  @Test("the author of an edit that loses is told, with both values")
  func reportsLoser() throws {
    let run = try Self.run()
    let (a, b) = (run.replicas[0], run.replicas[1])
    let task = try a.store.insert("Task", ["title": .text("old")])
    try Self.sync(run)
    try b.store.set("Task", task, ["title": .text("lost")])
    a.clock.advance(by: 1_000)
    try a.store.set("Task", task, ["title": .text("stands")])
    try Self.sync(run)
    #expect(try b.store.values("Task", task)?["title"] == .text("stands"))
    let entry = try #require(try b.store.conflicts().first)
    #expect(entry.rule == .laterEdit && entry.record == task && entry.field == "title")
    #expect(entry.lost.value == .text("lost") && entry.standing?.value == .text("stands"))
    #expect(try a.store.conflicts().isEmpty)
  }

  @Test("an edit that has seen the other beats it, whatever the clocks say, and nobody is told")
  func seenEditWins() throws {
    let run = try Self.run()
    let (a, b) = (run.replicas[0], run.replicas[1])
    a.clock.advance(by: 200_000)
    let task = try a.store.insert("Task", ["title": .text("ahead")])
    try Self.sync(run)
    try b.store.set("Task", task, ["title": .text("later")])
    try Self.sync(run)
    #expect(try a.store.values("Task", task)?["title"] == .text("later"))
    #expect(try a.store.conflicts().isEmpty && b.store.conflicts().isEmpty)
  }

  @Test("a refused save is parked with its reason, and what hangs on it is hidden with it")
  func parksRefused() throws {
    let run = try Self.run()
    let (a, b) = (run.replicas[0], run.replicas[1])
    try a.store.insert("Serial", ["key": .text("one")])
    let refused = try b.store.insert("Serial", ["key": .text("one")])
    try b.store.set("Serial", refused, ["name": .text("depends")])
    let kept = try b.store.insert("Task", ["title": .text("goes on")])
    try run.push(a, upTo: 99, losesAnswer: false)
    try run.push(b, upTo: 1, losesAnswer: false)
    #expect(try b.store.count("Serial") == 0)
    try Self.sync(run)
    let parked = try b.store.parkedSaves()
    #expect(parked.map(\.code) == [.uniqueViolation, .dependsOnRefused])
    #expect(try a.store.values("Task", kept)?["title"] == .text("goes on"))
    for replica in run.replicas { #expect(try run.differences(replica.store) == []) }
  }

  @Test("an edit of what a refused save of a wrong clock created holds nothing up")
  func refusedAhead() throws {
    let run = try Self.run()
    let (a, b) = (run.replicas[0], run.replicas[1])
    try a.store.insert("Serial", ["key": .text("one")])
    try run.push(a, upTo: 99, losesAnswer: false)
    let now = run.server.now
    b.clock.advance(by: 3_600_000)
    let refused = try b.store.insert("Serial", ["key": .text("one")])
    try b.store.set("Serial", refused, ["name": .text("depends")])
    let kept = try b.store.insert("Task", ["title": .text("goes on")])
    // It was restamped, sent and refused once; then the replica's power went, and with it the new stamp and the answer.
    var sent = try #require(try b.store.outbox(recordsMax: 99, bytesMax: .max).first)
    sent.stamp = Stamp(clock: ClockReading(milliseconds: now), replica: sent.stamp.replica)
    guard case .refused = try run.server.push([sent], from: sent.stamp.replica).answers.first?.verdict else {
      Issue.record("not refused")
      return
    }
    // The first push gets new stamps.
    for _ in 0..<2 { try Self.sync(run) }
    #expect(try b.store.parkedSaves().map(\.code) == [.uniqueViolation, .dependsOnRefused])
    #expect(try a.store.values("Task", kept)?["title"] == .text("goes on"))
    for replica in run.replicas { #expect(try run.differences(replica.store) == []) }
  }

  @Test("what is noted of a text that is not composed goes when a pull writes over it, or deletes its record")
  func composes() throws {
    let run = try Self.run()
    let (a, b) = (run.replicas[0], run.replicas[1])
    func noted() throws -> Int64? {
      for _ in 0..<2 { try Self.sync(run) }
      return try b.store.read { try $0.firstRow("SELECT count(*) FROM _tombolo_decomposed") { $0.int64(0) } }
    }
    let ids = try ["e\u{301}", "o\u{302}", "u\u{308}"].map { try a.store.insert("Serial", ["key": .text($0)]) }
    #expect(try noted() == 3)
    try a.store.set("Serial", ids[0], ["key": .text("e")])
    try a.store.set("Serial", ids[1], ["name": .text("keeps its key")])
    #expect(try noted() == 2)
    try a.store.delete("Serial", ids[2])
    #expect(try noted() == 1)
    try a.store.set("Serial", ids[1], ["key": .text("a\u{30A}")])
    #expect(try noted() == 1)
    for replica in run.replicas { #expect(try run.differences(replica.store) == []) }
  }

  @Test("readers see nothing of a pull before its last page is there")
  func stagesPages() throws {
    let run = try Self.run()
    let (a, b) = (run.replicas[0], run.replicas[1])
    for index in 0..<3 { try a.store.insert("Task", ["title": .text("\(index)")]) }
    try run.push(a, upTo: 99, losesAnswer: false)
    try run.pull(b, limit: 1, pages: 2)
    #expect(try b.store.count("Task") == 0)
    try run.pull(b, limit: 1, pages: 9)
    #expect(try b.store.count("Task") == 3)
  }

  @Test("an answer that was lost changes nothing: each delta counts once")
  func lostAnswer() throws {
    let run = try Self.run()
    let (a, b) = (run.replicas[0], run.replicas[1])
    let task = try a.store.insert("Task", ["count": .integer(5)])
    try Self.sync(run)
    try a.store.set("Task", task, ["count": .integer(7)])
    try b.store.set("Task", task, ["count": .integer(8)])
    try run.push(a, upTo: 99, losesAnswer: true)
    try run.pull(a, limit: 99, pages: 99)
    #expect(try a.store.values("Task", task)?["count"] == .integer(7))
    try Self.sync(run)
    for replica in run.replicas { #expect(try replica.store.values("Task", task)?["count"] == .integer(10)) }
  }

  @Test("a clock an hour ahead is set back, its saves are restamped and then taken")
  func restamps() throws {
    let run = try Self.run()
    let (a, b) = (run.replicas[0], run.replicas[1])
    let task = try a.store.insert("Task", ["title": .text("old")])
    try Self.sync(run)
    b.clock.advance(by: 3_600_000)
    try b.store.set("Task", task, ["title": .text("ahead")])
    try b.store.set("Task", task, ["title": .text("ahead again")])
    try run.push(b, upTo: 99, losesAnswer: false)
    #expect(try b.store.outbox(recordsMax: 99, bytesMax: .max).count == 2)
    try Self.sync(run)
    #expect(try a.store.values("Task", task)?["title"] == .text("ahead again"))
    for replica in run.replicas { #expect(try run.differences(replica.store) == []) }
  }

  @Test("after cursor_expired a snapshot drops what is gone and keeps unsent work")
  func snapshot() throws {
    let run = try Self.run()
    let (a, b) = (run.replicas[0], run.replicas[1])
    let gone = try a.store.insert("Task", ["title": .text("gone")])
    let edited = try a.store.insert("Task", ["title": .text("old")])
    try Self.sync(run)
    try a.store.delete("Task", gone)
    try run.push(a, upTo: 99, losesAnswer: false)
    run.server.state.records[gone] = nil
    run.server.collected = run.server.state.head
    try b.store.set("Task", edited, ["title": .text("unsent")])
    let new = try b.store.insert("Task", ["title": .text("new")])
    try run.pull(b, limit: 1, pages: 99)
    #expect(try b.store.values("Task", gone) == nil)
    #expect(try b.store.values("Task", edited)?["title"] == .text("unsent"))
    #expect(try b.store.values("Task", new)?["title"] == .text("new"))
    try Self.sync(run)
    for replica in run.replicas { #expect(try run.differences(replica.store) == []) }
  }

  @Test("a copied replica takes a new id; what the original sent is not applied twice")
  func copiedReplica() throws {
    try StoreFixture.run { fixture in
      let original = try fixture.file(SyncSchema.document, name: "original.store")
      try original.setRemote("http://127.0.0.1/v1/stores/test", tokenFile: nil)
      let task = try original.insert("Task", ["count": .integer(1)])
      try original.set("Task", task, ["count": .integer(3)])
      try Connection(path: fixture.path("original.store")).backup(to: fixture.path("copy.store"))
      let copy = try fixture.file(SyncSchema.document, name: "copy.store")
      let run = try Self.run(replicas: 0)
      let clock = TestClock()
      clock.advance(by: 5_000)
      let (first, second) = (SyncRun.Replica(store: original, clock: clock), SyncRun.Replica(store: copy, clock: clock))
      try original.set("Task", task, ["count": .integer(10)])
      try run.push(first, upTo: 99, losesAnswer: false)
      try copy.set("Task", task, ["count": .integer(103)])
      let before = try copy.replicaState()?.replica
      for _ in 0..<4 { try run.push(second, upTo: 99, losesAnswer: false) }
      #expect(try copy.replicaState()?.replica != before)
      #expect(try copy.replicaState()?.unsent == 0)
      for replica in [first, second, first] { try run.pull(replica, limit: 99, pages: 9) }
      for store in [original, copy] {
        #expect(try store.values("Task", task)?["count"] == .integer(110))
        #expect(try run.differences(store) == [])
      }
    }
  }

  @Test("what the schema does not know is set aside, counted in the checksum, and lost by no edit of the rest")
  func setsAside() throws {
    try StoreFixture.run { fixture in try setsAside(fixture) }
  }

  private func setsAside(_ fixture: StoreFixture) throws {
    var newer = SyncSchema.document
    newer.version = SchemaVersion(1, 1, 0)
    for index in newer.entities.indices where newer.entities[index].name == "Note" {
      newer.entities[index].attributes.insert(SchemaAttribute(name: "more", type: .string, isOptional: true), at: 0)
    }
    newer.entities.append(
      SchemaEntity(name: "Unheard", attributes: [SchemaAttribute(name: "x", type: .int64, isOptional: true)]))
    let clock = TestClock()
    let options = Store.Options(clock: clock, randomness: TestRandomness(seed: 99))
    let new = try Store(.memory(name: "new"), document: newer, options: options)
    let path = Store.Location.file(path: fixture.path("old.store"))
    var old = try Store(path, document: SyncSchema.document, options: fixture.options())
    let server = SyncServer(newer, now: clock.milliseconds())
    let pull = { (store: Store) throws -> PullOutcome in
      let state = try #require(try store.replicaState())
      return try store.take(try #require(try server.page(after: state.cursor, limit: 99, for: [state.replica])))
    }
    let push = { (store: Store) throws in
      let sets = try store.outbox(recordsMax: 99, bytesMax: .max)
      try store.markAttempted(upTo: try #require(sets.last).number)
      _ = try store.take(try server.push(sets, from: try #require(try store.replicaState()).replica))
    }
    try new.setRemote("http://127.0.0.1/v1/stores/test", tokenFile: nil)
    try old.setRemote("http://127.0.0.1/v1/stores/test", tokenFile: nil)
    let note = try new.insert("Note", ["name": .text("n"), "more": .text("kept")])
    let unheard = try new.insert("Unheard", ["x": .integer(1)])
    try push(new)
    #expect(try pull(old) == .applied(records: 1, conflicts: 0, checksum: .equal))
    #expect(try old.checksum() == server.state.checksum)
    try old.set("Note", note, ["name": .text("edited")])
    try push(old)
    #expect(try pull(old) == .applied(records: 0, conflicts: 0, checksum: .equal))
    _ = try pull(new)
    #expect(try new.values("Note", note)?["name"] == .text("edited"))
    #expect(try new.values("Note", note)?["more"] == .text("kept"))
    // Opened with a schema that knows it, the store shows it.
    old = try Store(.memory(name: "closed"), document: newer, options: options)
    old = try Store(path, document: newer, options: fixture.options())
    #expect(try old.values("Note", note)?["more"] == .text("kept"))
    #expect(try old.values("Unheard", unheard)?["x"] == .integer(1))
    #expect(try old.checksum() == server.state.checksum)
    #expect(try pull(old) == .applied(records: 0, conflicts: 0, checksum: .equal))
  }

  @Test("an unversioned store, and one that records no history, never sync")
  func refusesRemote() throws {
    try StoreFixture.run { fixture in
      var unversioned = SyncSchema.document
      unversioned.version = nil
      let plain = try fixture.memory(unversioned)
      #expect(StoreFixture.code { try plain.setRemote("http://h/v1/stores/s", tokenFile: nil) } == .storeUnversioned)
      let silent = try fixture.memory(SyncSchema.document) { $0.recordsHistory = false }
      #expect(StoreFixture.code { try silent.setRemote("http://h/v1/stores/s", tokenFile: nil) } == .historyDisabled)
      let store = try fixture.memory(SyncSchema.document)
      #expect(try store.replicaState() == nil)
      try store.setRemote("http://h/v1/stores/s", tokenFile: nil)
      try store.insert("Task", [:])
      #expect(StoreFixture.code { try store.setRemote("http://i/v1/stores/s", tokenFile: nil) } == .remoteExists)
    }
  }
}
