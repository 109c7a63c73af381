import Foundation
import Testing

/// The page for users shows code that is compiled and run here.
@Suite("The page about testing one's own models")
struct DocumentationTests {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private static func trimmed(_ text: some StringProtocol) -> [String] {
    text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
  }

  @Test("Each block of code on the page is in the file that the tests run, line by line")
  func isRun() throws {
    let page = try String(contentsOf: Self.root.appending(path: "Documentation/TestingYourModels.md"), encoding: .utf8)
    let source = try String(
      contentsOf: Self.root.appending(path: "Tests/SimulationTests/DocumentedSimulation.swift"), encoding: .utf8)
    let code = Self.trimmed(source).joined(separator: "\n")
    let blocks = page.components(separatedBy: "```swift\n").dropFirst().compactMap {
      $0.components(separatedBy: "```").first
    }
    #expect(blocks.count == 4)
    for block in blocks where !block.hasPrefix(".product(") {
      let text = Self.trimmed(block).joined(separator: "\n")
      #expect(code.contains(text), "\(block)")
    }
  }
}
