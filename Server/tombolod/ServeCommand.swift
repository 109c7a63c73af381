import Foundation
import TomboloProtocol
import TomboloServer

/// `tombolod serve`: until SIGTERM or SIGINT.
enum ServeCommand {
  private static let defaultAddress = "127.0.0.1:8440"
  private static let openFilesWanted: rlim_t = 65_536

  static func run(_ words: [String]) throws -> Int32 {
    let arguments = try Arguments(
      words, options: Set(["data", "listen", "port-file", "threads"] + LimitOption.all.map(\.name)),
      flags: ["verbose"])
    if arguments.asksForHelp {
      return Console.result(HelpText.serve)
    }
    try arguments.requireNothingElse()
    let directory = try arguments.required("data")
    let threads = try threadCount(arguments.values["threads"] ?? "2")
    // Before any thread starts: all of them inherit the mask, so that only `sigwait` below takes the signals.
    var signals = stopSignals()
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    raiseOpenFilesLimit()

    var options = ServiceOptions(clock: SystemClock(), randomness: SystemRandomness())
    for option in LimitOption.all { try option.apply(arguments, to: &options.limits) }
    options.log = { line in Console.note("tombolod: \(line)") }
    try Service.makeDirectory(directory)
    let lock = try DirectoryLock(directory: directory)
    defer { lock.release() }
    let service = try Service(directory: directory, options: options)
    let address = try ListenAddress(arguments.values["listen"] ?? defaultAddress)
    let listener = try Listener(
      service: service, bodyMax: options.limits.requestBytesMax, address: address, threads: threads,
      isVerbose: arguments.flags.contains("verbose"))
    do {
      if let path = arguments.values["port-file"] { try PortFile.write(address.port, to: path) }
    } catch {
      listener.stop()
      throw error
    }
    Console.announce("tombolod: listening on \(address.text)")
    var received: Int32 = 0
    sigwait(&signals, &received)
    listener.stop()
    service.close()
    return 0
  }

  private static func threadCount(_ text: String) throws -> Int {
    guard let threads = Int(text), (1...64).contains(threads) else {
      throw TomboloError(.usage, "'\(text)' is no number of threads.", remedy: "Give 1 to 64.")
    }
    return threads
  }

  private static func stopSignals() -> sigset_t {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGTERM)
    sigaddset(&signals, SIGINT)
    return signals
  }

  /// Each suspended poll keeps a connection open.
  private static func raiseOpenFilesLimit() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = min(limit.rlim_max, openFilesWanted)
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }
}
