import Foundation
import TomboloProtocol
import TomboloServer

/// The command line: which command, and how its failure is told.
enum Program {
  static let exitUsage: Int32 = 64

  static func run(_ words: [String]) -> Int32 {
    do {
      switch words.first {
      case "serve": return try ServeCommand.run(Array(words.dropFirst()))
      case "restore": return try RestoreCommand.run(Array(words.dropFirst()))
      case "token": return try TokenCommand.run(Array(words.dropFirst()))
      case "--version", "-V", "version":
        print("tombolod \(ProgramVersion.text)\nprotocol \(ProgramVersion.protocolVersion)")
        return 0
      case "--help", "-h", "help":
        print(HelpText.program)
        return 0
      case nil:
        FileHandle.standardError.write(Data((HelpText.program + "\n").utf8))
        return exitUsage
      case let word?:
        throw TomboloError(.usage, "There is no command '\(word)'.", remedy: "'tombolod --help' lists the commands.")
      }
    } catch let error as TomboloError {
      complain(error)
      return error.code == .usage ? exitUsage : 1
    } catch {
      complain(
        TomboloError(
          .internalFault, "\(error)", remedy: "Check that the data directory is readable, writable and whole."))
      return 1
    }
  }

  static func complain(_ error: TomboloError) {
    var text = "tombolod: \(error.message) [\(error.code.rawValue)]\n"
    for detail in error.details { text += "  \(detail.text)\n" }
    if !error.remedy.isEmpty { text += "  \(error.remedy)\n" }
    FileHandle.standardError.write(Data(text.utf8))
  }
}
