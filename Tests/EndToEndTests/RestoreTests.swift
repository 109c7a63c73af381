import Foundation
import Testing

@Suite("A restored server, with real processes", .serialized, .timeLimit(.minutes(5)))
struct RestoreTests {
  private static let schema = """
    {"name":"Notes","version":"1.0.0","entities":[
      {"name":"Note","attributes":[{"name":"text","type":"string","default":""}]}]}
    """

  private static func url(_ port: UInt16) -> String { "http://127.0.0.1:\(port)/v1/stores/notes" }

  @Test(
    "A data directory that is put back from a backup gets back what its replicas have, told or not",
    arguments: [true, false])
  func backup(isTold: Bool) throws {
    let sandbox = try Sandbox()
    try Data(Self.schema.utf8).write(to: URL(fileURLWithPath: sandbox.path("notes.json")))
    let token = try Daemon.token(in: sandbox, store: "notes")
    var daemon = try Daemon(in: sandbox)
    try sandbox.tombolo("init", "a.store", "--schema", "notes.json")
    try sandbox.tombolo("remote", "add", "a.store", Self.url(daemon.port), "--token-file", token)
    try sandbox.tombolo("add", "a.store", "Note", "text=before")
    try sandbox.tombolo("sync", "a.store")
    try sandbox.tombolo("clone", Self.url(daemon.port), "b.store", "--token-file", token)
    #expect(daemon.stop() == 0)
    try FileManager.default.copyItem(atPath: sandbox.path("server"), toPath: sandbox.path("backup"))

    daemon = try Daemon(in: sandbox, port: daemon.port)
    #expect(try sandbox.run("tombolod", ["restore", "--data", sandbox.path("server")]).status == 1, "while it serves")
    for store in ["a.store", "b.store"] { try sandbox.tombolo("add", store, "Note", "text=after, \(store)") }
    for store in ["a.store", "b.store", "a.store"] { try sandbox.tombolo("sync", store) }
    #expect(daemon.stop() == 0)
    try FileManager.default.removeItem(atPath: sandbox.path("server"))
    try FileManager.default.copyItem(atPath: sandbox.path("backup"), toPath: sandbox.path("server"))
    if isTold {
      let told = try sandbox.run("tombolod", ["restore", "--data", sandbox.path("server")])
      #expect(told.status == 0 && told.output.contains("notes"), "\(told.errors)")
    }

    daemon = try Daemon(in: sandbox, port: daemon.port)
    for store in ["a.store", "b.store"] {
      let stopped = try sandbox.run("tombolo", ["sync", store])
      #expect(stopped.status == 1 && stopped.errors.contains("other_epoch"), "\(stopped.errors)")
      #expect(stopped.errors.contains("--reupload") && stopped.errors.contains("--reset"))
    }
    for store in ["a.store", "b.store"] { try sandbox.tombolo("sync", store, "--reupload") }
    for store in ["a.store", "b.store"] {
      try sandbox.tombolo("sync", store)
      #expect(try sandbox.count(store, "Note") == 3)
      #expect(try sandbox.object("verify", store, "--json")["equal"] as? Bool == true)
    }
    #expect(daemon.stop() == 0)
  }
}
