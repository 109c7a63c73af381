import Foundation
import Testing

/// The built programs, and a folder of a test's own in which they run.
final class Sandbox: Sendable {
  let folder: URL

  struct Result: Sendable {
    var status: Int32
    var output: String
    var errors: String
  }

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "tombolo-\(UInt64.random(in: .min ... .max))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// The programs lie beside the test bundle.
  static func program(_ name: String) throws -> URL {
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let url = URL(fileURLWithPath: own).deletingLastPathComponent().appending(path: name)
    try #require(FileManager.default.isExecutableFile(atPath: url.path), "\(name) was not built beside the tests")
    return url
  }

  static func data(_ name: String) -> String {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Examples/data/\(name)").path
  }

  func path(_ name: String) -> String { folder.appending(path: name).path }

  /// Starts a program without waiting for it; its output goes to files of the folder.
  func start(_ name: String, _ arguments: [String], output: Any? = nil) throws -> Process {
    let process = Process()
    process.executableURL = try Self.program(name)
    process.arguments = arguments
    process.currentDirectoryURL = folder
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output ?? FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    return process
  }

  /// Runs a program to its end.
  @discardableResult
  func run(_ name: String, _ arguments: [String]) throws -> Result {
    let process = Process()
    process.executableURL = name.hasPrefix("/") ? URL(fileURLWithPath: name) : try Self.program(name)
    process.arguments = arguments
    process.currentDirectoryURL = folder
    process.standardInput = FileHandle.nullDevice
    let number = UInt64.random(in: .min ... .max)
    let files = (folder.appending(path: "out-\(number)"), folder.appending(path: "err-\(number)"))
    for file in [files.0, files.1] { try Data().write(to: file) }
    process.standardOutput = try FileHandle(forWritingTo: files.0)
    process.standardError = try FileHandle(forWritingTo: files.1)
    try process.run()
    process.waitUntilExit()
    return Result(
      status: process.terminationStatus, output: try String(contentsOf: files.0, encoding: .utf8),
      errors: try String(contentsOf: files.1, encoding: .utf8))
  }

  /// Runs `tombolo` and expects it to succeed.
  @discardableResult
  func tombolo(_ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
    let result = try run("tombolo", arguments)
    #expect(result.status == 0, "tombolo \(arguments): \(result.errors)", sourceLocation: sourceLocation)
    return result.output
  }

  /// A JSON object that a command printed.
  func object(_ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation) throws -> [String:
    any Sendable]
  {
    let result = try run("tombolo", arguments)
    let value = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
    return try #require(
      value as? [String: any Sendable], "\(arguments): \(result.errors)", sourceLocation: sourceLocation)
  }

  func count(_ store: String, _ entity: String) throws -> Int {
    try tombolo("list", store, entity, "--csv").split(whereSeparator: \.isNewline).count - 1
  }
}

/// A running `tombolod`.
final class Daemon {
  let sandbox: Sandbox
  let port: UInt16
  private let process: Process

  /// - Parameter port: 0 for any free one; a restarted daemon asks for the one it had.
  init(in sandbox: Sandbox, port: UInt16 = 0, options: [String] = []) throws {
    self.sandbox = sandbox
    let pipe = Pipe()
    process = try sandbox.start(
      "tombolod",
      ["serve", "--data", sandbox.path("server"), "--listen", "127.0.0.1:\(port)", "--port-file", sandbox.path("port")]
        + options, output: pipe)
    // The daemon says where it listens once it does; until then the read blocks.
    var line = ""
    while !line.contains("\n") {
      let part = pipe.fileHandleForReading.availableData
      if part.isEmpty { break }
      line += String(decoding: part, as: UTF8.self)
    }
    let text = try String(contentsOfFile: sandbox.path("port"), encoding: .utf8)
    self.port = try #require(UInt16(text.trimmingCharacters(in: .whitespacesAndNewlines)))
  }

  deinit { if process.isRunning { kill() } }

  /// Ends it as a power cut would.
  func kill() {
    Glibc.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Asks it to stop, and returns its exit status.
  func stop() -> Int32 {
    process.terminate()
    process.waitUntilExit()
    return process.terminationStatus
  }

  static func token(in sandbox: Sandbox, store: String, role: String = "owner") throws -> String {
    let file = sandbox.path("token-\(store)-\(role)")
    let result = try sandbox.run(
      "tombolod",
      ["token", "create", "--data", sandbox.path("server"), "--store", store, "--role", role, "--out", file])
    try #require(result.status == 0, "\(result.errors)")
    return file
  }
}
