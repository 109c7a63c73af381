import Foundation
import Testing

/// What the programs do where their standard streams cannot be written: full, closed, or a pipe that nobody reads any more.
@Suite("Standard streams that take nothing", .timeLimit(.minutes(1)))
struct StreamTests {
  /// Runs a program in a shell with its streams led elsewhere.
  ///
  /// - Returns: the exit status, as the shell tells it: 128 and the signal's number for one that was killed by it.
  private static func run(_ sandbox: Sandbox, _ program: String, _ arguments: String, _ streams: String) throws -> (
    status: Int32, errors: String
  ) {
    let path = try Sandbox.program(program).path
    let result = try sandbox.run("/bin/sh", ["-c", "'\(path)' \(arguments) \(streams); echo $? > status"])
    let told = try String(contentsOfFile: sandbox.path("status"), encoding: .utf8)
    return (try #require(Int32(told.trimmingCharacters(in: .whitespacesAndNewlines))), result.errors)
  }

  @Test(
    "A result that cannot be written is an error with its reason, and never a success",
    arguments: ["tombolo", "tombolod"], ["> /dev/full", ">&-"])
  func result(program: String, streams: String) throws {
    let sandbox = try Sandbox()
    for arguments in ["--help", "--version", program == "tombolo" ? "schema --help" : "token --help"] {
      let result = try Self.run(sandbox, program, arguments, streams)
      #expect(result.status == 1, "\(arguments): \(result)")
      #expect(result.errors.contains("file_unwritable"), "\(arguments): \(result)")
    }
  }

  @Test("An error that cannot be told keeps its status", arguments: ["tombolo", "tombolod"], ["2> /dev/full", "2>&-"])
  func error(program: String, streams: String) throws {
    let result = try Self.run(try Sandbox(), program, "nonsense", streams)
    #expect(result.status == 64, "\(result)")
    // Neither stream can be written.
    #expect(try Self.run(try Sandbox(), program, "--help", "> /dev/full " + streams).status == 1)
  }

  @Test("A reader that goes away ends a program without a word", arguments: ["tombolo", "tombolod"])
  func pipe(program: String) throws {
    let sandbox = try Sandbox()
    let path = try Sandbox.program(program).path
    // The reader is gone for certain when the program writes.
    let result = try sandbox.run(
      "/bin/sh",
      [
        "-c",
        "mkfifo go; { read line < go; '\(path)' --help; echo $? > status; } | { exec < /dev/null; echo > go; }; cat status >&2",
      ])
    let status = try #require(Int32(result.errors.trimmingCharacters(in: .whitespacesAndNewlines)), "\(result)")
    #expect([1, 128 + SIGPIPE].contains(status))
  }

  @Test("A token that nobody could be told is revoked at once")
  func token() throws {
    let sandbox = try Sandbox()
    let result = try Self.run(
      sandbox, "tombolod", "token create --data '\(sandbox.path("server"))' --store s --role owner", "> /dev/full")
    #expect(result.status == 1 && result.errors.contains("revoked"), "\(result)")
    let list = try sandbox.run("tombolod", ["token", "list", "--data", sandbox.path("server")]).output
    #expect(list.contains("\trevoked\t") && !list.contains("\tvalid\t"), "\(list)")
  }

  @Test(
    "A daemon whose log nobody takes any more goes on serving", arguments: ["2> /dev/full", "2>&-", "> /dev/full 2>&-"])
  func daemon(streams: String) throws {
    let sandbox = try Sandbox()
    let token = try Daemon.token(in: sandbox, store: "airports")
    let path = try Sandbox.program("tombolod").path
    let shell = Process()
    shell.executableURL = URL(fileURLWithPath: "/bin/sh")
    shell.arguments = [
      "-c",
      "exec '\(path)' serve --verbose --data '\(sandbox.path("server"))' --listen 127.0.0.1:0 "
        + "--port-file '\(sandbox.path("port"))' \(streams)",
    ]
    shell.standardOutput = FileHandle.nullDevice
    try shell.run()
    defer {
      shell.terminate()
      shell.waitUntilExit()
      #expect(shell.terminationStatus == 0)
    }
    while !FileManager.default.fileExists(atPath: sandbox.path("port")), shell.isRunning { usleep(2_000) }
    let port = try String(contentsOfFile: sandbox.path("port"), encoding: .utf8)
      .trimmingCharacters(in: .whitespacesAndNewlines)
    try sandbox.tombolo("init", "a.store", "--schema", Sandbox.data("airports.schema.json"))
    try sandbox.tombolo(
      "remote", "add", "a.store", "http://127.0.0.1:\(port)/v1/stores/airports", "--token-file", token)
    for _ in 0..<2 { try sandbox.tombolo("sync", "a.store") }
    #expect(shell.isRunning)
  }
}
