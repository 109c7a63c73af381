import Foundation
import Testing
import Tombolo
import TomboloClient
import TomboloProtocol
import TomboloSQLite
import TomboloSimulation

@Suite("Scenarios: what is cut off in the middle")
struct InterruptionScenarios {
  private func pair() throws -> (World, Replica, Replica) {
    let world = try World()
    return (world, try world.replica("a"), try world.replica("b"))
  }

  @Test("56: a parent that is pulled again leaves its children and their pairs untouched")
  func childrenUntouched() throws {
    let (world, a, b) = try pair()
    let folder = try a.inserts("Folder", ["name": "F"])
    let note = try a.inserts("Note", ["title": "N", "folder": Value(reference: folder)])
    try a.links("Note", note, "tags", to: try a.inserts("Tag"))
    try world.settles()
    let before = try b.rowNumbers("Note")
    for name in ["G", "H"] {
      try a.sets("Folder", folder, "name", to: .text(name))
      try world.settles()
    }
    #expect(try b.rowNumbers("Note") == before && before.count == 1)
    #expect(try b.value("Note", note, "folder") == Value(reference: folder) && b.pairs() == 1)
    try world.expectAllEqual()
  }

  @Test("77: a push that is cut in the middle of its bytes has no effect, and all of it once it comes whole")
  func cutPush() throws {
    let (world, a, b) = try pair()
    for index in 0..<5 { try a.inserts("Note", ["title": .text("\(index)")]) }
    for share in [1, 2, 3] {
      world.shareOfNextPush = Double(share) / 4
      _ = try a.exchange { _ in world.requests.contains { $0.method == "POST" } && world.shareOfNextPush == nil }
      try b.syncs()
      #expect(try b.count("Note") == 0)
    }
    try world.expectAllEqual()
    #expect(try b.count("Note") == 5)
  }

  @Test("82: a pull that meets a save under way waits for it, and takes what it wrote along")
  func pullDuringSave() throws {
    let (world, a, b) = try pair()
    let note = try a.inserts("Note", ["title": "pulled"])
    try a.syncs()
    let notes = try #require(b.store.schema.entity("Note"))
    let row = try ValueRow(notes, ["title": "saved meanwhile"])
    let outcome = Guarded<Result<Int, any Error>?>(nil)
    let isOver = DispatchSemaphore(value: 0)
    nonisolated(unsafe) let replica = b
    let thread = Thread {
      let result = Result { try replica.syncs().pulled }
      outcome.withLock { $0 = result }
      isOver.signal()
    }
    try b.store.save { writer in
      thread.start()
      try writer.insert(notes, b.store.makeRecordID(), assigned: row.assigned, from: row)
    }
    isOver.wait()
    #expect(try outcome.withLock { $0 }?.get() ?? 0 >= 1)
    #expect(try b.count("Note") == 2 && b.has("Note", note))
    try world.expectAllEqual()
  }

  @Test("85: a save larger than pages and requests is applied whole, or not yet at all")
  func largeSave() throws {
    let (world, a, b) = try pair()
    let notes = try #require(a.store.schema.entity("Note"))
    let count = 4_000
    try a.store.save { writer in
      for index in 0..<count {
        let row = try ValueRow(notes, ["title": .text("\(index)")])
        try writer.insert(notes, a.store.makeRecordID(), assigned: row.assigned, from: row)
      }
    }
    _ = try a.syncs(pageItems: 300)
    for pages in 1...3 {
      var gets = 0
      _ = try b.exchange(pageItems: 300) { request in
        gets += request.method == "GET" ? 1 : 0
        return gets > pages
      }
      #expect([0, count].contains(try b.count("Note")))
    }
    try world.expectAllEqual()
    #expect(try b.count("Note") == count)
  }

  @Test("101: a first pull that is broken off anywhere never looks like a store with half of the data")
  func brokenBootstrap() throws {
    let (world, a, b) = try pair()
    for index in 0..<12 { try a.inserts("Note", ["title": .text("\(index)")]) }
    try a.syncs()
    for pages in 1...4 {
      var gets = 0
      _ = try b.exchange(pageItems: 2) { request in
        gets += request.method == "GET" ? 1 : 0
        return gets > pages
      }
      try b.opens()
      #expect([0, 12].contains(try b.count("Note")), "after \(pages) pages")
    }
    #expect(try b.store.replicaState()?.lastPull == nil || b.count("Note") == 12)
    try world.expectAllEqual()
  }

  @Test("102, C11: a reset with unsent work, broken off and done again, keeps that work and comes to an end")
  func resetWithUnsentWork() throws {
    let (world, a, b) = try pair()
    for index in 0..<6 { try a.inserts("Note", ["title": .text("\(index)")]) }
    try world.settles()
    let backup = world.backup()
    let lost = try a.inserts("Note", ["title": "after the backup"])
    try world.restores(backup)
    let pending = try b.inserts("Note", ["title": "pending"])
    var gets = 0
    _ = try b.exchange(pageItems: 2, recovery: .reset) { request in
      gets += request.method == "GET" ? 1 : 0
      return gets > 2
    }
    #expect(try b.has("Note", pending) && b.unsent >= 0)
    for _ in 0..<2 { try b.syncs(pageItems: 2, .reset) }
    #expect(try b.unsent == 0 && b.has("Note", pending))
    try a.syncs(.reset)
    try world.expectAllEqual()
    #expect(try b.has("Note", lost) && b.count("Note") == 8)
  }
}
