import Foundation
import TomboloProtocol
import TomboloServer

/// `tombolod restore`: after a data directory was put back from a backup.
enum RestoreCommand {
  static func run(_ words: [String]) throws -> Int32 {
    let arguments = try Arguments(words, options: ["data", "store"])
    if arguments.asksForHelp {
      return Console.result(HelpText.restore)
    }
    try arguments.requireNothingElse()
    let directory = try arguments.required("data")
    guard FileManager.default.fileExists(atPath: directory + "/tombolod.sqlite") else {
      throw TomboloError(
        .dataDirectoryUnusable, "There is no server's data in '\(directory)'.",
        remedy: "Put the backup there first; --data names the folder with tombolod.sqlite in it.")
    }
    // A server that runs would go on with what it holds in memory.
    let lock = try DirectoryLock(directory: directory)
    defer { lock.release() }
    let service = try Service(
      directory: directory, options: ServiceOptions(clock: SystemClock(), randomness: SystemRandomness()))
    defer { service.close() }
    var status: Int32 = 0
    for store in try arguments.values["store"].map({ [$0] }) ?? service.storeNames() {
      try service.beginEpoch(store: store)
      let line = "\(store): a new epoch begins; replicas are to sync with --reupload or --reset"
      if Console.result(line) != 0 { status = 1 }
    }
    return status
  }
}
