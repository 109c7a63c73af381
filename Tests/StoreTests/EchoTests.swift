import Testing
import Tombolo
import TomboloProtocol
import TomboloSQLite

/// What a replica does with its own writes when a pull brings them back, and what travels of saves that wrote over each other.
@Suite struct EchoTests {
  private static func run() throws -> SyncRun {
    try SyncRun(SyncRun.Mix(name: "by hand", entities: ["Task"]), seed: 7, replicas: 2)
  }

  private static func copies(_ store: Store) throws -> Int {
    try store.read { connection in
      try connection.firstRow("SELECT count(*) FROM _tombolo_change WHERE kind = 0 AND detail IS NOT NULL") {
        Int($0.int64(0))
      } ?? -1
    }
  }

  @Test("the echo of a confirmed record copies none of its values, and its sum is the server's")
  func echoCopiesNothing() throws {
    let run = try Self.run()
    let (a, b) = (run.replicas[0], run.replicas[1])
    let task = try a.store.insert("Task", ["title": .text("written here"), "count": .integer(3)])
    try a.store.insert("Note", ["owner": Value(reference: task)])
    try run.push(a, upTo: 99, losesAnswer: false)
    try run.pull(a, limit: 99, pages: 99)
    #expect(try Self.copies(a.store) == 0)
    #expect(try a.store.checksum() == run.server.state.checksum)
    try run.pull(b, limit: 1, pages: 99)
    #expect(try b.store.checksum() == run.server.state.checksum)
    #expect(try b.store.values("Task", task)?["title"] == .text("written here"))
  }

  @Test("an echo that also brings what another wrote shows both")
  func echoWithNews() throws {
    let run = try Self.run()
    let (a, b) = (run.replicas[0], run.replicas[1])
    let task = try a.store.insert("Task", ["title": .text("first"), "name": .text("n")])
    for replica in [a, b, a] {
      try run.push(replica, upTo: 99, losesAnswer: false)
      try run.pull(replica, limit: 99, pages: 99)
    }
    try b.store.set("Task", task, ["name": .text("of b"), "count": .integer(2)])
    try run.push(b, upTo: 99, losesAnswer: false)
    try a.store.set("Task", task, ["title": .text("of a"), "count": .integer(5)])
    try run.push(a, upTo: 99, losesAnswer: false)
    for replica in [a, b] {
      try run.pull(replica, limit: 99, pages: 99)
      let values = try replica.store.values("Task", task)
      #expect(values?["title"] == .text("of a") && values?["name"] == .text("of b") && values?["count"] == .integer(7))
      #expect(try replica.store.checksum() == run.server.state.checksum)
    }
  }

  @Test("each save travels with its own value, though later saves wrote over it and over others")
  func valuesOfOverwrittenSaves() throws {
    let run = try Self.run()
    let a = run.replicas[0]
    let tasks = try (0..<4).map { try a.store.insert("Task", ["title": .text("new \($0)")]) }
    for round in 0..<3 {
      for task in tasks.dropFirst(round) { try a.store.set("Task", task, ["title": .text("round \(round)")]) }
    }
    var sent: [String] = []
    for _ in 0..<20 {
      let sets = try a.store.outbox(recordsMax: 1, bytesMax: .max)
      guard let set = sets.first, sets.count == 1 else { break }
      for change in set.changes {
        switch change {
        case .create(let create): sent += create.fields.filter { $0.name == "title" }.map { "\($0.value)" }
        case .update(let update): sent += update.writes.map { "\($0.value)" }
        case .delete, .link: break
        }
      }
      try run.push(a, upTo: 1, losesAnswer: false)
    }
    let created = (0..<4).map { "\(Value.text("new \($0)"))" }
    let written = (0..<3).flatMap { round in
      [String](repeating: "\(Value.text("round \(round)"))", count: tasks.count - round)
    }
    #expect(sent == created + written)
  }
}
