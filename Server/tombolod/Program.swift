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
        return Console.result("tombolod \(ProgramVersion.text)\nprotocol \(ProgramVersion.protocolVersion)")
      case "--help", "-h", "help":
        return Console.result(HelpText.program)
      case nil:
        Console.note(HelpText.program)
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
    var text = "tombolod: \(error.message) [\(error.code.rawValue)]"
    for detail in error.details { text += "\n  \(detail.text)" }
    if !error.remedy.isEmpty { text += "\n  \(error.remedy)" }
    Console.note(text)
  }
}
