import TomboloProtocol
import Foundation
import Glibc

/// A program that was started, its output in files; may be killed at any moment.
final class ChildProcess: Sendable {
  /// How a program ended.
  enum Ending: Hashable, Sendable {
    case status(Int32)
    case signal(Int32)
  }

  let identifier: pid_t
  private let ending = Guarded<Ending?>(nil)
  private static let pollMicroseconds: UInt32 = 1_000

  /// - Parameters:
  ///   - program: its path.
  ///   - output: the file that its standard output goes to.
  ///   - errors: the file that its standard error goes to.
  /// - Throws: `file_unreadable` where it cannot be started.
  init(_ program: String, _ arguments: [String], output: String, errors: String) throws {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    var words = ([program] + arguments).map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var variables = ProcessInfo.processInfo.environment.map { strdup("\($0)=\($1)") } + [nil]
    defer { for variable in variables { free(variable) } }
    var identifier: pid_t = 0
    let code = posix_spawn(&identifier, program, &actions, nil, &words, &variables)
    guard code == 0 else {
      throw TomboloError(
        .fileUnreadable, "The program \(program) cannot be started: \(String(cString: strerror(code))).")
    }
    self.identifier = identifier
  }

  /// How it ended; nil while it runs.
  func poll() -> Ending? {
    ending.withLock { ending in
      if let ending { return ending }
      var status: Int32 = 0
      guard waitpid(identifier, &status, WNOHANG) == identifier else { return nil }
      // WIFEXITED and its kin are macros that Swift does not see.
      let signal = status & 0x7F
      ending = signal == 0 ? .status(status >> 8 & 0xFF) : .signal(signal)
      return ending
    }
  }

  var isRunning: Bool { poll() == nil }

  /// Waits for the end; nil where the time was up before.
  func wait(milliseconds: Int) -> Ending? {
    let deadline = ContinuousClock.now + .milliseconds(milliseconds)
    while true {
      if let ending = poll() { return ending }
      if ContinuousClock.now >= deadline { return nil }
      usleep(Self.pollMicroseconds)
    }
  }

  /// Does nothing to a process that has ended: its number may be another's by now.
  func send(_ signal: Int32) {
    ending.withLock { ending in
      if ending == nil { _ = kill(identifier, signal) }
    }
  }

  /// Ends it as a power cut would, and waits for that.
  func killAndWait() {
    send(SIGKILL)
    while poll() == nil { usleep(Self.pollMicroseconds) }
  }
}
