import Testing
import TomboloCommand

@Suite("Import")
struct ImportTests {
  private func list(_ fixture: CommandFixture, _ store: String, _ entity: String = "Book", _ sort: String = "title")
    -> String
  {
    fixture.run("list", store, entity, "--sort", sort, "--json").output
  }

  @Test("Columns that bear an attribute's name go there, others where --map says, the rest is named")
  func columns() throws {
    let fixture = try CommandFixture()
    let store = try fixture.library()
    let file = try fixture.write("title,Seiten,colour\r\nDune,412,red\r\n\"Emma, a novel\",,blue\r\n", to: "books.csv")
    let result = fixture.run("import", store, file, "--entity", "Book", "--map", "pages=Seiten")
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.output == "Book: 2 new, 0 known\n")
    #expect(result.errors.contains("colour"))
    let rows = list(fixture, store)
    #expect(rows.contains(#""title":"Dune","isbn":null,"pages":412"#) || rows.contains(#""pages":412"#))
    #expect(rows.contains(#""title":"Emma, a novel""#))
  }

  @Test("With a key, a known value changes its record and a new one makes one, within the file too")
  func upsert() throws {
    let fixture = try CommandFixture()
    let store = try fixture.library()
    _ = try fixture.add(store, "Book", "isbn=1", "title=Old", "pages=5")
    let file = try fixture.write("isbn,title\n1,New\n2,First\n2,Second\n", to: "books.csv")
    let result = fixture.run("import", store, file, "--entity", "Book", "--key", "isbn", "--json")
    #expect(result.output == "{\"inserted\":1,\"updated\":2,\"skipped\":0}\n", "\(result.errors)")
    let rows = list(fixture, store)
    #expect(rows.contains("New") && rows.contains("Second"))
    #expect(!rows.contains("Old") && !rows.contains("First"))
    #expect(rows.contains(#""pages":5"#))
    // The same file again changes nothing.
    #expect(fixture.run("import", store, file, "--entity", "Book", "--key", "isbn").status == 0)
    #expect(list(fixture, store).split(separator: "\n").count == 2)
  }

  @Test("Without a key, a unique value that the store has is known; one that the file has twice is a bad line")
  func uniqueValues() throws {
    let fixture = try CommandFixture()
    let store = try fixture.library()
    _ = try fixture.add(store, "Shelf", "code=1")
    let known = try fixture.write("code\n1\n2\n3\n", to: "known.csv")
    let result = fixture.run("import", store, known, "--entity", "Shelf")
    #expect(result.output == "Shelf: 2 new, 1 known\n", "\(result.errors)")
    #expect(list(fixture, store, "Shelf", "code").split(separator: "\n").count == 3)
    let twice = try fixture.write("code\n7\n8\n7\n", to: "twice.csv")
    let refused = fixture.run("import", store, twice, "--entity", "Shelf")
    #expect(refused.status == 1)
    #expect(refused.errors.contains("twice.csv:4:1: Shelf.code must be unique, and line 2 has the same value"))
    #expect(list(fixture, store, "Shelf", "code").split(separator: "\n").count == 3)
  }

  @Test("The key may be named by its column")
  func keyByColumn() throws {
    let fixture = try CommandFixture()
    let store = try fixture.library()
    let file = try fixture.write("Code\nA\nA\nB\n", to: "shelves.csv")
    let result = fixture.run("import", store, file, "--entity", "Shelf", "--key", "Code", "--map", "code=Code")
    #expect(result.output == "Shelf: 2 new, 1 known\n", "\(result.errors)")
  }

  @Test("A link finds the record by its attribute; an empty field is no link")
  func links() throws {
    let fixture = try CommandFixture()
    let store = try fixture.library()
    let shelf = try fixture.add(store, "Shelf", "code=A1")
    let file = try fixture.write("title,where\nDune,A1\nEmma,\n", to: "books.csv")
    let result = fixture.run("import", store, file, "--entity", "Book", "--link", "shelf=where:Shelf.code")
    #expect(result.status == 0, "\(result.errors)")
    let rows = list(fixture, store).split(separator: "\n")
    #expect(rows[0].contains(#""shelf":"\#(shelf)""#))
    #expect(rows[1].contains(#""shelf":null"#))
  }

  @Test("A link may lead to a record that comes later in the same file")
  func forwardLinks() throws {
    let fixture = try CommandFixture()
    let store = try fixture.library()
    let file = try fixture.write("isbn,title,next\n1,A,2\n2,B,3\n3,C,\n", to: "books.csv")
    let result = fixture.run(
      "import", store, file, "--entity", "Book", "--key", "isbn", "--link", "prequel=next:Book.isbn")
    #expect(result.status == 0, "\(result.errors)")
    let rows = list(fixture, store).split(separator: "\n")
    #expect(rows.count == 3)
    #expect(rows.count { $0.contains(#""prequel":null"#) } == 1)
    let dangling = try fixture.write("isbn,title,next\n9,Z,404\n", to: "more.csv")
    let refused = fixture.run("import", store, dangling, "--entity", "Book", "--link", "prequel=next:Book.isbn")
    #expect(refused.errors.contains("more.csv:2:5"), "\(refused.errors)")
    #expect(list(fixture, store).split(separator: "\n").count == 3)
  }

  @Test(
    "A bad line is named by file, line and column, and nothing is imported",
    arguments: [
      ("title,pages\nDune,412\nEmma,many\n", "3:6", "Book.pages"), ("title,pages\nDune,412\nEmma\n", "3:1", "fields"),
      ("title,pages\nDune,412,1\n", "2:1", "fields"), ("title,pages\n\"Dune,412\n", "2:1", "not closed"),
      ("title,pages\nDu\"ne,412\n", "2:3", "quote"), ("title,pages\nDune,99999\n", "2:6", "int16"),
      ("title,added\nDune,2023-13-01\n", "2:6", "Book.added"),
      ("title,weight\nDune,NaN\n", "2:6", "Book.weight"), ("title,lent\nDune,perhaps\n", "2:6", "Book.lent"),
      ("title,shelf\nDune,Z9\n", "2:6", "no Shelf"), ("isbn,title\n,Dune\n", "2:1", "key"),
      ("title,pages\n\"two\nlines\",x\n", "3:8", "Book.pages"),
    ])
  func badLines(_ content: String, _ place: String, _ reason: String) throws {
    let fixture = try CommandFixture()
    let store = try fixture.library()
    let file = try fixture.write(content, to: "bad.csv")
    var arguments = ["import", store, file, "--entity", "Book"]
    if content.contains("shelf") { arguments += ["--link", "shelf=shelf:Shelf.code"] }
    if content.contains("isbn") { arguments += ["--key", "isbn"] }
    let result = fixture.run(arguments)
    #expect(result.status == 1)
    #expect(result.errors.contains("error[bad_line]: \(file):\(place): "), "\(result.errors)")
    #expect(result.errors.contains(reason), "\(result.errors)")
    #expect(list(fixture, store) == "[]\n")
  }

  @Test("--skip-bad sets bad lines aside in a file that can be mended and imported")
  func skipBad() throws {
    let fixture = try CommandFixture()
    let store = try fixture.library()
    let file = try fixture.write("title,pages\nDune,412\nEmma,many\nIt\"s,1\nShort\nUlysses,730\n", to: "books.csv")
    let aside = fixture.path("aside.csv")
    let result = fixture.run("import", store, file, "--entity", "Book", "--skip-bad", aside)
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.output == "Book: 2 new, 0 known, 3 set aside\n")
    #expect(try fixture.read("aside.csv") == "title,pages\r\nEmma,many\r\nIt\"s,1\r\nShort\r\n")
    for place in ["3:6", "4:3", "5:1"] { #expect(result.errors.contains("\(file):\(place): ")) }
    let again = fixture.run("import", store, file, "--entity", "Book", "--skip-bad", aside)
    #expect(again.errors.contains("error[file_unwritable]"))
    #expect(list(fixture, store).split(separator: "\n").count == 2)
  }

  @Test("Without bad lines --skip-bad leaves no file behind; nor does an import that fails")
  func skipBadLeavesNothing() throws {
    let fixture = try CommandFixture()
    let store = try fixture.library()
    let good = try fixture.write("title\nDune\n", to: "good.csv")
    #expect(fixture.run("import", store, good, "--entity", "Book", "--skip-bad", fixture.path("a.csv")).status == 0)
    let dangling = try fixture.write("title,next\nx,404\n,\"\n", to: "bad.csv")
    let failed = fixture.run(
      "import", store, dangling, "--entity", "Book", "--link", "prequel=next:Book.isbn", "--skip-bad",
      fixture.path("b.csv"))
    #expect(failed.status == 1)
    for name in ["a.csv", "b.csv", "a.csv.part", "b.csv.part"] { #expect(!fixture.exists(name), "\(name)") }
  }

  @Test(
    "A heading that does not fit is refused before any line is read",
    arguments: [
      ("", [], "empty"), ("name,colour\nx,y\n", [], "No column"), ("title,title\nx,y\n", [], "twice"),
      ("title\nx\n", ["--map", "pages=Pages"], "no column 'Pages'"),
      ("title\nx\n", ["--map", "pagse=title"], "did you mean pages"),
      ("title\nx\n", ["--map", "shelf=title"], "--link"), ("title\nx\n", ["--key", "isbn"], "no column gives the key"),
      ("title\nx\n", ["--key", "nope"], "unknown_attribute"),
      ("title\nx\n", ["--link", "title=title:Shelf.code"], "--map"),
      ("title\nx\n", ["--link", "shelf=title:Book.isbn"], "refers to Shelf"),
      ("title\nx\n", ["--link", "shelf=title:Shelf.nope"], "unknown_attribute"),
      ("title\nx\n", ["--link", "shelf=title:Nope.code"], "unknown_entity"),
      ("title\nx\n", ["--link", "books=title:Book.isbn"], "unknown_attribute"),
    ])
  func headings(_ content: String, _ options: [String], _ reason: String) throws {
    let fixture = try CommandFixture()
    let store = try fixture.library()
    let file = try fixture.write(content, to: "bad.csv")
    let result = fixture.run(["import", store, file, "--entity", "Book"] + options)
    #expect(result.status == 1)
    #expect(result.errors.contains(reason), "\(result.errors)")
    #expect(list(fixture, store) == "[]\n")
  }

  @Test("A key or a link whose value several records have is refused")
  func ambiguous() throws {
    let fixture = try CommandFixture()
    let store = try fixture.library()
    _ = try fixture.add(store, "Book", "isbn=1", "title=A")
    _ = try fixture.add(store, "Book", "isbn=1", "title=B")
    let file = try fixture.write("isbn,title\n1,C\n", to: "books.csv")
    let result = fixture.run("import", store, file, "--entity", "Book", "--key", "isbn")
    #expect(result.status == 1)
    #expect(result.errors.contains("More than one"), "\(result.errors)")
  }

  @Test("Composed and decomposed forms of a key are one value")
  func unicodeKeys() throws {
    let fixture = try CommandFixture()
    let store = try fixture.library()
    let file = try fixture.write("code\ncaf\u{E9}\ncafe\u{301}\n", to: "shelves.csv")
    let result = fixture.run("import", store, file, "--entity", "Shelf", "--key", "code")
    #expect(result.output == "Shelf: 1 new, 1 known\n", "\(result.errors)")
  }

  @Test("A file that is missing is named")
  func missingFile() throws {
    let fixture = try CommandFixture()
    let result = fixture.run("import", try fixture.library(), fixture.path("none.csv"), "--entity", "Book")
    #expect(result.errors.contains("error[file_unreadable]"))
  }
}
