import Foundation
import TomboloProtocol

/// A file that only its owner may read, made anew or emptied.
struct PrivateFile {
  private let descriptor: Int32
  private let path: String

  /// - Throws: `file_unwritable`.
  init(path: String) throws {
    self.path = path
    descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    // A file that was there keeps its mode at opening.
    guard descriptor >= 0, fchmod(descriptor, 0o600) == 0 else { throw Self.failure(path) }
  }

  func write(_ text: String) throws {
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    var written = 0
    while written < bytes.count {
      let count = bytes[written...].withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      guard count > 0 else { throw Self.failure(path) }
      written += count
    }
    guard fsync(descriptor) == 0 else { throw Self.failure(path) }
  }

  static func failure(_ path: String) -> TomboloError {
    TomboloError(
      .fileUnwritable, "The file '\(path)' cannot be written: \(String(cString: strerror(errno))).",
      remedy: "Check the folder and its permissions.")
  }
}
