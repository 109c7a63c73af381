import Testing
import Tombolo
import TomboloCommand
import TomboloProtocol

@Suite("Commands on ordered relationships")
struct OrderCommandTests {
  private struct Setting {
    let fixture: CommandFixture
    let server: ServiceTransport
    let store: String
    let clone: String
    let folder: String

    init() throws {
      fixture = try CommandFixture()
      server = try ServiceTransport(directory: fixture.path("server"))
      let token = try server.token(in: fixture)
      let schema = try fixture.write(
        """
        {"name":"Lists","version":"1.0.0","entities":[
          {"name":"Folder","attributes":[{"name":"name","type":"string"}],
           "relationships":[{"name":"notes","destination":"Note","toMany":true,"inverse":"folder","ordered":true}]},
          {"name":"Note","attributes":[{"name":"title","type":"string"}],
           "relationships":[{"name":"folder","destination":"Folder","inverse":"notes"}]}]}
        """, to: "lists.json")
      store = fixture.path("a.store")
      #expect(fixture.run("init", store, "--schema", schema).status == 0)
      folder = try fixture.add(store, "Folder", "name=F")
      #expect(fixture.run("remote", "add", store, server.url, "--token-file", token).status == 0)
      let synced = fixture.run(["sync", store], transport: server)
      #expect(synced.status == 0, "\(synced.errors)")
      clone = fixture.path("b.store")
      let cloned = fixture.run(["clone", server.url, clone, "--token-file", token], transport: server)
      #expect(cloned.status == 0, "\(cloned.errors)")
    }

    func run(_ arguments: String...) -> CommandFixture.Result { fixture.run(arguments, transport: server) }

    /// The titles of the folder's notes, as `get` lists them.
    func titles(_ store: String) throws -> [String] {
      let got = run("get", store, "Folder", folder, "--json")
      #expect(got.status == 0, "\(got.errors)")
      let list = try #require(got.output.split(separator: "\"notes\":[").last?.prefix { $0 != "]" })
      return list.split(separator: ",").compactMap { id in
        let note = run("get", store, "Note", String(id.filter { $0 != "\"" }), "--json").output
        return note.split(separator: "\"title\":\"").last.map { String($0.prefix { $0 != "\"" }) }
      }
    }
  }

  @Test("Two replicas append with add, set and import, and agree on one order after a sync") func twoReplicas() throws {
    let setting = try Setting()
    let (a, b) = (setting.store, setting.clone)
    for (store, name) in [(a, "a"), (b, "b"), (a, "a"), (b, "b")] {
      _ = try setting.fixture.add(store, "Note", "title=\(name)", "folder=\(setting.folder)")
    }
    let loose = try setting.fixture.add(a, "Note", "title=loose")
    #expect(setting.run("set", a, "Note", loose, "folder=\(setting.folder)").status == 0)
    let csv = try setting.fixture.write("title,where\ni1,F\ni2,F\n", to: "notes.csv")
    let imported = setting.run("import", b, csv, "--entity", "Note", "--link", "folder=where:Folder.name")
    if imported.status != 0 { Issue.record("\(imported.errors)") }
    for store in [a, b, a] { #expect(setting.run("sync", store).status == 0) }
    let titles = try setting.titles(a)
    #expect(try setting.titles(b) == titles)
    #expect(Set(titles) == ["a", "b", "loose", "i1", "i2"] && titles.count == 7)
    let place = try #require(titles.firstIndex(of: "b"))
    #expect(titles[place...].prefix(4).elementsEqual(["b", "b", "i1", "i2"]), "\(titles)")
    for store in [a, b] { #expect(setting.run("verify", store).status == 0) }
    #expect(setting.run("doctor", a).status == 0)
  }

  @Test("set gives the members of an ordered relationship the order in which they are named, on both replicas")
  func arranged() throws {
    let setting = try Setting()
    let notes = try ["1", "2", "3"].map {
      try setting.fixture.add(setting.store, "Note", "title=\($0)", "folder=\(setting.folder)")
    }
    let late = try setting.fixture.add(setting.store, "Note", "title=4")
    let order = [notes[2], late, notes[0]].joined(separator: ",")
    let set = setting.run("set", setting.store, "Folder", setting.folder, "notes=\(order)")
    #expect(set.status == 0, "\(set.errors)")
    #expect(try setting.titles(setting.store) == ["3", "4", "1"])
    #expect(setting.run("set", setting.store, "Folder", setting.folder, "notes+=\(notes[1])").status == 0)
    for store in [setting.store, setting.clone] { #expect(setting.run("sync", store).status == 0) }
    #expect(try setting.titles(setting.clone) == ["3", "4", "1", "2"])
  }

  @Test("No command shows the field, takes it or asks for it") func hidden() throws {
    let setting = try Setting()
    let note = try setting.fixture.add(setting.store, "Note", "title=x", "folder=\(setting.folder)")
    #expect(setting.run("sync", setting.store).status == 0)
    for arguments in [
      ["get", setting.store, "Note", note], ["get", setting.store, "Note", note, "--json"],
      ["list", setting.store, "Note"], ["list", setting.store, "Note", "--csv"],
      ["list", setting.store, "Note", "--json"], ["explain", setting.store, "Note", note],
      ["explain", setting.store, "Note", note, "--json"], ["status", setting.store],
    ] {
      let shown = setting.fixture.run(arguments, transport: setting.server)
      #expect(shown.status == 0, "\(arguments) \(shown.errors)")
      #expect(!shown.output.contains("_tombolo_order"), "\(arguments)")
    }
    let set = setting.run("set", setting.store, "Note", note, "_tombolo_order_folder=AA")
    #expect(set.errors.contains("error[unknown_attribute]") && !set.errors.contains("It has: _tombolo"), "\(set)")
    #expect(setting.run("list", setting.store, "Note", "--where", "_tombolo_order_folder IS NULL").status != 0)
    #expect(setting.run("list", setting.store, "Note", "--sort", "_tombolo_order_folder").status != 0)
  }

  @Test("explain tells the place in the list, who gave it, and what is pending of it") func explained() throws {
    let setting = try Setting()
    let (a, b) = (setting.store, setting.clone)
    let notes = try ["1", "2", "3"].map {
      try setting.fixture.add(a, "Note", "title=\($0)", "folder=\(setting.folder)")
    }
    let loose = try setting.fixture.add(a, "Note", "title=loose")
    for store in [a, b] { #expect(setting.run("sync", store).status == 0) }
    for (index, note) in notes.enumerated() {
      let told = setting.run("explain", b, "Note", note).output
      #expect(
        told.contains("Folder.notes \(setting.folder): place \(index + 1) of 3  (given ")
          && told.contains("by replica "),
        "\(told)")
    }
    #expect(!setting.run("explain", b, "Note", loose).output.contains("Folder.notes"))
    let order = [notes[2], notes[0], notes[1]].joined(separator: ",")
    #expect(setting.run("set", b, "Folder", setting.folder, "notes=\(order)").status == 0)
    let moved = setting.run("explain", b, "Note", notes[2]).output
    #expect(moved.contains("place 1 of 3  (pending, given ") && moved.contains("here, in save "), "\(moved)")
    #expect(setting.run("explain", b, "Note", notes[0]).output.contains("place 2 of 3  (given "))
    let json = setting.run("explain", b, "Note", notes[2], "--json").output
    #expect(
      json.contains("\"places\":[{\"list\":\"Folder.notes\",\"owner\":\"\(setting.folder)\",\"place\":1,\"count\":3,")
        && json.contains("\"isPending\":true"), "\(json)")
    #expect(setting.run("sync", b).status == 0)
    #expect(setting.run("explain", b, "Note", notes[2]).output.contains("place 1 of 3  (given "))
  }

  @Test("A place that does not stand is told as a place, and restored") func lostPlace() throws {
    let setting = try Setting()
    let (a, b) = (setting.store, setting.clone)
    let note = try setting.fixture.add(a, "Note", "title=x")
    _ = try setting.fixture.add(a, "Note", "title=y", "folder=\(setting.folder)")
    for store in [a, b] { #expect(setting.run("sync", store).status == 0) }
    // Each appends the note behind what it has.
    for store in [a, b] {
      #expect(setting.run("set", store, "Note", note, "folder=\(setting.folder)").status == 0)
    }
    for store in [a, b, a] { #expect(setting.run("sync", store).status == 0) }
    let told = setting.run("conflicts", a).output
    #expect(
      told.contains("Your place of Note ") && told.contains(" in Folder.notes gave way to another place"), "\(told)")
    #expect(!told.contains("_tombolo"))
    let id = String(told.prefix { $0 != " " })
    let shown = setting.run("conflicts", "show", a, id).output
    #expect(shown.contains("place in Folder.notes") && !shown.contains("_tombolo"), "\(shown)")
    #expect(setting.run("conflicts", a, "--json").output.contains("\"property\":\"folder\""))
    let restored = setting.run("conflicts", "restore", a, id)
    #expect(restored.status == 0 && restored.output.contains("its place in Folder.notes"), "\(restored)")
    #expect(setting.run("conflicts", a).output.isEmpty)
    for store in [a, b] { #expect(setting.run("sync", store).status == 0) }
    #expect(try setting.titles(a) == setting.titles(b))
  }
}
