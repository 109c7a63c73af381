import Foundation
import Testing

@Suite("Examples", .timeLimit(.minutes(2)))
struct ExampleTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  /// `make` builds them before the tests: a build inside `swift test` would wait for ever.
  private static let programs = root.appending(path: ".build/examples/debug").path

  @Test(
    "Two replicas and a server come to what the session says",
    .enabled(if: FileManager.default.fileExists(atPath: programs), "'make build-examples' was not run"),
    arguments: ["bookshelf", "habits", "planner", "workouts"])
  func session(_ example: String) throws {
    let servers = try Sandbox.program("tombolod").deletingLastPathComponent().path
    let result = try Sandbox().run(
      Self.root.appending(path: "Examples/session").path, [servers, Self.programs, example])
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(result.output.hasSuffix("Everything was as stated.\n"))
  }
}
