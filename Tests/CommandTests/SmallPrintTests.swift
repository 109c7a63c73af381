import Foundation
import Testing
import Tombolo
import TomboloCommand
import TomboloProtocol

@Suite("What a person meets on the way: versions, help of groups, pipes, odd names")
struct SmallPrintTests {
  @Test("--version says the program, the protocol and the store format", arguments: ["--version", "version"])
  func version(_ word: String) throws {
    let told = try CommandFixture().run(word)
    #expect(told.status == 0)
    #expect(told.lines == ["tombolo \(ProgramVersion.text)", "protocol 1, store format 1"])
  }

  @Test("The help of a group lists its commands", arguments: ["schema", "remote"])
  func groups(_ word: String) throws {
    let fixture = try CommandFixture()
    for help in [["--help"], ["-h"]] {
      let told = fixture.run([word] + help)
      #expect(told.status == 0 && told.output.contains("tombolo \(word) COMMAND"), "\(told.errors)")
    }
    #expect(fixture.run(word, "--help").output.contains(word == "schema" ? "schema lint" : "remote add"))
    #expect(fixture.run("conflicts", "--help").output.contains("Usage: tombolo conflicts STORE"))
    #expect(fixture.run(word).status == 64)
  }

  @Test("A folder in the place of a file is called one", arguments: [["schema", "show"], ["schema", "lint"]])
  func folder(_ words: [String]) throws {
    let fixture = try CommandFixture()
    let told = fixture.run(words + [fixture.folder])
    #expect(told.status == 1)
    #expect(told.errors.contains("error[file_unreadable]") && told.errors.contains("is a folder"), "\(told.errors)")
  }

  @Test("A pipe is imported as a file is")
  func pipe() throws {
    let fixture = try CommandFixture()
    let store = try fixture.library()
    let path = fixture.path("pipe")
    try #require(mkfifo(path, 0o600) == 0)
    let writer = Thread {
      try? Data("title,pages\nDune,412\nEmma,474\n".utf8).write(to: URL(fileURLWithPath: path))
    }
    writer.start()
    let told = fixture.run("import", store, path, "--entity", "Book")
    #expect(told.status == 0 && told.output.contains("2 new"), "\(told.errors)")
  }

  @Test("A number that no float or double can hold has a code of its own")
  func floats() throws {
    let fixture = try CommandFixture()
    let store = try fixture.library()
    let told = fixture.run("add", store, "Book", "weight=1e999")
    #expect(told.status == 1 && told.errors.contains("error[float_out_of_range]"), "\(told.errors)")
    #expect(fixture.run("add", store, "Book", "weight=inf").status == 0)
  }

  @Test("A name may hold an equals sign")
  func equalsSigns() throws {
    let fixture = try CommandFixture()
    let schema = try fixture.write(
      """
      {"name":"Odd","entities":[{"name":"E","attributes":[
        {"name":"a=b","type":"string","optional":true},{"name":"a=c","type":"string","optional":true},
        {"name":"plain","type":"string","optional":true}]}]}
      """, to: "odd.json")
    let store = fixture.path("odd.store")
    try #require(fixture.run("init", store, "--schema", schema).status == 0)
    let id = try fixture.add(store, "E", "a=b=x=y", "a=c=z", "plain=p=q")
    let shown = fixture.run("get", store, "E", id, "--json").output
    #expect(shown.contains("\"a=b\":\"x=y\"") && shown.contains("\"a=c\":\"z\""), "\(shown)")
    #expect(shown.contains("\"plain\":\"p=q\""))
    #expect(fixture.run("set", store, "E", id, "a=b:null").status == 0)
    #expect(fixture.run("get", store, "E", id, "--json").output.contains("\"a=b\":null"))
    #expect(fixture.run("set", store, "E", id, "plain=1", "plain=2").status == 64)
    #expect(fixture.run("set", store, "E", id, "a=b=1", "a=b=2").status == 64)
    #expect(fixture.run("set", store, "E", id, "a=d=1").errors.contains("error[unknown_attribute]"))
  }

  @Test("Restoring a record that is gone says what is back: what was lost of it, and the rest as this replica had it")
  func restoring() throws {
    let setting = try SyncCommandTests.Setting()
    let clone = try setting.clone()
    #expect(setting.run("delete", setting.store, "Book", setting.book).status == 0)
    #expect(setting.run("set", clone, "Book", setting.book, "title=Dune II", "pages=500").status == 0)
    for store in [setting.store, clone] { #expect(setting.run("sync", store).status == 0) }
    let id = String(setting.run("conflicts", clone).output.prefix { $0 != " " })
    let restored = setting.run("conflicts", "restore", clone, id)
    #expect(restored.status == 0)
    #expect(restored.output.contains(" is back: ") && restored.output.contains("title “Dune II”"), "\(restored.output)")
    #expect(restored.output.contains("pages “500”"), "\(restored.output)")
  }
}
