internal import Foundation
import TomboloProtocol

/// The right to sync a store's file: one process, and in it one sync, has it at a time.
///
/// A lock of the operating system on a file beside the store (`NAME-sync`). It ends with the process that holds it, so a
/// crash blocks nobody; the file goes when the sync is over. It is no part of the store, and copying it does no harm.
final class SyncLease {
  private let descriptor: Int32
  private let path: String

  static func path(of store: String) -> String { store + "-sync" }

  /// - Returns: nil if another sync has it.
  /// - Throws: `file_unwritable`.
  static func take(at path: String) throws -> SyncLease? {
    // Ends: another turn means that whoever held the lease has just removed its file.
    for _ in 0..<1_000 {
      let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else {
        throw TomboloError(
          .fileUnwritable, "The file \(path), which a sync locks, cannot be made.",
          remedy: "Check that this user may write in the store's folder.")
      }
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
        close(descriptor)
        return nil
      }
      if isSameFile(descriptor, path) { return SyncLease(descriptor: descriptor, path: path) }
      close(descriptor)
    }
    return nil
  }

  private init(descriptor: Int32, path: String) {
    self.descriptor = descriptor
    self.path = path
  }

  private static func isSameFile(_ descriptor: Int32, _ path: String) -> Bool {
    var (held, named) = (stat(), stat())
    return fstat(descriptor, &held) == 0 && stat(path, &named) == 0 && held.st_ino == named.st_ino
      && held.st_dev == named.st_dev
  }

  deinit {
    // While it is still locked: who comes next makes a new file.
    unlink(path)
    close(descriptor)
  }
}

extension SyncFailure {
  static var underWay: TomboloError {
    TomboloError(
      .syncUnderWay, "Another process, or another part of this one, is syncing this store.",
      remedy: "What is unsent travels with it, or with the next sync; 'tombolo sync --wait' waits for its turn.",
      isRetryable: true)
  }
}
