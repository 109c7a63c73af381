import Testing
import Tombolo
import TomboloClient
import TomboloProtocol
import TomboloServer
import TomboloSimulation

@Suite("Scenarios: all of it or nothing, and the same again")
struct WholenessScenarios {
  private func pair() throws -> (World, Replica, Replica) {
    let world = try World()
    return (world, try world.replica("a"), try world.replica("b"))
  }

  @Test("32: the deletion of a record that the server never saw is no fault", arguments: [false, true])
  func deletionOfUnknown(hasOthers: Bool) throws {
    let (world, a, b) = try pair()
    try a.inserts("Tag", ["name": "kept"])
    try world.settles()
    let backup = world.backup()
    let unknown = try a.inserts("Tag", ["name": "after the backup"])
    try a.syncs()
    try world.restores(backup)
    try a.deletes("Tag", unknown)
    if hasOthers { try a.inserts("Tag", ["name": "beside it"]) }
    _ = try a.failsToSync()
    try a.syncs(.reset)
    _ = try b.failsToSync()
    try b.syncs(.reset)
    try world.expectAllEqual()
    #expect(try a.count("Tag") == (hasOthers ? 2 : 1))
    #expect(try !a.has("Tag", unknown) && a.unsent == 0)
    #expect(try a.parked.isEmpty && a.conflicts.isEmpty && b.conflicts.isEmpty)
  }

  @Test(
    "78, C48: a replica that dies at any write of a pull has what it brings and its place, or neither",
    arguments: [2, 1_000])
  func diesInPull(pageItems: Int) throws {
    let (world, a, b) = try pair()
    let note = try a.inserts("Note", ["title": "0"])
    try world.settles()
    var outcomes = Set<Bool>()
    for write in UInt64(1)...2_000 {
      try a.sets("Note", note, "title", to: .text("\(write)"))
      try a.links("Note", note, "tags", to: try a.inserts("Tag"))
      try a.syncs()
      let before = try b.content()
      b.dies(atWrite: write)
      _ = try? b.syncs(pageItems: pageItems)
      let hasDied = try b.comesBack()
      let (content, place) = (try b.content(), try b.store.replicaState()?.cursor?.position)
      let isWhole = try content == a.content()
      #expect(isWhole || content == before, "write \(write)")
      outcomes.insert(isWhole)
      try b.syncs()
      // Pages that wait for the last one have their place, and show nothing.
      #expect(try (place == b.store.replicaState()?.cursor?.position) == isWhole, "write \(write)")
      if !hasDied { break }
      try #require(write < 2_000)
    }
    #expect(outcomes == [false, true])
    try world.expectAllEqual()
  }

  @Test(
    "92: a wiped server is noticed by whoever comes, nothing changes before somebody decides, and all is back afterwards",
    arguments: [false, true])
  func wiped(isAuthorFirst: Bool) throws {
    let (world, a, b) = try pair()
    let note = try a.inserts("Note", ["title": "old"])
    let (kept, gone) = (try a.inserts("Tag", ["name": "kept"]), try a.inserts("Tag", ["name": "gone"]))
    let score = try a.inserts("Score", ["count": .integer(3)])
    try world.settles()
    try b.sets("Note", note, "title", to: "unsent")
    try b.links("Note", note, "tags", to: kept)
    try b.deletes("Tag", gone)
    try b.sets("Score", score, "count", to: .integer(10))
    try a.sets("Score", score, "count", to: .integer(4))
    try world.restores([:])
    for replica in [a, b, a, b] {
      let before = (content: try replica.content(), unsent: try replica.unsent)
      let error = try replica.failsToSync()
      #expect(error.code == .otherEpoch)
      #expect(error.remedy.contains("--reupload") && error.remedy.contains("--reset"))
      #expect(try replica.content() == before.content && replica.unsent == before.unsent)
    }
    #expect(try world.service.storeNames() == [])
    for replica in isAuthorFirst ? [b, a] : [a, b] {
      try replica.syncs(.reupload)
    }
    let late = try world.replica("late")
    try world.expectAllEqual()
    #expect(try late.value("Note", note, "title") == "unsent")
    #expect(try late.has("Tag", kept) && !late.has("Tag", gone) && late.pairs() == 1)
    // 3, one more by a, seven more by b.
    #expect(try late.value("Score", score, "count") == .integer(11))
    #expect(try a.conflicts.isEmpty && b.conflicts.isEmpty)
  }

  @Test(
    "138: a captured bundle replays to the same end and the same digest, again and again", arguments: [false, true])
  func bundle(hasSynced: Bool) throws {
    let (world, a, b) = try pair()
    let folder = try a.inserts("Folder", ["name": "F"])
    let note = try a.inserts("Note", ["title": "one", "folder": Value(reference: folder)])
    let tag = try b.inserts("Tag", ["name": "T"])
    if hasSynced {
      try world.settles()
      try b.sets("Note", note, "body", to: "by b")
      try a.deletes("Folder", folder)
      try a.links("Note", try a.inserts("Note", ["title": "two"]), "tags", to: tag)
      try b.deletes("Tag", try b.inserts("Tag"))
      try world.settles()
      try a.parts("Note", try #require(try a.ids("Note").last), "tags", from: tag)
    }
    // What waits is a part of the trace.
    try a.inserts("Person", ["email": "x", "name": "waits"])
    try a.inserts("Score", ["count": .integer(2)])
    let capture = try StoreCapture(of: a.store, itemsMax: .max, savesMax: 100)
    #expect(!capture.pending.isEmpty)
    let bundle = try TraceBundle(capture, schema: world.document, environment: [:], hasValues: true)
    var ends: [TraceReplay.Outcome] = []
    for _ in 0..<2 {
      var replay = try TraceReplay(try TraceBundle(decoding: try bundle.encoded()))
      let end = try replay.run()
      #expect(end.difference == nil, "\(end.story)")
      #expect(end.compared == capture.shown.count)
      ends.append(end)
    }
    #expect(ends[0].story == ends[1].story)
    // The replica itself comes to that end.
    try a.syncs()
    #expect(try ends.map(\.checksum) == Array(repeating: a.store.checksum(), count: 2))
  }

  @Test("C104: a long first pull that is broken off at 60 % goes on there, and readers see all of it or nothing")
  func longFirstPull() throws {
    let (world, a, b) = try pair()
    let notes = try #require(a.store.schema.entity("Note"))
    let tags = try #require(notes.links.first { $0.property == "tags" })
    let tag = try a.inserts("Tag")
    for save in 0..<60 {
      try a.store.save { writer in
        for index in 0..<20 {
          let row = try ValueRow(notes, ["title": .text("\(save), \(index)")])
          let note = a.store.makeRecordID()
          try writer.insert(notes, note, assigned: row.assigned, from: row)
          try writer.link(tags, note, tag)
        }
      }
    }
    try a.syncs()
    func pull(_ replica: Replica, upTo pages: Int = .max) throws -> (pages: Int, report: SyncReport?) {
      var count = 0
      let report = try replica.exchange(pageItems: 100) { request in
        guard request.method == "GET", request.url.contains("/changes") else { return false }
        if count == pages { return true }
        count += 1
        return false
      }
      return (count, report)
    }
    let whole = try pull(try world.replica("c")).pages
    try #require(whole >= 20)
    let first = try pull(b, upTo: whole * 6 / 10)
    #expect(first.report == nil)
    #expect(try b.count("Note") == 0 && b.pairs() == 0)
    try b.opens()
    #expect(try b.count("Note") == 0)
    let rest = try pull(b)
    #expect(rest.report?.checksum == .equal)
    #expect(first.pages + rest.pages <= whole + 1)
    #expect(try b.count("Note") == 1_200 && b.pairs() == 1_200)
    try world.expectAllEqual()
  }

  @Test("C50: what other programs write while no sync runs is sent as what it was: new, changed, deleted")
  func otherPrograms() throws {
    let (world, a, b) = try pair()
    let (changed, deleted) = (try a.inserts("Tag", ["name": "old"]), try a.inserts("Tag", ["name": "gone"]))
    let untouched = try a.inserts("Tag", ["name": "untouched"])
    try world.settles()
    try b.sets("Tag", untouched, "name", to: "by b")
    try a.types("INSERT INTO Tag(name) VALUES('new')")
    try a.types("UPDATE Tag SET name = 'new name' WHERE name = 'old'")
    try a.types("DELETE FROM Tag WHERE name = 'gone'")
    // Written as it was.
    try a.types("UPDATE Tag SET name = name")
    let own = try a.inserts("Tag", ["name": "of the app"])
    try world.expectAllEqual()
    #expect(try b.value("Tag", changed, "name") == "new name" && b.value("Tag", own, "name") == "of the app")
    #expect(try !b.has("Tag", deleted) && b.count("Tag") == 4)
    #expect(try a.value("Tag", untouched, "name") == "by b")
    #expect(try b.conflicts.isEmpty && a.conflicts.isEmpty && a.parked.isEmpty)
  }
}
