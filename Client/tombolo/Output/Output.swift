import TomboloProtocol
import Foundation
import Glibc

/// Where a command writes: results to standard output, everything else to standard error.
package final class Output: Sendable {
  /// One line, without its end, or bytes as they are.
  package typealias Sink = @Sendable (String) -> Void

  private let standardOutput: Sink
  private let standardError: Sink
  /// Whether a person reads standard output: results are then laid out for reading.
  package let isTerminal: Bool
  /// Whether a person reads standard error: only then is progress shown.
  package let showsProgress: Bool
  private let progressWidth = Guarded(0)

  package init(
    standardOutput: @escaping Sink, standardError: @escaping Sink, isTerminal: Bool, showsProgress: Bool
  ) {
    self.standardOutput = standardOutput
    self.standardError = standardError
    self.isTerminal = isTerminal
    self.showsProgress = showsProgress
  }

  /// The process's own standard streams.
  package static func standard() -> Output {
    Output(
      standardOutput: { text in
        guard let problem = write(text, to: 1) else { return }
        // Nothing that was done is undone by this, but whoever reads the result must not take a part for the whole.
        _ = write(
          "error[file_unwritable]: Standard output cannot be written: \(problem).\n"
            + "  What the command did is done: it only could not be told.\n", to: 2)
        exit(1)
      },
      standardError: { _ = write($0, to: 2) }, isTerminal: isatty(1) == 1, showsProgress: isatty(2) == 1)
  }

  /// - Returns: the operating system's reason, where not all of it could be written.
  private static func write(_ text: String, to descriptor: Int32) -> String? {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return String(cString: strerror(errno)) }
      rest = rest.dropFirst(count)
    }
    return nil
  }

  /// A result.
  package func line(_ text: String = "") { standardOutput(text + "\n") }
  package func text(_ text: String) { standardOutput(text) }
  package func json(_ value: JSONText) { standardOutput(value.text + "\n") }

  /// Something worth knowing that is not the result.
  package func note(_ text: String) {
    endProgress()
    standardError(text + "\n")
  }

  /// A line that the next one overwrites; nothing where nobody watches.
  package func progress(_ text: String) {
    guard showsProgress else { return }
    let width = progressWidth.withLock { width in
      defer { width = text.count }
      return width
    }
    standardError("\r" + text + String(repeating: " ", count: max(0, width - text.count)))
  }

  package func endProgress() {
    let width = progressWidth.withLock { width in
      defer { width = 0 }
      return width
    }
    guard width > 0 else { return }
    standardError("\r" + String(repeating: " ", count: width) + "\r")
  }

  /// Rows under headings, aligned; a column whose cells are all numbers is aligned to the right.
  package func table(_ headings: [String], _ rows: [[String]]) {
    for line in TextTable.lines(headings, rows) { self.line(line) }
  }
}
