import Testing
import Tombolo
import TomboloClient
import TomboloProtocol
import TomboloServer
import TomboloSimulation

@Suite("Scenarios: time")
struct TimeScenarios {
  private static let hour: Int64 = 3_600_000

  @Test(
    "69, 70, 72, 133: edits of a clock far ahead are restamped by their replica, and beat nothing made later",
    arguments: [1, 24 * 365])
  func clockAhead(hours: Int64) throws {
    let world = try World()
    let (a, b) = (try world.replica("a"), try world.replica("b"))
    let note = try a.inserts("Note", ["title": "old"])
    try world.settles()
    b.clock.setSkew(milliseconds: hours * Self.hour)
    try b.sets("Note", note, "title", to: "from the future")
    try b.sets("Note", note, "body", to: "too")
    b.clock.setSkew(milliseconds: 0)
    try b.syncs()
    try a.syncs()
    #expect(try a.value("Note", note, "title") == "from the future" && a.value("Note", note, "body") == "too")
    try a.sets("Note", note, "title", to: "later")
    try world.expectAllEqual()
    #expect(try b.value("Note", note, "title") == "later")
    #expect(try b.parked.isEmpty)
  }

  @Test(
    "69: a replica whose clock is an hour off measures it, and its edits count by when they were made",
    arguments: [-1, 1])
  func corrected(hours: Int64) throws {
    let world = try World()
    let (a, b) = (try world.replica("a"), try world.replica("b", skew: hours * Self.hour))
    let note = try a.inserts("Note", ["title": "old"])
    try world.settles()
    try b.sets("Note", note, "title", to: "earlier")
    try a.sets("Note", note, "title", to: "later")
    try world.expectAllEqual()
    #expect(try a.value("Note", note, "title") == "later")
  }

  @Test("73: more saves within one millisecond than the counter holds go on in order")
  func overflow() throws {
    let world = try World()
    let a = try world.replica("a")
    let note = try a.inserts("Note")
    var clock = HybridClock(last: ClockReading(rawValue: (world.time.milliseconds << 16) | 0xFFFE))
    let first = clock.tick(wall: world.time.milliseconds)
    let second = clock.tick(wall: world.time.milliseconds)
    #expect(first < second)
    for index in 0..<50 { try a.sets("Note", note, "title", to: .text("\(index)")) }
    try world.expectAllEqual()
    #expect(try a.value("Note", note, "title") == "49")
  }

  @Test("74: a save that fails moves neither the clock nor the numbers")
  func failedSave() throws {
    let world = try World()
    let a = try world.replica("a")
    try a.inserts("Badge", ["code": "1"])
    let before = try a.store.saveLog(limit: 9).map(\.number)
    #expect(throws: TomboloError.self) { try a.inserts("Badge", ["code": "1"]) }
    #expect(try a.store.saveLog(limit: 9).map(\.number) == before)
    try a.inserts("Badge", ["code": "2"])
    try world.expectAllEqual()
  }

  @Test("C82: a wall clock that goes back does not make new edits older than what they replaced")
  func clockBack() throws {
    let world = try World()
    let (a, b) = (try world.replica("a"), try world.replica("b"))
    let note = try a.inserts("Note", ["title": "first"])
    try world.settles()
    a.clock.setSkew(milliseconds: -30 * 24 * Self.hour)
    try a.sets("Note", note, "title", to: "second")
    try a.sets("Note", note, "title", to: "third")
    try world.expectAllEqual()
    #expect(try b.value("Note", note, "title") == "third")
  }

  @Test("the new stamp of a save of a wrong clock is on the disk before it travels")
  func newStampIsDurable() throws {
    let world = try World()
    let a = try world.replica("a", skew: 400_000)
    try a.inserts("Note", ["title": "early"])
    func stamp() throws -> Stamp? { try a.store.outbox(recordsMax: 9, bytesMax: .max).first?.stamp }
    let wrong = try stamp()
    var pushes = 0
    _ = try a.exchange { request in
      pushes += request.method == "POST" ? 1 : 0
      return pushes > 1
    }
    let sent = try stamp()
    #expect(sent != wrong)
    try a.losesPower()
    #expect(try stamp() == sent)
    try world.expectAllEqual()
  }
}
