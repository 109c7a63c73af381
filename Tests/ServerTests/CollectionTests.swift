import Testing
import TomboloProtocol
import TomboloSQLite
import TomboloServer

@Suite("Collection of tombstones")
struct CollectionTests {
  private static let day: UInt64 = 24 * 3_600 * 1_000

  /// Ada makes two records, Bob pulls them, Ada deletes the first; Bob has not seen that yet.
  private func prepared() throws -> (ServerFixture, ada: TestReplica, bob: TestReplica) {
    let server = try ServerFixture()
    var ada = TestReplica(1)
    var bob = TestReplica(2)
    let made = ada.save([.create("Tag", record(1), [:]), .create("Tag", record(2), [:])])
    _ = try server.push(ada.push([made]))
    ada.cursor = try server.page(ada).cursor
    bob.cursor = try server.page(bob).cursor
    var delete = ada.save([])
    delete.changes = [
      .delete(
        .init(
          entity: "Tag", id: record(1), incarnation: made.stamp,
          cause: DeleteCause(stamp: delete.stamp, root: record(1))))
    ]
    _ = try server.push(ada.push([delete]))
    ada.cursor = try server.page(ada).cursor
    // Only the next request says that the page had arrived.
    _ = try server.page(ada)
    _ = try server.page(bob)
    return (server, ada, bob)
  }

  @Test("A tombstone waits for every living replica's base")
  func waitsForBases() throws {
    var (server, _, bob) = try prepared()
    #expect(try server.service.collectTombstones() == 0)
    bob.cursor = try server.page(bob).cursor
    _ = try server.page(bob)
    #expect(try server.service.collectTombstones() == 1)
    #expect(try server.service.collectTombstones() == 0)
    #expect(try server.page(bob).items.isEmpty)
    #expect(try server.page(TestReplica(3)).recordIDs == [record(2)])
  }

  @Test("A tombstone waits for the base of unsent saves")
  func waitsForHolds() throws {
    var (server, _, bob) = try prepared()
    let old = bob.cursor?.base
    bob.cursor = try server.page(bob).cursor
    bob.holds = old
    _ = try server.page(bob)
    #expect(try server.service.collectTombstones() == 0)
    bob.holds = nil
    _ = try server.page(bob)
    #expect(try server.service.collectTombstones() == 1)
  }

  @Test("A replica unseen for ninety days is waited for no longer, and its cursor has expired")
  func unseen() throws {
    let (server, ada, bob) = try prepared()
    server.clock.advance(milliseconds: 89 * Self.day)
    _ = try server.page(ada)
    #expect(try server.service.collectTombstones() == 0)
    server.clock.advance(milliseconds: 2 * Self.day)
    _ = try server.page(ada)
    #expect(try server.service.collectTombstones() == 1)
    let response = server.pull(bob)
    #expect(response.status == 410)
    #expect(try response.error().code == .cursorExpired)
    var fresh = bob
    fresh.cursor = nil
    #expect(try server.page(fresh).recordIDs == [record(2)])
  }

  @Test("A first pull under way starts again when collection has passed where it began")
  func walkExpires() throws {
    var (server, ada, bob) = try prepared()
    bob.cursor = try server.page(bob).cursor
    _ = try server.page(bob)
    var cyd = TestReplica(3)
    cyd.cursor = try server.page(cyd, limit: 1).cursor
    _ = cyd
    var walking = TestReplica(4)
    walking.cursor = Cursor(
      epoch: try #require(bob.cursor?.epoch), base: .start, position: FeedPosition(1), start: FeedPosition(1),
      commit: try #require(try firstCommit(server)))
    #expect(server.pull(walking).status == 200)
    ada.cursor = try server.page(ada).cursor
    _ = try server.page(ada)
    // Those that were seen only once hold everything until their time is over.
    server.clock.advance(milliseconds: 91 * Self.day)
    _ = try server.page(ada)
    #expect(try server.service.collectTombstones() == 1)
    let response = server.pull(walking)
    #expect(response.status == 410)
  }

  @Test(
    "Parted pairs, entries of conflicts, ids of commits and old verdicts go by the same rule; ids of saves stay longer")
  func forgetsHistory() throws {
    var limits = ServiceLimits()
    limits.verdictsMin = 1
    let server = try ServerFixture(limits: limits)
    var ada = TestReplica(1)
    var bob = TestReplica(2)
    let key = LinkKey(relationship: "Book.tags", source: record(1), target: record(2))
    let made = ada.save([
      .create("Book", record(1), ["title": .text("Emma")]), .create("Tag", record(2), [:]),
      .link(.init(link: key, isPresent: true, base: .zero)),
    ])
    let parted = ada.save([.link(.init(link: key, isPresent: false, base: made.stamp))])
    let renamed = ada.save([.set("Book", record(1), of: made.stamp, "title", .text("Emma II"), base: made.stamp)])
    let lost = bob.save([.set("Book", record(1), of: made.stamp, "title", .text("Emma III"), base: made.stamp)])
    #expect(lost.stamp < renamed.stamp)
    _ = try server.push(ada.push([made, parted, renamed]))
    _ = try server.push(bob.push([lost]))
    #expect(try rows(server) == ["link": 1, "conflict": 1, "commit_id": 4, "queue": 4, "save": 4])
    // Both pull everything; only the next request says that a page had arrived.
    ada.cursor = try server.page(ada).cursor
    bob.cursor = try server.page(bob).cursor
    _ = try server.page(ada)
    #expect(try server.service.collectTombstones() == 0)
    #expect(try rows(server) == ["link": 1, "conflict": 1, "commit_id": 4, "queue": 2, "save": 4])
    _ = try server.page(bob)
    _ = try server.service.collectTombstones()
    #expect(try rows(server) == ["link": 0, "conflict": 0, "commit_id": 1, "queue": 2, "save": 4])
    #expect(try server.page(ada).items.isEmpty)
    // Who begins now walks through places whose commits are forgotten.
    var walker = TestReplica(3)
    var seen: Set<RecordID> = []
    for _ in 0..<4 {
      let page = try server.page(walker, limit: 1)
      walker.cursor = page.cursor
      seen.formUnion(page.recordIDs)
      if !page.hasMore { break }
    }
    #expect(seen == [record(1), record(2)])

    // A save that comes again under another replica's id is known for more than a year.
    var copy = TestReplica(4)
    let again = copy.save(made.changes, id: made.id)
    #expect(try server.push(copy.push([again])).answers.map(\.verdict) == [.known(stamp: made.stamp)])
    server.clock.advance(milliseconds: 500 * Self.day)
    _ = try server.service.collectTombstones()
    #expect(try rows(server)["save"] == 3)
  }

  @Test("A cursor from before the commits that are remembered has expired, and is not taken for another history")
  func forgottenCommit() throws {
    var (server, ada, bob) = try prepared()
    let early = try #require(bob.cursor)
    bob.cursor = try server.page(bob).cursor
    _ = try server.page(bob)
    ada.cursor = try server.page(ada).cursor
    _ = try server.page(ada)
    _ = try server.service.collectTombstones()
    bob.cursor = early
    #expect(try server.pull(bob).error().code == .cursorExpired)
    bob.cursor?.epoch = Epoch(1)
    #expect(try server.pull(bob).error().code == .otherEpoch)
  }

  private func rows(_ server: ServerFixture) throws -> [String: Int64] {
    var options = Connection.Options()
    options.vfs = server.disk.name
    let connection = try Connection(path: "data/stores/library.sqlite", options: options)
    var rows: [String: Int64] = [:]
    for table in ["link", "conflict", "commit_id", "queue", "save"] {
      let query = try connection.cached("SELECT count(*) FROM \(table)")
      if try query.step() { rows[table] = query.int64(0) }
      query.reset()
    }
    return rows
  }

  /// The id of the commit at position 1, as a page that ends there tells it.
  private func firstCommit(_ server: ServerFixture) throws -> UInt64? {
    let page = try server.page(TestReplica(5), limit: 1)
    return page.cursor.position == FeedPosition(1) ? page.cursor.commit : nil
  }
}
