import Foundation

/// One figure and the limit beside it, in milliseconds, of the same run.
struct BenchmarkResult {
  let name: String
  let what: String
  let milliseconds: Double
  /// What the raw calls took; nil where they were not run.
  let limit: Double?

  var ratio: Double? { limit.map { milliseconds / $0 } }

  var line: String {
    func column(_ text: String, _ width: Int) -> String {
      String(repeating: " ", count: max(0, width - text.count)) + text
    }
    let label = name + String(repeating: " ", count: max(1, 6 - name.count)) + what
    let figures = [
      column(String(format: "%.0f", milliseconds), 8), column(limit.map { String(format: "%.0f", $0) } ?? "-", 8),
      column(ratio.map { String(format: "%.2f", $0) } ?? "-", 7),
    ]
    return label + String(repeating: " ", count: max(1, 34 - label.count)) + figures.joined(separator: " ")
  }

  static let heading = "                                        ms      raw   ratio"

  init(name: String, what: String, milliseconds: Double, limit: Double?) {
    self.name = name
    self.what = what
    self.milliseconds = milliseconds
    self.limit = limit
  }

  /// Reads what ``json`` writes.
  init(json: String) throws {
    guard let object = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any],
      let name = object["name"] as? String, let what = object["what"] as? String, let time = object["ms"] as? Double
    else { throw BenchmarkFailure("a run printed \(json)") }
    self.init(name: name, what: what, milliseconds: time, limit: object["raw"] as? Double)
  }

  var json: String {
    let limitText = limit.map { String(format: "%.1f", $0) } ?? "null"
    return
      "{\"name\":\"\(name)\",\"what\":\"\(what)\",\"ms\":\(String(format: "%.1f", milliseconds)),\"raw\":\(limitText)}"
  }
}

/// How long a part takes, in milliseconds.
func milliseconds(_ body: () throws -> Void) rethrows -> Double {
  let duration = try ContinuousClock().measure(body)
  return Double(duration.components.seconds) * 1000 + Double(duration.components.attoseconds) / 1e15
}
