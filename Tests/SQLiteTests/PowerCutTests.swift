import Testing
import TomboloSQLite

/// SQLite over a disk that loses power at every single operation of a transaction.
@Suite("Power cuts")
struct PowerCutTests {
  struct Mode: Sendable, CustomTestStringConvertible {
    var journal: String
    var synchronous: String
    var survival: MemoryFileSystem.Survival
    var testDescription: String { "\(journal), \(synchronous), \(survival)" }
  }

  static let modes: [Mode] = ["delete", "wal"].flatMap { journal in
    [MemoryFileSystem.Survival.synced, .chosen, .everything].map {
      Mode(journal: journal, synchronous: journal == "wal" ? "full" : "extra", survival: $0)
    }
  }

  /// A table with an account's worth in two rows, a blob that spans pages, and enough rows for several pages.
  private func prepare(_ disk: TestDisk, _ mode: Mode) throws {
    let connection = try disk.connect()
    try connection.execute(
      """
      PRAGMA journal_mode=\(mode.journal); PRAGMA synchronous=\(mode.synchronous);
      CREATE TABLE account(id INTEGER PRIMARY KEY, amount INTEGER NOT NULL, note BLOB) STRICT;
      INSERT INTO account VALUES(1, 100, zeroblob(5000)), (2, 100, NULL);
      WITH RECURSIVE n(i) AS (SELECT 3 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
      INSERT INTO account SELECT i, 0, zeroblob(100) FROM n;
      """)
  }

  /// Moves 30 from one row to the other; returns whether the commit was confirmed.
  private func transfer(_ disk: TestDisk, _ mode: Mode, checkpoint: Bool) -> Bool {
    guard let connection = try? disk.connect() else { return false }
    do {
      try connection.execute("PRAGMA synchronous=\(mode.synchronous)")
      try connection.immediate {
        try connection.execute(
          """
          UPDATE account SET amount = amount - 30, note = zeroblob(9000) WHERE id = 1;
          UPDATE account SET amount = amount + 30 WHERE id = 2;
          DELETE FROM account WHERE id > 150;
          """)
      }
    } catch {
      return false
    }
    if checkpoint { try? connection.execute("PRAGMA wal_checkpoint(TRUNCATE)") }
    return true
  }

  @Test(
    "A power cut at any operation of a transaction leaves it whole or undone, and what was confirmed stays",
    arguments: modes)
  func anyOperation(_ mode: Mode) throws {
    var cut: UInt64 = 1
    var outcomes: Set<Int64> = []
    while true {
      let disk = try TestDisk(seed: cut)
      try prepare(disk, mode)
      disk.system.failAfter(operations: cut)
      let isConfirmed = transfer(disk, mode, checkpoint: true)
      let hasFailed = disk.system.hasFailed
      disk.system.powerCut(mode.survival)
      let connection = try disk.connect()
      #expect(try connection.text("PRAGMA integrity_check") == "ok", "cut \(cut)")
      let first = try connection.integer("SELECT amount FROM account WHERE id = 1")
      let second = try connection.integer("SELECT amount FROM account WHERE id = 2")
      let count = try connection.integer("SELECT count(*) FROM account")
      #expect(first + second == 200, "cut \(cut)")
      #expect((first == 70) == (count == 150), "cut \(cut)")
      if isConfirmed { #expect(first == 70, "cut \(cut): a confirmed commit is gone") }
      outcomes.insert(first)
      if !hasFailed { break }
      cut += 1
      try #require(cut < 500)
    }
    #expect(outcomes == [70, 100])
    #expect(cut > 4)
  }

  @Test("In WAL mode with synchronous=NORMAL a confirmed commit may be lost, but the database is whole")
  func normalMayLose() throws {
    let mode = Mode(journal: "wal", synchronous: "normal", survival: .synced)
    let disk = try TestDisk()
    try prepare(disk, mode)
    let connection = try disk.connect()
    try connection.execute("PRAGMA synchronous=normal; PRAGMA wal_checkpoint(TRUNCATE)")
    try connection.execute("UPDATE account SET amount = 1 WHERE id = 1")
    #expect(disk.system.hasUnsyncedData)
    disk.system.powerCut(.synced)
    let reopened = try disk.connect()
    #expect(try reopened.text("PRAGMA integrity_check") == "ok")
    #expect(try reopened.integer("SELECT amount FROM account WHERE id = 1") == 100)
  }

  @Test("A later commit at FULL makes the earlier ones at NORMAL durable")
  func fullCoversNormal() throws {
    let disk = try TestDisk()
    try prepare(disk, Mode(journal: "wal", synchronous: "normal", survival: .synced))
    let connection = try disk.connect()
    try connection.execute("PRAGMA synchronous=normal; UPDATE account SET amount = 1 WHERE id = 1")
    try connection.execute("PRAGMA synchronous=full; UPDATE account SET amount = 2 WHERE id = 2")
    disk.system.powerCut(.synced)
    let reopened = try disk.connect()
    #expect(try reopened.integer("SELECT amount FROM account WHERE id = 1") == 1)
    #expect(try reopened.integer("SELECT amount FROM account WHERE id = 2") == 2)
  }

  @Test("A power cut in the midst of recovery loses nothing either", arguments: ["delete", "wal"])
  func duringRecovery(_ journal: String) throws {
    let mode = Mode(journal: journal, synchronous: "full", survival: .chosen)
    for cut in UInt64(1)...8 {
      let disk = try TestDisk(seed: cut)
      try prepare(disk, mode)
      disk.system.failAfter(operations: 9)
      let isConfirmed = transfer(disk, mode, checkpoint: false)
      disk.system.powerCut(.chosen)
      disk.system.failAfter(operations: cut)
      if let recovering = try? disk.connect() { _ = try? recovering.integer("SELECT count(*) FROM account") }
      disk.system.powerCut(.chosen)
      let connection = try disk.connect()
      #expect(try connection.text("PRAGMA integrity_check") == "ok")
      let first = try connection.integer("SELECT amount FROM account WHERE id = 1")
      #expect(first == 70 || first == 100 && !isConfirmed)
    }
  }

  @Test("The same seed leaves the same sectors, another seed others")
  func seeded() throws {
    func remains(_ seed: UInt64) throws -> [UInt8] {
      let disk = try TestDisk(seed: seed)
      try prepare(disk, Mode(journal: "delete", synchronous: "off", survival: .chosen))
      disk.system.powerCut(.chosen)
      return disk.system.contents(of: "main.db") ?? []
    }
    #expect(try remains(7) == remains(7))
    #expect(try remains(7) != remains(8))
  }
}
