import TomboloSQLite
import Testing
import TomboloProtocol
import TomboloServer

@Suite("Pull")
struct PullTests {
  @Test("Two replicas merge: the later edit stands everywhere, and its author's rival is told")
  func twoReplicas() throws {
    let server = try ServerFixture()
    var ada = TestReplica(1)
    var bob = TestReplica(2, time: TestClock.start + 10)
    let made = ada.save([.create("Book", record(1), ["title": .text("Emma"), "isbn": .text("1")])])
    _ = try server.push(ada.push([made]))
    bob.cursor = try server.page(bob).cursor
    let early = ada.save([.set("Book", record(1), of: made.stamp, "title", .text("Ada's"), base: made.stamp)])
    let late = bob.save([.set("Book", record(1), of: made.stamp, "title", .text("Bob's"), base: made.stamp)])
    _ = try server.push(bob.push([late]))
    _ = try server.push(ada.push([early]))

    let toAda = try server.page(ada)
    let toBob = try server.page(bob)
    #expect(toAda.record(record(1))?["title"] == .text("Bob's"))
    #expect(toBob.record(record(1))?["title"] == .text("Bob's"))
    #expect(toAda.checksum == toBob.checksum)
    let entry = try #require(toAda.conflicts.first)
    #expect(entry.rule == .laterEdit)
    #expect(entry.lost.value == .text("Ada's"))
    #expect(entry.standing?.value == .text("Bob's"))
    #expect(toBob.conflicts.isEmpty)
  }

  @Test("An entry reaches its author under the id that his replica took later")
  func formerReplicas() throws {
    let server = try ServerFixture()
    var ada = TestReplica(1)
    var bob = TestReplica(2, time: TestClock.start + 10)
    let made = ada.save([.create("Book", record(1), ["title": .text("Emma")])])
    let early = ada.save([.set("Book", record(1), of: made.stamp, "title", .text("A"), base: made.stamp)])
    _ = try server.push(ada.push([made, early]))
    let late = bob.save([.set("Book", record(1), of: made.stamp, "title", .text("B"), base: made.stamp)])
    _ = try server.push(bob.push([late]))
    let renamed = TestReplica(3)
    #expect(try server.page(renamed).conflicts.isEmpty)
    let headers = ["tombolo-former-replicas": "\(ada.id), 00000000000000aa"]
    #expect(try server.page(renamed, headers: headers).conflicts.map(\.lost.value) == [.text("A")])
  }

  @Test("Pages end between saves, walk to the end, and only the last has checksum and vector")
  func paging() throws {
    let server = try ServerFixture()
    var ada = TestReplica(1)
    // Three saves of four records each; pages of five items may not tear one.
    let saves = (0..<3).map { index in
      ada.save((0..<4).map { .create("Tag", record(UInt64(index * 4 + $0)), ["label": .text("\($0)")]) })
    }
    _ = try server.push(ada.push(saves))
    var bob = TestReplica(2)
    var counts: [Int] = []
    var seen: [RecordID] = []
    for _ in 0..<10 {
      let page = try server.page(bob, limit: 5)
      bob.cursor = page.cursor
      counts.append(page.items.count)
      seen += page.recordIDs
      #expect((page.checksum == nil) == page.hasMore)
      #expect(page.vector.isEmpty == page.hasMore)
      if !page.hasMore { break }
    }
    #expect(counts == [8, 4])
    #expect(seen.count == 12)
    #expect(Set(seen).count == 12)
    #expect(bob.cursor?.base == bob.cursor?.position)
  }

  @Test("A page ends where its bytes are enough, though its items are few")
  func pageBytes() throws {
    var limits = ServiceLimits()
    limits.pageBytesMax = 3_000
    let server = try ServerFixture(limits: limits)
    var ada = TestReplica(1)
    let saves = (0..<6).map { index in
      ada.save([.create("Tag", record(UInt64(index)), ["label": .text(String(repeating: "x", count: 1_000))])])
    }
    _ = try server.push(ada.push(saves))
    let page = try server.page(TestReplica(2))
    #expect(page.hasMore)
    #expect((1..<6).contains(page.items.count))
  }

  @Test("Fields are filtered by the base, also while pages are walked")
  func filteredByBase() throws {
    let server = try ServerFixture()
    var ada = TestReplica(1)
    let made = ada.save([.create("Book", record(1), ["title": .text("Emma"), "isbn": .text("1")])])
    _ = try server.push(ada.push([made]))
    var bob = TestReplica(2)
    bob.cursor = try server.page(bob).cursor
    let title = ada.save([.set("Book", record(1), of: made.stamp, "title", .text("T"), base: made.stamp)])
    let other = ada.save([.create("Tag", record(2), [:])])
    let pages = ada.save([.set("Book", record(1), of: made.stamp, "pages", .integer(5), base: .zero)])
    _ = try server.push(ada.push([title, other, pages]))
    let first = try server.page(bob, limit: 1)
    #expect(first.recordIDs == [record(2)])
    bob.cursor = first.cursor
    let last = try server.page(bob, limit: 1)
    let state = try #require(last.record(record(1)))
    // Both fields: the record's position is the later one, and the walk had not passed it.
    #expect(Set(state.fields.map(\.name)) == ["title", "pages"])
    #expect(!state.isWhole)
  }

  @Test("A deleted record comes as a tombstone, its cascade with it")
  func tombstones() throws {
    let server = try ServerFixture()
    var ada = TestReplica(1)
    let made = ada.save([
      .create("Book", record(1), ["title": .text("Emma")]),
      .create("Note", record(2), ["text": .text("n"), "book": Value(reference: record(1))]),
    ])
    _ = try server.push(ada.push([made]))
    ada.cursor = try server.page(ada).cursor
    var delete = ada.save([])
    let cause = DeleteCause(stamp: delete.stamp, root: record(1))
    delete.changes = [
      .delete(.init(entity: "Book", id: record(1), incarnation: made.stamp, cause: cause)),
      .delete(.init(entity: "Note", id: record(2), incarnation: made.stamp, cause: cause)),
    ]
    _ = try server.push(ada.push([delete]))
    let page = try server.page(ada)
    #expect(page.tombstone(record(1))?.causes == [cause])
    #expect(page.tombstone(record(2)) != nil)
    #expect(page.checksum == Checksum())
  }

  @Test("Links travel like records")
  func links() throws {
    let server = try ServerFixture()
    var ada = TestReplica(1)
    let key = LinkKey(relationship: "Book.tags", source: record(1), target: record(2))
    let made = ada.save([
      .create("Book", record(1), [:]), .create("Tag", record(2), [:]),
      .link(.init(link: key, isPresent: true, base: .zero)),
    ])
    #expect(try server.push(ada.push([made])).answers.map(\.verdict) == [.accepted(fell: [])])
    let page = try server.page(TestReplica(2))
    #expect(page.items.contains(.link(LinkState(link: key, isPresent: true, stamp: made.stamp))))
  }

  @Test("With nothing new a page is at most 200 bytes, and costs no write")
  func nothingNew() throws {
    let server = try ServerFixture()
    var ada = TestReplica(1)
    _ = try server.push(ada.push([ada.save([.create("Tag", record(1), [:])])]))
    ada.cursor = try server.page(ada).cursor
    ada.epoch = ada.cursor?.epoch
    let writes = server.disk.operationCount
    let response = server.pull(ada)
    #expect(response.body.count <= 200)
    let page = try Page(decoding: response.body, as: .cbor)
    #expect(page.items.isEmpty)
    #expect(!page.hasMore)
    #expect(page.cursor == ada.cursor)
    #expect(page.checksum != nil)
    #expect(server.disk.operationCount == writes)
  }

  @Test("A refused save is told again to a replica that missed the answer")
  func missedAnswers() throws {
    let server = try ServerFixture()
    var ada = TestReplica(1)
    let bad = ada.save([.create("Book", record(1), ["title": .integer(1)])])
    _ = try server.push(ada.push([bad]))
    let page = try server.page(ada)
    #expect(page.processed == SaveNumber(1))
    #expect(page.answers.map(\.save) == [bad.id])
    #expect(try server.page(TestReplica(2)).answers.isEmpty)
  }

  @Test("A cursor of another epoch, of another history, or from the future is refused")
  func foreignCursors() throws {
    let server = try ServerFixture()
    var ada = TestReplica(1)
    _ = try server.push(ada.push([ada.save([.create("Tag", record(1), [:])])]))
    let cursor = try server.page(ada).cursor
    var foreign = [cursor, cursor, cursor, cursor]
    foreign[0].epoch = Epoch(cursor.epoch.rawValue ^ 1)
    foreign[1].commit ^= 1
    foreign[2].position = FeedPosition(9)
    foreign[2].base = FeedPosition(9)
    foreign[3].position = FeedPosition(.max)
    for cursor in foreign {
      ada.cursor = cursor
      let response = server.pull(ada)
      #expect(response.status == 409)
      #expect(try response.error().code == .otherEpoch)
    }
  }

  @Test("States of single records are whole, and unknown ids are left out")
  func records() throws {
    let server = try ServerFixture()
    var ada = TestReplica(1)
    _ = try server.push(ada.push([ada.save([.create("Tag", record(1), ["label": .text("x")])])]))
    let body = Array(#"{"records":["\#(record(1))","\#(record(2))"]}"#.utf8)
    let response = server.send("POST", "/v1/stores/library/records", token: server.reader, body: body, json: true)
    let page = try Page(decoding: response.body, as: .cbor)
    #expect(page.items.count == 1)
    #expect(page.record(record(1))?.isWhole == true)
    let bad = server.send(
      "POST", "/v1/stores/library/records", token: server.reader, body: Array(#"{"records":["x"]}"#.utf8), json: true)
    #expect(bad.status == 400)
  }

  @Test("The list of replicas says who is how far behind")
  func replicas() throws {
    let server = try ServerFixture()
    var ada = TestReplica(1)
    var bob = TestReplica(2)
    _ = try server.push(ada.push([ada.save([.create("Tag", record(1), [:])])]))
    bob.cursor = try server.page(bob).cursor
    _ = try server.push(ada.push([ada.save([.create("Tag", record(2), [:])])]))
    _ = try server.page(bob)
    let list = server.send("GET", "/v1/stores/library/replicas", token: server.reader).text
    #expect(list.contains("\"replica\":\"\(bob.id)\""))
    #expect(list.contains("\"behind\":1"))
    #expect(list.contains("\"token\":\"Bob\""))
  }

  // MARK: Long polls

  private func poll(_ server: ServerFixture, _ replica: TestReplica, wait: Int) -> ServiceReply {
    var query = ["wait": String(wait)]
    if let cursor = replica.cursor { query["since"] = cursor.text }
    return server.reply(
      "GET", "/v1/stores/library/changes", token: server.reader, query: query, headers: replica.introduction.headers)
  }

  @Test("A long poll waits, is woken by a commit, and brings it")
  func longPoll() throws {
    let server = try ServerFixture()
    var ada = TestReplica(1)
    var bob = TestReplica(2)
    bob.cursor = try server.page(bob).cursor
    guard case .waits(let wait) = poll(server, bob, wait: 30) else {
      Issue.record("it did not wait")
      return
    }
    #expect(wait.deadline == TestClock.start + 30_000)
    #expect(!server.service.hasNews(for: wait))
    guard case .waits = server.service.resume(wait) else {
      Issue.record("it was answered without news")
      return
    }
    _ = try server.push(ada.push([ada.save([.create("Tag", record(1), [:])])]))
    #expect(server.service.hasNews(for: wait))
    guard case .response(let response) = server.service.resume(wait) else {
      Issue.record("news did not end the wait")
      return
    }
    #expect(try Page(decoding: response.body, as: .cbor).recordIDs == [record(1)])
  }

  @Test("A long poll ends with an empty page when its time is up")
  func longPollTimeout() throws {
    let server = try ServerFixture()
    var bob = TestReplica(2)
    bob.cursor = try server.page(bob).cursor
    guard case .waits(let wait) = poll(server, bob, wait: 30) else {
      Issue.record("it did not wait")
      return
    }
    server.clock.advance(milliseconds: 30_000)
    guard case .response(let response) = server.service.resume(wait) else {
      Issue.record("the end of its time did not end the wait")
      return
    }
    #expect(try Page(decoding: response.body, as: .cbor).items.isEmpty)
  }

  @Test("A token that is revoked ends the wait of its poll")
  func longPollRevoked() throws {
    let server = try ServerFixture()
    var bob = TestReplica(2)
    bob.cursor = try server.page(bob).cursor
    guard case .waits(let wait) = poll(server, bob, wait: 30) else {
      Issue.record("it did not wait")
      return
    }
    let tokens = server.send("GET", "/v1/stores/library/tokens", token: server.owner).text
    for id in tokens.matches(of: /"id":"([0-9a-f]{16})"/).map(\.1) {
      guard server.send("GET", "/v1/stores/library/tokens", token: server.owner).status == 200 else { break }
      _ = server.send("DELETE", "/v1/stores/library/tokens/\(id)", token: server.owner)
    }
    if case .response(let response) = server.service.resume(wait) {
      #expect(response.status == 401)
    } else {
      // Only if the owner's own token was revoked before the reader's.
      #expect(server.send("GET", "/v1/stores/library", token: server.owner).status == 401)
    }
  }

  @Test("A wait is cut to the limit, and none happens without a cursor or with news")
  func longPollLimits() throws {
    let server = try ServerFixture()
    var bob = TestReplica(2)
    if case .waits = poll(server, bob, wait: 30) { Issue.record("a first pull waited") }
    bob.cursor = try server.page(bob).cursor
    guard case .waits(let wait) = poll(server, bob, wait: 100_000) else {
      Issue.record("it did not wait")
      return
    }
    #expect(wait.deadline == TestClock.start + 55_000)
  }
}
