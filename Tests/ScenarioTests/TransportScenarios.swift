import Testing
import Tombolo
import TomboloClient
import TomboloProtocol
import TomboloServer
import TomboloSimulation

@Suite("Scenarios: transport and durability")
struct TransportScenarios {
  @Test("76, C27: a push repeated after its answer was lost has its effect once", arguments: 1..<4)
  func lostAnswers(count: Int) throws {
    let world = try World()
    let (a, b) = (try world.replica("a"), try world.replica("b"))
    let score = try a.inserts("Score", ["count": .integer(1)])
    try world.settles()
    try a.sets("Score", score, "count", to: .integer(5))
    try b.sets("Score", score, "count", to: .integer(11))
    world.answersToLose = count
    try world.expectAllEqual()
    #expect(try a.value("Score", score, "count") == .integer(15))
  }

  @Test("80, C10: an edit made while a push is under way stays pending, and is sent next")
  func editDuringPush() throws {
    let world = try World()
    let (a, b) = (try world.replica("a"), try world.replica("b"))
    let note = try a.inserts("Note", ["title": "old"])
    try world.settles()
    try a.sets("Note", note, "title", to: "one")
    var isDone = false
    world.answer = { request in
      guard request.method == "POST", !isDone else { return nil }
      isDone = true
      do { try a.sets("Note", note, "title", to: "two") } catch { Issue.record(error) }
      return nil
    }
    try a.syncs()
    world.answer = nil
    #expect(isDone)
    try world.expectAllEqual()
    #expect(try b.value("Note", note, "title") == "two")
  }

  @Test("81: a deletion made while a push of the record is under way follows it")
  func deleteDuringPush() throws {
    let world = try World()
    let (a, b) = (try world.replica("a"), try world.replica("b"))
    let note = try a.inserts("Note", ["title": "old"])
    var isDone = false
    world.answer = { request in
      guard request.method == "POST", !isDone else { return nil }
      isDone = true
      do { try a.deletes("Note", note) } catch { Issue.record(error) }
      return nil
    }
    try a.syncs()
    world.answer = nil
    #expect(isDone)
    try world.expectAllEqual()
    #expect(try b.count("Note") == 0)
  }

  @Test("C11: what is pulled does not undo a pending edit that is newer, nor keep one that is older")
  func pullOverPending() throws {
    let world = try World()
    let (a, b) = (try world.replica("a"), try world.replica("b"))
    let note = try a.inserts("Note", ["title": "old", "body": "old"])
    try world.settles()
    try b.sets("Note", note, "body", to: "B, older")
    try a.sets("Note", note, "title", to: "A")
    try a.sets("Note", note, "body", to: "A, newer")
    try a.syncs()
    try b.sets("Note", note, "title", to: "B, newer")
    try world.expectAllEqual()
    #expect(try b.value("Note", note, "title") == "B, newer" && b.value("Note", note, "body") == "A, newer")
  }

  @Test("84: no page shows part of a save")
  func wholeSaves() throws {
    let world = try World()
    let (a, b) = (try world.replica("a"), try world.replica("b"))
    let note = try #require(a.store.schema.entity("Note"))
    for save in 0..<4 {
      try a.store.save { writer in
        let row = try ValueRow(note, ["title": .text("\(save)")])
        for _ in 0..<5 { try writer.insert(note, a.store.makeRecordID(), assigned: row.assigned, from: row) }
      }
    }
    try a.syncs()
    for _ in 0..<20 {
      var gets = 0
      let report = try b.exchange(pageItems: 3) { request in
        gets += request.method == "GET" ? 1 : 0
        return gets > 1
      }
      #expect(try b.count("Note") % 5 == 0)
      if report != nil { break }
    }
    try world.expectAllEqual()
    #expect(try b.count("Note") == 20)
  }

  @Test("86, 97, C54: a record that is too large is parked, and the rest goes on")
  func oversized() throws {
    var limits = ServiceLimits()
    limits.recordBytesMax = 1_000
    let world = try World(limits: limits)
    let (a, b) = (try world.replica("a"), try world.replica("b"))
    try a.inserts("Note", ["title": "before"])
    try a.inserts("Note", ["body": .text(String(repeating: "x", count: 5_000))])
    try a.inserts("Note", ["title": "after"])
    try world.expectAllEqual()
    #expect(try b.count("Note") == 2)
    #expect(try a.parked.count == 1)
    try a.store.discardParked(try #require(try a.parked.first).changeSet.number)
    try a.inserts("Note", ["title": "more"])
    try world.expectAllEqual()
    #expect(try b.count("Note") == 3)
  }

  @Test("C54: a save larger than a request goes in pieces")
  func largeSave() throws {
    var limits = ServiceLimits()
    limits.requestBytesMax = 16 << 10
    let world = try World(limits: limits)
    let (a, b) = (try world.replica("a"), try world.replica("b"))
    for index in 0..<3 {
      try a.inserts("Note", ["body": .text(String(repeating: "\(index)", count: 60_000))])
    }
    try world.expectAllEqual()
    #expect(try b.count("Note") == 3)
  }

  @Test("88: an old page that comes again is not applied")
  func replayedPage() throws {
    let world = try World()
    let (a, b) = (try world.replica("a"), try world.replica("b"))
    let note = try a.inserts("Note", ["title": "old"])
    try a.syncs()
    var old: TransportResponse?
    world.answer = { request in
      guard request.method == "GET", old == nil else { return nil }
      world.answer = nil
      old = try? world.carry(request)
      return old
    }
    try b.syncs()
    try a.sets("Note", note, "title", to: "new")
    try a.syncs()
    try b.syncs()
    #expect(try b.value("Note", note, "title") == "new")
    let cursor = try b.store.replicaState()?.cursor
    world.answer = { request in request.method == "GET" ? old : nil }
    _ = try? b.syncs()
    world.answer = nil
    #expect(try b.value("Note", note, "title") == "new")
    #expect(try b.store.replicaState()?.cursor == cursor)
    try world.expectAllEqual()
  }

  @Test("90, C103: a token that is no longer valid loses nothing and resets nothing")
  func revokedToken() throws {
    let world = try World()
    let (a, b) = (try world.replica("a"), try world.replica("b"))
    let note = try a.inserts("Note", ["title": "old"])
    try world.settles()
    try a.sets("Note", note, "title", to: "new")
    world.answer = { _ in
      TransportResponse(
        status: 401, headers: ["content-type": "application/json"],
        body: Array(#"{"error":{"code":"unauthorized","message":"m","retryable":false}}"#.utf8))
    }
    #expect(throws: TomboloError.self) { try a.syncs() }
    #expect(try a.unsent == 1 && a.value("Note", note, "title") == "new")
    world.answer = nil
    try world.expectAllEqual()
    #expect(try b.value("Note", note, "title") == "new")
  }

  @Test("93: a copied file takes an id of its own, what each wrote arrives once, and old entries reach the copy too")
  func copiedFile() throws {
    let world = try World()
    let (a, b) = (try world.replica("a"), try world.replica("b"))
    let score = try a.inserts("Score", ["count": .integer(1)])
    let note = try a.inserts("Note", ["title": "old"])
    try world.settles()
    let copy = try world.replica("copy", isOffline: true)
    try copy.takesFile(of: a)
    // This one loses later, when its author has another id.
    try copy.sets("Note", note, "title", to: "of the copy")
    try a.sets("Score", score, "count", to: .integer(2))
    try a.syncs()
    try copy.sets("Score", score, "count", to: .integer(11))
    try copy.syncs()
    #expect(try copy.store.replicaState()?.replica != a.store.replicaState()?.replica)
    try b.sets("Note", note, "title", to: "later")
    try world.expectAllEqual()
    #expect(try a.value("Score", score, "count") == .integer(12))
    #expect(try b.value("Note", note, "title") == "later")
  }

  @Test("93: an entry addressed to a former id of the replica arrives")
  func entryForFormerID() throws {
    let world = try World()
    let (a, b) = (try world.replica("a"), try world.replica("b"))
    let note = try a.inserts("Note", ["title": "old"])
    try world.settles()
    try b.sets("Note", note, "body", to: "B")
    try b.sets("Note", note, "title", to: "later")
    b.clock.setSkew(milliseconds: 0)
    try a.sets("Note", note, "body", to: "A")
    try a.pushes()
    let copy = try world.replica("copy", isOffline: true)
    try copy.takesFile(of: a)
    try a.inserts("Tag")
    try a.pushes()
    try copy.inserts("Tag")
    try copy.sets("Note", note, "pages", to: .integer(2))
    try copy.syncs()
    let former = try #require(try copy.store.replicaState()).formerReplicas
    #expect(try former == [#require(try a.store.replicaState()).replica])
    let sent = try #require(world.requests.last { $0.method == "GET" })
    #expect(sent.headers["tombolo-former-replicas"] == former[0].description)
    try world.expectAllEqual()
  }

  @Test("94: a replica restored from an old backup keeps its data and what the server has of it")
  func restoredBackup() throws {
    let world = try World()
    let (a, b) = (try world.replica("a"), try world.replica("b"))
    let score = try a.inserts("Score", ["count": .integer(1)])
    try world.settles()
    let backup = try world.replica("backup", isOffline: true)
    try backup.takesFile(of: a)
    try a.sets("Score", score, "count", to: .integer(5))
    try a.syncs()
    try a.takesFile(of: backup)
    try a.sets("Score", score, "count", to: .integer(11))
    try a.syncs()
    try b.syncs()
    #expect(try b.value("Score", score, "count") == .integer(15))
    #expect(try a.value("Score", score, "count") == .integer(15))
  }

  @Test("89, 96, C28: a server that is busy is asked again later, and nothing leaves the queue")
  func busyServer() throws {
    let world = try World()
    let (a, b) = (try world.replica("a"), try world.replica("b"))
    try world.settles()
    try a.inserts("Note", ["title": "new"])
    var refusals = 3
    let begin = world.time.milliseconds
    world.answer = { request in
      guard request.method == "POST", refusals > 0 else { return nil }
      refusals -= 1
      return TransportResponse(
        status: 503, headers: ["retry-after": "2", "content-type": "application/json"],
        body: Array(#"{"error":{"code":"busy","message":"m","retryable":true}}"#.utf8))
    }
    try a.syncs()
    #expect(refusals == 0 && world.time.milliseconds - begin >= 6_000)
    world.answer = nil
    try world.expectAllEqual()
    #expect(try b.count("Note") == 1)
  }

  @Test("98: an answer that settles nothing leaves the save in the queue")
  func emptyAnswer() throws {
    let world = try World()
    let (a, b) = (try world.replica("a"), try world.replica("b"))
    try world.settles()
    try a.inserts("Note")
    let epoch = try #require(try a.store.replicaState()?.epoch)
    world.answer = { request in
      guard request.method == "POST" else { return nil }
      return TransportResponse(
        status: 200, headers: ["content-type": "application/cbor"],
        body: PushResponse(epoch: epoch, serverTime: world.time.milliseconds, answers: []).encoded(as: .cbor))
    }
    #expect(throws: TomboloError.self) { try a.syncs() }
    #expect(try a.unsent == 1)
    world.answer = nil
    try world.expectAllEqual()
    #expect(try b.count("Note") == 1)
  }

  @Test("100: a collection of tombstones in the middle of a pull does no harm")
  func collectionDuringPull() throws {
    let world = try World()
    let (a, b) = (try world.replica("a"), try world.replica("b"))
    let notes = try (0..<8).map { try a.inserts("Note", ["title": .text("\($0)")]) }
    try a.syncs()
    var gets = 0
    _ = try b.exchange(pageItems: 2) { request in
      gets += request.method == "GET" ? 1 : 0
      return gets > 2
    }
    for note in notes.prefix(4) { try a.deletes("Note", note) }
    try a.syncs()
    world.passes(milliseconds: 100 * 24 * 3_600 * 1_000)
    try a.syncs()
    _ = try world.service.collectTombstones()
    try b.syncs(pageItems: 2)
    #expect(try b.count("Note") == 4)
    try world.expectAllEqual()
  }

  @Test("who was away for longer than history is kept still learns which of its writes lost")
  func entriesOutliveHistory() throws {
    let world = try World()
    let (a, b) = (try world.replica("a"), try world.replica("b"))
    let note = try a.inserts("Note", ["title": .text("first")])
    try world.settles()
    try a.sets("Note", note, "title", to: .text("mine"))
    try a.pushes()
    try b.sets("Note", note, "title", to: .text("theirs"))
    try b.syncs()
    world.passes(milliseconds: 100 * 24 * 3_600 * 1_000)
    try b.deletes("Note", try b.inserts("Note", ["title": .text("doomed")]))
    try b.syncs()
    _ = try world.service.collectTombstones()
    try a.syncs()
    #expect(try a.value("Note", note, "title") == .text("theirs"))
    #expect(try a.conflicts.map(\.lost.value) == [.text("mine")])
    try world.expectAllEqual()
  }

  @Test("106: a sync that is dropped at any request can go on", arguments: 0..<8)
  func dropped(after count: Int) throws {
    let world = try World()
    let (a, b) = (try world.replica("a"), try world.replica("b"))
    for index in 0..<6 { try b.inserts("Note", ["title": .text("\(index)")]) }
    try b.syncs()
    try a.inserts("Note", ["title": "mine"])
    var sent = 0
    _ = try a.exchange(pageItems: 2) { _ in
      sent += 1
      return sent > count
    }
    try world.expectAllEqual()
    #expect(try a.count("Note") == 7)
  }

  @Test("129, C25: what was written before there was a server is sent when there is one")
  func adopted() throws {
    let world = try World()
    let a = try world.replica("a", isOffline: true)
    let folder = try a.inserts("Folder", ["name": "F"])
    try a.inserts("Note", ["title": "1", "folder": Value(reference: folder)])
    let gone = try a.inserts("Note")
    try a.deletes("Note", gone)
    let b = try world.replica("b")
    try a.store.setRemote(World.url, tokenFile: nil)
    try world.expectAllEqual()
    #expect(try b.count("Note") == 1 && b.count("Folder") == 1)
  }
}
