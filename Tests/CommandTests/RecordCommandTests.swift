import Testing
import TomboloCommand

@Suite("Commands on records")
struct RecordCommandTests {
  @Test("What is added is listed and shown, by the beginning of its identifier too")
  func addAndGet() throws {
    let fixture = try CommandFixture()
    let store = try fixture.library()
    let shelf = try fixture.add(store, "Shelf", "code=A1")
    let book = try fixture.add(
      store, "Book", "title=Dune", "pages=412", "price=12.50", "weight=0.5", "lent=yes", "added=1965-08-01",
      "shelf=\(shelf)")
    let got = fixture.run("get", store, "Book", String(book.dropLast(4)), "--json")
    #expect(got.status == 0, "\(got.errors)")
    for part in [
      #""id":"\#(book)""#, #""title":"Dune""#, #""pages":412"#, #""price":"12.5""#, #""weight":0.5"#, #""lent":true"#,
      #""added":"1965-08-01T00:00:00Z""#, #""isbn":null"#, #""shelf":"\#(shelf)""#,
    ] { #expect(got.output.contains(part), "\(part)") }
    let owner = fixture.run("get", store, "Shelf", shelf, "--json")
    #expect(owner.output.contains(#""books":["\#(book)"]"#))
    #expect(fixture.run("get", store, "Shelf", shelf).output.contains("1: \(book)"))
    #expect(fixture.run("list", store, "Book").output.contains("Dune"))
  }

  @Test("set changes only what it names; name= is empty text and name:null no value")
  func set() throws {
    let fixture = try CommandFixture()
    let store = try fixture.library()
    let book = try fixture.add(store, "Book", "title=Dune", "isbn=1", "pages=3")
    #expect(fixture.run("set", store, "Book", book, "isbn=", "pages:null").status == 0)
    let got = fixture.run("get", store, "Book", book, "--json").output
    #expect(got.contains(#""title":"Dune""#))
    #expect(got.contains(#""isbn":"""#))
    #expect(got.contains(#""pages":null"#))
    #expect(fixture.run("set", store, "Book", book, "title=a=b:null").status == 0)
    #expect(fixture.run("get", store, "Book", book, "--json").output.contains(#""title":"a=b:null""#))
  }

  @Test("A time that is generated has milliseconds and no more, in whichever second it falls")
  func generatedTime() throws {
    let fixture = try CommandFixture()
    let store = fixture.path("events.store")
    let schema = """
      {"name":"Events","version":"1.0.0","entities":[{"name":"Event","attributes":[
        {"name":"name","type":"string","default":""},{"name":"at","type":"date","default":{"generated":"now"}}]}]}
      """
    #expect(fixture.run("init", store, "--schema", try fixture.write(schema, to: "events.json")).status == 0)
    for _ in 0..<20 { _ = try fixture.add(store, "Event", "name=x") }
    for line in fixture.run("list", store, "Event", "--csv").lines.dropFirst() {
      let fields = line.split(separator: ",").map { String($0) }
      let parts = (fields.first { $0.hasSuffix("Z") } ?? "").split(separator: ".").map { String($0) }
      #expect(parts.dropFirst().allSatisfy { $0.count <= 4 }, "\(line)")
    }
  }

  @Test("set does not do away with the record that has a unique value already")
  func setTakenValue() throws {
    let fixture = try CommandFixture()
    let store = try fixture.library()
    let first = try fixture.add(store, "Shelf", "code=A1", "room=1")
    _ = try fixture.add(store, "Shelf", "code=A2", "room=2")
    let refused = fixture.run("set", store, "Shelf", first, "code=A2")
    #expect(refused.status != 0)
    #expect(refused.errors.contains("unique_violation"))
    #expect(fixture.run("list", store, "Shelf", "--csv").lines.count == 3)
    #expect(fixture.run("set", store, "Shelf", first, "code=A1", "room=9").status == 0)
  }

  @Test("delete follows the delete rules")
  func delete() throws {
    let fixture = try CommandFixture()
    let store = try fixture.library()
    let shelf = try fixture.add(store, "Shelf", "code=A1")
    _ = try fixture.add(store, "Book", "title=Dune", "shelf=\(shelf)")
    let deleted = fixture.run("delete", store, "Shelf", shelf)
    #expect(deleted.status == 0)
    #expect(deleted.errors.contains("1 more"))
    #expect(fixture.run("list", store, "Book", "--json").output == "[]\n")
  }

  @Test("A unique value that is there already unites the two, and the identifier that stands is printed")
  func unique() throws {
    let fixture = try CommandFixture()
    let store = try fixture.library()
    let first = try fixture.add(store, "Shelf", "code=A1")
    let second = try fixture.add(store, "Shelf", "code=A1", "room=7")
    let rows = fixture.run("list", store, "Shelf", "--csv").lines
    #expect(rows.count == 2)
    #expect(rows[1].hasPrefix(second))
    #expect([first, second].contains(String(rows[1].prefix(36))))
  }

  @Test(
    "A value that does not fit its attribute is refused, and nothing is added",
    arguments: [
      ("pages=many", "invalid_text"), ("pages=40000", "integer_out_of_range"), ("pages=1.5", "invalid_text"),
      ("pages=", "invalid_text"),
      ("pages=99999999999999999999", "integer_out_of_range"), ("price=1,50", "invalid_text"),
      ("weight=nan", "invalid_text"),
      ("weight=0x10", "invalid_text"), ("lent=maybe", "invalid_text"), ("added=2023-02-29", "invalid_text"),
      ("added=yesterday", "invalid_text"),
      ("tag=123", "invalid_text"), ("title:null", "required_attribute"), ("tilte=x", "unknown_attribute"),
      ("books=x", "unknown_attribute"),
      ("shelf=00000000", "unknown_record"), ("shelf=xyz", "unknown_record"), ("shelf=", "unknown_record"),
      ("_tombolo_id=1", "unknown_attribute"),
    ])
  func badValues(_ assignment: String, _ code: String) throws {
    let fixture = try CommandFixture()
    let store = try fixture.library()
    let result = fixture.run("add", store, "Book", "title=Dune", assignment)
    if assignment.hasPrefix("title") {
      #expect(result.status == 64)
      #expect(fixture.run("add", store, "Book", assignment).errors.contains("error[\(code)]"))
    } else {
      #expect(result.status == 1)
      #expect(result.errors.hasPrefix("error[\(code)]: "), "\(result.errors)")
    }
    #expect(fixture.run("list", store, "Book", "--json").output == "[]\n")
  }

  @Test("A required attribute without default must be given")
  func required() throws {
    let fixture = try CommandFixture()
    let result = fixture.run("add", try fixture.library(), "Shelf", "room=2")
    #expect(result.status == 1)
    #expect(result.errors.contains("error[required_attribute]: Shelf.code"))
  }

  @Test("An identifier that fits several records is refused with examples; an unknown one names the way to find it")
  func identifiers() throws {
    let fixture = try CommandFixture()
    let store = try fixture.library()
    let first = try fixture.add(store, "Shelf", "code=1")
    _ = try fixture.add(store, "Shelf", "code=2")
    let ambiguous = fixture.run("get", store, "Shelf", String(first.prefix(4)))
    #expect(ambiguous.errors.contains("error[ambiguous]"))
    #expect(ambiguous.errors.contains(first))
    for text in ["ffffffff", "not-hex", "0123456789abcdef0123456789abcdef0"] {
      #expect(fixture.run("get", store, "Shelf", text).errors.contains("error[unknown_record]"), "\(text)")
    }
    #expect(fixture.run("get", store, "Book", first).errors.contains("error[unknown_record]"))
    // What an unset variable of a script leaves.
    #expect(fixture.run("get", store, "Shelf", "").status == 64)
    #expect(fixture.run("init", "", "--schema", "x.json").errors.contains("STORE is empty"))
  }

  @Test("An unknown entity is named with the nearest one")
  func unknownEntity() throws {
    let fixture = try CommandFixture()
    let result = fixture.run("list", try fixture.library(), "Boook")
    #expect(result.status == 1)
    #expect(result.errors.contains("did you mean Book?"))
  }

  @Test(
    "A file that is no store is refused, and stays as it is",
    arguments: ["plain text", "", "SQLite format 3\u{0}but no more"])
  func foreignFiles(_ content: String) throws {
    let fixture = try CommandFixture()
    let path = try fixture.write(content, to: "other")
    let result = fixture.run("list", path, "Book")
    #expect(result.status == 1)
    #expect(result.errors.hasPrefix("error["))
    #expect(try fixture.read("other") == content)
    #expect(fixture.run("list", fixture.path("missing"), "Book").errors.contains("error[store_missing]"))
    #expect(!fixture.exists("missing"))
  }

  @Test("An attribute called id keeps its name, and the record's identifier steps aside")
  func attributeNamedID() throws {
    let fixture = try CommandFixture()
    let schema = try fixture.write(
      #"{"name":"T","version":"1.0.0","entities":[{"name":"T","attributes":[{"name":"id","type":"int64","default":0}]}]}"#,
      to: "id.json")
    let store = fixture.path("id.store")
    #expect(fixture.run("init", store, "--schema", schema).status == 0)
    let record = try fixture.add(store, "T", "id=7")
    #expect(fixture.run("list", store, "T", "--json").output == "[{\"_id\":\"\(record)\",\"id\":7}]\n")
    #expect(fixture.run("list", store, "T", "--csv").output.hasPrefix("_id,id"))
  }
}
