import Foundation

/// The project's own Swift files, read once.
struct SourceTree {
  struct File: Sendable {
    /// From the root, with forward slashes.
    let path: String
    let lines: [String]
    /// The target that the file belongs to, by its folder.
    let target: String?
    var isTest: Bool { path.hasPrefix("Tests/") }
  }

  static let root: URL = {
    var folder = URL(fileURLWithPath: #filePath)
    while folder.path != "/", !FileManager.default.fileExists(atPath: folder.appending(path: "Package.swift").path) {
      folder.deleteLastPathComponent()
    }
    return folder
  }()

  static let folders: [(prefix: String, target: String)] = [
    ("Protocol/TomboloProtocol/", "TomboloProtocol"), ("Sources/TomboloSQLite/", "TomboloSQLite"),
    ("Sources/TomboloCompression/", "TomboloCompression"), ("Sources/TomboloMacros/", "TomboloMacros"),
    ("Sources/Tombolo/", "Tombolo"), ("Sources/SwiftData/", "SwiftData"),
    ("Client/TomboloClient/", "TomboloClient"), ("Client/tombolo/", "TomboloCommand"),
    ("Client/TomboloProgram/", "TomboloProgram"),
    ("Server/TomboloServer/", "TomboloServer"), ("Server/tombolod/", "tombolod"),
    ("Simulation/TomboloSimulation/", "TomboloSimulation"), ("Benchmarks/TomboloBenchmarks/", "TomboloBenchmarks"),
  ]

  static let files: [File] = {
    let top = ["Protocol", "Sources", "Client", "Server", "Simulation", "Benchmarks", "Tests", "Examples"]
    var found: [File] = []
    for folder in top {
      let base = root.appending(path: folder)
      guard let walker = FileManager.default.enumerator(at: base, includingPropertiesForKeys: nil) else { continue }
      for case let url as URL in walker where url.pathExtension == "swift" && !url.path.contains("/.build") {
        guard let text = try? String(contentsOf: url, encoding: .utf8) else { continue }
        let path = String(url.path.dropFirst(root.path.count + 1))
        let target = folders.first { path.hasPrefix($0.prefix) }?.target
        found.append(File(path: path, lines: text.components(separatedBy: "\n"), target: target))
      }
    }
    return found.sorted { $0.path < $1.path }
  }()

  /// Every line that a rule finds, as `path: line text`, so that a failure can be read.
  static func offences(in files: [File], where isOffence: (String) -> Bool) -> [String] {
    files.flatMap { file in
      file.lines.filter { isOffence($0) }.map { "\(file.path): \($0.trimmingCharacters(in: .whitespaces))" }
    }
  }

  /// The line without what stands in string literals and comments, roughly: enough for looking for words of the language.
  static func code(_ line: String) -> String {
    var result = ""
    var isInText = false
    var previous: Character = " "
    for character in line {
      if character == "\"", previous != "\\" { isInText.toggle() }
      if !isInText, character == "/", previous == "/" { return String(result.dropLast()) }
      if !isInText { result.append(character) }
      previous = character
    }
    return result
  }
}
