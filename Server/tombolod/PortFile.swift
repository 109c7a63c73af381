import Foundation

/// Tells a script which port was taken: whole or not at all, since it is renamed into place.
enum PortFile {
  /// - Throws: `file_unwritable`.
  static func write(_ port: UInt16, to path: String) throws {
    let temporary = path + ".new"
    guard (try? Data("\(port)\n".utf8).write(to: URL(fileURLWithPath: temporary))) != nil,
      rename(temporary, path) == 0
    else { throw PrivateFile.failure(path) }
  }
}
