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

  @Test("One conflict is shown with what was seen, what was written, what stands, and whose each is")
  func show() throws {
    let setting = try SyncCommandTests.Setting()
    let clone = try setting.clone()
    #expect(setting.run("set", setting.store, "Book", setting.book, "title=Dune I").status == 0)
    #expect(setting.run("set", clone, "Book", setting.book, "title=Dune II").status == 0)
    for store in [setting.store, clone, setting.store] { #expect(setting.run("sync", store).status == 0) }
    let id = String(setting.run("conflicts", setting.store).output.prefix { $0 != " " })
    let shown = setting.run("conflicts", "show", setting.store, id)
    #expect(shown.status == 0, "\(shown.errors)")
    #expect(shown.output.contains("you saw    “Dune”, written "), "\(shown.output)")
    #expect(shown.output.contains("you wrote  “Dune I”, written ") && shown.output.contains(" here, in save "))
    #expect(shown.output.contains("stands     “Dune II”, written ") && shown.output.contains(" by replica "))
    #expect(shown.output.contains("rule       later_edit"))
    let json = setting.run("conflicts", "show", setting.store, id, "--json").output
    #expect(json.contains("\"base\":{\"value\":\"Dune\"") && json.contains("\"winner\":\"elsewhere\""), "\(json)")
    #expect(setting.run("conflicts", "show", setting.store, "zz").errors.contains("error[unknown_record]"))
    #expect(setting.run("conflicts", "restore", setting.store, id).status == 0)
    #expect(setting.run("conflicts", setting.store).output.isEmpty)
    #expect(setting.run("get", setting.store, "Book", setting.book, "--json").output.contains("\"Dune I\""))
  }

  @Test("What was lost and is there again is said to stand, and restoring it writes nothing")
  func standsAgain() throws {
    let setting = try SyncCommandTests.Setting()
    let clone = try setting.clone()
    #expect(setting.run("set", setting.store, "Book", setting.book, "title=Dune I").status == 0)
    #expect(setting.run("set", clone, "Book", setting.book, "title=Dune II").status == 0)
    for store in [setting.store, clone, setting.store] { #expect(setting.run("sync", store).status == 0) }
    #expect(setting.run("conflicts", setting.store, "--json").output.contains("\"standsAgain\":false"))
    #expect(setting.run("set", clone, "Book", setting.book, "title=Dune I").status == 0)
    for store in [clone, setting.store] { #expect(setting.run("sync", store).status == 0) }
    let told = setting.run("conflicts", setting.store)
    #expect(told.output.contains("It stands again."), "\(told)")
    #expect(setting.run("conflicts", setting.store, "--json").output.contains("\"standsAgain\":true"))
    let id = String(told.output.prefix { $0 != " " })
    let restored = setting.run("conflicts", "restore", setting.store, id)
    #expect(
      restored.output.contains("has it already") && restored.output.contains("Nothing was written"), "\(restored)")
    #expect(setting.run("conflicts", setting.store).output.isEmpty)
    #expect(setting.run("status", setting.store, "--json").output.contains("\"unsent\":0"))
  }

  @Test("conflicts restore says what is back of a record that was deleted elsewhere")
  func restoreDeleted() throws {
    let setting = try SyncCommandTests.Setting()
    let clone = try setting.clone()
    #expect(setting.run("delete", clone, "Book", setting.book).status == 0)
    #expect(setting.run("set", setting.store, "Book", setting.book, "title=Dune I").status == 0)
    for store in [clone, setting.store] { #expect(setting.run("sync", store).status == 0) }
    let told = setting.run("conflicts", setting.store).output
    #expect(told.contains("the record had been deleted by replica "), "\(told)")
    let restored = setting.run("conflicts", "restore", setting.store, String(told.prefix { $0 != " " }))
    #expect(restored.status == 0 && restored.output.contains(" is back: "), "\(restored)")
    #expect(restored.output.contains("title “Dune I”"), "\(restored.output)")
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
