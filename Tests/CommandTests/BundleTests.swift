import Foundation
import Testing
import Tombolo
import TomboloClient
import TomboloCompression
import TomboloProtocol
import TomboloSQLite
import TomboloServer
import TomboloSimulation

@Suite("Bundles: the trace of a replica, written by doctor and replayed by simulate")
struct BundleTests {
  private static let schema = """
    {"name":"Diary","version":"1.0.0","entities":[
      {"name":"Entry","attributes":[
        {"name":"title","type":"string","default":""},
        {"name":"mood","type":"string","optional":true},
        {"name":"visits","type":"int64","default":0,"merge":"counter"},
        {"name":"best","type":"int64","default":0,"merge":"max"},
        {"name":"weight","type":"double","optional":true},
        {"name":"price","type":"decimal","optional":true},
        {"name":"photo","type":"data","optional":true},
        {"name":"link","type":"url","optional":true},
        {"name":"key","type":"uuid","optional":true},
        {"name":"day","type":"date","optional":true},
        {"name":"more","type":"codable","optional":true},
        {"name":"size","type":"int8","default":5},
        {"name":"isDone","type":"bool","default":false}],
       "relationships":[{"name":"parent","destination":"Entry","inverse":"parts","acyclic":true},
                        {"name":"parts","destination":"Entry","toMany":true,"inverse":"parent","deleteRule":"cascade"},
                        {"name":"topics","destination":"Topic","toMany":true,"inverse":"entries"}]},
      {"name":"Topic","attributes":[{"name":"name","type":"string"}],
       "relationships":[{"name":"entries","destination":"Entry","toMany":true,"inverse":"topics"}],
       "unique":[["name"]]}]}
    """

  /// Every value that is written; none is a default, and none appears in a bundle by chance.
  private static let secrets = [
    "Zanzibar", "Quokka", "Wombat", "Numbat", "melancholy", "elated", "8675309", "4711471", "271828", "1618033.5",
    "secret.example",
    "c2VjcmV0LWJ5dGVz", "7e57ab1e", "1987", "Mallory",
  ]

  /// Two replicas and a server with conflicts, deletes, counters, pairs, a cascade, and saves that wait.
  final class Setting {
    let fixture: CommandFixture
    let server: ServiceTransport
    let token: String
    let a: String
    let b: String

    init() throws {
      fixture = try CommandFixture()
      server = try ServiceTransport(directory: fixture.path("server"))
      token = try server.token(in: fixture)
      (a, b) = (fixture.path("a.store"), fixture.path("b.store"))
      let schema = try fixture.write(BundleTests.schema, to: "diary.json")
      for store in [a, b] {
        try succeed("init", store, "--schema", schema)
        try succeed("remote", "add", store, server.url, "--token-file", token)
      }
      let first = try add(
        a, "Entry", "title=Zanzibar", "mood=melancholy", "visits=3", "best=8675309", "weight=1618033.5",
        "price=271828.75", "link=https://secret.example/x", "photo=c2VjcmV0LWJ5dGVz",
        "key=7e57ab1e-0000-4000-8000-000000000000", "day=1987-03-04", "more={\"who\":\"Mallory\"}", "size=7",
        "isDone=true")
      let second = try add(a, "Entry", "title=Quokka", "parent=\(first)")
      let third = try add(a, "Entry", "title=Quokka", "best=4711471")
      let topic = try add(a, "Topic", "name=Wombat")
      try connect(a, third, topic)
      try sync(a, b)
      // Concurrent edits, an edit of what is deleted, additions on either side.
      try succeed("set", a, "Entry", third, "title=Wombat", "visits=5")
      try succeed("set", b, "Entry", third, "title=Zanzibar", "visits=2", "mood=elated")
      try succeed("set", b, "Entry", second, "mood=elated")
      try succeed("delete", a, "Entry", first)
      _ = try add(a, "Topic", "name=Numbat")
      let fourth = try add(b, "Topic", "name=Numbat")
      try connect(b, third, fourth)
      try sync(a, b, a)
      // What waits at the one.
      try succeed("set", a, "Entry", third, "title=Quokka", "visits=40", "mood:null")
      let fifth = try add(a, "Entry", "title=Mallory", "parent=\(third)", "visits=2")
      try succeed("set", a, "Entry", fifth, "visits=9", "best=271828")
      try succeed("delete", a, "Topic", topic)
    }

    func run(_ arguments: String...) -> CommandFixture.Result { fixture.run(arguments, transport: server) }

    func succeed(_ arguments: String...) throws {
      let result = fixture.run(arguments, transport: server)
      try #require(result.status == 0, "\(arguments): \(result.errors)")
    }

    func sync(_ stores: String...) throws { for store in stores { try succeed("sync", store) } }

    func add(_ store: String, _ words: String...) throws -> String {
      let result = fixture.run(["add", store] + words, transport: server)
      try #require(result.status == 0, "\(result.errors)")
      return try #require(result.lines.first)
    }

    /// As another program would.
    private func connect(_ store: String, _ entry: String, _ topic: String) throws {
      func blob(_ id: String) -> String { "x'" + id.filter { $0 != "-" } + "'" }
      let connection = try Connection(path: store)
      try connection.execute("INSERT INTO Entry_topics(source, target) VALUES (\(blob(entry)), \(blob(topic)))")
    }

    func bundle(_ store: String, _ options: String..., name: String = "trace.bundle") throws -> String {
      let path = fixture.path(name)
      let result = fixture.run(["doctor", store, "--bundle", path] + options, transport: server)
      try #require(FileManager.default.fileExists(atPath: path), "\(result.output)\(result.errors)")
      return path
    }
  }

  private static func bytes(_ path: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
  }

  private static func text(_ path: String) throws -> String {
    String(decoding: try Zstd.decompress(try bytes(path), limit: 1 << 26), as: UTF8.self)
  }

  @Test(
    "What was captured replays to the same records, stamps and pairs, with values and without",
    arguments: [true, false])
  func replays(hasValues: Bool) throws {
    let setting = try Setting()
    #expect(!setting.run("conflicts", setting.a).output.isEmpty || !setting.run("conflicts", setting.b).output.isEmpty)
    for store in [setting.a, setting.b] {
      let name = store == setting.a ? "a.bundle" : "b.bundle"
      let path =
        hasValues ? try setting.bundle(store, "--with-values", name: name) : try setting.bundle(store, name: name)
      let replayed = setting.run("simulate", "--replay", path)
      #expect(replayed.status == 0, "\(replayed.output)\(replayed.errors)")
      #expect(replayed.output.contains("The replay ends as the replica was"), "\(replayed.output)")
      #expect(replayed.output.contains("is taken") == (store == setting.a), "\(replayed.output)")
      #expect(replayed.output.contains(hasValues ? "values    kept" : "values    placeholders"))
    }
  }

  @Test("A bundle holds no value, no token, no host and no path, and with values still no token")
  func hidesValues() throws {
    let setting = try Setting()
    let hidden = try Self.text(try setting.bundle(setting.a))
    let open = try Self.text(try setting.bundle(setting.a, "--with-values", name: "open.bundle"))
    for secret in ["Quokka", "Mallory", "271828"] {
      #expect(open.contains(secret), "\(secret) is not even in the bundle with values")
    }
    for secret in Self.secrets { #expect(!hidden.contains(secret), "\(secret)") }
    let token = try setting.fixture.read("owner.token").trimmingCharacters(in: .whitespacesAndNewlines)
    for text in [hidden, open] {
      #expect(!text.contains(token) && !text.contains(token.suffix(32)))
      #expect(!text.contains("owner.token") && !text.contains("//server") && !text.contains(setting.fixture.folder))
    }
    for line in ["schema", "environment", "replica", "finding", "save", "confirmed", "unsent", "shown", "end"] {
      #expect(hidden.contains("\"line\":\"\(line)\""), "no line \(line)")
    }
  }

  @Test("Placeholders are equal where values are, and stand in their order")
  func placeholders() throws {
    let setting = try Setting()
    let hidden = try TraceBundle(decoding: try Self.bytes(try setting.bundle(setting.b)))
    let open = try TraceBundle(decoding: try Self.bytes(try setting.bundle(setting.b, "--with-values", name: "o")))
    func values(_ bundle: TraceBundle, _ name: String) -> [Value] {
      bundle.shown.compactMap { item in
        guard case .record(let record) = item else { return nil }
        return record.fields.first { $0.name == name }?.value
      }
    }
    for name in ["title", "mood", "best", "weight", "price", "day", "size", "isDone", "name"] {
      let (mine, theirs) = (values(hidden, name), values(open, name))
      #expect(mine.count == theirs.count && !mine.isEmpty)
      for i in mine.indices {
        #expect(mine[i].isNull == theirs[i].isNull, "\(name)")
        for j in mine.indices where !mine[i].isNull && !mine[j].isNull {
          #expect((mine[i] == mine[j]) == (theirs[i] == theirs[j]), "\(name)")
          guard name == "best" || name == "title" else { continue }
          let type: AttributeType = name == "best" ? .int64 : .string
          #expect(FieldMerge.isLess(mine[i], mine[j], of: type) == FieldMerge.isLess(theirs[i], theirs[j], of: type))
        }
      }
    }
  }

  @Test("A bundle in which a value, a stamp, a record or a pair is changed is caught, and what differs is named")
  func edited() throws {
    let setting = try Setting()
    let bundle = try TraceBundle(decoding: try Self.bytes(try setting.bundle(setting.a)))
    func replayed(_ edit: (inout TraceBundle) -> String?) throws {
      var edited = bundle
      let named = try #require(edit(&edited), "there is nothing to edit")
      let path = setting.fixture.path("edited-\(UInt32.random(in: 0 ... .max))")
      try Data(try edited.encoded()).write(to: URL(fileURLWithPath: path))
      let result = setting.run("simulate", "--replay", path)
      #expect(result.status == 1)
      #expect(result.output.contains("The replay ends otherwise") && result.output.contains(named), "\(result.output)")
    }
    func editRecord(_ bundle: inout TraceBundle, _ body: (inout RecordState) -> String) -> String? {
      for index in bundle.shown.indices {
        guard case .record(var record) = bundle.shown[index], record.entity == "Entry" else { continue }
        let named = body(&record)
        bundle.shown[index] = .record(record)
        return named
      }
      return nil
    }
    try replayed { bundle in
      editRecord(&bundle) { record in
        let place = record.fields.firstIndex { $0.name == "title" } ?? 0
        record.fields[place].value = .text("another")
        return "Entry \(record.id).title was 'another'"
      }
    }
    try replayed { bundle in
      editRecord(&bundle) { record in
        let place = record.fields.firstIndex { $0.name == "title" } ?? 0
        let stamp = record.fields[place].stamp
        record.fields[place].stamp = Stamp(
          clock: ClockReading(rawValue: stamp.clock.rawValue + 1), replica: stamp.replica, derived: stamp.derived)
        return "Entry \(record.id).title was of"
      }
    }
    try replayed { bundle in
      guard let place = bundle.shown.firstIndex(where: { if case .record = $0 { true } else { false } }),
        case .record(let record) = bundle.shown.remove(at: place)
      else { return nil }
      return "\(record.id) is there after the replay"
    }
    try replayed { bundle in
      guard let place = bundle.pending.lastIndex(where: { !$0.changeSet.changes.isEmpty }) else { return nil }
      bundle.pending.remove(at: place)
      return "after the replay"
    }
  }

  @Test("A bundle that is damaged or cut short is refused by its code", arguments: [0, 1, 10, 200, -1, -20])
  func damaged(length: Int) throws {
    let setting = try Setting()
    let whole = try Self.bytes(try setting.bundle(setting.a))
    let cut = length >= 0 ? Array(whole.prefix(length)) : Array(whole.dropLast(-length))
    var flipped = whole
    flipped[whole.count * 2 / 3 + length % 7] ^= 0x01
    for bytes in [cut, flipped] {
      let path = setting.fixture.path("damaged-\(bytes.count)")
      try Data(bytes).write(to: URL(fileURLWithPath: path))
      let result = setting.run("simulate", "--replay", path)
      #expect(result.status == 1 && result.errors.contains("error[damaged_bundle]"), "\(result.output)\(result.errors)")
    }
  }

  @Test("A single bit that changes anywhere in the file is noticed, or changes nothing")
  func bits() throws {
    let setting = try Setting()
    let whole = try Self.bytes(try setting.bundle(setting.a))
    let bundle = try TraceBundle(decoding: whole)
    for place in whole.indices {
      var flipped = whole
      flipped[place] ^= 1 << UInt8(place % 8)
      do {
        // One bit of a frame's head means nothing.
        #expect(try TraceBundle(decoding: flipped) == bundle, "byte \(place)")
      } catch let error as TomboloError {
        #expect(error.code == .damagedBundle, "byte \(place)")
      }
    }
  }

  @Test("Lines that are missing inside a whole frame are noticed, and what a later version adds is passed over")
  func lines() throws {
    let setting = try Setting()
    let lines = try Self.text(try setting.bundle(setting.a)).split(separator: "\n").map(String.init)
    func read(_ lines: [String]) throws -> TraceBundle {
      try TraceBundle(decoding: try Zstd.compress(Array(lines.joined(separator: "\n").utf8)))
    }
    for place in [0, 1, 3, lines.count - 2, lines.count - 1] {
      var fewer = lines
      fewer.remove(at: place)
      let error = #expect(throws: TomboloError.self) { _ = try read(fewer) }
      #expect(error?.code == .damagedBundle)
    }
    var nonsense = lines
    nonsense[4] = "{\"line\":\"confirmed\",\"item\":7}"
    #expect(throws: TomboloError.self) { _ = try read(nonsense) }
    #expect(throws: TomboloError.self) {
      _ = try read(["{\"line\":\"bundle\",\"format\":2}"] + lines.dropFirst())
    }
    #expect(try read(lines).shown.count > 0)
  }

  @Test("A bundle never takes another file's place, and a store without a server has none")
  func refusals() throws {
    let setting = try Setting()
    let path = try setting.fixture.write("mine", to: "mine")
    let taken = setting.run("doctor", setting.a, "--bundle", path)
    #expect(taken.status == 1 && taken.errors.contains("error[file_unwritable]"), "\(taken.errors)")
    #expect(try setting.fixture.read("mine") == "mine")
    let alone = setting.fixture.path("alone.store")
    try setting.succeed("init", alone, "--schema", setting.fixture.path("diary.json"))
    let none = setting.run("doctor", alone, "--bundle", setting.fixture.path("none"))
    #expect(none.status == 1 && none.errors.contains("error[no_remote]"), "\(none.errors)")
    #expect(setting.run("doctor", setting.a, "--with-values").status == 64)
  }
}
