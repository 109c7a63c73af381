import Testing
import Tombolo
import TomboloProtocol
import TomboloSQLite

@Suite("System tables")
struct LaterTableTests {
  private func names(_ store: Store) throws -> Set<String> {
    try store.read { connection in
      var names: Set<String> = []
      try connection.eachRow("SELECT name FROM sqlite_schema") { names.insert($0.string(0)) }
      return names
    }
  }

  @Test("A store that an earlier build made gets what it lacks when it is opened to be written, and reads without it")
  func later() throws {
    try StoreFixture.run { fixture in
      let later = [
        "_tombolo_save_state", "_tombolo_external", "_tombolo_lost", "_tombolo_number", "_tombolo_pull",
        "_tombolo_pulled", "_tombolo_cancelled", "_tombolo_decomposed", "_tombolo_decomposed_record",
        "_tombolo_withheld",
      ]
      do {
        let store = try Store(
          .file(path: fixture.path("test.store")), document: TestSchemas.library(), options: fixture.options())
        try store.insert("Note", ["title": .text("kept")])
        for name in later where !["_tombolo_save_state", "_tombolo_decomposed_record"].contains(name) {
          try store.write { try $0.execute("DROP TABLE \(name)") }
        }
        try store.write { try $0.execute("DROP INDEX _tombolo_save_state") }
      }
      do {
        let reading = try Store(
          existing: fixture.path("test.store"), options: fixture.options { $0.isReadOnly = true })
        #expect(try reading.count("Note") == 1)
        #expect(try names(reading).isDisjoint(with: later))
      }
      let store = try fixture.file(TestSchemas.library())
      #expect(try names(store).isSuperset(of: later))
      try store.insert("Note", ["title": .text("more")])
      #expect(try store.count("Note") == 2)
    }
  }

  @Test(
    "What a sync asks of the saves finds them by their state, without a look at the whole history",
    arguments: [
      "SELECT number FROM _tombolo_save WHERE state = 1 ORDER BY number LIMIT 1000",
      "SELECT 1 FROM _tombolo_save WHERE state IN (1, 2) LIMIT 1",
      "UPDATE _tombolo_save SET attempted = 1 WHERE state = 1 AND attempted = 0 AND number <= 5",
      "SELECT min(number) FROM _tombolo_save WHERE state IN (1, 2, 4)",
      "SELECT count(*) FILTER (WHERE state = 1), min(base) FROM _tombolo_save WHERE state IN (2, 4) OR state = 1 AND "
        + "EXISTS (SELECT 1 FROM _tombolo_change WHERE save = _tombolo_save.number)",
    ])
  func states(_ sql: String) throws {
    try StoreFixture.run { fixture in
      let store = try fixture.memory(TestSchemas.library())
      let plan = try store.read { connection in
        var lines: [String] = []
        try connection.eachRow("EXPLAIN QUERY PLAN " + sql) { lines.append($0.string(3)) }
        return lines
      }
      #expect(plan.contains { $0.contains("_tombolo_save_state") }, "\(plan)")
      #expect(!plan.contains { $0.hasPrefix("SCAN _tombolo_save") && !$0.contains("_tombolo_save_state") }, "\(plan)")
    }
  }
}
