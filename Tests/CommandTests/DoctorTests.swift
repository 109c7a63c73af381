import Foundation
import Testing
import Tombolo
import TomboloClient
import TomboloCommand
import TomboloProtocol
import TomboloSQLite
import TomboloServer

@Suite("The command doctor")
struct DoctorTests {
  typealias Setting = SyncCommandTests.Setting

  private static func setting() throws -> Setting {
    let setting = try Setting()
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: setting.token)
    return setting
  }

  /// Writes past everything that would notice.
  private static func damage(_ path: String, _ sql: String) throws {
    let connection = try Connection(path: path)
    connection.setTriggersEnabled(false)
    try connection.execute("PRAGMA ignore_check_constraints = 1; \(sql)")
  }

  @Test("A sound replica that has everything passes, with one line for each thing that was looked at")
  func sound() throws {
    let setting = try Self.setting()
    let told = setting.run("doctor", setting.store)
    #expect(told.status == 0, "\(told.output)")
    #expect(told.lines.last == "Nothing is wrong.", "\(told.output)")
    let json = setting.run("doctor", setting.store, "--json").output
    #expect(json.hasPrefix("{\"status\":\"fine\""))
    for code in [
      "file", "space", "integrity", "schema", "tables", "triggers", "rules", "stamps", "queue", "cursor", "checksum",
      "unsent", "clock", "remote", "server", "token", "role", "epoch", "server_schema", "server_checksum",
    ] {
      #expect(json.contains("{\"severity\":\"fine\",\"code\":\"\(code)\""), "\(code): \(json)")
    }
  }

  @Test(
    "Each damage is found under its own code, with what to do",
    arguments: [
      ("triggers", "DROP TRIGGER _tombolo_shell_Book_update"),
      ("stamps", "UPDATE Book SET _tombolo_stamps = x'00'"),
      ("stamps", "INSERT INTO Book(title) VALUES ('from nowhere')"),
      ("rules", "DELETE FROM Shelf"),
      ("rules", "INSERT INTO Shelf(code) VALUES ('A1')"),
      ("rules", "UPDATE Book SET lent = 7"),
      ("queue", "UPDATE _tombolo_meta SET value = 0 WHERE key = 'highest_save'"),
      ("queue", "INSERT INTO _tombolo_change(save, position, entity, record, kind) VALUES (99, 0, 0, x'01', 0)"),
      ("cursor", "UPDATE _tombolo_meta SET value = 99 WHERE key = 'base'"),
      ("cursor", "UPDATE _tombolo_remote SET value = 'nonsense' WHERE key = 'cursor'"),
      ("bodies", "INSERT INTO _tombolo_conflict(id, body) VALUES (randomblob(16), x'ff')"),
      ("bodies", "INSERT INTO _tombolo_parked(save, code, message, body) VALUES (7, 'x', 'y', x'ff')"),
      (
        "aliases",
        "INSERT INTO _tombolo_alias(record, survivor) VALUES (zeroblob(16), x'01010101010101010101010101010101'), "
          + "(x'01010101010101010101010101010101', zeroblob(16))"
      ),
      ("server_checksum", "UPDATE Book SET title = 'Emma'"),
      ("tables", "DROP TABLE _tombolo_hidden"),
    ])
  func damaged(_ code: String, _ sql: String) throws {
    let setting = try Self.setting()
    try Self.damage(setting.store, sql)
    let told = setting.run("doctor", setting.store, "--json")
    #expect(told.status == 1, "\(told.output) \(told.errors)")
    #expect(told.output.contains("{\"severity\":\"problem\",\"code\":\"\(code)\""), "\(told.output)")
  }

  @Test("What is merely unusual is told, and leaves the status 0")
  func unusual() throws {
    let setting = try Self.setting()
    try Self.damage(setting.store, "DROP INDEX _tombolo_Book_shelf")
    _ = try setting.fixture.add(setting.store, "Book", "title=Emma")
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: setting.token)
    let told = setting.run("doctor", setting.store)
    #expect(told.status == 0, "\(told.output)")
    #expect(told.output.contains("Indexes are missing: _tombolo_Book_shelf"), "\(told.output)")
    #expect(told.output.contains("1 save is not sent"), "\(told.output)")
    #expect(told.output.contains("may read the token file"), "\(told.output)")
    #expect(told.lines.last == "0 problems, 2 warnings.", "\(told.output)")
  }

  @Test("A file that is missing, or is no store, is a problem and nothing else is asked")
  func noStore() throws {
    let fixture = try CommandFixture()
    let missing = fixture.run("doctor", fixture.path("none.store"))
    #expect(missing.status == 1)
    #expect(missing.output.contains("There is no file at"))
    let other = fixture.run("doctor", try fixture.write("no database, but text", to: "text.store"))
    #expect(other.status == 1)
    #expect(other.output.contains("not an SQLite database"), "\(other.output)")
    let setting = try Self.setting()
    var bytes = try Data(contentsOf: URL(fileURLWithPath: setting.store))
    for start in stride(from: 8 * 4096, to: bytes.count - 4096, by: 3 * 4096) {
      bytes.replaceSubrange(start..<start + 4096, with: [UInt8](repeating: 0x5A, count: 4096))
    }
    try bytes.write(to: URL(fileURLWithPath: setting.fixture.path("broken.store")))
    let broken = setting.run("doctor", setting.fixture.path("broken.store"), "--offline")
    #expect(broken.status == 1, "\(broken.output)")
  }

  @Test("A store without a server is fine, and is told how to get one; one without a version how to get that")
  func alone() throws {
    let fixture = try CommandFixture()
    let told = fixture.run("doctor", try fixture.library(version: nil))
    #expect(told.status == 0, "\(told.output)")
    #expect(told.output.contains("tombolo remote add") && told.output.contains("tombolo schema adopt"))
  }

  @Test("A connection that fails is told by where it fails")
  func connection() throws {
    let setting = try Self.setting()
    let dead = setting.fixture.run(["doctor", setting.store, "--json"], transport: DeadTransport())
    #expect(dead.status == 1)
    #expect(dead.output.contains("{\"severity\":\"problem\",\"code\":\"server\""), "\(dead.output)")
    #expect(setting.fixture.run("doctor", setting.store, "--offline").status == 0)
    let wrong = try setting.fixture.write("tombolo_wrong", to: "wrong.token")
    let refused = setting.run("doctor", setting.store, "--token-file", wrong, "--json")
    #expect(refused.output.contains("{\"severity\":\"problem\",\"code\":\"token\""), "\(refused.output)")
    #expect(!refused.output.contains("tombolo_wrong"))
    _ = try setting.fixture.add(setting.store, "Shelf", "code=Z")
    let reader = try setting.server.token(.reader, in: setting.fixture)
    let read = setting.run("doctor", setting.store, "--token-file", reader, "--json")
    #expect(read.output.contains("{\"severity\":\"problem\",\"code\":\"role\""), "\(read.output)")
  }

  @Test("Another life of the server's store is found before anything is sent to it")
  func otherEpoch() throws {
    let setting = try Self.setting()
    let other = try Self.setting()
    let told = setting.fixture.run(
      ["doctor", setting.store, "--token-file", other.token, "--json"], transport: other.server)
    #expect(told.status == 1)
    #expect(told.output.contains("{\"severity\":\"problem\",\"code\":\"epoch\""), "\(told.output)")
  }

  @Test("Every finding's code is in the documentation")
  func documented() throws {
    let design = try String(
      contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Client/DESIGN.md"), encoding: .utf8)
    for code in FindingCode.allCases { #expect(design.contains("| `\(code.rawValue)` |"), "\(code.rawValue)") }
  }
}
