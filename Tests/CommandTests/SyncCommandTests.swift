import Testing
import Tombolo
import TomboloClient
import TomboloCommand
import TomboloProtocol
import TomboloSQLite
import TomboloServer

@Suite("Commands that sync")
struct SyncCommandTests {
  /// A server, and a replica of it with one shelf and one book that were sent.
  struct Setting {
    let fixture: CommandFixture
    let server: ServiceTransport
    let token: String
    let store: String
    let shelf: String
    let book: String

    init(limits: ServiceLimits = ServiceLimits()) throws {
      fixture = try CommandFixture()
      server = try ServiceTransport(directory: fixture.path("server"), limits: limits)
      token = try server.token(in: fixture)
      store = try fixture.library()
      shelf = try fixture.add(store, "Shelf", "code=A1")
      book = try fixture.add(store, "Book", "title=Dune", "shelf=\(shelf)")
      #expect(fixture.run("remote", "add", store, server.url, "--token-file", token).status == 0)
      let synced = run("sync", store)
      #expect(synced.status == 0, "\(synced.errors)")
    }

    func run(_ arguments: String...) -> CommandFixture.Result { fixture.run(arguments, transport: server) }

    func clone(_ name: String = "b.store") throws -> String {
      let result = run("clone", server.url, fixture.path(name), "--token-file", token)
      try #require(result.status == 0, "\(result.errors)")
      return fixture.path(name)
    }
  }

  @Test("What one replica has reaches a clone, and all three checksums are equal")
  func cloneAndVerify() throws {
    let setting = try Setting()
    let clone = try setting.clone()
    #expect(setting.run("get", clone, "Book", setting.book, "--json").output.contains("Dune"))
    #expect(setting.run("get", clone, "Shelf", setting.shelf, "--json").output.contains(setting.book))
    let sums = [setting.store, clone].map { setting.run("verify", $0, "--json") }
    for sum in sums { #expect(sum.status == 0, "\(sum.output) \(sum.errors)") }
    #expect(sums[0].output == sums[1].output)
    #expect(sums[0].output.contains("\"equal\":true"))
    #expect(!setting.fixture.exists("b.store.clone"))
    #expect(!setting.fixture.exists("b.store-wal") || setting.run("list", clone, "Book").status == 0)
  }

  @Test("Edits of different fields are both kept; of one field the later stands, and the other's author is told")
  func conflict() throws {
    let setting = try Setting()
    let clone = try setting.clone()
    #expect(setting.run("set", setting.store, "Book", setting.book, "pages=412", "title=Dune I").status == 0)
    #expect(setting.run("set", clone, "Book", setting.book, "isbn=1", "title=Dune II").status == 0)
    for store in [setting.store, clone, setting.store] { #expect(setting.run("sync", store).status == 0) }
    for store in [setting.store, clone] {
      let got = setting.run("get", store, "Book", setting.book, "--json").output
      for part in ["\"pages\":412", "\"isbn\":\"1\"", "\"title\":\"Dune II\""] { #expect(got.contains(part), "\(got)") }
    }
    let told = setting.run("conflicts", setting.store)
    #expect(told.lines.count == 1)
    #expect(told.output.contains("“Dune I”") && told.output.contains("“Dune II”"))
    #expect(setting.run("conflicts", setting.store, "--json").output.contains("\"rule\":\"later_edit\""))
    #expect(setting.run("conflicts", clone).output.isEmpty)
  }

  @Test("A deletion reaches the other replica")
  func deletion() throws {
    let setting = try Setting()
    let clone = try setting.clone()
    #expect(setting.run("delete", clone, "Shelf", setting.shelf).status == 0)
    for store in [clone, setting.store] { #expect(setting.run("sync", store).status == 0) }
    #expect(setting.run("list", setting.store, "Book", "--json").output == "[]\n")
    #expect(setting.run("verify", setting.store).status == 0)
  }

  @Test("A push whose answer is lost has its effect once")
  func lostAnswer() throws {
    let setting = try Setting()
    _ = try setting.fixture.add(setting.store, "Book", "title=Emma")
    setting.server.loseAnswers(2)
    let synced = setting.run("sync", setting.store, "--json")
    #expect(synced.status == 0, "\(synced.errors)")
    #expect(synced.output.contains("\"retries\":2"))
    let clone = try setting.clone()
    #expect(setting.run("list", clone, "Book", "--csv").lines.count == 3)
    #expect(setting.run("verify", setting.store).status == 0)
  }

  @Test("verify names the records that a damaged store differs in, and with --repair mends them")
  func verifyDamaged() throws {
    let setting = try Setting()
    let lost = try setting.fixture.add(setting.store, "Book", "title=Emma", "shelf=\(setting.shelf)")
    #expect(setting.run("sync", setting.store).status == 0)
    // As the sqlite3 shell does it, once the triggers are gone.
    let connection = try Connection(path: setting.store)
    try connection.execute(
      """
      DROP TRIGGER _tombolo_shell_Book_update; DROP TRIGGER _tombolo_shell_Book_delete;
      UPDATE "Book" SET "title" = 'Rune' WHERE "title" = 'Dune'; DELETE FROM "Book" WHERE "title" = 'Emma';
      """)
    let verified = setting.run("verify", setting.store)
    #expect(verified.status == 1)
    #expect(verified.lines.contains("differs      Book \(setting.book)"), "\(verified.output)")
    #expect(verified.lines.contains("not here     Book \(lost)"), "\(verified.output)")
    #expect(verified.errors.contains("--repair"))
    let json = setting.run("verify", setting.store, "--json").output
    #expect(json.contains("{\"entity\":\"Book\",\"id\":\"\(lost)\",\"kind\":\"missing\"}"), "\(json)")
    let repaired = setting.run("verify", setting.store, "--repair")
    #expect(repaired.status == 0, "\(repaired.output) \(repaired.errors)")
    #expect(repaired.errors.contains("2 records differed"))
    #expect(setting.run("verify", setting.store).output.contains("equal"))
    #expect(setting.run("get", setting.store, "Book", setting.book).output.contains("Dune"))
    #expect(setting.run("conflicts", setting.store).output.contains("“Rune”"))
    #expect(setting.run("status", setting.store).output.contains("repaired  2 records"))
    #expect(setting.run("status", setting.store, "--json").output.contains("\"kind\":\"changed\""))
  }

  @Test("verify says that nothing can be compared while something is unsent or new")
  func verifyBehind() throws {
    let setting = try Setting()
    let clone = try setting.clone()
    _ = try setting.fixture.add(setting.store, "Book", "title=Emma")
    let unsent = setting.run("verify", setting.store)
    #expect(unsent.status == 1)
    #expect(unsent.errors.contains("error[nothing_to_compare]") && unsent.errors.contains("unsent"))
    #expect(setting.run("sync", setting.store).status == 0)
    let behind = setting.run("verify", clone)
    #expect(behind.status == 1)
    #expect(behind.errors.contains("error[nothing_to_compare]"), "\(behind.errors)")
    #expect(behind.errors.contains("does not have yet"), "\(behind.errors)")
  }

  @Test("A server may move while something is unsent; another store may not take its place")
  func movedServer() throws {
    let setting = try Setting()
    _ = try setting.fixture.add(setting.store, "Book", "title=Emma")
    let other = setting.run(
      "remote", "add", setting.store, "http://server:1/v1/stores/other", "--token-file", setting.token)
    #expect(other.errors.contains("error[remote_exists]"))
    let moved = setting.run(
      "remote", "add", setting.store, "https://elsewhere/v1/stores/library", "--token-file", setting.token)
    #expect(moved.status == 0, "\(moved.errors)")
    #expect(setting.run("remote", "add", setting.store, setting.server.url, "--token-file", setting.token).status == 0)
    #expect(setting.run("sync", setting.store).output.contains("sent 1 save"))
  }

  @Test("status and log tell what is unsent and what was confirmed")
  func statusAndLog() throws {
    let setting = try Setting()
    let clean = setting.run("status", setting.store, "--json").output
    #expect(clean.contains("\"unsent\":0"), "\(clean)")
    #expect(clean.contains("\"remote\":\"\(setting.server.url)\""))
    #expect(clean.contains("\"records\":{\"Book\":1,\"Shelf\":1}"))
    _ = try setting.fixture.add(setting.store, "Book", "title=Emma")
    #expect(setting.run("status", setting.store).output.contains("unsent    1"))
    let log = setting.run("log", setting.store, "--json").output
    #expect(log.contains("\"state\":\"unsent\""), "\(log)")
    #expect(setting.run("log", setting.store, "--limit", "1").lines.count == 2)
  }

  @Test("What sqlite3 wrote counts as unsent before anything has recorded it")
  func shellWritesAreUnsent() throws {
    let setting = try Setting()
    try Connection(path: setting.store).execute("INSERT INTO Shelf(code) VALUES ('S'), ('T')")
    let told = setting.run("status", setting.store)
    #expect(
      told.output.contains("written   2 records by other programs") && told.output.contains("unsent    1"), "\(told)")
    let json = setting.run("status", setting.store, "--json").output
    #expect(json.contains("\"unsent\":1") && json.contains("\"writtenByOtherPrograms\":2"), "\(json)")
    #expect(setting.run("sync", setting.store).status == 0)
    #expect(setting.run("status", setting.store, "--json").output.contains("\"unsent\":0"))
  }

  @Test("An unversioned store is refused before anything is sent, with the way out")
  func unversioned() throws {
    let fixture = try CommandFixture()
    let server = try ServiceTransport(directory: fixture.path("server"))
    let token = try server.token(in: fixture)
    let store = try fixture.library(version: nil)
    let added = fixture.run("remote", "add", store, server.url, "--token-file", token)
    let result = added.status == 0 ? fixture.run("sync", store) : added
    #expect(result.status == 1)
    #expect(result.errors.contains("error[store_unversioned]"))
    #expect(result.errors.lowercased().contains("release"))
    #expect(server.requests.isEmpty)
  }

  @Test("A schema that is no additive successor is refused with every violation, and the store works on")
  func schemaRefused() throws {
    let setting = try Setting()
    let changed = CommandFixture.schema(version: "1.1.0")
      .replacing(#""pages","type":"int16""#, with: #""pages","type":"int32""#)
      .replacing(#"{"name":"isbn","type":"string","optional":true},"#, with: "")
    let schema = try setting.fixture.write(changed, to: "changed.json")
    let store = setting.fixture.path("c.store")
    #expect(setting.run("init", store, "--schema", schema).status == 0)
    #expect(setting.run("remote", "add", store, setting.server.url, "--token-file", setting.token).status == 0)
    let refused = setting.run("sync", store)
    #expect(refused.status == 1)
    #expect(refused.errors.contains("error[schema_not_additive]"), "\(refused.errors)")
    #expect(refused.errors.contains("Book.isbn") && refused.errors.contains("Book.pages"))
    _ = try setting.fixture.add(store, "Shelf", "code=Z")
  }

  @Test("A reader receives, and hears that what it wrote stays here")
  func reader() throws {
    let setting = try Setting()
    let token = try setting.server.token(.reader, in: setting.fixture)
    let clone = setting.fixture.path("r.store")
    let cloned = setting.run("clone", setting.server.url, clone, "--token-file", token)
    #expect(cloned.status == 0, "\(cloned.errors)")
    _ = try setting.fixture.add(clone, "Shelf", "code=Z")
    _ = try setting.fixture.add(setting.store, "Book", "title=Emma")
    #expect(setting.run("sync", setting.store).status == 0)
    let refused = setting.run("sync", clone)
    #expect(refused.status == 1)
    #expect(refused.errors.contains("error[forbidden]"))
    #expect(setting.run("list", clone, "Book", "--csv").lines.count == 3)
  }

  @Test(
    "A clone is refused where a file is, from a wrong token, and from a store that is not there; nothing is left behind"
  )
  func cloneRefusals() throws {
    let setting = try Setting()
    let over = setting.run("clone", setting.server.url, setting.store, "--token-file", setting.token)
    #expect(over.errors.contains("error[store_exists]"))
    let wrong = try setting.fixture.write("tombolo_wrong", to: "wrong.token")
    let target = setting.fixture.path("x.store")
    let refused = setting.run("clone", setting.server.url, target, "--token-file", wrong)
    #expect(refused.errors.contains("error[unauthorized]"), "\(refused.errors)")
    #expect(!refused.errors.contains("tombolo_wrong"))
    #expect(setting.run("clone", "http://server:1/v1/stores/other", target, "--token-file", setting.token).status == 1)
    #expect(
      setting.run("clone", "nonsense", target, "--token-file", setting.token).errors.contains("error[remote_invalid]"))
    #expect(
      setting.run("clone", setting.server.url, target, "--token-file", "none").errors.contains("error[file_unreadable]")
    )
    for name in ["x.store", "x.store.clone"] { #expect(!setting.fixture.exists(name)) }
  }

  @Test("A clone that breaks off leaves no store, and the next one goes on with it")
  func brokenClone() throws {
    let setting = try Setting()
    let target = setting.fixture.path("x.store")
    let broken = setting.fixture.run(
      ["clone", setting.server.url, target, "--token-file", setting.token],
      transport: OneAnswer(through: setting.server))
    #expect(broken.status == 1)
    #expect(!setting.fixture.exists("x.store"))
    #expect(setting.fixture.exists("x.store.clone"))
    let resumed = setting.run("clone", setting.server.url, target, "--token-file", setting.token)
    #expect(resumed.status == 0, "\(resumed.errors)")
    #expect(resumed.errors.contains("Going on"))
    #expect(setting.run("list", target, "Book", "--csv").lines.count == 2)
    #expect(!setting.fixture.exists("x.store.clone"))
  }

  /// Lets the schema through, and refuses the pull.
  private struct OneAnswer: Transport {
    let server: ServiceTransport
    init(through server: ServiceTransport) { self.server = server }
    func perform(_ request: TransportRequest) throws -> TransportResponse {
      if request.url.hasSuffix("/schemas/latest") { return try server.perform(request) }
      throw TransportFailure(.insecure, reason: "no further")
    }
  }

  @Test(
    "Syncing without a remote names the command, recovering as well", arguments: [["--reupload"], ["--reset"], []])
  func withoutRemote(_ options: [String]) throws {
    let fixture = try CommandFixture()
    let store = try fixture.library()
    let alone = fixture.run(["sync", store] + options)
    #expect(alone.errors.contains("error[no_remote]"))
    #expect(alone.errors.contains("tombolo remote add"))
    #expect(fixture.run("conflicts", store).output.isEmpty)
    #expect(fixture.run("status", store).output.contains("remote    none"))
  }
}
