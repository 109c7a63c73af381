import Testing
import Tombolo
import TomboloCommand
import TomboloProtocol

@Suite("Commands about what does not stand")
struct ConflictCommandTests {
  @Test("A lost value is restored by the conflict's shown beginning, and stands everywhere after a sync")
  func restore() throws {
    let setting = try SyncCommandTests.Setting()
    let clone = try setting.clone()
    #expect(setting.run("set", setting.store, "Book", setting.book, "title=Dune I").status == 0)
    #expect(setting.run("set", clone, "Book", setting.book, "title=Dune II").status == 0)
    for store in [setting.store, clone, setting.store] { #expect(setting.run("sync", store).status == 0) }
    let told = setting.run("conflicts", setting.store).output
    let id = String(told.prefix { $0 != " " })
    #expect(id.count == 8 && told.contains("Book “Dune II”"), "\(told)")
    #expect(setting.run("conflicts", setting.store, "--restore", "zz").errors.contains("error[unknown_record]"))
    let restored = setting.run("conflicts", setting.store, "--restore", id)
    #expect(restored.status == 0, "\(restored.errors)")
    #expect(setting.run("conflicts", setting.store).output.isEmpty)
    for store in [setting.store, clone] { #expect(setting.run("sync", store).status == 0) }
    #expect(setting.run("get", clone, "Book", setting.book, "--json").output.contains("\"Dune I\""))
  }

  @Test("parked takes retry or discard, a number, and nothing else")
  func parked() throws {
    let setting = try SyncCommandTests.Setting()
    #expect(setting.run("parked", setting.store).output.isEmpty)
    #expect(setting.run("parked", setting.store, "--json").output == "[]\n")
    #expect(setting.run("parked", setting.store, "retry").status == 0)
    #expect(setting.run("parked", setting.store, "discard", "7").errors.contains("error[unknown_record]"))
    for wrong in [["drop"], ["retry", "x"], ["retry", "1", "2"]] {
      #expect(setting.fixture.run(["parked", setting.store] + wrong, transport: setting.server).status == 64)
    }
  }
}
