import Testing
import TomboloSQLite

@Suite("The disk in memory")
struct MemoryFileSystemTests {
  @Test("A file outlives its connections, and another disk does not see it")
  func survivesClosing() throws {
    let disk = try TestDisk()
    try disk.connect().execute("CREATE TABLE a(x); INSERT INTO a VALUES(7)")
    #expect(try disk.connect().integer("SELECT x FROM a") == 7)
    let other = try TestDisk()
    #expect(throws: SQLiteError.self) { try other.connect().integer("SELECT x FROM a") }
    #expect(disk.system.paths == ["main.db"])
  }

  @Test("A second disk of the same name is refused")
  func nameTaken() throws {
    let disk = try TestDisk()
    #expect(throws: SQLiteError.self) {
      try MemoryFileSystem(name: disk.system.name, environment: disk.system.copyOfEnvironment)
    }
    #expect(try disk.connect().integer("SELECT 3") == 3)
  }

  @Test("In WAL mode two connections read one state each, and see each other's commits")
  func walWithTwoConnections() throws {
    let disk = try TestDisk()
    let writer = try disk.connect()
    #expect(try writer.text("PRAGMA journal_mode=wal") == "wal")
    try writer.execute("CREATE TABLE a(x); INSERT INTO a VALUES(1)")
    let reader = try disk.connect()
    try reader.deferred {
      #expect(try reader.integer("SELECT sum(x) FROM a") == 1)
      try writer.execute("INSERT INTO a VALUES(10)")
      #expect(try reader.integer("SELECT sum(x) FROM a") == 1)
    }
    #expect(try reader.integer("SELECT sum(x) FROM a") == 11)
    try writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    #expect(try reader.integer("SELECT sum(x) FROM a") == 11)
    #expect(disk.system.contents(of: "main.db-wal") == [])
  }

  @Test("A second writer waits its timeout on the virtual clock and then fails as busy", arguments: ["delete", "wal"])
  func busyTimesOut(_ journal: String) throws {
    let disk = try TestDisk()
    let first = try disk.connect()
    try first.execute("PRAGMA journal_mode=\(journal); CREATE TABLE a(x)")
    let second = try disk.connect(busyTimeoutMilliseconds: 5000)
    try first.execute("BEGIN IMMEDIATE; INSERT INTO a VALUES(1)")
    let before = disk.sleptMicroseconds
    let error = #expect(throws: SQLiteError.self) {
      try second.immediate { try second.execute("INSERT INTO a VALUES(2)") }
    }
    #expect(error?.isBusy == true)
    #expect((4_900_000...5_100_000).contains(disk.sleptMicroseconds - before))
    try first.execute("COMMIT")
    try second.immediate { try second.execute("INSERT INTO a VALUES(2)") }
    #expect(try first.integer("SELECT count(*) FROM a") == 2)
  }

  @Test("A writer that waits gets its turn when the other commits")
  func busyWaits() throws {
    let disk = try TestDisk()
    let first = Box(try disk.connect())
    try first.value.execute("PRAGMA journal_mode=wal; CREATE TABLE a(x); BEGIN IMMEDIATE; INSERT INTO a VALUES(1)")
    let second = try disk.connect(busyTimeoutMilliseconds: 5000)
    disk.whileSleeping {
      if first.value.isInTransaction { try? first.value.execute("COMMIT") }
    }
    try second.immediate { try second.execute("INSERT INTO a VALUES(2)") }
    #expect(try second.integer("SELECT count(*) FROM a") == 2)
    #expect(disk.sleptMicroseconds < 1_000_000)
  }

  @Test("A full disk fails the transaction and leaves the store able to go on", arguments: ["delete", "wal"])
  func diskFull(_ journal: String) throws {
    let disk = try TestDisk()
    let connection = try disk.connect()
    try connection.execute("PRAGMA journal_mode=\(journal); CREATE TABLE a(x); INSERT INTO a VALUES('kept')")
    disk.system.limit(toBytes: 60_000)
    let error = #expect(throws: SQLiteError.self) {
      try connection.immediate { try connection.execute("INSERT INTO a VALUES(zeroblob(200000))") }
    }
    #expect(error?.isDiskFull == true)
    #expect(!connection.isInTransaction)
    #expect(try connection.text("SELECT group_concat(x) FROM a") == "kept")
    disk.system.limit(toBytes: nil)
    try connection.execute("INSERT INTO a VALUES('more')")
    #expect(try connection.text("PRAGMA integrity_check") == "ok")
    #expect(try connection.integer("SELECT count(*) FROM a") == 2)
  }

  @Test("A handle opened before a power cut only fails after it")
  func earlierLife() throws {
    let disk = try TestDisk()
    let connection = try disk.connect()
    try connection.execute("PRAGMA journal_mode=wal; CREATE TABLE a(x)")
    disk.system.powerCut(.everything)
    #expect(throws: SQLiteError.self) { try connection.execute("INSERT INTO a VALUES(1)") }
    #expect(throws: SQLiteError.self) { try connection.integer("SELECT count(*) FROM a") }
    #expect(try disk.connect().integer("SELECT count(*) FROM a") == 0)
  }

  @Test("A copy of the folder is a copy of the database, its WAL included")
  func imageAndRestore() throws {
    let disk = try TestDisk()
    let connection = try disk.connect()
    try connection.execute("PRAGMA journal_mode=wal; CREATE TABLE a(x); INSERT INTO a VALUES(1)")
    let image = disk.system.image()
    try connection.execute("INSERT INTO a VALUES(2)")
    let other = try TestDisk()
    other.system.restore(image)
    #expect(try other.connect().integer("SELECT count(*) FROM a") == 1)
    disk.system.restore(image)
    #expect(throws: SQLiteError.self) { try connection.integer("SELECT count(*) FROM a") }
    #expect(try disk.connect().integer("SELECT count(*) FROM a") == 1)
  }

  @Test("Time comes from the injected clock")
  func virtualTime() throws {
    let disk = try TestDisk()
    #expect(try disk.connect().text("SELECT datetime('now')") == "2023-11-14 22:13:20")
  }

  @Test("A read-only connection does not make a file, and temporary files leave nothing behind")
  func openFlags() throws {
    let disk = try TestDisk()
    var options = Connection.Options()
    options.vfs = disk.system.name
    options.createsFile = false
    #expect(throws: SQLiteError.self) { try Connection(path: "none.db", options: options) }
    let connection = try disk.connect()
    try connection.execute("PRAGMA temp_store=FILE; CREATE TEMP TABLE t(x); INSERT INTO t VALUES(zeroblob(100000))")
    try connection.execute("CREATE TABLE a(x)")
    #expect(disk.system.paths == ["main.db"])
  }
}

/// Carries a connection into a closure that runs on the same thread.
private final class Box: @unchecked Sendable {
  // The test is one thread.
  let value: Connection
  init(_ value: Connection) { self.value = value }
}

extension MemoryFileSystem {
  fileprivate var copyOfEnvironment: Environment { Environment(milliseconds: { 0 }, random: { 0 }, sleep: { _ in }) }
}
