import Foundation
import Glibc
import Testing

@Suite("Stores that another user may only read", .timeLimit(.minutes(2)))
struct ReadOnlyTests {
  /// Runs `tombolo` as a user who may write nothing here.
  private func run(_ sandbox: Sandbox, _ arguments: String...) throws -> Sandbox.Result {
    guard geteuid() == 0 else { return try sandbox.run("tombolo", arguments) }
    let program = try Sandbox.program("tombolo").path
    return try sandbox.run(
      "/usr/bin/setpriv", ["--reuid=65534", "--regid=65534", "--clear-groups", program] + arguments)
  }

  /// A store with one airport in a folder that nobody may write.
  private func island(_ body: (Sandbox, _ store: String) throws -> Void) throws {
    let sandbox = try Sandbox()
    let folder = sandbox.path("shared")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    let store = folder + "/a.store"
    try sandbox.tombolo("init", store, "--schema", Sandbox.data("airports.schema.json"))
    try sandbox.tombolo("add", store, "State", "code=NO")
    chmod(sandbox.folder.path, 0o755)
    chmod(store, 0o444)
    chmod(folder, 0o555)
    defer { chmod(folder, 0o755) }
    try body(sandbox, store)
  }

  @Test(
    "They can be listed, shown and asked for their state, and nothing is made beside them",
    arguments: [["list"], ["status"], ["log"], ["conflicts"], ["parked"], ["schema", "show"]])
  func reading(_ words: [String]) throws {
    try island { sandbox, store in
      let arguments = words + [store] + (words == ["list"] ? ["State", "--csv"] : [])
      let result =
        arguments.count == 2
        ? try run(sandbox, arguments[0], arguments[1])
        : arguments.count == 3
          ? try run(sandbox, arguments[0], arguments[1], arguments[2])
          : try run(sandbox, arguments[0], arguments[1], arguments[2], arguments[3])
      #expect(result.status == 0, "\(result.errors)")
      if words == ["list"] { #expect(result.output.contains("NO")) }
      let names = try FileManager.default.contentsOfDirectory(atPath: sandbox.path("shared"))
      #expect(names == ["a.store"])
    }
  }

  @Test("A record can be shown, and writing is refused with the reason")
  func writing() throws {
    try island { sandbox, store in
      let listed = try run(sandbox, "list", store, "State", "--csv").output
      let id = String(listed.split(whereSeparator: \.isNewline).last?.prefix { $0 != "," } ?? "")
      #expect(try run(sandbox, "get", store, "State", id).output.contains("NO"))
      let refused = try run(sandbox, "add", store, "State", "code=SE")
      #expect(refused.status == 1 && refused.errors.contains("error[read_only_store]"), "\(refused.errors)")
      let elsewhere = try run(
        sandbox, "init", sandbox.path("shared/new.store"), "--schema", Sandbox.data("airports.schema.json"))
      #expect(elsewhere.errors.contains("error[file_unwritable]"), "\(elsewhere.errors)")
    }
  }

  @Test("A log that is not folded in is named as the reason")
  func withLog() throws {
    try island { sandbox, store in
      try Data(repeating: 7, count: 64).write(to: URL(fileURLWithPath: store + "-wal"))
      chmod(store + "-wal", 0o444)
      let result = try run(sandbox, "list", store, "State")
      #expect(result.status == 1, "\(result.output)")
      #expect(result.errors.contains("error[read_only_store]") && result.errors.contains("log"), "\(result.errors)")
    }
  }
}
