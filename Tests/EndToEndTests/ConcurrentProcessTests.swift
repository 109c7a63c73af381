import Foundation
import Testing

/// Four processes on one store, one of which syncs it and another replica of its own.
///
/// `TOMBOLO_HAMMER_SECONDS` makes it longer.
@Suite("Several processes on one store", .timeLimit(.minutes(10)))
struct ConcurrentProcessTests {
  private struct Report: Decodable {
    var saves: Int
    var cells: [String: Int]
    var half: Int
    var batchSaves: Int
    var batches: [String]
    var reads: Int
    var syncs: Int
    var faults: [String]
  }

  private struct Content: Decodable, Equatable {
    var cells: [String: [Int]]
    var halves: [Int: [Int]]
    var batches: [String: Int]
    var transactions: [String: Int]
    var historyFaults: [String]
  }

  private static let seconds = ProcessInfo.processInfo.environment["TOMBOLO_HAMMER_SECONDS"] ?? "6"

  private func decode<Value: Decodable>(_ type: Value.Type, _ result: Sandbox.Result) throws -> Value {
    try #require(result.status == 0, "\(result.errors)")
    return try JSONDecoder().decode(type, from: Data(result.output.utf8))
  }

  /// All four at once: a thread waits for each.
  private func hammer(_ sandbox: Sandbox, _ remote: [String]) async throws -> [Report] {
    let results = try await withThrowingTaskGroup(of: (Int, Sandbox.Result).self) { group in
      for number in 0..<4 {
        let other = number == 3 ? [sandbox.path("other.store")] : []
        group.addTask {
          try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
              continuation.resume(
                with: Result {
                  let words = ["work", "\(number)", Self.seconds] + remote + other
                  return (number, try sandbox.run("TomboloHammer", [sandbox.path("one.store")] + words))
                })
            }
          }
        }
      }
      return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
    }
    return try (0..<4).map { try decode(Report.self, try #require(results[$0])) }
  }

  @Test("No error, no lost column, no torn read, each commit counted once, and the replicas equal in the end")
  func fourProcesses() async throws {
    let sandbox = try Sandbox()
    let token = try Daemon.token(in: sandbox, store: "hammer")
    let daemon = try Daemon(in: sandbox)
    let remote = ["http://127.0.0.1:\(daemon.port)/v1/stores/hammer", token]
    let (one, other) = (sandbox.path("one.store"), sandbox.path("other.store"))
    let reports = try await hammer(sandbox, remote)

    #expect(reports.flatMap(\.faults) == [])
    for report in reports { #expect(report.saves > 0 && report.reads > 0) }

    for store in [one, other, one, other] {
      let result = try sandbox.run("TomboloHammer", [store, "sync"] + remote)
      #expect(result.status == 0, "\(result.errors)")
    }
    let content = try decode(Content.self, sandbox.run("TomboloHammer", [one, "content"]))
    for (number, report) in reports.enumerated() {
      for (cell, value) in report.cells {
        #expect(content.cells[cell]?[number] == value, "the column of worker \(number) in \(cell)")
      }
      if report.half > 0 { #expect(content.halves[number] == [report.half, report.half]) }
      for batch in report.batches { #expect(content.batches[batch] == 3, "\(batch)") }
      #expect(content.transactions["worker \(number)"] == report.saves)
      // Also what was added and removed again before it was sent.
      #expect(content.transactions["batches of \(number)", default: 0] == report.batchSaves)
      #expect(Set(content.batches.keys.filter { $0.hasPrefix("\(number) ") }) == Set(report.batches))
    }

    #expect(content.historyFaults == [])

    let copy = try decode(Content.self, sandbox.run("TomboloHammer", [other, "content"]))
    #expect(copy.cells == content.cells)
    #expect(copy.halves.mapValues { $0.sorted() } == content.halves.mapValues { $0.sorted() })
    #expect(copy.batches == content.batches)
    try sandbox.tombolo("verify", one)
    try sandbox.tombolo("doctor", one)
    #expect(daemon.stop() == 0)
  }
}
