import Testing
import Tombolo
import TomboloClient
import TomboloProtocol
import TomboloServer

/// The server was restored, replaced or wiped (scenario 92; model/report.md, E5 and E8 to E13).
@Suite struct RestoreScenarios {
  @Test("a server restored from a backup stops its replicas, and both ways on are named", arguments: [true, false])
  func stops(isTold: Bool) throws {
    let world = try World()
    let (a, b) = (try world.replica("a"), try world.replica("b"))
    try a.inserts("Tag", ["name": .text("before")])
    try world.settles()
    let backup = world.backup()
    try a.inserts("Tag", ["name": .text("after")])
    try world.settles()
    try world.restores(backup, isTold: isTold)
    for replica in [a, b] {
      let error = try replica.failsToSync()
      #expect(error.code == .otherEpoch)
      #expect(error.remedy.contains("--reupload"))
      #expect(error.remedy.contains("--reset"))
      #expect(SyncState(error) == .refused(error))
      #expect(try replica.count("Tag") == 2)
    }
  }

  @Test(
    "a server with another history merges nothing of who pushes first, also where it has gone on since",
    arguments: [0, 3])
  func pushesNothing(later: Int) throws {
    let world = try World()
    let (a, b) = (try world.replica("a"), try world.replica("b"))
    try a.inserts("Tag", ["name": .text("before")])
    try world.settles()
    let backup = world.backup()
    let tag = try a.inserts("Tag", ["name": .text("after")])
    try world.settles()
    try world.restores(backup, isTold: false)
    if later > 0 {
      let c = try world.replica("c")
      for number in 0..<later { try c.inserts("Tag", ["name": .text("new \(number)")]) }
      try c.syncs()
    }
    try b.sets("Tag", tag, "name", to: .text("edited"))
    try b.inserts("Tag", ["name": .text("unsent")])
    #expect(try b.failsToSync().code == .otherEpoch)
    #expect(try b.value("Tag", tag, "name") == .text("edited"))
    #expect(try b.conflicts.isEmpty)
    try b.syncs(pageItems: nil, .reupload)
    try world.replica("d").syncs()
    #expect(try world.replica("e").syncs().checksum == .equal)
    #expect(try b.value("Tag", tag, "name") == .text("edited"))
    #expect(try b.conflicts.isEmpty)
  }

  @Test(
    "what was written after the backup is back once a replica uploads it", arguments: [true, false], [1, 2, 1_000])
  func reupload(isTold: Bool, pageItems: Int) throws {
    let world = try World()
    let (a, b) = (try world.replica("a"), try world.replica("b"))
    let folder = try a.inserts("Folder", ["name": .text("kept")])
    let doomed = try a.inserts("Tag", ["name": .text("doomed")])
    let score = try a.inserts("Score", ["count": .integer(1)])
    try world.settles()
    let backup = world.backup()
    let note = try a.inserts("Note", ["title": .text("late"), "folder": Value(reference: folder)])
    let tag = try b.inserts("Tag", ["name": .text("late")])
    try world.settles()
    try a.links("Note", note, "tags", to: tag)
    try b.sets("Folder", folder, "name", to: .text("renamed"))
    try b.deletes("Tag", doomed)
    try b.sets("Score", score, "count", to: .integer(5))
    try world.settles()
    // Unsent when the server goes, and answered but not pulled back yet.
    try a.sets("Score", score, "count", to: .integer(7))
    try b.sets("Score", score, "count", to: .integer(15))
    try b.pushes()
    try world.restores(backup, isTold: isTold)
    #expect(try a.failsToSync().code == .otherEpoch)
    #expect(try b.failsToSync().code == .otherEpoch)
    let report = try a.syncs(pageItems: pageItems, .reupload)
    #expect(report.uploaded >= 6)
    try b.syncs(pageItems: pageItems, .reupload)
    try world.expectAllEqual()
    #expect(try a.value("Folder", folder, "name") == .text("renamed"))
    #expect(try a.value("Note", note, "folder") == Value(reference: folder))
    #expect(try !a.has("Tag", doomed))
    #expect(try a.pairs() == 1)
    // 5, two more by a, ten more by b: each delta once.
    #expect(try a.value("Score", score, "count") == .integer(17))
    #expect(try a.conflicts.isEmpty)
    #expect(try b.conflicts.isEmpty)
  }

  @Test("a sync goes on with a server that forgets the schema which the same sync had registered")
  func registersAgain() throws {
    let world = try World()
    let (a, b) = (try world.replica("a"), try world.replica("b"))
    // Made by its owner, and no schema of it registered yet.
    let authorization = ["authorization": "Bearer \(world.token)"]
    let made = try world.carry(TransportRequest(method: "PUT", url: World.url, headers: authorization))
    #expect(made?.status == 201)
    let backup = world.backup()
    try a.inserts("Tag", ["name": .text("mine")])
    var isRestored = false
    let report = try a.exchange { request in
      if request.url.hasSuffix("/changes"), !isRestored {
        isRestored = true
        #expect(throws: Never.self) { try world.restores(backup, isTold: false) }
      }
      return false
    }
    #expect(isRestored)
    #expect(world.requests.filter { $0.url.contains("/schemas/") }.count == 2)
    #expect(report?.pushed == 1)
    try b.syncs()
    try world.expectAllEqual()
  }

  @Test("a record that died because its parent had stays dead when its values are nowhere any more")
  func orphans() throws {
    let world = try World()
    let (a, b) = (try world.replica("a"), try world.replica("b"))
    let parent = try a.inserts("Node", ["name": .text("parent")])
    try world.settles()
    let backup = world.backup()
    let child = try a.inserts("Node", ["name": .text("child"), "parent": Value(reference: parent)])
    try b.deletes("Node", parent)
    try b.syncs()
    try world.settles()
    try world.restores(backup)
    for replica in [a, b] {
      _ = try replica.failsToSync()
      try replica.syncs(.reupload)
      #expect(try !replica.has("Node", child))
      #expect(try !replica.has("Node", parent))
    }
    try world.expectAllEqual()
  }

  @Test("92: a wiped server is filled again by its replicas, and is not made anew before they are told to")
  func wiped() throws {
    let world = try World()
    let (a, b) = (try world.replica("a"), try world.replica("b"))
    let folder = try a.inserts("Folder", ["name": .text("one")])
    try world.settles()
    let note = try b.inserts("Note", ["title": .text("unsent"), "folder": Value(reference: folder)])
    try world.restores([:])
    #expect(try a.failsToSync().code == .otherEpoch)
    #expect(try world.service.storeNames() == [])
    try a.syncs(.reupload)
    #expect(try b.failsToSync().code == .otherEpoch)
    try b.syncs(pageItems: nil, .reupload)
    try world.expectAllEqual()
    #expect(try a.value("Note", note, "title") == .text("unsent"))
  }

  @Test("a reset takes what the server has, and keeps and sends what is unsent", arguments: [true, false])
  func reset(isTold: Bool) throws {
    let world = try World()
    let (a, b) = (try world.replica("a"), try world.replica("b"))
    let kept = try a.inserts("Tag", ["name": .text("kept")])
    try world.settles()
    let backup = world.backup()
    let lost = try a.inserts("Tag", ["name": .text("lost")])
    try a.sets("Tag", kept, "name", to: .text("later"))
    try world.settles()
    let unsent = try a.inserts("Tag", ["name": .text("unsent")])
    try world.restores(backup, isTold: isTold)
    _ = try a.failsToSync()
    try a.syncs(.reset)
    try b.syncs(.reset)
    try world.expectAllEqual()
    #expect(try a.value("Tag", kept, "name") == .text("kept"))
    #expect(try !a.has("Tag", lost))
    #expect(try b.value("Tag", unsent, "name") == .text("unsent"))
  }

  @Test("a re-upload that is cut off anywhere is gone on with by the next plain sync", arguments: 1...12)
  func resumes(cut: Int) throws {
    let world = try World()
    let a = try world.replica("a")
    for index in 0..<10 { try a.inserts("Tag", ["name": .text("\(index)")]) }
    let score = try a.inserts("Score", ["count": .integer(3)])
    try world.settles()
    try a.sets("Score", score, "count", to: .integer(10))
    try world.restores([:])
    var left = cut
    // Every other time the request arrives, and its answer is lost.
    _ = try a.exchange(pageItems: 2, recovery: .reupload) { request in
      left -= 1
      if left == 0, cut.isMultiple(of: 2) { _ = try? world.carry(request) }
      return left == 0
    }
    try a.syncs(pageItems: 2)
    try world.expectAllEqual()
    #expect(try a.count("Tag") == 10)
    #expect(try a.value("Score", score, "count") == .integer(10))
    let clone = try world.replica("clone")
    try clone.syncs()
    #expect(try clone.content() == a.content())
  }

  @Test("where the server has lost nothing there is nothing to upload, and the next sync is an ordinary one")
  func needless() throws {
    let world = try World()
    let a = try world.replica("a")
    try a.inserts("Tag", ["name": .text("one")])
    try world.settles()
    let error = try #require(throws: TomboloError.self) { try a.syncs(.reupload) }
    #expect(error.code == .reuploadNeedless)
    try a.inserts("Tag", ["name": .text("two")])
    try world.expectAllEqual()
  }

  @Test("an uploaded value that loses to a write of the new epoch is reported to its author (E13)")
  func losesToNewWrite() throws {
    let world = try World()
    let (a, b) = (try world.replica("a"), try world.replica("b"))
    let tag = try a.inserts("Tag", ["name": .text("first")])
    try world.settles()
    let backup = world.backup()
    try a.sets("Tag", tag, "name", to: .text("second"))
    try a.syncs()
    try world.restores(backup)
    // b knows nothing of the second value, and goes on in the new epoch.
    try b.syncs(.reset)
    try b.sets("Tag", tag, "name", to: .text("third"))
    try b.syncs()
    try a.syncs(.reupload)
    try world.expectAllEqual()
    #expect(try a.value("Tag", tag, "name") == .text("third"))
    let entry = try #require(try a.conflicts.first)
    #expect(entry.rule == .reupload)
    #expect(entry.lost.value == .text("second"))
    #expect(entry.standing?.value == .text("third"))
  }

  @Test("a far-ahead stamp of the earlier epoch is taken whatever this server's clock says")
  func noSkewLimit() throws {
    let world = try World()
    let a = try world.replica("a")
    try a.inserts("Tag", ["name": .text("one")])
    try world.settles()
    world.passes(milliseconds: 4 * 3_600_000)
    let late = try a.inserts("Tag", ["name": .text("late")])
    try a.pushes()
    world.serverGoesBack(milliseconds: 3 * 3_600_000)
    try world.restores([:])
    try a.syncs(.reupload)
    try world.expectAllEqual()
    #expect(try a.value("Tag", late, "name") == .text("late"))
  }

  @Test("a unique key that two epochs gave away is one record after the upload")
  func unitesAcrossEpochs() throws {
    let world = try World()
    let (a, b) = (try world.replica("a"), try world.replica("b"))
    try world.settles()
    let backup = world.backup()
    let mine = try a.inserts("Badge", ["code": .text("7"), "holder": .text("Ana")])
    try a.syncs()
    try world.restores(backup)
    try b.syncs(.reset)
    try b.inserts("Badge", ["code": .text("7"), "holder": .text("Bea")])
    try b.syncs()
    try a.syncs(.reupload)
    try world.expectAllEqual()
    #expect(try a.ids("Badge") == [mine])
  }

  @Test("what the new epoch wrote to a record that had been merged away goes on with the other", arguments: [1, 1_000])
  func writesToAlias(pageItems: Int) throws {
    let world = try World()
    let (a, b) = (try world.replica("a"), try world.replica("b"))
    let kept = try a.inserts("Person", ["email": .text("x"), "name": .text("one")])
    let other = try b.inserts("Person", ["email": .text("y"), "name": .text("two")])
    let pet = try b.inserts("Pet", ["name": .text("p"), "owner": Value(reference: other)])
    try world.settles()
    let backup = world.backup()
    world.passes()
    try a.sets("Person", other, "email", to: .text("x"))
    try a.syncs()
    #expect(try a.ids("Person") == [kept])
    try world.restores(backup)
    // b knows nothing of the merge.
    try b.syncs(.reset)
    try b.sets("Person", other, "name", to: .text("three"))
    try b.syncs()
    try a.syncs(pageItems: pageItems, .reupload)
    try world.expectAllEqual()
    #expect(try a.ids("Person") == [kept])
    #expect(try a.value("Person", kept, "name") == .text("three"))
    #expect(try a.value("Pet", pet, "owner") == Value(reference: kept))
    #expect(try b.conflicts.isEmpty)
  }
}
