/// What happened in a run, a sentence an event, each with its moment. Two runs of one seed agree in every line, in
/// whatever process.
public struct SimulationTrace: Sendable {
  /// The newest lines, or all of them where the run was asked to keep them.
  public private(set) var lines: [String] = []
  /// How many lines there were.
  public private(set) var count = 0
  private var hash: UInt64 = 0xCBF2_9CE4_8422_2325
  private let keepsAll: Bool
  static let newestMax = 60

  init(keepsAll: Bool) { self.keepsAll = keepsAll }

  /// Sixteen hexadecimal digits that every line has gone into (FNV-1a, 64 bits).
  public var digest: String {
    let text = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - text.count) + text
  }

  mutating func append(_ milliseconds: UInt64, _ sentence: String) {
    let fraction = String(milliseconds % 1000 + 1000).dropFirst()
    append("\(milliseconds / 1000).\(fraction) s  \(sentence)")
  }

  mutating func append(_ line: String) {
    var line = line
    line.withUTF8 { bytes in
      for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    }
    hash = (hash ^ 10) &* 0x100_0000_01B3
    count += 1
    lines.append(line)
    if !keepsAll, lines.count > 2 * Self.newestMax { lines.removeFirst(Self.newestMax) }
  }

  /// For a failure's report: the last lines, or all where they are kept.
  var newest: [String] { keepsAll ? lines : Array(lines.suffix(Self.newestMax)) }
}
