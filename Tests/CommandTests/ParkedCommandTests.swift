import Testing
import Tombolo
import TomboloCommand
import TomboloProtocol

@Suite("Commands about refused saves")
struct ParkedCommandTests {
  private static let schema = """
    {"name":"Library","version":"1.0.0","entities":[
      {"name":"Badge","attributes":[{"name":"code","type":"string"},{"name":"holder","type":"string","default":""}],
       "relationships":[{"name":"uses","destination":"Use","toMany":true,"inverse":"badge","deleteRule":"cascade"}],
       "unique":[{"attributes":["code"],"onConflict":"reject"}]},
      {"name":"Use","attributes":[{"name":"place","type":"string","default":""}],
       "relationships":[{"name":"badge","destination":"Badge","inverse":"uses"}]}]}
    """

  /// A replica with a badge that the server refuses, and a use of it, which is refused with it.
  private struct Setting {
    let fixture: CommandFixture
    let server: ServiceTransport
    let store: String
    let badge: String
    let use: String

    init() throws {
      fixture = try CommandFixture()
      server = try ServiceTransport(directory: fixture.path("server"))
      let token = try server.token(in: fixture)
      let schema = try fixture.write(ParkedCommandTests.schema, to: "badges.json")
      store = fixture.path("a.store")
      let other = fixture.path("b.store")
      for path in [other, store] {
        #expect(fixture.run("init", path, "--schema", schema).status == 0)
        #expect(fixture.run("remote", "add", path, server.url, "--token-file", token).status == 0)
      }
      _ = try fixture.add(other, "Badge", "code=7", "holder=Ana")
      #expect(fixture.run(["sync", other], transport: server).status == 0)
      badge = try fixture.add(store, "Badge", "code=7", "holder=Ben")
      use = try fixture.add(store, "Use", "place=gate", "badge=\(badge)")
      // A refusal is an answer that a script must not pass over.
      #expect(fixture.run(["sync", store], transport: server).status == 1)
    }

    func run(_ arguments: String...) -> CommandFixture.Result { fixture.run(arguments, transport: server) }
  }

  @Test("The list says what each refused save did, and which others hang on it")
  func list() throws {
    let setting = try Setting()
    let told = setting.run("parked", setting.store)
    #expect(
      told.output.contains("[unique_violation]") && told.output.contains("[depends_on_refused]"), "\(told.output)")
    #expect(told.output.contains("insert Badge \(setting.badge) code=7 holder=Ben"), "\(told.output)")
    #expect(told.output.contains("2 hang on it"), "\(told.output)")
    #expect(setting.run("parked", setting.store, "--json").output.contains("\"dependents\":[2]"))
    #expect(setting.run("list", setting.store, "Badge", "--csv").lines.count == 2)
    let explained = setting.run("explain", setting.store, "Badge", setting.badge)
    #expect(explained.status == 1)
    #expect(explained.output.contains("the server refused the save that created it"), "\(explained.output)")
  }

  @Test("A mended save is sent again with the other value, and what hangs on it comes along")
  func mend() throws {
    let setting = try Setting()
    let mended = setting.run("parked", setting.store, "mend", "1", "--set", "code=8", "--dependents")
    #expect(mended.status == 0, "\(mended.errors)")
    #expect(setting.run("parked", setting.store).output.isEmpty)
    #expect(setting.run("sync", setting.store).output.contains("sent 2 saves"))
    #expect(setting.run("get", setting.store, "Badge", setting.badge, "--json").output.contains("\"code\":\"8\""))
    #expect(setting.run("get", setting.store, "Use", setting.use, "--json").output.contains(setting.badge))
    #expect(setting.run("parked", setting.store).output.isEmpty)
    #expect(setting.run("verify", setting.store).status == 0)
  }

  @Test("What hangs on a mended save stays refused unless it is asked for, and is named")
  func dependents() throws {
    let setting = try Setting()
    let mended = setting.run("parked", setting.store, "mend", "1", "--set", "code=8", "--record", setting.badge)
    #expect(mended.errors.contains("Still refused, since they hang on it: 2."), "\(mended.errors)")
    #expect(setting.run("parked", setting.store, "retry", "2").status == 0)
    #expect(setting.run("parked", setting.store).output.isEmpty)
  }

  @Test("A mend that cannot be is refused, and the save stays")
  func refusedMends() throws {
    let setting = try Setting()
    for (options, code) in [
      (["--set", "colour=red"], "unknown_record"), (["--set", "code:null"], "required_attribute"),
      (["--set", "code=8", "--record", setting.use], "unknown_record"),
    ] {
      let refused = setting.fixture.run(["parked", setting.store, "mend", "1"] + options, transport: setting.server)
      #expect(refused.status == 1)
      #expect(refused.errors.contains("error[\(code)]"), "\(refused.errors)")
    }
    for wrong in [["mend"], ["mend", "1"], ["retry", "1", "--set", "code=8"]] {
      #expect(setting.fixture.run(["parked", setting.store] + wrong, transport: setting.server).status == 64)
    }
    #expect(setting.run("parked", setting.store, "--json").output.contains("\"parked\":1"))
  }

  @Test("Discarding with what hangs on it leaves nothing behind")
  func discard() throws {
    let setting = try Setting()
    #expect(setting.run("parked", setting.store, "discard", "1", "--dependents").status == 0)
    #expect(setting.run("parked", setting.store).output.isEmpty)
    #expect(setting.run("doctor", setting.store, "--offline").status == 0)
  }
}
