import Testing
import TomboloCommand
import TomboloServer

@Suite("Records that are too large for the server")
struct RecordSizeTests {
  private static let huge = String(repeating: "x", count: 2_000_000)

  @Test("A store that syncs refuses such a record when it is added or changed, naming attribute and limit (86)")
  func refusedAtOnce() throws {
    let setting = try SyncCommandTests.Setting()
    let added = setting.run("add", setting.store, "Book", "title=\(Self.huge)")
    let changed = setting.run("set", setting.store, "Book", setting.book, "isbn=\(Self.huge)")
    for (result, name) in [(added, "Book.title"), (changed, "Book.isbn")] {
      #expect(result.status == 1)
      #expect(result.errors.contains("error[record_too_large]"), "\(result.errors)")
      #expect(result.errors.contains(name) && result.errors.contains("1048576") && result.errors.contains("2000000"))
      #expect(!result.errors.contains("xxxx"))
    }
    #expect(setting.run("list", setting.store, "Book", "--csv").lines.count == 2)
    #expect(setting.run("sync", setting.store).output.contains("sent 0 saves"))
  }

  @Test("An import names the line, and --skip-bad sets it aside while the others go on (86)")
  func importedLine() throws {
    let setting = try SyncCommandTests.Setting()
    let text = "code,room\nB1,1\n\(Self.huge),2\nB2,3\n"
    let file = try setting.fixture.write(text, to: "shelves.csv")
    let refused = setting.run("import", setting.store, file, "--entity", "Shelf")
    #expect(refused.status == 1)
    #expect(refused.errors.contains("shelves.csv:3:1: A record of Shelf has"), "\(refused.errors.prefix(300))")
    #expect(refused.errors.contains("Shelf.code") && refused.errors.contains("1048576"))
    #expect(setting.run("list", setting.store, "Shelf", "--csv").lines.count == 2)
    let bad = setting.fixture.path("bad.csv")
    let taken = setting.run("import", setting.store, file, "--entity", "Shelf", "--skip-bad", bad)
    #expect(taken.output == "Shelf: 2 new, 0 known, 1 set aside\n", "\(taken.errors.prefix(300))")
    #expect(try setting.fixture.read("bad.csv").contains(Self.huge))
    let synced = setting.run("sync", setting.store)
    #expect(synced.status == 0 && synced.output.contains("sent 1 save"), "\(synced.errors)")
  }

  @Test("A store without a server takes it, and cannot get a server while it holds it")
  func beforeTheRemote() throws {
    let fixture = try CommandFixture()
    let server = try ServiceTransport(directory: fixture.path("server"))
    let token = try server.token(in: fixture)
    let store = try fixture.library()
    let id = try fixture.add(store, "Book", "title=\(Self.huge)")
    let refused = fixture.run("remote", "add", store, server.url, "--token-file", token)
    #expect(refused.status == 1)
    #expect(refused.errors.contains("error[record_too_large]") && refused.errors.contains(id), "\(refused.errors)")
    #expect(fixture.run("status", store).output.contains("remote    none"))
    #expect(fixture.run("set", store, "Book", id, "title=short").status == 0)
    #expect(fixture.run("remote", "add", store, server.url, "--token-file", token).status == 0)
    #expect(fixture.run("sync", store, transport: server).status == 0)
  }

  @Test("Another limit is known from the first page on, in a clone as well")
  func otherLimit() throws {
    var limits = ServiceLimits()
    limits.recordBytesMax = 2_000
    let setting = try SyncCommandTests.Setting(limits: limits)
    let clone = try setting.clone()
    for store in [setting.store, clone] {
      let long = String(repeating: "x", count: 1_990)
      let refused = setting.run("add", store, "Book", "title=\(long)", "isbn=\(long)")
      #expect(
        refused.errors.contains("error[record_too_large]") && refused.errors.contains("2000"), "\(refused.errors)")
      #expect(setting.run("add", store, "Book", "title=\(long.prefix(1_900))").status == 0)
    }
  }

  @Test("A sync in which a save was refused has status 1, and every value of the save can be had")
  func parked() throws {
    var limits = ServiceLimits()
    limits.recordBytesMax = 2_000
    let setting = try SyncCommandTests.Setting(limits: limits)
    let store = setting.fixture.path("c.store")
    let schema = setting.fixture.path("library.json")
    #expect(setting.run("init", store, "--schema", schema).status == 0)
    #expect(setting.run("remote", "add", store, setting.server.url, "--token-file", setting.token).status == 0)
    let long = String(repeating: "long ", count: 600)
    let id = try setting.fixture.add(store, "Book", "title=\(long)", "pages=7")
    let synced = setting.run("sync", store)
    #expect(synced.status == 1)
    #expect(synced.output.contains("sent 0 saves") && synced.errors.contains("tombolo parked"), "\(synced.errors)")
    let listed = setting.run("parked", store).output
    #expect(listed.contains("pages=7") && listed.contains(id) && !listed.contains(long), "\(listed)")
    let exported = setting.run("parked", store, "--json").output
    #expect(exported.contains(long) && exported.contains(id) && exported.contains("record_too_large"))
    // Nothing was refused in this one.
    #expect(setting.run("sync", store).status == 0)
    // It is known by now that the server takes less.
    #expect(setting.run("parked", store, "retry").errors.contains("error[record_too_large]"))
    #expect(setting.run("parked", store, "discard").status == 0)
  }
}
