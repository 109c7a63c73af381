import Glibc

/// The process's standard streams. Either may be closed, full, or a pipe that nobody reads any more: a line of the log
/// that cannot be written is dropped, and a result that cannot be written is a failure.
enum Console {
  /// What a command was called for.
  ///
  /// - Returns: the exit status: 1 where whoever asked does not have all of it.
  static func result(_ text: String) -> Int32 {
    guard let problem = write(text + "\n", to: 1) else { return 0 }
    // A reader that has gone away has seen enough.
    if problem != EPIPE {
      note("tombolod: Standard output cannot be written: \(String(cString: strerror(problem))). [file_unwritable]")
      note("  What the command did is done: it only could not be told.")
    }
    return 1
  }

  /// A line for whoever watches the server.
  static func announce(_ text: String) { _ = write(text + "\n", to: 1) }

  /// A line of the log, or about a failure.
  static func note(_ text: String) { _ = write(text + "\n", to: 2) }

  /// - Returns: the operating system's number of what went wrong, where not all of it could be written.
  private static func write(_ text: String, to descriptor: Int32) -> Int32? {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return errno }
      rest = rest.dropFirst(count)
    }
    return nil
  }
}
