import Testing
import TomboloCommand

@Suite("Schema commands")
struct SchemaCommandTests {
  @Test("A store shows the schema it was made with, in the form that makes the same store again")
  func show() throws {
    let fixture = try CommandFixture()
    let store = try fixture.library()
    let shown = fixture.run("schema", "show", store)
    #expect(shown.status == 0, "\(shown.errors)")
    #expect(shown.output.contains("\"isbn\""))
    let file = try fixture.write(shown.output, to: "again.json")
    #expect(fixture.run("schema", "diff", store, file).status == 0)
    #expect(
      fixture.run("schema", "show", file, "--canonical").output
        == fixture.run("schema", "show", store, "--canonical").output)
    #expect(fixture.run("schema", "show", file, "--canonical").lines.count == 1)
  }

  @Test("A store is not made over a file, nor from a document with mistakes, each of which is named")
  func initRefusals() throws {
    let fixture = try CommandFixture()
    let store = try fixture.library()
    let again = fixture.run("init", store, "--schema", fixture.path("library.json"))
    #expect(again.errors.contains("error[store_exists]"))
    let broken = try fixture.write(
      #"{"name":"X","version":"1.0.0","entities":[{"name":"A","attributes":[{"name":"a","type":"strnig"}],"relationships":[{"name":"r","destination":"Nope"}]}]}"#,
      to: "broken.json")
    let refused = fixture.run("init", fixture.path("x.store"), "--schema", broken)
    #expect(refused.status == 1)
    #expect(refused.errors.contains("error[invalid_schema]"))
    #expect(refused.errors.contains("A.a"))
    #expect(!fixture.exists("x.store"))
    #expect(
      fixture.run("init", fixture.path("x.store"), "--schema", fixture.path("none.json")).errors.contains(
        "error[file_unreadable]"))
    let text = try fixture.write("not json", to: "text.json")
    #expect(fixture.run("init", fixture.path("x.store"), "--schema", text).errors.contains("error[invalid_schema]"))
  }

  @Test("lint names each offence, and its exit status says whether one is an error")
  func lint() throws {
    let fixture = try CommandFixture()
    let good = try fixture.write(CommandFixture.schema(version: "1.0.0"), to: "good.json")
    #expect(fixture.run("schema", "lint", good).status == 0)
    let plain = try fixture.write(CommandFixture.schema(version: nil), to: "plain.json")
    let unversioned = fixture.run("schema", "lint", plain)
    #expect(unversioned.status == 1)
    #expect(unversioned.output.contains("error"))
    let strict = fixture.run("schema", "lint", good, "--profile", "cloudkit", "--json")
    #expect(strict.status == 1)
    #expect(strict.output.contains("unique_constraint"))
    #expect(strict.output.contains("attribute_required"))
  }

  @Test("adopt gives an unversioned store its version once, and then it can have a remote")
  func adopt() throws {
    let fixture = try CommandFixture()
    let store = try fixture.library(version: nil)
    _ = try fixture.add(store, "Shelf", "code=A1")
    let token = try fixture.write("secret", to: "token")
    let url = "http://127.0.0.1:1/v1/stores/library"
    #expect(fixture.run("remote", "add", store, url, "--token-file", token).errors.contains("tombolo schema adopt"))
    for version in ["one", "", "1.0.0.0", "-1"] {
      #expect(fixture.run("schema", "adopt", store, "--version", version).status == 64, "\(version)")
    }
    #expect(fixture.run("schema", "adopt", store, "--version", "1.0.0").status == 0)
    #expect(fixture.run("schema", "adopt", store, "--version", "1.0.0").status == 0)
    #expect(fixture.run("schema", "adopt", store, "--version", "2.0.0").errors.contains("error[schema_version_taken]"))
    #expect(fixture.run("schema", "show", store).output.contains("\"1.0.0\""))
    #expect(fixture.run("list", store, "Shelf", "--csv").lines.count == 2)
    #expect(fixture.run("remote", "add", store, url, "--token-file", token).status == 0)
    #expect(fixture.run("status", store).output.contains("unsent    1"))
  }

  @Test("diff gives each change its verdict, and refuses with status 1")
  func diff() throws {
    let fixture = try CommandFixture()
    let old = try fixture.write(CommandFixture.schema(version: "1.0.0"), to: "old.json")
    let added = CommandFixture.schema(version: "1.1.0")
      .replacing(#"{"name":"isbn""#, with: #"{"name":"colour","type":"string","optional":true},{"name":"isbn""#)
    let additive = fixture.run("schema", "diff", old, try fixture.write(added, to: "added.json"))
    #expect(additive.status == 0, "\(additive.output)")
    #expect(additive.output.contains("allowed"))
    let removed = CommandFixture.schema(version: "1.1.0").replacing(
      #"{"name":"isbn","type":"string","optional":true},"#, with: ""
    )
    .replacing(#""pages","type":"int16""#, with: #""pages","type":"int32""#)
    let refused = fixture.run("schema", "diff", old, try fixture.write(removed, to: "removed.json"))
    #expect(refused.status == 1)
    #expect(refused.output.contains("Book.isbn") && refused.output.contains("Book.pages"))
    #expect(refused.lines.count { $0.hasPrefix("refused") } == 2)
    #expect(fixture.run("schema", "diff", old, fixture.path("none.json")).errors.contains("error[file_unreadable]"))
  }
}
