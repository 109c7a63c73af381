/// The number of a schema version, as `1.2.0`.
package struct SchemaVersion: Hashable, Comparable, Sendable, CustomStringConvertible {
  package var major: Int
  package var minor: Int
  package var patch: Int
  package init(_ major: Int, _ minor: Int, _ patch: Int) {
    self.major = major
    self.minor = minor
    self.patch = patch
  }
  /// Reads one to three numbers with points between; nil for anything else.
  package init?(_ text: some StringProtocol) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard (1...3).contains(parts.count) else { return nil }
    var numbers = [0, 0, 0]
    for (index, part) in parts.enumerated() {
      guard !part.isEmpty, part.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(part) else {
        return nil
      }
      numbers[index] = number
    }
    self.init(numbers[0], numbers[1], numbers[2])
  }
  package var description: String { "\(major).\(minor).\(patch)" }
  package static func < (a: SchemaVersion, b: SchemaVersion) -> Bool {
    (a.major, a.minor, a.patch) < (b.major, b.minor, b.patch)
  }
}
