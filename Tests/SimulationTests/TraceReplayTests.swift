import Testing
import Tombolo
import TomboloClient
import TomboloProtocol
import TomboloSQLite

@testable import TomboloSimulation

@Suite("Replays of captured traces")
struct TraceReplayTests {
  /// Two replicas and a server that work for a while, the last saves of each still waiting.
  private static func captures(seed: UInt64) throws -> [(TraceBundle, TraceBundle)] {
    let world = try SemanticsWorld(document: .simulationSample)
    let roles = SchemaRoles(world.schema)
    var generator = SeededGenerator(seed: seed)
    var people = SemanticsWorld.Side.allCases.map { _ in
      OperationGenerator(
        roles: roles, mix: .all, recordsMax: 20, deletes: 12, cast: nil,
        clock: SkewedClock(VirtualTime(milliseconds: 1_796_000_000_000), skewMilliseconds: 0),
        generator: generator.fork())
    }
    for _ in 0..<4 {
      for _ in 0..<8 {
        for side in SemanticsWorld.Side.allCases {
          let store = try world.store(side)
          let operations = people[side.rawValue].save(on: try StoreContent(of: store))
          // What a rule refuses a person is no save.
          try? world.save(on: side) { writer in
            for operation in operations { try operation.apply(to: writer, world.schema) }
          }
        }
      }
      if generator.chance(0.8) { try world.settle(beginningWith: generator.chance(0.5) ? .first : .second) }
    }
    return try SemanticsWorld.Side.allCases.map { side in
      let capture = try StoreCapture(of: try world.store(side), itemsMax: .max, savesMax: 100)
      func bundle(_ hasValues: Bool) throws -> TraceBundle {
        try TraceBundle(
          capture, schema: .simulationSample, environment: [:], hasValues: hasValues)
      }
      return (try bundle(true), try bundle(false))
    }
  }

  @Test("Whatever two replicas did, each one's trace replays to what it showed", arguments: 1..<13 as Range<UInt64>)
  func replays(seed: UInt64) throws {
    for (open, hidden) in try Self.captures(seed: seed) {
      for bundle in [open, hidden] {
        let read = try TraceBundle(decoding: try bundle.encoded())
        #expect(read == bundle)
        var replay = try TraceReplay(read)
        let outcome = try replay.run()
        // Where the server decides otherwise than the replica showed, the answer to the push says so.
        let isRuled = outcome.story.contains { $0.contains("refused") || $0.contains("but for") }
        #expect(
          outcome.difference == nil || isRuled, "\(bundle.hasValues): \(outcome.difference ?? "")\n\(outcome.story)")
        #expect(outcome.compared > 0)
      }
    }
  }
}
