import Foundation
import Testing
import Tombolo
import TomboloProtocol
import TomboloSQLite

@Suite("Faults around the store")
struct ReliabilityTests {
  @Test("A full disk is its own error, nothing of the save is kept, and the next save works (C79)")
  func diskFull() throws {
    try StoreFixture.run { fixture in
      let store = try fixture.file(TestSchemas.library())
      let kept = try store.insert("Note", ["title": .text("kept")])
      func limitPages(_ count: Int64) throws { try store.write { try $0.execute("PRAGMA max_page_count = \(count)") } }
      let pages = try #require(try store.integer("PRAGMA page_count"))
      try limitPages(pages + 2)
      let note = try store.plan("Note")
      let code = StoreFixture.code {
        try store.save { writer in
          for _ in 0..<100 {
            let row = try ValueRow(note, ["title": .text(String(repeating: "x", count: 2000))])
            try writer.insert(note, store.makeRecordID(), assigned: row.assigned, from: row)
          }
        }
      }
      #expect(code == .diskFull)
      #expect(try store.count("Note") == 1)
      #expect(try store.changes().count == 1)
      try limitPages(1_000_000)
      try store.insert("Note", ["title": .text("later")])
      #expect(try store.count("Note") == 2)
      #expect(try store.values("Note", kept)?["title"] == .text("kept"))
    }
  }

  @Test("A store that another connection holds is busy after the time limit, and says that it can be tried again (C16)")
  func busy() throws {
    try StoreFixture.run { fixture in
      let store = try fixture.file(TestSchemas.library()) { $0.busyTimeoutMilliseconds = 20 }
      let other = try Connection(path: fixture.path("test.store"))
      try other.execute("BEGIN IMMEDIATE")
      do {
        try store.insert("Note", [:])
        Issue.record("the save was taken")
      } catch let error as TomboloError {
        #expect(error.code == .busy)
        #expect(error.isRetryable)
      }
      #expect(try store.count("Note") == 0)
      try other.execute("COMMIT")
      try store.insert("Note", [:])
      #expect(try store.count("Note") == 1)
    }
  }

  @Test("Two stores on one file write by turns without a spurious lock error, and see each other (C16)")
  func twoWriters() throws {
    try StoreFixture.run { fixture in
      let stores = [try fixture.file(TestSchemas.library()), try fixture.file(TestSchemas.library())]
      let id = try stores[0].insert("Sample", ["count": .integer(0)])
      let failures = Guarded<[String]>([])
      DispatchQueue.concurrentPerform(iterations: 2) { index in
        for _ in 0..<50 {
          do {
            let sample = try stores[index].plan("Sample")
            try stores[index].save { writer in
              let now = try writer.connection.firstRow("SELECT count FROM Sample") { $0.int64(0) } ?? -1
              let row = try ValueRow(sample, ["count": .integer(now + 1)])
              try writer.update(sample, id, changed: row.assigned, from: row)
            }
          } catch {
            failures.withLock { $0.append("\(error)") }
          }
        }
      }
      #expect(failures.withLock { $0 } == [])
      #expect(try stores[0].values("Sample", id)?["count"] == .integer(100))
      #expect(try stores[1].changes().count == 101)
    }
  }

  @Test("Readers on several threads see whole states while another writes")
  func readers() throws {
    try StoreFixture.run { fixture in
      let store = try fixture.file(TestSchemas.library())
      let note = try store.plan("Note")
      let odd = Guarded(0)
      DispatchQueue.concurrentPerform(iterations: 4) { index in
        for _ in 0..<25 {
          do {
            if index == 0 {
              try store.save { writer in
                for _ in 0..<2 {
                  try writer.insert(note, store.makeRecordID(), assigned: ColumnSet(), from: ValueRow(note, [:]))
                }
              }
            } else if try store.count("Note") % 2 != 0 {
              odd.withLock { $0 += 1 }
            }
          } catch {
            odd.withLock { $0 += 1 }
          }
        }
      }
      #expect(odd.withLock { $0 } == 0)
      #expect(try store.count("Note") == 50)
    }
  }

  @Test("Observers hear of every commit that changed something, until their token goes")
  func observers() throws {
    try StoreFixture.run { fixture in
      let store = try fixture.memory(TestSchemas.library())
      let heard = Guarded<[String]>([])
      var token: StoreObservation? = store.observe { summary in
        heard.withLock { $0.append("\(summary.author ?? "-"):\(summary.inserted.count)") }
      }
      let note = try store.plan("Note")
      try store.save(author: "me") {
        try $0.insert(note, store.makeRecordID(), assigned: ColumnSet(), from: ValueRow(note, [:]))
      }
      try store.save { _ in }
      #expect(heard.withLock { $0 } == ["me:1"])
      withExtendedLifetime(token) {}
      token = nil
      try store.insert("Note", [:])
      #expect(heard.withLock { $0 }.count == 1)
    }
  }

  @Test("The hybrid clock is persisted and never goes back, whatever the wall clock does")
  func clock() throws {
    try StoreFixture.run { fixture in
      let store = try fixture.file(TestSchemas.library())
      try store.insert("Note", [:])
      try store.write { connection in
        try StoreMeta(connection).set(HybridClock(last: ClockReading(milliseconds: 1_800_000_000_000)))
      }
      let again = try fixture.file(TestSchemas.library())
      try again.insert("Note", [:])
      let clocks = try again.read { connection in
        var clocks: [Int64] = []
        try connection.eachRow("SELECT clock FROM _tombolo_save ORDER BY number") { clocks.append($0.int64(0)) }
        return clocks
      }
      #expect(clocks.count == 2)
      #expect(clocks[1] > Int64(1_800_000_000_000 << 16))
    }
  }
}
