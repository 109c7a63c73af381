import Synchronization
import Testing
import Tombolo
import TomboloProtocol
import TomboloSQLite

@testable import TomboloSimulation

/// The store alone on a disk that loses power, without a server.
@Suite("A store and power cuts")
struct StoreCrashTests {
  private func machine(seed: UInt64) throws -> (disk: MemoryFileSystem, options: Store.Options) {
    let time = VirtualTime(milliseconds: 1_700_000_000_000)
    var generator = SeededGenerator(seed: seed)
    let bits = SeededRandomness(generator.fork())
    let disk = try MemoryFileSystem(
      name: "store-crash-\(Self.count.add(1, ordering: .relaxed).newValue)",
      environment: .init(
        milliseconds: { time.milliseconds }, random: { bits.next() }, sleep: { time.advance(byMicroseconds: $0) }))
    var options = Store.Options(
      clock: SkewedClock(time, skewMilliseconds: 0), randomness: SeededRandomness(generator.fork()))
    options.vfs = disk.name
    return (disk, options)
  }

  private static let count = Atomic<Int>(0)

  @Test("A store's file outlives the store, and its path is the disk's")
  func reopen() throws {
    let (disk, options) = try machine(seed: 1)
    var store: Store? = try Store(.file(path: "/a.store"), document: .simulationSample, options: options)
    let id = try #require(store?.makeRecordID())
    let schema = try #require(store?.schema)
    try store?.save { try Operation.insert(entity: "Folder", id, values: ["left": .integer(3)]).apply(to: $0, schema) }
    store = nil
    #expect(disk.paths.contains("/a.store"))
    let again = try Store(.file(path: "/a.store"), document: .simulationSample, options: options)
    let content = try StoreContent(of: again)
    #expect(content.records.map(\.id) == [id])
    #expect(content.record(id)?.values.contains(.integer(3)) == true)
  }

  @Test("A power cut at any write of a save leaves all of it or none", arguments: [UInt64(1)])
  func everyWrite(_ seed: UInt64) throws {
    var outcomes: Set<Int> = []
    for cut in UInt64(1)...400 {
      let (disk, options) = try machine(seed: seed)
      var store: Store? = try Store(.file(path: "/a.store"), document: .simulationSample, options: options)
      let schema = try #require(store?.schema)
      let ids = (0..<3).compactMap { _ in store?.makeRecordID() }
      disk.failAfter(operations: cut)
      _ = try? store?.save { writer in
        for id in ids {
          try Operation.insert(entity: "Folder", id, values: ["left": .integer(3), "right": .integer(3)])
            .apply(to: writer, schema)
        }
      }
      let hasFailed = disk.hasFailed
      store = nil
      disk.powerCut(.chosen)
      let again = try Store(.file(path: "/a.store"), document: .simulationSample, options: options)
      let found = try StoreContent(of: again).records.count
      outcomes.insert(found)
      if !hasFailed { break }
      try #require(cut < 400)
    }
    #expect(outcomes.isSubset(of: [0, 3]))
    #expect(outcomes.contains(0))
  }
}
