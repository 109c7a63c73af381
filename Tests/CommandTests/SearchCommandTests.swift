import Testing
import Tombolo
import TomboloCommand
import TomboloSQLite

@Suite("Searching, and what lies beside the records")
struct SearchCommandTests {
  private static let schema = """
    {"name":"Notes","version":"1.0.0","entities":[
      {"name":"Note","attributes":[
        {"name":"title","type":"string","default":"","options":["spotlight"]},
        {"name":"text","type":"string","optional":true,"options":["spotlight"]},
        {"name":"stars","type":"int64","default":0},
        {"name":"scan","type":"data","optional":true,"options":["externalStorage"]}],
       "indexes":[{"attributes":["stars"],"kind":"rtree"}]},
      {"name":"Tag","attributes":[{"name":"label","type":"string","default":""}]}]}
    """

  private func filled() throws -> (fixture: CommandFixture, store: String) {
    let fixture = try CommandFixture()
    let store = fixture.path("notes.store")
    let made = fixture.run("init", store, "--schema", try fixture.write(Self.schema, to: "notes.json"))
    try #require(made.status == 0, "\(made.errors)")
    _ = try fixture.add(store, "Note", "title=The Long Road", "text=a road and a road", "stars=3")
    _ = try fixture.add(store, "Note", "title=Café", "text=the road there", "stars=5")
    _ = try fixture.add(store, "Note", "title=Else", "stars=1")
    return (fixture, store)
  }

  @Test("list --search finds words, the best first, together with --where, --sort and --limit")
  func search() throws {
    let (fixture, store) = try filled()
    func titles(_ arguments: String...) -> [String] {
      let result = fixture.run(["list", store, "Note", "--csv"] + arguments)
      #expect(result.status == 0, "\(result.errors)")
      return result.lines.dropFirst().map { line in ["Long Road", "Café", "Else"].first { line.contains($0) } ?? line }
    }
    #expect(titles("--search", "road") == ["Long Road", "Café"])
    #expect(titles("--search", "road", "--sort", "-stars") == ["Café", "Long Road"])
    #expect(titles("--search", "ROAD", "--where", "stars > 3") == ["Café"])
    #expect(titles("--search", "road", "--limit", "1") == ["Long Road"])
    #expect(titles("--search", "cafe") == ["Café"])
    #expect(titles("--search", "nowhere") == [] && titles("--search", "") == [])
    let refused = fixture.run("list", store, "Tag", "--search", "road")
    #expect(refused.status == 1 && refused.errors.hasPrefix("error[unsupported_feature]: "))
  }

  @Test("list --where sees a large value as it is, also where it lies outside of its row")
  func largeValues() throws {
    let (fixture, store) = try filled()
    let large = String(repeating: "AAAA", count: 50_000)
    _ = try fixture.add(store, "Note", "title=Scanned", "scan=\(large)")
    _ = try fixture.add(store, "Note", "title=Small", "scan=AAAA")
    let outside = try Connection(path: store).firstRow("SELECT length(body) FROM _tombolo_external") { $0.int64(0) }
    #expect(outside == 150_000)
    func titles(_ condition: String) -> [String] {
      let result = fixture.run("list", store, "Note", "--where", condition, "--csv")
      #expect(result.status == 0, "\(result.errors)")
      return ["Scanned", "Small", "Else"].filter { result.output.contains($0) }
    }
    #expect(titles("length(scan) > 100000") == ["Scanned"])
    #expect(titles("length(scan) = 3 OR scan IS NULL") == ["Small", "Else"])
    #expect(titles("length(scan) = 0") == [])
    let listed = fixture.run("list", store, "Note", "--where", "title = 'Scanned'", "--json")
    #expect(listed.output.contains(large))
    #expect(
      fixture.run("list", store, "Note", "--search", "scanned", "--where", "length(scan) > 9", "--sort", "-title").lines
        .count == 2)
    let refused = fixture.run("list", store, "Note", "--where", "(SELECT count(*) FROM sqlite_schema) > 0")
    #expect(refused.status == 1)
  }

  @Test("doctor looks at search indexes, trees and large values, each under its code")
  func doctor() throws {
    let (fixture, store) = try filled()
    let sound = fixture.run("doctor", store, "--json")
    for code in ["search", "trees", "external"] {
      #expect(sound.output.contains("{\"severity\":\"fine\",\"code\":\"\(code)\""), "\(code): \(sound.output)")
    }
    let connection = try Connection(path: store)
    connection.setTriggersEnabled(false)
    try connection.execute(
      "UPDATE Note SET title = 'other', stars = 9; INSERT INTO _tombolo_external VALUES (zeroblob(16), 'scan', x'01')")
    let told = fixture.run("doctor", store, "--json").output
    #expect(told.contains("{\"severity\":\"problem\",\"code\":\"search\""), "\(told)")
    #expect(told.contains("{\"severity\":\"problem\",\"code\":\"trees\""), "\(told)")
    #expect(told.contains("{\"severity\":\"warning\",\"code\":\"external\""), "\(told)")
  }

  @Test("A large value is listed, searched by --where and exported as any other")
  func large() throws {
    let (fixture, store) = try filled()
    let connection = try Connection(path: store)
    try connection.execute("UPDATE Note SET scan = zeroblob(200000) WHERE title = 'Else'")
    #expect(fixture.run("set", store, "Note", "--help").status == 0)
    _ = try fixture.add(store, "Note", "title=last")
    #expect(try connection.firstRow("SELECT length(body) FROM _tombolo_external") { $0.int64(0) } == 200_000)
    let listed = fixture.run("list", store, "Note", "--where", "title = 'Else'", "--json")
    #expect(listed.status == 0 && listed.output.count > 200_000, "\(listed.errors)")
  }
}
