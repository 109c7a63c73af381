import Foundation
package import TomboloProtocol
package import TomboloSQLite

/// Where a store lies that is only to be read.
///
/// A reader of a database with a log needs the index beside it, and makes it where there is none
/// (https://sqlite.org/wal.html#read_only_databases). Where it may not, and no log waits to be folded in, the file alone is
/// the store: it is read as one that nobody changes meanwhile, which whoever may write the folder must see to.
package struct ReadOnlyPlace: Sendable {
  private let path: String
  private let folder: String

  package init(_ path: String) {
    self.path = path
    folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
  }

  /// Whether the file is to be opened as one that nobody changes (https://sqlite.org/uri.html#uriimmutable).
  package var isImmutable: Bool { !isFolderWritable && !hasLog }

  private var isFolderWritable: Bool { FileManager.default.isWritableFile(atPath: folder) }

  /// An empty log is what a reader leaves; it holds nothing.
  private var hasLog: Bool {
    ["-wal", "-journal"].contains { ending in
      let size = try? FileManager.default.attributesOfItem(atPath: path + ending)[.size] as? Int
      return (size ?? 0) > 0
    }
  }

  /// Why the store cannot be read, where it is the folder's fault.
  package func refusal(of error: SQLiteError) -> TomboloError? {
    guard !isFolderWritable, hasLog, error.isRefusedPlace else { return nil }
    return TomboloError(
      .readOnlyStore,
      "The store at \(path) has a log beside it that is not folded in, and to read it takes the right to write in \(folder).",
      remedy:
        "Let whoever may write there open it once ('tombolo status'), or copy it and its log to a folder of yours.")
  }
}
