import Foundation
import TomboloProtocol

/// The server's process, which is killed and started again on the same port and the same data.
final class ChaosDaemon: Sendable {
  private struct Life {
    var process: ChildProcess?
    var lives = 0
  }

  let directory: String
  private let program: String
  private let folder: String
  private let life = Guarded(Life())
  private let portBox = Guarded<UInt16>(0)
  private static let startMilliseconds = 20_000
  private static let stopMilliseconds = 30_000
  private static let attemptsMax = 20

  init(program: String, folder: String) {
    self.program = program
    self.folder = folder
    directory = folder + "/server"
  }

  var port: UInt16 { portBox.withLock { $0 } }

  /// Starts it, and waits until it listens.
  func start() throws {
    // Ends: a port that somebody else has taken meanwhile stays taken.
    for attempt in 1...Self.attemptsMax {
      let number = life.withLock { life in
        life.lives += 1
        return life.lives
      }
      let output = "\(folder)/tombolod-\(number).out"
      let portFile = "\(folder)/port-\(number)"
      let process = try ChildProcess(
        program,
        ["serve", "--data", directory, "--listen", "127.0.0.1:\(port)", "--port-file", portFile], output: output,
        errors: "\(folder)/tombolod-\(number).err")
      let deadline = ContinuousClock.now + .milliseconds(Self.startMilliseconds)
      while process.isRunning, ContinuousClock.now < deadline {
        if let text = try? String(contentsOfFile: output, encoding: .utf8), text.contains("\n"),
          let port = try? String(contentsOfFile: portFile, encoding: .utf8),
          let number = UInt16(port.trimmingCharacters(in: .whitespacesAndNewlines))
        {
          portBox.withLock { $0 = number }
          life.withLock { $0.process = process }
          return
        }
        usleep(2_000)
      }
      process.killAndWait()
      if attempt < Self.attemptsMax { usleep(100_000) }
    }
    throw SimulationFailure(.progress, "the daemon does not start again on port \(port)")
  }

  /// Ends it as a power cut would; nothing where it is down.
  ///
  /// - Returns: whether it was running.
  @discardableResult
  func kill() throws -> Bool {
    guard let process = take() else { return false }
    if let ending = process.poll() { throw Self.crashed(ending) }
    process.killAndWait()
    return true
  }

  /// Asks it to stop; it must come to an end by itself.
  func stop() throws {
    guard let process = take() else { return }
    if let ending = process.poll() { throw Self.crashed(ending) }
    process.send(SIGTERM)
    guard let ending = process.wait(milliseconds: Self.stopMilliseconds) else {
      process.killAndWait()
      throw SimulationFailure(.progress, "the daemon does not stop when it is asked to")
    }
    guard ending == .status(0) else { throw Self.crashed(ending) }
  }

  private func take() -> ChildProcess? {
    life.withLock { life in
      defer { life.process = nil }
      return life.process
    }
  }

  private static func crashed(_ ending: ChildProcess.Ending) -> SimulationFailure {
    SimulationFailure(.progress, "the daemon ended by itself: \(ending)")
  }

  deinit { take()?.killAndWait() }
}
