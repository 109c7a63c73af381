import Foundation
import Testing

@testable import TomboloSimulation

/// A run is a function of its seed, in one process and across processes.
@Suite("Replay")
struct ReplayTests {
  /// One seed's whole trace, from a process of its own.
  private func trace(seed: UInt64) throws -> [String] {
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let program = URL(fileURLWithPath: own).deletingLastPathComponent().appending(path: "tombolo")
    try #require(FileManager.default.isExecutableFile(atPath: program.path), "tombolo was not built beside the tests")
    let process = Process()
    process.executableURL = program
    process.arguments = ["simulate", "--seed", "\(seed)", "--trace"]
    process.standardInput = FileHandle.nullDevice
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  @Test("Two processes and this one agree on every line of a seed's trace", arguments: [UInt64(3), 11])
  func acrossProcesses(_ seed: UInt64) throws {
    let first = try trace(seed: seed)
    let second = try trace(seed: seed)
    let divergence = zip(first, second).first { $0 != $1 }
    #expect(divergence == nil)
    #expect(first.count == second.count)
    #expect(first.count > 100)
    var configuration = SimulationConfiguration()
    configuration.keepsTrace = true
    let report = try Simulation(configuration: configuration).run(seed: seed)
    #expect(first == report.trace.lines + ["digest \(report.trace.digest)"])
  }

  @Test("Another seed has another course")
  func otherSeed() throws {
    let simulation = Simulation()
    #expect(try simulation.run(seed: 3).trace.digest != simulation.run(seed: 4).trace.digest)
  }
}
