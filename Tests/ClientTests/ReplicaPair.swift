import Testing
import Tombolo
import TomboloClient
import TomboloProtocol
import TomboloSQLite

/// Two replicas of one store at a real server, both in step: one to be damaged, one to compare with.
final class ReplicaPair {
  private static let schema = """
    {"name":"Library","version":"1.0.0","entities":[
      {"name":"Book","attributes":[{"name":"title","type":"string","default":""},
                                   {"name":"pages","type":"int64","optional":true}],
       "relationships":[{"name":"tags","destination":"Tag","toMany":true,"inverse":"books"}]},
      {"name":"Mark","superentity":"Tag"},
      {"name":"Tag","attributes":[{"name":"label","type":"string","default":""}],
       "relationships":[{"name":"books","destination":"Book","toMany":true,"inverse":"tags"}]}]}
    """

  final class Clock: WallClock {
    private let last = Guarded(SystemClock().milliseconds())
    func milliseconds() -> UInt64 {
      last.withLock { last in
        last += 1
        return last
      }
    }
    func advance(by milliseconds: UInt64) { last.withLock { $0 += milliseconds } }
  }

  let hub: ServiceHub
  let clock = Clock()
  let damaged: Store
  let sound: Store

  /// Books `b0`, `b1` …, and tags `t0`, `t1`, `t2` on the first three of every twenty, at most.
  init(books: Int) throws {
    hub = try ServiceHub()
    let document = try SchemaDocument(parsing: Array(Self.schema.utf8))
    let options = Store.Options(clock: clock, randomness: SystemRandomness())
    damaged = try Store(.file(path: hub.folder + "/damaged.store"), document: document, options: options)
    sound = try Store(.file(path: hub.folder + "/sound.store"), document: document, options: options)
    for store in [damaged, sound] { try store.setRemote(ServiceHub.url, tokenFile: nil) }
    let (book, tag) = (try plan("Book"), try plan("Tag"))
    var ids: [RecordID] = []
    for start in stride(from: 0, to: books, by: 2_000) {
      try damaged.save { writer in
        for index in start..<min(books, start + 2_000) {
          let row = try ValueRow(book, ["title": .text("b\(index)")])
          ids.append(damaged.makeRecordID())
          try writer.insert(book, ids[index], assigned: row.assigned, from: row)
        }
      }
    }
    let link = try #require(book.links.first)
    try damaged.save { writer in
      for index in 0..<3 {
        let row = try ValueRow(tag, ["label": .text("t\(index)")])
        let id = damaged.makeRecordID()
        try writer.insert(tag, id, assigned: row.assigned, from: row)
        try writer.link(link, ids[min(books - 1, index * 10)], id)
      }
    }
    for store in [damaged, sound, damaged] {
      let report = try sync(store, scansRows: false).report
      #expect(report.checksum == .equal && report.repaired == 0)
    }
  }

  func plan(_ entity: String) throws -> EntityPlan { try #require(damaged.schema.entity(entity)) }

  func id(_ title: String) throws -> RecordID {
    try #require(
      try sound.read {
        try $0.firstRow(#"SELECT _tombolo_id FROM "Book" WHERE "title" = ?1"#, { $0.bind(title, at: 1) }) {
          $0.recordID(0)
        }
      } ?? nil)
  }

  func title(_ id: RecordID, _ store: Store) throws -> Value? { try store.row(try plan("Book"), id)?["title"] }

  func set(_ field: String, _ value: Value, of id: RecordID, in store: Store) throws {
    let book = try plan("Book")
    try store.save { writer in
      let row = try ValueRow(book, [field: value])
      try writer.update(book, id, changed: row.assigned, from: row)
    }
  }

  /// The library's own connections run without the triggers that notice what others write.
  func damage(_ statements: String...) throws {
    try damaged.write { connection in
      for statement in statements {
        try connection.execute(statement)
        try #require(connection.changes > 0, "\(statement) changes nothing")
      }
    }
  }

  /// Changes a book's title in the server's file, while the server runs.
  func damageServer(_ id: RecordID, _ change: (inout MergeField, MergeRecord) -> Void) throws {
    let connection = try Connection(path: hub.folder + "/stores/library.sqlite")
    let payload = try #require(
      try connection.firstRow("SELECT payload FROM record WHERE id = ?1", { $0.bind(id, at: 1) }) { $0.bytes(0) })
    var record = try MergeRecord(decoding: payload)
    let place = try #require(record.fields.firstIndex { $0.name == "title" })
    change(&record.fields[place], record)
    let bytes = record.encoded()
    try connection.run("UPDATE record SET payload = ?2 WHERE id = ?1") {
      $0.bind(id, at: 1)
      $0.bind(bytes, at: 2)
    }
  }

  /// One sync, with the requests that it took.
  /// - Parameter before: called before each request is sent.
  func sync(
    _ store: Store, token: String? = nil, scansRows: Bool = true, before: (TransportRequest) throws -> Void = { _ in }
  ) throws -> (report: SyncReport, requests: [String]) {
    var options = SyncEngine.Options()
    options.scansRows = scansRows
    var engine = try SyncEngine(
      store: store, token: token ?? hub.token, randomness: SystemRandomness(), options: options)
    let line = ServiceHub.Line(hub)
    var requests: [String] = []
    var instruction = try engine.handle(.start)
    for _ in 0..<200 {
      switch instruction {
      case .finished(let report): return (report, requests)
      case .wait: instruction = try engine.handle(.timer)
      case .send(let request):
        try before(request)
        requests.append("\(request.method) \(request.url.dropFirst(ServiceHub.url.count))")
        instruction = try engine.handle(.response(try line.perform(request)))
      }
    }
    throw TomboloError(.syncStalled, "The sync does not end.")
  }

  /// Both hold the same rows and pairs, under the same stamps.
  func expectSame(sourceLocation: SourceLocation = #_sourceLocation) throws {
    func content(_ store: Store) throws -> [String] {
      try store.read { connection in
        var rows: [String] = []
        for sql in [
          #"SELECT hex(_tombolo_id) || ' ' || "title" || ' ' || coalesce("pages", '') FROM "Book" ORDER BY 1"#,
          #"SELECT hex(_tombolo_id) || ' ' || "label" || ' ' || _tombolo_entity FROM "Tag" ORDER BY 1"#,
          #"SELECT hex(source) || ' ' || hex(target) FROM "Book_tags" ORDER BY 1"#,
        ] {
          try connection.eachRow(sql) { rows.append($0.string(0)) }
        }
        return rows
      }
    }
    let isSame = try content(damaged) == content(sound)
    #expect(isSame, "the rows differ", sourceLocation: sourceLocation)
    #expect(try damaged.checksum() == sound.checksum(), "the stamps differ", sourceLocation: sourceLocation)
  }
}
