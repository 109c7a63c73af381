import Foundation
import TomboloProtocol

/// Tokens in files.
package enum TokenFile {
  private static let bytesMax = 64 << 10

  /// - Throws: `file_unreadable`, `token_invalid`.
  package static func read(_ path: String) throws -> String {
    let failure = TomboloError(
      .fileUnreadable, "The token file \(path) cannot be read.",
      remedy: "Give the file that 'tombolod token create --out FILE' wrote.")
    guard let handle = FileHandle(forReadingAtPath: path) else { throw failure }
    defer { try? handle.close() }
    guard let data = try? handle.read(upToCount: bytesMax) ?? Data() else { throw failure }
    return try Remote.validated(String(decoding: data, as: UTF8.self))
  }

  /// A path that holds wherever the next program is called.
  package static func absolute(_ path: String) -> String {
    path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
  }
}
