import Foundation
import Testing

@Suite("House rules that a program can see")
struct HouseRuleTests {
  typealias File = SourceTree.File
  static var sources: [File] { SourceTree.files.filter { !$0.isTest } }
  static var tests: [File] { SourceTree.files.filter { $0.isTest } }
  /// The tests of the rules name what they look for.
  static var others: [File] { SourceTree.files.filter { !$0.path.hasPrefix("Tests/TidyTests/") } }

  @Test("Files stay readable: sources under 700 lines, tests under 1 200")
  func fileLengths() {
    #expect(Self.sources.filter { $0.lines.count > 700 }.map { "\($0.path): \($0.lines.count)" } == [])
    #expect(Self.tests.filter { $0.lines.count > 1200 }.map { "\($0.path): \($0.lines.count)" } == [])
  }

  @Test("Nothing is forced: no try!, no as!")
  func nothingIsForced() {
    let found = SourceTree.offences(in: Self.others) { line in
      let code = SourceTree.code(line)
      return code.contains("try" + "!") || code.contains("as" + "! ")
    }
    #expect(found == [])
  }

  @Test("Nothing is left for later")
  func noLeftovers() {
    let marks = ["TO" + "DO", "FIX" + "ME", "XX" + "X", "not built" + " yet", "HACK"]
    let found = SourceTree.offences(in: Self.others) { line in marks.contains { line.contains($0) } }
    #expect(found == [])
  }

  @Test("Each @unchecked Sendable says on the next line what guards it")
  func uncheckedSendableIsExplained() {
    var found: [String] = []
    for file in Self.others {
      for (index, line) in file.lines.enumerated() where SourceTree.code(line).contains("@unchecked Sendable") {
        let next = index + 1 < file.lines.count ? file.lines[index + 1].trimmingCharacters(in: .whitespaces) : ""
        if !next.hasPrefix("//") { found.append("\(file.path): \(line.trimmingCharacters(in: .whitespaces))") }
      }
    }
    #expect(found == [])
  }

  @Test("Locks are those that the thread sanitizer sees")
  func visibleLocks() {
    let found = SourceTree.offences(in: Self.sources) { line in
      let code = SourceTree.code(line)
      return code.contains("Mutex(") || code.contains("Mutex<")
    }
    #expect(found == [])
  }

  @Test("Protocol, Client and Server take clock and identifiers from outside")
  func noHiddenClocks() {
    let pure = Self.sources.filter { file in
      ["Protocol/", "Client/TomboloClient/", "Server/TomboloServer/"].contains { file.path.hasPrefix($0) }
    }
    let found = SourceTree.offences(in: pure) { line in
      let code = SourceTree.code(line)
      return code.contains("Date()") || code.contains("Date.now") || code.contains(" UUID()")
        || code.contains("(UUID()")
    }
    #expect(found == [])
  }

  @Test("OpaquePointer stays beside the C library that it belongs to")
  func opaquePointers() {
    let allowed = ["TomboloSQLite", "TomboloCompression", "TomboloBenchmarks", "tombolod"]
    let files = Self.sources.filter { !allowed.contains($0.target ?? "") && !$0.path.hasSuffix("CurlTransport.swift") }
    #expect(SourceTree.offences(in: files) { SourceTree.code($0).contains("OpaquePointer") } == [])
  }

  @Test("Tests use Swift Testing, never sleep, and can fail")
  func testsCanFail() {
    let found = SourceTree.offences(in: Self.tests.filter { !$0.path.hasPrefix("Tests/TidyTests/") }) { line in
      let code = SourceTree.code(line)
      return code.contains("import XCTest") || code.contains("#expect(true)") || code.contains("#expect(Bool(true))")
        || code.contains("Task.sleep") || code.contains("Thread.sleep")
    }
    #expect(found == [])
  }

  @Test("Nothing names a machine's own paths")
  func noMachinePaths() throws {
    let paths = ["/wo" + "rk/", "/ro" + "ot/", "/opt" + "/swift", "bash" + "_jobs"]
    let extensions = ["swift", "md", "sh", "json", "py", "c", "h", "yml"]
    var found: [String] = []
    let walker = FileManager.default.enumerator(at: SourceTree.root, includingPropertiesForKeys: nil)
    while let url = walker?.nextObject() as? URL {
      let path = String(url.path.dropFirst(SourceTree.root.path.count + 1))
      if path.hasPrefix(".git") || path.contains(".build") { continue }
      guard extensions.contains(url.pathExtension) || ["Makefile", "run"].contains(url.lastPathComponent) else {
        continue
      }
      guard let text = try? String(contentsOf: url, encoding: .utf8) else { continue }
      for line in text.components(separatedBy: "\n") where paths.contains(where: { line.contains($0) }) {
        found.append("\(path): \(line)")
      }
    }
    #expect(found == [])
  }

  @Test("Public declarations of the libraries are documented")
  func publicDeclarationsAreDocumented() {
    var found: [String] = []
    for file in Self.sources where ["Tombolo", "TomboloClient", "TomboloSimulation"].contains(file.target ?? "") {
      for (index, line) in file.lines.enumerated() {
        let code = SourceTree.code(line).trimmingCharacters(in: .whitespaces)
        let words = [
          "public struct", "public final class", "public class", "public enum", "public protocol", "public actor",
          "public macro",
        ]
        guard words.contains(where: { code.hasPrefix($0) }), !code.contains("_$") else { continue }
        var above = index - 1
        while above >= 0, file.lines[above].trimmingCharacters(in: .whitespaces).hasPrefix("@") { above -= 1 }
        // An attribute may take several lines: the documentation stands above its first.
        if above >= 0, file.lines[above].hasSuffix(")"), !file.lines[above].contains("///") {
          while above > 0, !file.lines[above].hasPrefix("@") { above -= 1 }
          above -= 1
          while above >= 0, file.lines[above].hasPrefix("@") { above -= 1 }
        }
        let isDocumented = above >= 0 && file.lines[above].trimmingCharacters(in: .whitespaces).hasPrefix("///")
        if !isDocumented { found.append("\(file.path): \(code)") }
      }
    }
    #expect(found == [])
  }
}
