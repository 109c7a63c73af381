/// A command that was called wrongly: exit status 64, as sysexits.h has it.
package struct UsageError: Error, Hashable, Sendable {
  package var message: String
  /// The command whose help tells more.
  package var command: String?

  package init(_ message: String, command: String? = nil) {
    self.message = message
    self.command = command
  }
}

/// The word that somebody probably meant.
package enum NearestName {
  /// The candidate with the smallest edit distance, where that is small for the word's length.
  package static func of(_ word: String, among candidates: [String]) -> String? {
    let limit = max(1, word.count / 3)
    var best: (word: String, distance: Int)?
    for candidate in candidates {
      let distance = distance(word, candidate)
      if distance <= limit, distance < best?.distance ?? Int.max { best = (candidate, distance) }
    }
    return best?.word
  }

  package static func suggestion(for word: String, among candidates: [String], prefix: String = "") -> String {
    of(word, among: candidates).map { "; did you mean \(prefix)\($0)?" } ?? ""
  }

  /// Damerau–Levenshtein in its restricted form: one insertion, removal, exchange or swap of neighbours counts one.
  private static func distance(_ first: String, _ second: String) -> Int {
    let a = Array(first.lowercased())
    let b = Array(second.lowercased())
    if a.isEmpty || b.isEmpty { return max(a.count, b.count) }
    var before = [Int](repeating: 0, count: b.count + 1)
    var previous = Array(0...b.count)
    for i in 1...a.count {
      var current = [i] + [Int](repeating: 0, count: b.count)
      for j in 1...b.count {
        let cost = a[i - 1] == b[j - 1] ? 0 : 1
        current[j] = min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + cost)
        if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] { current[j] = min(current[j], before[j - 2] + 1) }
      }
      before = previous
      previous = current
    }
    return previous[b.count]
  }
}
