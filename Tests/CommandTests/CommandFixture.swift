import Foundation
import Testing
import Tombolo
import TomboloClient
import TomboloCommand
import TomboloProtocol

/// A folder of its own, in which commands run without a process.
final class CommandFixture: Sendable {
  struct Result: Sendable {
    var status: Int32
    var output: String
    var errors: String
    var lines: [String] { output.split(whereSeparator: \.isNewline).map(String.init) }
  }

  let folder: String

  init() throws {
    let path = NSTemporaryDirectory() + "/tombolo-commands-" + String(SystemRandomness().next(), radix: 36)
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    folder = path
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  func path(_ name: String) -> String { folder + "/" + name }

  @discardableResult
  func write(_ text: String, to name: String) throws -> String {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path(name)))
    return path(name)
  }

  func read(_ name: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(fileURLWithPath: path(name))), as: UTF8.self)
  }

  func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(name)) }

  func run(_ arguments: String..., transport: any Transport = NoTransport()) -> Result {
    run(arguments, transport: transport)
  }

  func run(_ arguments: [String], transport: any Transport = NoTransport()) -> Result {
    let texts = Guarded((output: "", errors: ""))
    let output = Output(
      standardOutput: { text in texts.withLock { $0.output += text } },
      standardError: { text in texts.withLock { $0.errors += text } }, isTerminal: false, showsProgress: false)
    let context = CommandContext(
      output: output, clock: SystemClock(), randomness: SystemRandomness(), makeTransport: { transport })
    let status = CommandRunner.run(arguments, in: context)
    return texts.withLock { Result(status: status, output: $0.output, errors: $0.errors) }
  }

  /// A store of the sample schema.
  func library(version: String? = "1.0.0") throws -> String {
    let schema = try write(Self.schema(version: version), to: "library.json")
    let store = path("library.store")
    let made = run("init", store, "--schema", schema)
    #expect(made.status == 0, "\(made.errors)")
    return store
  }

  /// Adds a record and returns its identifier.
  func add(_ store: String, _ entity: String, _ assignments: String...) throws -> String {
    let added = run(["add", store, entity] + assignments)
    try #require(added.status == 0, "\(added.errors)")
    return try #require(added.lines.first)
  }

  static func schema(version: String?) -> String {
    """
    {"name":"Library",\(version.map { "\"version\":\"\($0)\"," } ?? "")"entities":[
      {"name":"Book","attributes":[
        {"name":"title","type":"string","default":""},
        {"name":"isbn","type":"string","optional":true},
        {"name":"pages","type":"int16","optional":true},
        {"name":"price","type":"decimal","optional":true},
        {"name":"weight","type":"double","default":0},
        {"name":"lent","type":"bool","default":false},
        {"name":"added","type":"date","optional":true},
        {"name":"tag","type":"uuid","optional":true}],
       "relationships":[{"name":"shelf","destination":"Shelf","inverse":"books"},
                        {"name":"sequel","destination":"Book","inverse":"prequel"},
                        {"name":"prequel","destination":"Book","inverse":"sequel"}]},
      {"name":"Shelf","attributes":[
        {"name":"code","type":"string"},
        {"name":"room","type":"int64","default":1}],
       "relationships":[{"name":"books","destination":"Book","toMany":true,"inverse":"shelf","deleteRule":"cascade"}],
       "unique":[["code"]]}]}
    """
  }
}

/// Fails the test that sends anything.
struct NoTransport: Transport {
  func perform(_ request: TransportRequest) throws -> TransportResponse {
    Issue.record("something was sent: \(request.method)")
    throw TransportFailure(.unreachable, reason: "there is no network here")
  }
}
