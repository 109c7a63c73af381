import Foundation

/// The greatest resident size of a process in megabytes: Linux's `VmHWM`, since it was last reset.
enum PeakMemory {
  static let own = ProcessInfo.processInfo.processIdentifier

  static func megabytes(of process: Int32) -> Double {
    guard let text = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8) else { return .nan }
    for line in text.split(separator: "\n") where line.hasPrefix("VmHWM:") {
      let kilobytes = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap { Double($0) }
      return (kilobytes ?? .nan) / 1024
    }
    return .nan
  }

  /// Has the greatest size counted anew from the present one (https://man7.org/linux/man-pages/man5/proc.5.html).
  static func reset(_ process: Int32) {
    guard let file = FileHandle(forWritingAtPath: "/proc/\(process)/clear_refs") else { return }
    try? file.write(contentsOf: Data("5".utf8))
    try? file.close()
  }
}
