import Foundation
import TomboloProtocol

/// `DIR/tombolod.lock`, held while the process lives: one process serves a directory.
struct DirectoryLock {
  private let descriptor: Int32

  /// - Throws: `data_directory_locked`, `data_directory_unusable`.
  init(directory: String) throws {
    descriptor = open(directory + "/tombolod.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw TomboloError(
        .dataDirectoryUnusable, "The data directory '\(directory)' cannot be written.",
        remedy: "Check that the path is a directory that this user may write.")
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      close(descriptor)
      throw TomboloError(
        .dataDirectoryLocked, "Another process serves the data directory '\(directory)'.",
        remedy: "Stop that one first, or give this one another directory.")
    }
  }

  func release() { close(descriptor) }
}
