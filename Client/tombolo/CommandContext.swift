import Foundation
import Synchronization
package import Tombolo
package import TomboloClient
package import TomboloProtocol

/// What a command works with besides its arguments.
package struct CommandContext: Sendable {
  package var output: Output
  package var clock: any WallClock
  package var randomness: any Randomness
  package var makeTransport: @Sendable () -> any Transport

  package init(
    output: Output, clock: any WallClock, randomness: any Randomness,
    makeTransport: @escaping @Sendable () -> any Transport
  ) {
    self.output = output
    self.clock = clock
    self.randomness = randomness
    self.makeTransport = makeTransport
  }

  var storeOptions: Store.Options { Store.Options(clock: clock, randomness: randomness) }

  /// Opens a store that must exist.
  package func open(_ path: String, readOnly: Bool = false) throws -> Store {
    guard FileManager.default.fileExists(atPath: path) else {
      throw TomboloError(
        .storeMissing, "There is no store at \(path).",
        remedy: "Check the path, or create one: tombolo init \(path) --schema FILE.json.")
    }
    var options = storeOptions
    options.isReadOnly = readOnly
    return try Store(existing: path, options: options)
  }

  /// Whether a file is an SQLite database: a store, as opposed to a schema document.
  func isDatabase(_ path: String) throws -> Bool {
    guard let handle = FileHandle(forReadingAtPath: path) else { throw CommandFailure.unreadable(path) }
    defer { try? handle.close() }
    guard let head = try? handle.read(upToCount: 16) ?? Data() else { throw CommandFailure.unreadable(path) }
    return head == Data("SQLite format 3\u{0}".utf8)
  }
}

/// Errors that more than one command raises.
enum CommandFailure {
  static func unreadable(_ path: String) -> TomboloError {
    var isDirectory: ObjCBool = false
    if FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory.boolValue {
      return TomboloError(.fileUnreadable, "\(path) is a folder.", remedy: "Name a file in it.")
    }
    return TomboloError(
      .fileUnreadable, "The file \(path) cannot be read.", remedy: "Check the path and the right to read it.")
  }

  static func unwritable(_ path: String) -> TomboloError {
    TomboloError(
      .fileUnwritable, "The file \(path) cannot be written.",
      remedy: "Check the folder, the right to write in it, and the room on the disk.")
  }
}
