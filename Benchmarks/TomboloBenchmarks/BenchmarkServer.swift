import Foundation

/// A daemon of the run's own.
final class BenchmarkServer {
  let url: String
  let token: String
  private let process = Process()
  var processIdentifier: Int32 { process.processIdentifier }

  init(in folder: URL, programs: URL) throws {
    let program = programs.appending(path: "tombolod")
    let data = folder.appending(path: "server").path
    let tokenFile = folder.appending(path: "token")
    let create = Process()
    create.executableURL = program
    create.arguments = [
      "token", "create", "--data", data, "--store", "bench", "--role", "owner", "--out", tokenFile.path,
    ]
    create.standardOutput = FileHandle.nullDevice
    try create.run()
    create.waitUntilExit()
    token = try String(contentsOf: tokenFile, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
    let port = folder.appending(path: "port")
    process.executableURL = program
    process.arguments = ["serve", "--data", data, "--listen", "127.0.0.1:0", "--port-file", port.path]
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    var text = ""
    for _ in 0..<2000 where text.isEmpty {
      text = (try? String(contentsOf: port, encoding: .utf8)) ?? ""
      if text.isEmpty { usleep(5000) }
    }
    guard !text.isEmpty else { throw BenchmarkFailure("the daemon did not start") }
    url = "http://127.0.0.1:\(text.trimmingCharacters(in: .whitespacesAndNewlines))/v1/stores/bench"
  }

  func stop() {
    process.terminate()
    process.waitUntilExit()
  }
}

struct BenchmarkFailure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
