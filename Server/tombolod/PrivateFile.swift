import Foundation
import TomboloProtocol

/// A file that only its owner may read: a new one, or one with nothing in it.
struct PrivateFile {
  private let descriptor: Int32
  private let path: String

  /// - Throws: `file_unwritable`.
  init(path: String) throws {
    self.path = path
    descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    var found = stat()
    guard descriptor >= 0, fstat(descriptor, &found) == 0 else { throw Self.failure(path) }
    guard found.st_size == 0 else {
      close(descriptor)
      throw TomboloError(
        .fileUnwritable, "The file '\(path)' is not empty: a token in it could not be got back.",
        remedy: "Name a new file, or remove this one first.")
    }
    // A file that was there keeps its mode at opening.
    guard fchmod(descriptor, 0o600) == 0 else { throw Self.failure(path) }
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
