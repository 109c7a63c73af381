import Testing
import Tombolo
import TomboloClient
import TomboloProtocol
import TomboloServer
import TomboloSimulation

@Suite("Scenarios: two edits of one row")
struct EditScenarios {
  private func pair() throws -> (World, Replica, Replica, RecordID) {
    let world = try World()
    let (a, b) = (try world.replica("a"), try world.replica("b"))
    let note = try a.inserts("Note", ["title": "old"])
    try world.settles()
    return (world, a, b, note)
  }

  @Test("1: edits of different fields are both kept, and nobody is told anything")
  func differentFields() throws {
    let (world, a, b, note) = try pair()
    try a.sets("Note", note, "title", to: "A")
    try b.sets("Note", note, "body", to: "B")
    try world.expectAllEqual()
    #expect(try a.value("Note", note, "title") == "A" && a.value("Note", note, "body") == "B")
    #expect(try a.conflicts.isEmpty && b.conflicts.isEmpty)
  }

  @Test("2, C14: of one field the newer edit wins, and the older one's author is told", arguments: [false, true])
  func sameField(isOlderFirst: Bool) throws {
    let (world, a, b, note) = try pair()
    try a.sets("Note", note, "title", to: "older")
    try b.sets("Note", note, "title", to: "newer")
    for replica in isOlderFirst ? [a, b] : [b, a] { try replica.syncs() }
    try world.expectAllEqual()
    #expect(try a.value("Note", note, "title") == "newer")
    let entry = try #require(try a.conflicts.first)
    #expect(entry.rule == .laterEdit && entry.lost.value == "older" && entry.standing?.value == "newer")
    #expect(try a.conflicts.count == 1 && b.conflicts.isEmpty)
  }

  @Test("4, 5, 6: what the server processed first does not decide", arguments: [0, 1, 2, 3, 4, 5])
  func orderOfProcessing(order: Int) throws {
    let (world, a, b, note) = try pair()
    try a.sets("Note", note, "title", to: "first")
    try b.sets("Note", note, "title", to: "second")
    try a.sets("Note", note, "title", to: "third")
    for step in 0..<3 { try (order >> step & 1 == 0 ? a : b).pushes() }
    try world.expectAllEqual()
    #expect(try b.value("Note", note, "title") == "third")
  }

  @Test("8, C15: with equal readings the replica's id decides, the same everywhere")
  func equalReadings() throws {
    let (world, a, b, note) = try pair()
    // Two clocks that read the same at both edits.
    a.clock.setSkew(milliseconds: 0)
    b.clock.setSkew(milliseconds: -10)
    try a.sets("Note", note, "title", to: "A")
    try b.sets("Note", note, "title", to: "B")
    try world.expectAllEqual()
    #expect(try a.value("Note", note, "title") == b.value("Note", note, "title"))
    #expect(try a.conflicts.count + b.conflicts.count == 1)
  }

  @Test("9, C06: nil is a value: it beats an older one and travels")
  func null() throws {
    let (world, a, b, note) = try pair()
    try a.sets("Note", note, "title", to: "older")
    try b.sets("Note", note, "title", to: .null)
    try world.expectAllEqual()
    #expect(try a.value("Note", note, "title") == .null)
    #expect(try a.conflicts.map(\.lost.value) == ["older"])
  }

  @Test("10: the newer edit delivered first comes to the same")
  func newerFirst() throws {
    let (world, a, b, note) = try pair()
    try a.sets("Note", note, "title", to: "older")
    try b.sets("Note", note, "title", to: "newer")
    try b.pushes()
    try a.pushes()
    try world.expectAllEqual()
    #expect(try a.value("Note", note, "title") == "newer")
  }

  @Test("12: many edits do not outweigh one that was made later")
  func manyAgainstOne() throws {
    let (world, a, b, note) = try pair()
    for index in 0..<20 { try a.sets("Note", note, "title", to: .text("A\(index)")) }
    try b.sets("Note", note, "title", to: "B")
    try world.expectAllEqual()
    #expect(try a.value("Note", note, "title") == "B")
    #expect(try a.conflicts.count == 1, "only the value that stood last is reported")
  }

  @Test("13, C82, C84: an edit that has seen the other beats it, however slow its clock")
  func seenWithSlowClock() throws {
    let world = try World()
    let (a, b, c) = (try world.replica("a"), try world.replica("b"), try world.replica("c"))
    let note = try a.inserts("Note", ["title": "old"])
    try world.settles()
    try b.sets("Note", note, "title", to: "B")
    try b.syncs()
    try a.syncs()
    a.clock.setSkew(milliseconds: -3_600_000)
    try a.sets("Note", note, "title", to: "A, having seen B")
    try a.syncs()
    try c.syncs()
    c.clock.setSkew(milliseconds: -7_200_000)
    try c.sets("Note", note, "title", to: "C, having seen A")
    try world.expectAllEqual()
    #expect(try b.value("Note", note, "title") == "C, having seen A")
    for replica in [a, b, c] { #expect(try replica.conflicts.isEmpty) }
  }

  @Test("20: a field edited and edited back before the push is not sent")
  func editedBack() throws {
    let (world, a, b, note) = try pair()
    try a.sets("Note", note, "title", to: "new")
    try a.sets("Note", note, "title", to: "old")
    let sent = world.requests.count
    try a.syncs()
    #expect(world.pushes(since: sent).isEmpty)
    #expect(try a.unsent == 0)
    try b.sets("Note", note, "title", to: "B")
    try world.expectAllEqual()
    #expect(try a.value("Note", note, "title") == "B")
    #expect(try a.conflicts.isEmpty && b.conflicts.isEmpty)
  }

  @Test("20: what was sent once is sent back as well, although its answer was lost")
  func editedBackAfterAttempt() throws {
    let (world, a, b, note) = try pair()
    try a.sets("Note", note, "title", to: "new")
    world.answersToLose = 9
    #expect(throws: TomboloError.self) { try a.syncs() }
    world.answersToLose = 0
    try a.sets("Note", note, "title", to: "old")
    try world.expectAllEqual()
    #expect(try b.value("Note", note, "title") == "old")
  }

  @Test("20: other edits of the same saves go on, and numbers stay in order")
  func editedBackAmongOthers() throws {
    let (world, a, b, note) = try pair()
    try a.sets("Note", note, "title", to: "new")
    try a.sets("Note", note, "body", to: "kept")
    try a.sets("Note", note, "title", to: "old")
    let tag = try a.inserts("Tag", ["name": "red"])
    try a.links("Note", note, "tags", to: tag)
    try a.parts("Note", note, "tags", from: tag)
    try a.syncs()
    try a.sets("Note", note, "title", to: "later")
    try world.expectAllEqual()
    #expect(try b.value("Note", note, "title") == "later" && b.value("Note", note, "body") == "kept")
    #expect(try b.pairs() == 0)
  }

  @Test("21: three values in all orders of arrival give one result", arguments: 0..<6)
  func threeReplicas(order: Int) throws {
    let world = try World()
    let all = try ["a", "b", "c"].map { try world.replica($0) }
    let note = try all[0].inserts("Note", ["title": "old"])
    try world.settles()
    for replica in all { try replica.sets("Note", note, "title", to: .text(replica.name)) }
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]
    for index in orders[order] { try all[index].pushes() }
    try world.expectAllEqual()
    #expect(try all[0].value("Note", note, "title") == "c")
  }

  @Test("C102: a value that is an array is one value: one edit stands whole, the other is reported whole")
  func arrays() throws {
    let (world, a, b, note) = try pair()
    try a.sets("Note", note, "words", to: #"["x","a"]"#)
    try b.sets("Note", note, "words", to: #"["x","b"]"#)
    try world.expectAllEqual()
    #expect(try a.value("Note", note, "words") == #"["x","b"]"#)
    #expect(try a.conflicts.map(\.lost.value) == [#"["x","a"]"#])
  }

  @Test("C51: what was received is not sent back, and an equal value is no change")
  func noEcho() throws {
    let (world, a, b, note) = try pair()
    try a.sets("Note", note, "title", to: "new")
    try a.syncs()
    try b.syncs()
    let sent = world.requests.count
    try b.sets("Note", note, "title", to: "new")
    for replica in [b, a, b] { try replica.syncs() }
    #expect(world.pushes(since: sent).isEmpty)
    #expect(try b.unsent == 0)
  }
}

extension Value: ExpressibleByStringLiteral {
  /// Text, so that values read as what they are.
  package init(stringLiteral text: String) { self = .text(text) }
}
