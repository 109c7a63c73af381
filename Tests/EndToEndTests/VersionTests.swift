import TomboloProtocol
import Foundation
import Testing

@Suite("What the programs say of themselves")
struct VersionTests {
  @Test("Each has a version, and both speak one protocol", arguments: ["tombolo", "tombolod"])
  func version(program: String) throws {
    let told = try Sandbox().run(program, ["--version"])
    #expect(told.status == 0, "\(told.errors)")
    let lines = told.output.split(separator: "\n")
    #expect(lines.first == "\(program) \(ProgramVersion.text)")
    #expect(lines.last?.hasPrefix("protocol \(ProgramVersion.protocolVersion)") == true)
  }

  @Test("Standard input is imported as a file is", arguments: ["-", "/dev/stdin"])
  func standardInput(name: String) throws {
    let sandbox = try Sandbox()
    try sandbox.tombolo("init", "a.store", "--schema", Sandbox.data("airports.schema.json"))
    let program = try Sandbox.program("tombolo").path
    let piped = try sandbox.run(
      "/bin/sh", ["-c", "printf 'code\\nNO\\nSE\\n' | '\(program)' import a.store \(name) --entity State"])
    #expect(piped.status == 0 && piped.output.contains("2 new"), "\(piped.errors)")
    #expect(try sandbox.count("a.store", "State") == 2)
  }
}
