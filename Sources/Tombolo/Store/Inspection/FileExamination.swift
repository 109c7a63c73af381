import Foundation
import TomboloProtocol
import TomboloSQLite

/// Looks at a store's file from outside, before anything is opened.
struct FileExamination {
  private static let roomMin = 64 << 20
  private static let logBytesMax = 256 << 20

  let path: String
  private(set) var findings: [Finding] = []
  /// Whether it makes sense to look inside.
  private(set) var isReadable = false

  init(path: String) {
    self.path = path
    let manager = FileManager.default
    guard manager.fileExists(atPath: path) else {
      findings.append(
        Finding(
          .problem, .file, "There is no file at \(path).",
          remedy: "Check the path, or create a store: tombolo init \(path) --schema FILE.json."))
      return
    }
    guard manager.isReadableFile(atPath: path) else {
      findings.append(
        Finding(.problem, .file, "The file \(path) cannot be read.", remedy: "Give yourself the right to read it."))
      return
    }
    isReadable = true
    checkRights()
    checkRoom()
  }

  private mutating func checkRights() {
    let manager = FileManager.default
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    if !manager.isWritableFile(atPath: path) {
      findings.append(
        Finding(
          .problem, .file, "The file \(path) cannot be written: nothing can be saved, and nothing received.",
          remedy: "Give yourself the right to write it: chmod u+w."))
    } else if !manager.isWritableFile(atPath: folder) {
      findings.append(
        Finding(
          .problem, .file, "The folder \(folder) cannot be written, and SQLite keeps its log beside the file.",
          remedy: "Give yourself the right to write the folder."))
    } else {
      findings.append(Finding(.fine, .file, "The file can be read and written."))
    }
  }

  private mutating func checkRoom() {
    let manager = FileManager.default
    let size = (try? manager.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
    let log = (try? manager.attributesOfItem(atPath: path + "-wal")[.size] as? Int) ?? 0
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    let free = (try? manager.attributesOfFileSystem(forPath: folder)[.systemFreeSize] as? NSNumber)?.intValue
    if let free, free < Self.roomMin {
      findings.append(
        Finding(
          free < 1 << 20 ? .problem : .warning, .space, "The disk has \(Self.text(free)) left.",
          remedy: "Make room: a save needs some, and a first sync as much as the store is going to be."))
    } else if log > Self.logBytesMax {
      findings.append(
        Finding(
          .warning, .space, "The log beside the file has grown to \(Self.text(log)).",
          remedy: "End the programs that hold a read transaction open on the store; the next save then takes it in."))
    } else {
      let room = free.map { ", the disk has \(Self.text($0)) left" } ?? ""
      findings.append(Finding(.fine, .space, "The store takes \(Self.text(size + log))\(room)."))
    }
  }

  static func text(_ bytes: Int) -> String {
    var value = Double(bytes)
    var unit = "bytes"
    for larger in ["KiB", "MiB", "GiB", "TiB"] where value >= 1_024 {
      value /= 1_024
      unit = larger
    }
    return unit == "bytes" ? "\(bytes) bytes" : "\((value * 10).rounded() / 10) \(unit)"
  }
}
