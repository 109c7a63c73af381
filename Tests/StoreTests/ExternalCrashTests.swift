import Testing
import Tombolo
import TomboloProtocol
import TomboloSQLite

@Suite("Large values and power cuts")
struct ExternalCrashTests {
  private static let document = SchemaDocument(
    name: "Pictures", version: nil,
    entities: [
      SchemaEntity(
        name: "Picture",
        attributes: [SchemaAttribute(name: "data", type: .data, isOptional: true, options: ["externalStorage"])])
    ])

  private func value(_ seed: UInt8) -> Value { .blob([UInt8](repeating: seed, count: 120_000)) }

  @Test("A power cut at any write leaves the old value or the new one, whole, and nothing beside it")
  func everyWrite() throws {
    try StoreFixture.run { fixture in
      var seen: Set<Value> = []
      var cut: UInt64 = 1
      var isOver = false
      while !isOver, cut < 400 {
        let randomness = TestRandomness(seed: cut)
        let disk = try MemoryFileSystem(
          name: "external-crash-\(cut)",
          environment: .init(milliseconds: { 1_700_000_000_000 }, random: { randomness.next() }, sleep: { _ in }))
        let options = fixture.options { $0.vfs = disk.name }
        var store: Store? = try Store(.file(path: "/a.store"), document: Self.document, options: options)
        let id = try #require(try store?.insert("Picture", ["data": value(1)]))
        try store?.writeDurably {
          try $0.execute("INSERT INTO _tombolo_meta(key, value) VALUES ('mark', 1)")
        }
        disk.failAfter(operations: cut)
        _ = try? store?.set("Picture", id, ["data": value(2)])
        isOver = !disk.hasFailed
        store = nil
        disk.powerCut(isOver ? .everything : .chosen)
        let again = try Store(.file(path: "/a.store"), document: Self.document, options: options)
        let found = try #require(try again.values("Picture", id)?["data"])
        #expect(found == value(1) || found == value(2))
        #expect(try again.integer("SELECT count(*) FROM _tombolo_external") == 1)
        #expect(try again.integer("SELECT length(data) FROM Picture") == 0)
        seen.insert(found)
        cut += 3
      }
      #expect(isOver && seen.count == 2)
    }
  }
}
