import TomboloSQLite
import Testing
import TomboloProtocol
import TomboloServer

@Suite("Push")
struct PushTests {
  private let isbn = Value.text("978-0")

  @Test("Saves are taken in order and counted as processed")
  func accepted() throws {
    let server = try ServerFixture()
    var ada = TestReplica(1)
    let first = ada.save([.create("Book", record(1), ["title": .text("Emma"), "isbn": isbn])])
    let second = ada.save([.set("Book", record(1), of: first.stamp, "title", .text("Emma!"), base: first.stamp)])
    let response = try server.push(ada.push([first, second]))
    #expect(response.answers.map(\.verdict) == [.accepted(fell: []), .accepted(fell: [])])
    #expect(response.answers.map(\.save) == [first.id, second.id])
    let page = try server.page(ada)
    #expect(page.processed == SaveNumber(2))
    #expect(page.record(record(1))?["title"] == .text("Emma!"))
    #expect(page.vector == [ada.id: SaveNumber(2)])
  }

  @Test("A push that comes again, in whatever batches, has its effect once")
  func exactlyOnce() throws {
    let server = try ServerFixture()
    var ada = TestReplica(1)
    let first = ada.save([.create("Book", record(1), ["title": .text("Emma"), "stock": .integer(1)])])
    let second = ada.save([
      .update(
        .init(
          entity: "Book", id: record(1), incarnation: first.stamp, writes: [],
          additions: [.init(name: "stock", delta: 5)]))
    ])
    _ = try server.push(ada.push([first]))
    _ = try server.push(ada.push([first, second]))
    let once = try server.page(ada)
    _ = try server.push(ada.push([first, second]))
    _ = try server.push(ada.push([second]))
    try server.powerCut(.synced)
    _ = try server.push(ada.push([first, second]))
    let again = try server.page(ada)
    #expect(once.record(record(1))?["stock"] == .integer(6))
    #expect(again.record(record(1))?["stock"] == .integer(6))
    #expect(again.cursor.position == once.cursor.position)
    #expect(again.checksum == once.checksum)
  }

  @Test("A save that moved to another replica id is known by its own id, under the stamp it was taken with")
  func knownUnderAnotherID() throws {
    let server = try ServerFixture()
    var ada = TestReplica(1)
    let save = ada.save([.create("Book", record(1), ["title": .text("Emma")])])
    _ = try server.push(ada.push([save]))
    var copy = TestReplica(2, time: TestClock.start + 10)
    let moved = copy.save(save.changes, id: save.id)
    let answers = try server.push(copy.push([moved])).answers
    #expect(answers.map(\.verdict) == [.known(stamp: save.stamp)])
    #expect(try server.page(copy).answers.map(\.verdict) == [.known(stamp: save.stamp)])
  }

  @Test("A number that is not the next one ends the push with the number that is")
  func gap() throws {
    let server = try ServerFixture()
    var ada = TestReplica(1)
    _ = ada.save([.create("Book", record(1), [:])])
    let second = ada.save([.create("Book", record(2), [:])])
    let third = ada.save([.create("Book", record(3), [:])])
    let answers = try server.push(ada.push([second, third])).answers
    #expect(answers.map(\.verdict) == [.gap(expected: SaveNumber(1))])
  }

  @Test("Another save under a number that is taken reveals a copied replica")
  func copied() throws {
    let server = try ServerFixture()
    var ada = TestReplica(1)
    var copy = ada
    _ = try server.push(ada.push([ada.save([.create("Book", record(1), [:])])]))
    let other = copy.save([.create("Book", record(2), [:])], id: SaveID(record(99)))
    #expect(try server.push(copy.push([other])).answers.map(\.verdict) == [.copiedReplica])
    #expect(try server.page(ada).record(record(2)) == nil)
  }

  @Test("A stamp too far ahead ends the push, what came before it stays, and restamped it is taken")
  func clockSkew() throws {
    let server = try ServerFixture()
    var ada = TestReplica(1)
    let first = ada.save([.create("Book", record(1), [:])])
    ada.clock = ClockReading(milliseconds: TestClock.start + 300_001)
    var second = ada.save([.create("Book", record(2), [:])])
    let third = ada.save([.create("Book", record(3), [:])])
    let response = try server.push(ada.push([first, second, third]))
    #expect(response.answers.map(\.verdict) == [.accepted(fell: []), .clockSkew])
    #expect(response.serverTime == TestClock.start)
    second.stamp = Stamp(clock: ClockReading(milliseconds: TestClock.start + 1), replica: ada.id)
    #expect(try server.push(ada.push([second])).answers.map(\.verdict) == [.accepted(fell: [])])
  }

  @Test("The server's time never goes back, so a stamp that it took stays acceptable")
  func timeNeverGoesBack() throws {
    let server = try ServerFixture()
    var ada = TestReplica(1, time: TestClock.start + 299_000)
    _ = try server.push(ada.push([ada.save([.create("Book", record(1), [:])])]))
    server.clock.set(TestClock.start - 3_600_000)
    try server.reopen()
    let response = try server.push(ada.push([ada.save([.create("Book", record(2), [:])])]))
    #expect(response.answers.map(\.verdict) == [.accepted(fell: [])])
    #expect(response.serverTime == TestClock.start)
  }

  @Test(
    "A value that its attribute cannot hold refuses its save, and the next one goes on",
    arguments: [
      ("pages", Value.integer(40_000), ErrorCode.integerOutOfRange), ("pages", .text("12"), .wrongType),
      ("title", .integer(1), .wrongType), ("title", .null, .requiredAttribute), ("rating", .text("x"), .wrongType),
      ("cover", .text("x"), .wrongType), ("colour", .text("red"), .unknownAttribute),
    ])
  func badValues(field: String, value: Value, code: ErrorCode) throws {
    let server = try ServerFixture()
    var ada = TestReplica(1)
    let bad = ada.save([.create("Book", record(1), [field: value])])
    let good = ada.save([.create("Book", record(2), ["title": .text("Emma")])])
    let answers = try server.push(ada.push([bad, good])).answers
    guard case .refused(let refused, let message) = answers[0].verdict else {
      Issue.record("the save was not refused: \(answers[0].verdict)")
      return
    }
    #expect(refused == code)
    #expect(message.contains("Book"))
    #expect(answers[1].verdict == .accepted(fell: []))
    let page = try server.page(ada)
    #expect(page.record(record(1)) == nil)
    #expect(page.processed == SaveNumber(2))
    #expect(page.answers.map(\.save) == [bad.id])
  }

  @Test("An entity or a relationship that the schema does not have refuses the save")
  func unknownNames() throws {
    let server = try ServerFixture()
    var ada = TestReplica(1)
    let link = LinkKey(relationship: "Book.readers", source: record(1), target: record(2))
    let answers = try server.push(
      ada.push([
        ada.save([.create("Magazine", record(1), [:])]),
        ada.save([.link(.init(link: link, isPresent: true, base: .zero))]),
      ])
    ).answers
    let codes = answers.map { answer -> ErrorCode? in
      if case .refused(let code, _) = answer.verdict { code } else { nil }
    }
    #expect(codes == [.unknownEntity, .unknownRelationship])
  }

  @Test("What depends on a refused creation is refused as dependent")
  func dependents() throws {
    let server = try ServerFixture()
    var ada = TestReplica(1)
    let bad = ada.save([.create("Book", record(1), ["title": .integer(1)])])
    let dependent = ada.save([
      .create("Note", record(2), ["text": .text("x"), "book": Value(reference: record(1))])
    ])
    let answers = try server.push(ada.push([bad, dependent])).answers
    guard case .refused(let code, _) = answers[1].verdict else {
      Issue.record("the dependent was taken")
      return
    }
    #expect(code == .dependsOnRefused)
  }

  @Test("A second record with a value declared to reject refuses its whole save")
  func uniqueReject() throws {
    let server = try ServerFixture()
    var ada = TestReplica(1)
    var bob = TestReplica(2)
    _ = try server.push(ada.push([ada.save([.create("Shelf", record(1), ["code": .text("A")])])]))
    let both = bob.save([.create("Shelf", record(2), ["code": .text("A")]), .create("Tag", record(3), [:])])
    let answers = try server.push(bob.push([both])).answers
    guard case .refused(let code, _) = answers[0].verdict else {
      Issue.record("the save was taken")
      return
    }
    #expect(code == .uniqueViolation)
    #expect(try server.page(bob).record(record(3)) == nil)
  }

  @Test("A record of too many bytes refuses its save for good; the limit is named")
  func recordTooLarge() throws {
    var limits = ServiceLimits()
    limits.recordBytesMax = 100
    let server = try ServerFixture(limits: limits)
    var ada = TestReplica(1)
    let large = ada.save([.create("Book", record(1), ["title": .text(String(repeating: "x", count: 101))])])
    guard case .refused(let code, let message) = try server.push(ada.push([large])).answers[0].verdict else {
      Issue.record("the save was taken")
      return
    }
    #expect(code == .recordTooLarge)
    #expect(message.contains("100"))
  }

  @Test("Too many changes in several saves are refused as a request, one save alone is not")
  func pushTooLarge() throws {
    var limits = ServiceLimits()
    limits.pushRecordsMax = 3
    let server = try ServerFixture(limits: limits)
    var ada = TestReplica(1)
    let four = ada.save((1...4).map { .create("Tag", record($0), [:]) })
    let one = ada.save([.create("Tag", record(5), [:])])
    let response = server.send(
      "POST", "/v1/stores/library/changes", token: server.writer, body: ada.push([four, one]).encoded(as: .cbor))
    #expect(response.status == 413)
    #expect(try response.error().details.first?.text == "3")
    #expect(try server.push(ada.push([four])).answers.map(\.verdict) == [.accepted(fell: [])])
  }

  @Test("A schema version that is not registered is refused before anything is merged")
  func unknownSchema() throws {
    let server = try ServerFixture()
    var ada = TestReplica(1)
    ada.version = SchemaVersion(3, 0, 0)
    let push = ada.push([ada.save([.create("Book", record(1), [:])])])
    let response = server.send(
      "POST", "/v1/stores/library/changes", token: server.writer, body: push.encoded(as: .cbor))
    #expect(response.status == 409)
    #expect(try response.error().code == .unknownSchema)
  }

  @Test("A replica of another epoch is refused, whether it pushes or pulls")
  func otherEpoch() throws {
    let server = try ServerFixture()
    var ada = TestReplica(1)
    ada.epoch = Epoch(12)
    let push = ada.push([ada.save([.create("Book", record(1), [:])])])
    let pushed = server.send(
      "POST", "/v1/stores/library/changes", token: server.writer, body: push.encoded(as: .cbor))
    #expect(try pushed.error().code == .otherEpoch)
    #expect(try server.pull(ada).error().code == .otherEpoch)
  }

  @Test("A store that does not exist yet says so to who may write and to who may read")
  func unknownStore() throws {
    let server = try ServerFixture(schema: nil)
    let push = TestReplica(1).push([]).encoded(as: .cbor)
    let pushed = server.send("POST", "/v1/stores/library/changes", token: server.writer, body: push)
    #expect(pushed.status == 404)
    #expect(try pushed.error().code == .unknownStore)
    #expect(try server.pull(TestReplica(1)).error().code == .unknownStore)
  }

  @Test("Known saves are named with their stamps, refused and unknown ones are not")
  func known() throws {
    let server = try ServerFixture()
    var ada = TestReplica(1)
    let taken = ada.save([.create("Book", record(1), [:])])
    let refused = ada.save([.create("Book", record(2), ["title": .integer(1)])])
    _ = try server.push(ada.push([taken, refused]))
    let ask = KnownRequest(
      introduction: ada.introduction, saves: [SaveID(record(50)), refused.id, taken.id])
    let response = server.send(
      "POST", "/v1/stores/library/changes/known", token: server.writer, body: ask.encoded(as: .cbor))
    let known = try KnownResponse(decoding: response.body, as: .cbor)
    #expect(known.saves == [.init(save: taken.id, stamp: taken.stamp)])
  }

  @Test("JSON does what CBOR does")
  func json() throws {
    let server = try ServerFixture()
    var ada = TestReplica(1)
    let save = ada.save([.create("Book", record(1), ["title": .text("Emma"), "rating": .real(4)])])
    let response = server.send(
      "POST", "/v1/stores/library/changes", token: server.writer,
      headers: ["content-type": "application/json; charset=utf-8", "accept": "application/json"],
      body: ada.push([save]).encoded(as: .json))
    #expect(response.status == 200)
    #expect(response.headers["content-type"] == "application/json")
    let answer = try PushResponse(decoding: response.body, as: .json)
    #expect(answer.answers.map(\.verdict) == [.accepted(fell: [])])
    let page = server.pull(ada, headers: ["accept": "application/json"])
    #expect(try Page(decoding: page.body, as: .json).record(record(1))?["rating"] == .real(4))
  }
}
