import Testing
import Tombolo
import TomboloClient
import TomboloProtocol
import TomboloSQLite
import TomboloServer

/// Rows that were damaged behind the library's back: found by the checksum, narrowed down over the wire, mended.
@Suite("Repair")
struct RepairTests {
  @Test("Ten damaged records among 10 000 are found and mended within five round trips, values that gave way kept")
  func tenAmongTenThousand() throws {
    let pair = try ReplicaPair(books: 10_000)
    try pair.damage(
      #"UPDATE "Book" SET "title" = 'damaged ' || "title" WHERE "title" IN ('b3', 'b77', 'b5000', 'b9999')"#,
      #"DELETE FROM "Book" WHERE "title" IN ('b12', 'b4711')"#,
      #"INSERT INTO "Book"("title") VALUES ('nobody''s')"#,
      #"INSERT INTO "Book"("title", _tombolo_stamps) SELECT "title", _tombolo_stamps FROM "Book" WHERE "title" = 'b8'"#,
      #"DELETE FROM "Book_tags" WHERE source IN (SELECT _tombolo_id FROM "Book" WHERE "title" IN ('b0', 'b20'))"#)
    let (report, requests) = try pair.sync(pair.damaged)
    #expect(report.checksum == .equal)
    #expect(report.repaired == 10)
    #expect(requests.count <= 5, "\(requests)")
    try pair.expectSame()
    let incident = try #require(try pair.damaged.incidents().first)
    #expect(incident.records.count == 10 && incident.records.allSatisfy { $0.entity == "Book" })
    let kinds = Dictionary(grouping: incident.records, by: \.kind).mapValues(\.count)
    #expect(kinds == [.changed: 6, .missing: 2, .extra: 2])
    // Nothing is loopy: the next sync has nothing to mend.
    #expect(try pair.sync(pair.damaged).report.repaired == 0)

    let entries = try pair.damaged.conflicts()
    #expect(entries.count == 6 && entries.allSatisfy { $0.rule == .repaired && $0.field == "title" })
    let lost = try #require(entries.first { $0.lost.value == .text("damaged b77") })
    #expect(lost.standing?.value == .text("b77"))
    let sentence = ConflictWording(lost, schema: pair.damaged.schema.resolved).sentence
    #expect(sentence.contains("“damaged b77”") && sentence.contains("“b77” in a repair"), "\(sentence)")
    try pair.damaged.restoreConflict(lost.id)
    _ = try pair.sync(pair.damaged)
    _ = try pair.sync(pair.sound)
    #expect(try pair.sound.row(try pair.plan("Book"), lost.record)?["title"] == .text("damaged b77"))
    try pair.expectSame()
  }

  @Test("A pair that is here and not at the server is taken out, kept among the conflicts, and restored from there")
  func extraPair() throws {
    let pair = try ReplicaPair(books: 30)
    try pair.damage(
      #"INSERT INTO "Book_tags"(source, target) SELECT b._tombolo_id, t._tombolo_id FROM "Book" b, "Tag" t "#
        + #"WHERE b."title" = 'b1' AND t."label" = 't2'"#)
    let (report, _) = try pair.sync(pair.damaged)
    #expect(report.checksum == .equal && report.repaired == 1)
    try pair.expectSame()
    let entry = try #require(try pair.damaged.conflicts().first)
    #expect(entry.field == "tags")
    try pair.damaged.restoreConflict(entry.id)
    _ = try pair.sync(pair.damaged)
    _ = try pair.sync(pair.sound)
    try pair.expectSame()
    #expect(try pair.sound.read { try $0.firstRow("SELECT count(*) FROM Book_tags") { $0.int64(0) } } == 4)
  }

  @Test("What the replica cannot read any more is mended: stamps, and an entity that there is not")
  func unreadable() throws {
    let pair = try ReplicaPair(books: 50)
    try pair.damage(
      #"UPDATE "Book" SET _tombolo_stamps = x'0102030405' WHERE "title" = 'b4'"#,
      #"UPDATE "Book" SET _tombolo_stamps = NULL WHERE "title" = 'b5'"#,
      #"UPDATE "Tag" SET _tombolo_entity = 'Nothing' WHERE "label" = 't1'"#,
      #"UPDATE "Book_tags" SET _tombolo_stamps = x'01' WHERE rowid = 1"#)
    let (report, _) = try pair.sync(pair.damaged)
    #expect(report.checksum == .equal && report.repaired >= 3)
    try pair.expectSame()
  }

  @Test("Where the server has lost a later value, the replica's is sent again; of equal stamps the server's is taken")
  func damagedServer() throws {
    let pair = try ReplicaPair(books: 20)
    let ids = try (0..<3).map { try pair.id("b\($0)") }
    for id in ids { try pair.set("title", .text("later"), of: id, in: pair.damaged) }
    _ = try pair.sync(pair.damaged)
    _ = try pair.sync(pair.sound)
    // The first goes back to its first value and stamp, the second gets another value under the same stamp.
    try pair.damageServer(ids[0]) { field, record in
      field.value = .text("b0")
      field.stamp = record.incarnation
    }
    try pair.damageServer(ids[1]) { field, _ in field.value = .text("rotten") }
    let changed = try (0..<64).reduce(0) { try $0 + pair.hub.service.recountChecksums(part: $1) }
    #expect(changed == 2)
    let (report, _) = try pair.sync(pair.damaged)
    #expect(report.checksum == .equal && report.pushed == 1 && report.repaired == 2)
    _ = try pair.sync(pair.sound)
    try pair.expectSame()
    let plan = try pair.plan("Book")
    #expect(try pair.sound.row(plan, ids[0])?["title"] == .text("later"))
    #expect(try pair.sound.row(plan, ids[1])?["title"] == .text("rotten"))
    // Nothing went silently: who had the good value has it among the conflicts.
    #expect(try pair.damaged.conflicts().map(\.lost.value) == [.text("later")])
  }

  @Test("What is saved while a difference is narrowed down stays, is sent, and shows nothing of another's half save")
  func meanwhile() throws {
    let pair = try ReplicaPair(books: 40)
    let (mine, theirs, other) = (try pair.id("b1"), try pair.id("b2"), try pair.id("b3"))
    try pair.damage(#"UPDATE "Book" SET "title" = 'damaged' WHERE "title" IN ('b1', 'b2', 'b9')"#)
    let (report, _) = try pair.sync(pair.damaged) { request in
      if request.url.hasSuffix("/checksum") {
        // Somebody else changes two records, one of them damaged here, in one save.
        guard try pair.title(theirs, pair.sound) == .text("b2") else { return }
        try pair.sound.save { writer in
          for id in [theirs, other] {
            let row = try ValueRow(try pair.plan("Book"), ["title": .text("theirs")])
            try writer.update(try pair.plan("Book"), id, changed: row.assigned, from: row)
          }
        }
        _ = try pair.sync(pair.sound)
      } else if request.url.hasSuffix("/checksum/records") {
        try pair.set("pages", .integer(7), of: mine, in: pair.damaged)
      }
    }
    #expect(report.repaired >= 1)
    #expect(try pair.title(mine, pair.damaged) == .text("b1"))
    #expect(try pair.damaged.row(try pair.plan("Book"), mine)?["pages"] == .integer(7))
    #expect(try pair.title(other, pair.damaged) == .text("b3"), "half of a save shows")
    _ = try pair.sync(pair.damaged)
    _ = try pair.sync(pair.sound)
    let (last, _) = try pair.sync(pair.damaged)
    #expect(last.checksum == .equal)
    try pair.expectSame()
    #expect(try pair.sound.row(try pair.plan("Book"), mine)?["pages"] == .integer(7))
  }

  @Test("Where nearly everything differs a snapshot is fetched, once, and the log says so")
  func everything() throws {
    let pair = try ReplicaPair(books: 600)
    try pair.damage(#"UPDATE "Book" SET "title" = 'damaged ' || "title""#, #"DELETE FROM "Book_tags""#)
    let (report, requests) = try pair.sync(pair.damaged)
    #expect(report.checksum == .equal && report.repaired >= 600)
    #expect(requests.count <= 5)
    try pair.expectSame()
    #expect(try pair.damaged.incidents().first?.records == [])
  }

  @Test("A reader's replica is mended like any other")
  func reader() throws {
    let pair = try ReplicaPair(books: 20)
    try pair.damage(#"UPDATE "Book" SET "title" = 'damaged' WHERE "title" = 'b4'"#)
    let (report, _) = try pair.sync(
      pair.damaged, token: try pair.hub.service.createToken(store: "library", role: .reader))
    #expect(report.checksum == .equal && report.repaired == 1)
    try pair.expectSame()
  }

  @Test("All rows are summed up when it is time, not at every sync")
  func scanning() throws {
    let pair = try ReplicaPair(books: 20)
    try pair.damage(#"UPDATE "Book" SET "title" = 'damaged' WHERE "title" = 'b4'"#)
    #expect(try pair.sync(pair.damaged, scansRows: false).report.repaired == 0)
    pair.clock.advance(by: 61_000)
    #expect(try pair.sync(pair.damaged, scansRows: false).report.repaired == 1)
    try pair.expectSame()
  }

  @Test("A difference that a repair does not mend is told, after one attempt", arguments: [true, false])
  func oneAttempt(knowsRoute: Bool) throws {
    let store = ScriptedStore()
    store.change {
      $0.pullOutcomes = [.applied(records: 0, conflicts: 0, checksum: .different)]
      $0.rechecks = [.different]
      $0.differingBuckets = [3]
      $0.differences = [RecordDifference(id: RecordID(high: 1, low: 2), kind: .changed)]
    }
    let exchange = try Exchange(store) { request, _ in
      guard request.url.contains("/checksum") else { return try Answer.usual(request) }
      if !knowsRoute { return Answer.error(.methodNotAllowed, status: 405) }
      if request.url.hasSuffix("/records") { return Answer.page() }
      return Answer.cbor(ComparisonResponse(position: FeedPosition(1)))
    }
    #expect(exchange.error == nil)
    #expect(exchange.report?.checksum == .different)
    #expect(exchange.paths.filter { $0.contains("checksum") }.count == (knowsRoute ? 3 : 1))
  }

  @Test("What the server changes while it is compared is pulled, and compared once more", arguments: [1, 99])
  func serverMovesOn(writes: Int) throws {
    let pair = try ReplicaPair(books: 30)
    let book = try pair.id("b4")
    try pair.damage(#"UPDATE "Book" SET "title" = 'damaged' WHERE "title" = 'b4'"#)
    var written = 0
    let (report, requests) = try pair.sync(pair.damaged) { request in
      // The buckets have been compared, and now the records in them are.
      guard request.url.hasSuffix("/checksum"), written < writes else { return }
      written += 1
      try pair.set("pages", .integer(Int64(written)), of: book, in: pair.sound)
      _ = try pair.sync(pair.sound)
    }
    if writes == 1 {
      #expect(report.checksum == .equal && report.repaired == 1, "\(report) \(requests)")
      try pair.expectSame()
    } else {
      // A record that changes all the time cannot be compared; that is no difference.
      #expect(report.checksum == .notCompared && written > 3, "\(report) \(requests)")
      #expect(try pair.sync(pair.damaged).report.checksum == .equal)
      try pair.expectSame()
    }
  }
}
