import Foundation
import Testing
import TomboloClient
import TomboloCommand

@Suite("Commands on damaged and unwritable stores")
struct DamagedStoreTests {
  /// A synced store of many pages, in one file.
  private func filled() throws -> (setting: SyncCommandTests.Setting, bytes: [UInt8]) {
    let setting = try SyncCommandTests.Setting()
    let lines = (0..<600).map { "title \($0),\(String(repeating: "filler ", count: 30))" }
    let file = try setting.fixture.write("title,isbn\n" + lines.joined(separator: "\n"), to: "books.csv")
    #expect(setting.run("import", setting.store, file, "--entity", "Book").status == 0)
    #expect(setting.run("sync", setting.store).status == 0)
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: setting.store)))
    return (setting, bytes)
  }

  @Test("A zeroed page is corrupt_store, with the file and a remedy, in list, add, sync and verify (C81)")
  func zeroedPages() throws {
    let (setting, bytes) = try filled()
    let pageSize = Int(bytes[16]) << 8 | Int(bytes[17])
    let pages = bytes.count / pageSize
    #expect(pages > 40)
    var noticed: Set<String> = []
    for page in stride(from: 0, to: pages, by: 3) {
      var damaged = bytes
      for index in (page * pageSize)..<((page + 1) * pageSize) where index >= 100 { damaged[index] = 0 }
      let path = setting.fixture.path("damaged-\(page).store")
      try Data(damaged).write(to: URL(fileURLWithPath: path))
      for arguments in [
        ["list", path, "Book", "--csv"], ["add", path, "Shelf", "code=\(page)"], ["verify", path], ["sync", path],
      ] {
        let result = setting.fixture.run(arguments, transport: setting.server)
        guard result.status != 0, !result.errors.contains("unsent"), !result.errors.contains("does not have yet") else {
          continue
        }
        let isNamed = result.errors.contains("error[corrupt_store]") && result.errors.contains(path)
        #expect(isNamed, "page \(page + 1), \(arguments[0]): \(result.errors)")
        #expect(result.errors.contains("clone"), "\(result.errors)")
        noticed.insert(arguments[0])
      }
    }
    #expect(noticed.isSuperset(of: ["list", "add", "sync"]), "\(noticed)")
  }

  @Test("verify says with a code what to do where a value was changed behind Tombolo's back")
  func different() throws {
    let (setting, bytes) = try filled()
    let wanted = Array("title 17".utf8)
    var changed = bytes
    var index = 0
    while let found = changed[index...].firstRange(of: wanted) {
      changed[found.lowerBound] = 0x54
      index = found.upperBound
    }
    try Data(changed).write(to: URL(fileURLWithPath: setting.store))
    let result = setting.run("verify", setting.store)
    #expect(result.status == 1)
    #expect(result.lines.contains("different"), "\(result.output) \(result.errors)")
    #expect(result.lines.last?.hasPrefix("differs      Book ") ?? false, "\(result.output)")
    #expect(result.errors.contains("error[checksum_mismatch]") && result.errors.contains("--repair"))
    #expect(result.errors.contains(setting.store))
    let json = setting.run("verify", setting.store, "--json")
    #expect(json.status == 1 && json.output.contains("\"equal\":false"))
  }

  @Test("A failed creation leaves nothing at the path")
  func nothingLeft() throws {
    let fixture = try CommandFixture()
    let schema = try fixture.write("{\"name\":\"Empty\"", to: "broken.json")
    let store = fixture.path("new.store")
    #expect(fixture.run("init", store, "--schema", schema).status == 1)
    #expect(!fixture.exists("new.store"))
  }

  @Test("Mistakes of a schema are told in whole sentences, without an empty place")
  func schemaMistakes() throws {
    let fixture = try CommandFixture()
    let nameless = try fixture.write("{\"name\":\"L\",\"entities\":[{\"name\":\"\"}]}", to: "nameless.json")
    let unnamed = fixture.run("init", fixture.path("a.store"), "--schema", nameless).errors
    #expect(unnamed.contains("error[invalid_schema]") && !unnamed.contains(": :"), "\(unnamed)")
    let cut = try fixture.write("{\"name\":", to: "cut.json")
    let told = fixture.run("init", fixture.path("a.store"), "--schema", cut).errors
    #expect(told.contains(". Write one JSON object."), "\(told)")
    let empty = fixture.run("init", fixture.path("a.store"), "--schema", "/dev/null").errors
    #expect(empty.contains("error[invalid_schema]") && empty.contains("is empty"), "\(empty)")
    let token = fixture.run(
      "remote", "add", try fixture.library(), "http://server:1/v1/stores/l", "--token-file", "/dev/null")
    #expect(token.errors.contains("error[token_invalid]"), "\(token.errors)")
  }

  @Test("A server that cannot be reached is named")
  func unreachable() throws {
    let setting = try SyncCommandTests.Setting()
    let result = setting.fixture.run(
      "clone", "http://far.example:4711/v1/stores/library", setting.fixture.path("x.store"), "--token-file",
      setting.token, transport: Unreachable())
    #expect(result.errors.contains("error[server_unreachable]"), "\(result.errors)")
    #expect(result.errors.contains("http://far.example:4711 "), "\(result.errors)")
  }
}

/// No connection can be made.
private struct Unreachable: Transport {
  func perform(_ request: TransportRequest) throws -> TransportResponse {
    throw TransportFailure(.unreachable, reason: "no route")
  }
}
