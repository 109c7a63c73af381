import Testing
import Tombolo
import TomboloProtocol
import TomboloSQLite

@Suite("A save of several stores")
struct SeveralStoreTests {
  /// Two stores, each on a disk of its own.
  private final class Disks {
    let first: MemoryFileSystem
    let second: MemoryFileSystem
    let stores: [Store]

    init(_ fixture: StoreFixture, _ name: String) throws {
      func disk(_ number: Int) throws -> MemoryFileSystem {
        let randomness = TestRandomness(seed: UInt64(number))
        return try MemoryFileSystem(
          name: "several-\(name)-\(number)",
          environment: .init(milliseconds: { 1_700_000_000_000 }, random: { randomness.next() }, sleep: { _ in }))
      }
      first = try disk(1)
      second = try disk(2)
      stores = try [first, second].map { disk in
        try Store(
          .file(path: "a.store"), document: TestSchemas.library(), options: fixture.options { $0.vfs = disk.name })
      }
    }
  }

  private func write(_ title: String, _ writers: [StoreWriter], _ stores: [Store]) throws {
    for (writer, store) in zip(writers, stores) {
      let row = try ValueRow(store.plan("Note"), ["title": .text(title)])
      try writer.insert(store.plan("Note"), store.makeRecordID(), assigned: row.assigned, from: row)
    }
  }

  @Test("Both commit, each with a change set of its own; what either throws undoes both")
  func both() throws {
    try StoreFixture.run { fixture in
      let disks = try Disks(fixture, "both")
      let saves = try Store.save(in: disks.stores, author: "x") { try write("a", $0, disks.stores) }
      #expect(saves.failure == nil && saves.outcomes.map { $0?.save } == [SaveNumber(1), SaveNumber(1)])
      #expect(throws: TomboloError.self) {
        try Store.save(in: disks.stores, author: nil) { writers in
          try write("b", writers, disks.stores)
          throw TomboloError(.cancelled, "Stopped.")
        }
      }
      for store in disks.stores {
        #expect(try store.count("Note") == 1)
        #expect(store.isQuiescent)
        try store.insert("Note", ["title": .text("later")])
      }
    }
  }

  @Test("A disk that fails at the first commit undoes both; at the second, it says which store has the save")
  func disk() throws {
    try StoreFixture.run { fixture in
      let disks = try Disks(fixture, "disk")
      for store in disks.stores { try store.insert("Note", ["title": .text("kept")]) }
      #expect(throws: TomboloError.self) {
        try Store.save(in: disks.stores, author: nil) { writers in
          try write("b", writers, disks.stores)
          disks.first.limit(toBytes: 0)
        }
      }
      disks.first.limit(toBytes: nil)
      for store in disks.stores { #expect(try store.count("Note") == 1) }
      let saves = try Store.save(in: disks.stores, author: nil) { writers in
        try write("c", writers, disks.stores)
        disks.second.limit(toBytes: 0)
      }
      disks.second.limit(toBytes: nil)
      #expect((saves.failure as? TomboloError)?.code == .diskFull)
      #expect(saves.outcomes[0] != nil && saves.outcomes[1] == nil)
      #expect(try disks.stores.map { try $0.count("Note") } == [2, 1])
      try disks.stores[1].insert("Note", ["title": .text("later")])
      #expect(try disks.stores[1].count("Note") == 2)
    }
  }
}
