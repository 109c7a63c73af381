import Foundation

/// `Raw/raw_inrow.c`, run beside: inserts, updates and applied changes with their stamps in the row, the least that
/// recording can cost.
enum RawInRow {
  /// Milliseconds by the name of the part; empty where the program was not built.
  static func run(_ count: Int, in folder: URL, programs: URL) throws -> [String: Double] {
    let program = programs.appending(path: "raw_inrow")
    guard FileManager.default.isExecutableFile(atPath: program.path) else { return [:] }
    let process = Process()
    let output = Pipe()
    process.executableURL = program
    process.arguments = [folder.appending(path: "inrow.db").path, "\(count)"]
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return try times(in: text)
  }

  /// The raw programs print a JSON line for each part.
  static func times(in text: String) throws -> [String: Double] {
    var result: [String: Double] = [:]
    for line in text.split(separator: "\n") {
      guard let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
        let name = object["w"] as? String, let seconds = object["sec"] as? Double
      else { continue }
      result[name] = seconds * 1000
    }
    return result
  }
}
