import Testing
import Tombolo
import TomboloClient
import TomboloProtocol

/// A disk that is full on either side (C79): the sync ends with the reason, and goes on once there is room.
@Suite("Scenarios: full disks")
struct DiskScenarios {
  private static let text = Value.text(String(repeating: "much ", count: 60_000))

  @Test("C79: a server without room takes nothing of a push, and all of it later")
  func serverDuringPush() throws {
    let world = try World()
    let (a, b) = (try world.replica("a"), try world.replica("b"))
    try world.settles()
    let note = try a.inserts("Note", ["title": Self.text])
    world.limitsServerDisk(true)
    #expect(try a.failsToSync().code == .diskFull)
    #expect(try a.unsent == 1)
    #expect(try a.has("Note", note))
    world.limitsServerDisk(false)
    try world.expectAllEqual()
    #expect(try b.has("Note", note))
  }

  @Test("C79: a replica without room shows nothing of a pull, and all of it later", arguments: [1, 1_000])
  func replicaDuringPull(pageItems: Int) throws {
    let world = try World()
    let (a, b) = (try world.replica("a"), try world.replica("b"))
    try world.settles()
    for _ in 0..<4 { try a.inserts("Note", ["title": Self.text]) }
    try a.syncs()
    b.limitsDisk(true)
    let error = try #require(throws: TomboloError.self) { try b.syncs(pageItems: pageItems) }
    #expect(error.code == .diskFull)
    #expect(try b.count("Note") == 0)
    b.limitsDisk(false)
    try world.expectAllEqual()
    #expect(try b.count("Note") == 4)
  }

  @Test("C79: a re-upload that fills the server's disk is gone on with when there is room")
  func serverDuringReupload() throws {
    let world = try World()
    let (a, b) = (try world.replica("a"), try world.replica("b"))
    for _ in 0..<4 { try a.inserts("Note", ["title": Self.text]) }
    try world.settles()
    try world.restores([:])
    try a.syncs(.reset)
    let own = try a.inserts("Tag", ["name": .text("of the new life")])
    try a.syncs()
    world.limitsServerDisk(true)
    let error = try #require(throws: TomboloError.self) { try b.syncs(pageItems: 1, .reupload) }
    #expect(error.code == .diskFull)
    world.limitsServerDisk(false)
    try b.syncs(pageItems: 1)
    try world.expectAllEqual()
    #expect(try a.count("Note") == 4)
    #expect(try b.has("Tag", own))
  }
}
