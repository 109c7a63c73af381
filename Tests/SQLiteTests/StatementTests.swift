import Testing
import TomboloSQLite

@Suite struct StatementTests {
  @Test(
    "a column is compared with a text byte for byte, without a copy",
    arguments: [
      ("'abc'", "abc", true), ("'abc'", "abd", false), ("'abc'", "ab", false), ("''", "", true), ("NULL", "", false),
      ("1", "1", false), ("x'616263'", "abc", false), ("char(233)", "\u{E9}", true), ("char(233)", "e\u{301}", false),
    ])
  func holdsText(_ sql: String, _ text: String, _ isSame: Bool) throws {
    let connection = try Connection(path: ":memory:")
    let statement = try connection.prepare("SELECT \(sql)")
    #expect(try statement.step())
    #expect(statement.holds(text, 0) == isSame)
    statement.reset()
  }
}
