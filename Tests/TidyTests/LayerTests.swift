import Foundation
import Testing

@Suite("The tree is the architecture")
struct LayerTests {
  /// Every arrow between our own and the system's targets; ARCHITECTURE.md has the same table.
  static let arrows: [String: Set<String>] = [
    "TomboloProtocol": ["CTomboloSodium"],
    "TomboloSQLite": ["CTomboloSQLite"],
    "TomboloCompression": ["CTomboloZstd"],
    "TomboloMacros": [],
    "Tombolo": ["TomboloProtocol", "TomboloSQLite"],
    "SwiftData": ["Tombolo"],
    "TomboloClient": ["Tombolo", "TomboloProtocol", "TomboloSQLite", "TomboloCompression", "CTomboloCurl"],
    "TomboloServer": ["TomboloProtocol", "TomboloSQLite", "TomboloCompression"],
    "tombolod": ["TomboloServer", "TomboloProtocol", "TomboloSQLite", "CTomboloMicroHTTPD"],
    "TomboloSimulation": [
      "TomboloClient", "TomboloServer", "TomboloCompression", "Tombolo", "TomboloProtocol", "TomboloSQLite",
    ],
    "TomboloCommand": ["TomboloClient", "TomboloSimulation", "Tombolo", "TomboloProtocol", "TomboloSQLite"],
    "TomboloProgram": ["TomboloCommand", "TomboloClient", "Tombolo", "TomboloSQLite"],
    "TomboloBenchmarks": [
      "Tombolo", "TomboloClient", "TomboloCompression", "TomboloServer", "TomboloProtocol", "TomboloSQLite",
      "CTomboloSQLite", "SwiftData",
    ],
  ]

  static func imports(of file: SourceTree.File) -> [String] {
    file.lines.compactMap { line in
      let words = SourceTree.code(line).split(separator: " ").map(String.init)
      guard let index = words.firstIndex(of: "import"), index + 1 < words.count else { return nil }
      let before = words[..<index].allSatisfy {
        $0.hasPrefix("@") || ["public", "package", "internal", "private"].contains($0)
      }
      return before ? String(words[index + 1].split(separator: ".")[0]) : nil
    }
  }

  @Test("A target imports only what lies below it", arguments: arrows.keys.sorted())
  func importsOnlyDownwards(target: String) throws {
    let own = Self.arrows.keys
    let allowed = try #require(Self.arrows[target])
    let files = SourceTree.files.filter { $0.target == target }
    #expect(!files.isEmpty, "The target \(target) has no files: the folder list of this test is out of date.")
    for file in files {
      for module in Self.imports(of: file) where own.contains(module) || module.hasPrefix("CTombolo") {
        #expect(allowed.contains(module), "\(file.path) imports \(module); ARCHITECTURE.md has no such arrow.")
      }
    }
  }

  @Test("A wrong arrow would be seen")
  func wrongArrowIsSeen() {
    let file = SourceTree.File(path: "x", lines: ["package import TomboloServer", "import Foundation"], target: nil)
    #expect(Self.imports(of: file) == ["TomboloServer", "Foundation"])
  }

  @Test("Every source file belongs to a target")
  func everyFileHasATarget() {
    let strays = SourceTree.files.filter {
      $0.target == nil && !$0.isTest && !$0.path.hasPrefix("Examples/") && !$0.path.contains("/Package")
    }
    #expect(strays.map(\.path) == [])
  }

  @Test("The layers' folders hold nothing but their targets")
  func foldersAreLayers() throws {
    for folder in ["Protocol", "Sources", "Client", "Server", "Simulation"] {
      let base = SourceTree.root.appending(path: folder)
      for entry in try FileManager.default.contentsOfDirectory(atPath: base.path).sorted() {
        let values = try base.appending(path: entry).resourceValues(forKeys: [.isDirectoryKey])
        guard values.isDirectory == true, entry != "Golden" else { continue }
        let isKnown = SourceTree.folders.contains { $0.prefix == "\(folder)/\(entry)/" } || entry.hasPrefix("CTombolo")
        #expect(isKnown, "\(folder)/\(entry) is no target.")
      }
    }
  }
}
