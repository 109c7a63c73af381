import Foundation
import Testing
import TomboloCommand

@Suite("Listing")
struct ListTests {
  private func filled() throws -> (fixture: CommandFixture, store: String) {
    let fixture = try CommandFixture()
    let store = try fixture.library()
    let shelf = try fixture.add(store, "Shelf", "code=A1", "room=2")
    _ = try fixture.add(store, "Book", "title=Dune", "pages=412", "shelf=\(shelf)")
    _ = try fixture.add(store, "Book", "title=Ümlaut, \"quoted\"", "isbn=")
    _ = try fixture.add(store, "Book", "title=Emma", "pages=320", "lent=true")
    return (fixture, store)
  }

  @Test(
    "A condition selects",
    arguments: [
      ("pages > 400", ["Dune"]), ("pages IS NULL", ["Ümlaut"]),
      ("title LIKE 'e%' OR title = 'Dune'", ["Dune", "Emma"]),
      ("lent", ["Emma"]), ("title = ''", []), ("pages BETWEEN 300 AND 330", ["Emma"]),
      ("length(title) = 4", ["Dune", "Emma"]),
      ("shelf IN (SELECT _tombolo_id FROM Shelf WHERE room = 2)", ["Dune"]), ("title = 'Dune' -1", []),
      ("\"pages\" = (SELECT max(pages) FROM Book)", ["Dune"]),
      ("CASE WHEN pages > 1 THEN 1 ELSE 0 END", ["Dune", "Emma"]),
      ("title = 'a;b--c' OR pages = 320", ["Emma"]), ("[pages] = 412", ["Dune"]),
    ])
  func conditions(_ condition: String, _ titles: [String]) throws {
    let (fixture, store) = try filled()
    let result = fixture.run("list", store, "Book", "--where", condition, "--sort", "title", "--json")
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.lines.count { $0.contains("\"id\"") } == titles.count)
    for title in titles { #expect(result.output.contains(title)) }
  }

  @Test(
    "Whatever does more than read this store's records is refused before it runs",
    arguments: [
      "1=1; DROP TABLE Book", "1=1); DELETE FROM Book; --", "1) UNION SELECT 1, 2 --", "1=1 --", "1 /* all */", "1=1;",
      "(SELECT count(*) FROM _tombolo_meta) > 0", "EXISTS (SELECT 1 FROM _tombolo_save)",
      "EXISTS (SELECT 1 FROM sqlite_master)",
      "EXISTS (SELECT 1 FROM sqlite_schema)", "EXISTS (SELECT 1 FROM pragma_table_info('Book'))",
      "_tombolo_stamps IS NULL",
      "EXISTS (SELECT 1 FROM Shelf WHERE _tombolo_stamps IS NULL)", "load_extension('x')", "writefile('x', 'y')",
      "readfile('/etc/passwd')",
      "EXISTS (WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT 1 FROM n)", "ATTACH 'x' AS y",
      "PRAGMA user_version",
      "title = (ATTACH 'x' AS y)", "randomblob(1000000000) IS NULL", "zeroblob(1000000000) IS NULL", "title = ?",
      "title = :name", "title = @n",
      "title = $n", "EXISTS (SELECT 1 FROM json_each('[1]'))", "sqlite_version() = ''", "EXISTS (SELECT 1 FROM dbstat)",
      "title MATCH 'x'",
      "EXISTS (DELETE FROM Book)", "(UPDATE Book SET title = '')", "fts3_tokenizer('x')", "title REGEXP 'x'",
    ])
  func guarded(_ condition: String) throws {
    let (fixture, store) = try filled()
    let result = fixture.run("list", store, "Book", "--where", condition)
    #expect(result.status == 1)
    #expect(result.errors.hasPrefix("error[invalid_query]: "), "\(result.errors)")
    #expect(result.output.isEmpty)
    #expect(fixture.run("list", store, "Book", "--csv").lines.count == 4)
  }

  @Test(
    "What is no expression is refused with what is wrong",
    arguments: [
      ("", "empty"), ("  ", "empty"), ("nope = 1", "nope"), ("title = 'open", "quotation"),
      ("(title = 'x'", "not closed"),
      ("title = 'x')", "closes"), ("\"nope\" = 1", "nope"), ("pages >", "syntax"), ("Shelf.room = 1", "Shelf.room"),
      ("title\u{0} = 1", "NUL"),
    ])
  func malformed(_ condition: String, _ reason: String) throws {
    let (fixture, store) = try filled()
    let result = fixture.run("list", store, "Book", "--where", condition)
    #expect(result.status == 1)
    #expect(result.errors.contains(reason), "\(result.errors)")
  }

  @Test("An expression that fails while it runs is an error, not an empty list")
  func failsWhileRunning() throws {
    let (fixture, store) = try filled()
    let result = fixture.run("list", store, "Book", "--where", "json_extract(title, '$.a') = 1")
    #expect(result.status == 1)
    #expect(result.errors.contains("error[invalid_query]"))
  }

  /// An entity whose attributes have names that SQLite or the output has another meaning for.
  private func oddNames() throws -> (fixture: CommandFixture, store: String) {
    let fixture = try CommandFixture()
    let attributes = ["rowid", "x", "X", "id", "_id"].map {
      #"{"name":"\#($0)","type":"int64","optional":true}"#
    }
    let schema = try fixture.write(
      #"{"name":"Odd","version":"1.0.0","entities":[{"name":"A","attributes":[\#(attributes.joined(separator: ","))]}]}"#,
      to: "odd.json")
    let store = fixture.path("odd.store")
    #expect(fixture.run("init", store, "--schema", schema).status == 0)
    _ = try fixture.add(store, "A", "rowid=5", "x=1", "X=2", "id=3", "_id=4")
    return (fixture, store)
  }

  @Test(
    "An attribute whose column is called otherwise is not taken for something else: the error names the column",
    arguments: ["rowid = 5", "\"rowid\" = 5", "ROWID = 5", "x = 1 OR x = 2", "[x] = 1"])
  func renamedColumns(_ condition: String) throws {
    let (fixture, store) = try oddNames()
    let result = fixture.run("list", store, "A", "--where", condition, "--json")
    #expect(result.status == 1 && result.errors.contains("error[invalid_query]"), "\(result)")
    let column = try #require(result.errors.split(separator: "Write ").last?.prefix { $0 != "." })
    let name = condition.lowercased().contains("rowid") ? "5" : "1"
    let found = fixture.run("list", store, "A", "--where", "\(column) = \(name)", "--csv")
    #expect(found.status == 0 && found.lines.count == 2, "\(found)")
    #expect(fixture.run("list", store, "A", "--where", "X = 2 AND 'x rowid' <> ''", "--csv").lines.count == 2)
  }

  @Test("The identifier has a key that no attribute has")
  func identifierKey() throws {
    let (fixture, store) = try oddNames()
    let json = fixture.run("list", store, "A", "--json").output
    for key in ["__id", "_id", "id"] { #expect(json.components(separatedBy: "\"\(key)\":").count == 2, "\(json)") }
    #expect(fixture.run("list", store, "A", "--csv").lines[0].hasPrefix("__id,"))
  }

  @Test("Records are sorted, upwards and downwards, and limited")
  func sorting() throws {
    let (fixture, store) = try filled()
    let upwards = fixture.run("list", store, "Book", "--sort", "-pages,title", "--json").lines
    #expect(upwards[0].contains("Dune") && upwards[1].contains("Emma"))
    #expect(fixture.run("list", store, "Book", "--sort", "title", "--limit", "1", "--json").output.contains("Dune"))
    #expect(fixture.run("list", store, "Book", "--limit", "0", "--json").output == "[]\n")
    for sort in ["nope", "title;", "title DESC", "1", "books"] {
      #expect(fixture.run("list", store, "Book", "--sort", sort).errors.contains("error[unknown_attribute]"), "\(sort)")
    }
    #expect(fixture.run("list", store, "Book", "--sort", "title,").status == 64)
  }

  @Test("CSV keeps no value, empty text, quotes and commas apart, so that it can be imported again")
  func csv() throws {
    let (fixture, store) = try filled()
    let csv = fixture.run("list", store, "Book", "--sort", "title", "--csv").output
    #expect(csv.contains(#""Ümlaut, ""quoted""""#))
    let copy = try CommandFixture()
    let other = try copy.library()
    let file = try copy.write(csv, to: "books.csv")
    #expect(copy.run("import", other, file, "--entity", "Book").status == 0)
    func stripped(_ text: String) -> [String] {
      text.split(separator: "\r\n").map { $0.split(separator: ",", maxSplits: 1).last.map(String.init) ?? "" }
    }
    let again = copy.run("list", other, "Book", "--sort", "title", "--csv").output
    #expect(again.contains(#""Ümlaut, ""quoted""""#))
    #expect(stripped(csv).count == stripped(again).count)
  }
}
