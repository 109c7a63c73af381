import Foundation
import Testing
import Tombolo
import TomboloProtocol
import TomboloSQLite

@Suite("Damaged and unreachable files")
struct DamageTests {
  private static let notes = 400

  /// A closed store file with notes that fill many pages, in one file without a log beside it.
  private func filled(_ fixture: StoreFixture, _ name: String) throws -> [UInt8] {
    do {
      let store = try Store(
        .file(path: fixture.path(name)), document: TestSchemas.library(), options: fixture.options())
      let note = try store.plan("Note")
      try store.save { writer in
        for index in 0..<Self.notes {
          let row = try ValueRow(
            note, ["title": .text("note \(index)"), "text": .text(String(repeating: "text ", count: 60))])
          try writer.insert(note, store.makeRecordID(), assigned: row.assigned, from: row)
        }
      }
    }
    let connection = try Connection(path: fixture.path(name))
    try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return try [UInt8](Data(contentsOf: URL(fileURLWithPath: fixture.path(name))))
  }

  /// What happens to a damaged store: everything is read and written, and only whole answers or errors count.
  private func use(_ fixture: StoreFixture, _ name: String) throws -> (isWhole: Bool, codes: Set<ErrorCode>) {
    var codes: Set<ErrorCode> = []
    var isWhole = true
    func attempt(_ body: () throws -> Void) {
      do {
        try body()
      } catch let error as TomboloError {
        codes.insert(error.code)
      } catch {
        Issue.record("not a TomboloError: \(error)")
      }
    }
    attempt {
      let store = try Store(
        .file(path: fixture.path(name)), document: TestSchemas.library(), options: fixture.options())
      let table = try store.plan("Note").table.quotedIdentifier
      attempt {
        var rows = 0
        var texts = 0
        try store.read { connection in
          try connection.eachRow("SELECT title, text FROM \(table)") { row in
            rows += 1
            if row.string(0).hasPrefix("note "), row.string(1).utf8.count == 300 { texts += 1 }
          }
        }
        if rows != Self.notes || texts != Self.notes { isWhole = false }
      }
      attempt {
        if try store.count("Note") != Int64(Self.notes) { isWhole = false }
      }
      attempt { try store.insert("Note", ["title": .text("later")]) }
    }
    return (isWhole, codes)
  }

  @Test("Zeroed pages give corrupt_store, never a part of the records as the whole (C81)")
  func zeroedPages() throws {
    try StoreFixture.run { fixture in
      let bytes = try filled(fixture, "whole.store")
      let pageSize = Int(bytes[16]) << 8 | Int(bytes[17])
      let pages = bytes.count / pageSize
      #expect(pages > 20)
      for page in 0..<pages {
        let name = "damaged-\(page).store"
        var damaged = bytes
        for index in (page * pageSize)..<((page + 1) * pageSize) { damaged[index] = 0 }
        try Data(damaged).write(to: URL(fileURLWithPath: fixture.path(name)))
        let (isWhole, codes) = try use(fixture, name)
        #expect(isWhole, "page \(page + 1): a part was taken for the whole")
        #expect(codes.isSubset(of: [.corruptStore, .notADatabase, .foreignDatabase]), "page \(page + 1): \(codes)")
      }
    }
  }

  @Test("A file cut short is corrupt, not a smaller store (C81)", arguments: [2, 3, 4])
  func truncated(_ divisor: Int) throws {
    try StoreFixture.run { fixture in
      let bytes = try filled(fixture, "whole.store")
      try Data(bytes.prefix(bytes.count / divisor / 4096 * 4096))
        .write(to: URL(fileURLWithPath: fixture.path("cut.store")))
      let (isWhole, codes) = try use(fixture, "cut.store")
      #expect(isWhole)
      #expect(codes.contains(.corruptStore))
    }
  }

  @Test("A page of random bytes never crashes, and the errors are typed (C81)")
  func randomPages() throws {
    try StoreFixture.run { fixture in
      let bytes = try filled(fixture, "whole.store")
      let pageSize = Int(bytes[16]) << 8 | Int(bytes[17])
      let random = TestRandomness(seed: 81)
      for round in 0..<12 {
        var damaged = bytes
        let page = 1 + Int(random.next() % UInt64(bytes.count / pageSize - 1))
        for index in (page * pageSize)..<((page + 1) * pageSize) {
          damaged[index] = UInt8(truncatingIfNeeded: random.next())
        }
        let name = "random-\(round).store"
        try Data(damaged).write(to: URL(fileURLWithPath: fixture.path(name)))
        let (_, codes) = try use(fixture, name)
        #expect(codes.isSubset(of: [.corruptStore, .databaseFailure, .recordExists]), "page \(page + 1): \(codes)")
      }
    }
  }

  @Test("A table that is missing is damage that names it, whichever it is")
  func missingTables() throws {
    try StoreFixture.run { fixture in
      let bytes = try filled(fixture, "whole.store")
      var tables: [String] = []
      try Connection(path: fixture.path("whole.store")).eachRow(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
      ) { tables.append($0.string(0)) }
      #expect(tables.contains("_tombolo_change") && tables.contains("Note"))
      for table in tables {
        let name = "without-\(table).store"
        try Data(bytes).write(to: URL(fileURLWithPath: fixture.path(name)))
        try Connection(path: fixture.path(name)).execute("DROP TABLE \"\(table)\"")
        let (_, codes) = try use(fixture, name)
        #expect(codes.isSubset(of: [.corruptStore]), "\(table): \(codes)")
      }
    }
  }

  @Test("A failed opening leaves every byte of the store and the files beside it as they were (C78)")
  func nothingIsWiped() throws {
    try StoreFixture.run { fixture in
      let bytes = try filled(fixture, "whole.store")
      var damaged = bytes
      for index in 100..<200 { damaged[index] = 0xFF }
      let path = fixture.path("damaged.store")
      try Data(damaged).write(to: URL(fileURLWithPath: path))
      try Data([1, 2, 3]).write(to: URL(fileURLWithPath: fixture.path("beside")))
      let code = StoreFixture.code {
        _ = try Store(.file(path: path), document: TestSchemas.library(), options: fixture.options())
      }
      #expect(code == .corruptStore)
      #expect(try [UInt8](Data(contentsOf: URL(fileURLWithPath: path))) == damaged)
      #expect(try [UInt8](Data(contentsOf: URL(fileURLWithPath: fixture.path("beside")))) == [1, 2, 3])
    }
  }

  @Test("A store that is locked while it is opened is busy, and unharmed (C78)")
  func lockedOpening() throws {
    try StoreFixture.run { fixture in
      let bytes = try filled(fixture, "whole.store")
      let path = fixture.path("whole.store")
      do {
        let other = try Connection(path: path)
        try other.execute("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; SELECT count(*) FROM Note")
        let code = StoreFixture.code {
          _ = try Store(
            .file(path: path), document: TestSchemas.library(),
            options: fixture.options { $0.busyTimeoutMilliseconds = 20 })
        }
        #expect(code == .busy)
        try other.execute("ROLLBACK")
      }
      let store = try fixture.file(TestSchemas.library(), name: "whole.store")
      #expect(try store.count("Note") == Int64(Self.notes))
      #expect(bytes.count > 0)
    }
  }

  @Test("A path that is a folder, or in no folder, is refused with its own error (C78)")
  func badPaths() throws {
    try StoreFixture.run { fixture in
      for path in [fixture.folder, fixture.path("none/a.store")] {
        let code = StoreFixture.code {
          _ = try Store(.file(path: path), document: TestSchemas.library(), options: fixture.options())
        }
        #expect(code == .notADatabase || code == .fileUnwritable, "\(path)")
      }
    }
  }
}
