import Testing
import TomboloCommand

@Suite("Arguments")
struct ArgumentTests {
  @Test("Every command explains itself, and its help names each operand and option")
  func help() throws {
    let fixture = try CommandFixture()
    for command in CommandRunner.commands {
      let declaration = command.declaration
      let result = fixture.run(declaration.name.split(separator: " ").map(String.init) + ["--help"])
      #expect(result.status == 0)
      #expect(result.output.contains("Usage: tombolo \(declaration.name)"))
      for operand in declaration.operands { #expect(result.output.contains(operand.name)) }
      for option in declaration.options { #expect(result.output.contains("--\(option.name)")) }
      #expect(fixture.run(["help"] + declaration.name.split(separator: " ").map(String.init)).output == result.output)
    }
    let all = fixture.run("--help")
    for command in CommandRunner.commands { #expect(all.output.contains(command.declaration.name)) }
  }

  @Test(
    "Wrong usage ends with status 64, and names what was probably meant",
    arguments: [
      (["lsit"], "list"), (["list", "s", "E", "--wher", "1"], "--where"), (["imprt"], "import"),
      (["schema", "dif"], "schema diff"), (["remote", "ad"], "remote add"), (["sync", "s", "--wacth"], "--watch"),
    ])
  func nearest(_ arguments: [String], _ meant: String) throws {
    let result = try CommandFixture().run(arguments)
    #expect(result.status == 64)
    #expect(result.errors.hasPrefix("error[usage]: "))
    #expect(result.errors.contains("did you mean \(meant)?"))
    #expect(result.output.isEmpty)
  }

  @Test(
    "Wrong usage ends with status 64",
    arguments: [
      [], ["schema"], ["list"], ["list", "s"], ["list", "s", "E", "extra"], ["list", "s", "E", "--limit"],
      ["list", "s", "E", "--limit", "many"], ["list", "s", "E", "--limit", "-1"], ["list", "s", "E", "--limit", "1e3"],
      ["list", "s", "E", "--json", "--csv"], ["list", "s", "E", "--json=yes"],
      ["list", "s", "E", "--limit", "1", "--limit", "2"],
      ["list", "s", "E", "-j"], ["init", "s"], ["import", "s", "f"], ["add", "s", "E"], ["add", "s", "E", "title"],
      ["add", "s", "E", "=x"], ["add", "s", "E", "a=1", "a=2"], ["import", "s", "f", "--entity", "E", "--map", "x"],
      ["import", "s", "f", "--entity", "E", "--link", "a=b"], ["import", "s", "f", "--entity", "E", "--link", "a=b:C"],
      ["schema", "lint", "f", "--profile", "apple"], ["remote", "add", "s", "url"], ["clone", "url"],
      ["log", "s", "--limit", "0"],
      ["--where"], [""],
    ])
  func usage(_ arguments: [String]) throws {
    let result = try CommandFixture().run(arguments)
    #expect(result.status == 64)
    #expect(result.errors.contains("--help"))
  }

  @Test("Options may stand anywhere, with or without an equals sign; after -- everything is an operand")
  func order() throws {
    let declaration = CommandDeclaration(
      "probe", summary: "Probe",
      operands: [OperandDeclaration("A", help: "a"), OperandDeclaration("B", .some, help: "b")],
      options: [Probe.flag.declaration, Probe.text.declaration, Probe.list.declaration])
    let parsed = try ParsedArguments(
      ["--text=x=y", "first", "--list", "1", "second", "--flag", "--list=2", "--", "--third", "-"], for: declaration)
    #expect(parsed["A"] == "first")
    #expect(parsed.all("B") == ["second", "--third", "-"])
    #expect(try parsed.value(Probe.flag))
    #expect(try parsed.value(Probe.text) == "x=y")
    #expect(try parsed.value(Probe.list) == ["1", "2"])
  }

  private enum Probe {
    static let flag = CommandOption.flag("flag", help: "f")
    static let text = CommandOption.text("text", "T", help: "t")
    static let list = CommandOption.list("list", "L", help: "l")
  }

  @Test("A table is aligned, numbers to the right, and never obeys control characters")
  func table() {
    let lines = TextTable.lines(["name", "n"], [["é日本", "5"], ["a\u{1B}[31m\nb", "1000"]])
    #expect(lines[0].hasPrefix("name"))
    #expect(lines[1].hasSuffix("   5"))
    #expect(!lines.joined().contains("\u{1B}"))
    #expect(Set(lines.map(TextTable.width)).count == 1)
  }

  @Test("JSON text is escaped and keeps the order of its members")
  func json() {
    let value = JSONText.object([
      ("b", .string("\"\\\n\u{1}")), ("a", .array([.integer(1), .real(2), .real(0.5), .null, .bool(true)])),
      ("c", .real(.infinity)),
    ])
    #expect(value.text == #"{"b":"\"\\\n\u0001","a":[1,2,0.5,null,true],"c":"Infinity"}"#)
  }
}
