import Testing
import TomboloCommand

@Suite("CSV")
struct CSVTests {
  private func rows(_ text: String, pieceSize: Int) throws -> [[String]] {
    let reader = CSVReader(Array(text.utf8), pieceSize: pieceSize)
    var rows: [[String]] = []
    while let record = try reader.next() { rows.append(record.fields.map(\.text)) }
    return rows
  }

  @Test(
    "RFC 4180, in pieces of any size",
    arguments: [
      ("a,b\n1,2\n", [["a", "b"], ["1", "2"]]), ("a,b\r\n1,2", [["a", "b"], ["1", "2"]]), ("a\rb\r", [["a"], ["b"]]),
      ("\"a,b\",c", [["a,b", "c"]]), ("\"a\"\"b\"", [["a\"b"]]), ("\"a\nb\",c\nd,e", [["a\nb", "c"], ["d", "e"]]),
      ("\"a\r\nb\"", [["a\r\nb"]]), (",\n", [["", ""]]), ("\"\",x", [["", "x"]]), ("\u{FEFF}a,b\n", [["a", "b"]]),
      ("", []), ("\n\n", []),
      ("a\n\n\nb\n", [["a"], ["b"]]), ("é,日本\n", [["é", "日本"]]), ("a, b ,c", [["a", " b ", "c"]]),
      ("\"\"\"\"", [["\""]]),
      ("\u{FEFF}", []), ("a,\n", [["a", ""]]), ("\"a\"\n", [["a"]]), ("\"\u{FEFF}\"", [["\u{FEFF}"]]),
    ])
  func valid(_ text: String, _ expected: [[String]]) throws {
    for size in [1, 2, 3, 7, 1 << 16] { #expect(try rows(text, pieceSize: size) == expected, "pieces of \(size)") }
  }

  @Test(
    "What is malformed is named by line and column",
    arguments: [
      ("a\n\"b", 2, 1), ("a\"b", 1, 2), ("x,\"a\"b", 1, 6), ("\"a\" ,b", 1, 4), ("a\nb,\"c\nd", 2, 3),
      ("\"a\n\nb\"x", 3, 3),
      ("日,x\"", 1, 4), ("\"", 1, 1), ("a,b\n1,2\n3,\"", 3, 3),
    ])
  func invalid(_ text: String, _ line: Int, _ column: Int) {
    for size in [1, 3, 1 << 16] {
      let error = #expect(throws: CSVReader.Malformed.self) { try rows(text, pieceSize: size) }
      #expect(error?.line == line, "\(text)")
      #expect(error?.column == column, "\(text)")
    }
  }

  @Test("Bytes that are no UTF-8 are named, and reading goes on behind them")
  func encoding() throws {
    let reader = CSVReader([0x61, 0x0A, 0xFF, 0x2C, 0x62, 0x0A, 0x63])
    #expect(try reader.next()?.fields.map(\.text) == ["a"])
    let error = #expect(throws: CSVReader.Malformed.self) { try reader.next() }
    #expect(error?.line == 2 && error?.column == 1)
    #expect(error?.raw == [0xFF, 0x2C, 0x62])
    #expect(try reader.next()?.fields.map(\.text) == ["c"])
    #expect(try reader.next() == nil)
  }

  @Test("An unquoted empty field and a quoted one are told apart; a record keeps its raw bytes and its line")
  func details() throws {
    let reader = CSVReader(Array("x\n,\"\"\n\"a\nb\",c\nlast,1".utf8))
    _ = try reader.next()
    let second = try reader.next()
    #expect(second?.fields.map(\.isQuoted) == [false, true])
    #expect(second?.fields.map(\.column) == [1, 2])
    let third = try reader.next()
    #expect(third.map { String(decoding: $0.raw, as: UTF8.self) } == "\"a\nb\",c")
    #expect(third?.line == 3)
    #expect(try reader.next()?.line == 5)
  }
}
