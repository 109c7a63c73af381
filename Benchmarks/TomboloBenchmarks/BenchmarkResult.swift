import Foundation

/// One figure and the limit beside it, of the same run: in milliseconds, or in what ``unit`` says.
struct BenchmarkResult {
  let name: String
  let what: String
  let value: Double
  /// What the raw calls took; nil where they were not run.
  let limit: Double?
  let unit: String

  var ratio: Double? { limit.map { value / $0 } }

  var line: String {
    func number(_ value: Double) -> String { String(format: value < 20 ? "%.2f" : "%.0f", value) }
    func column(_ text: String, _ width: Int) -> String {
      String(repeating: " ", count: max(0, width - text.count)) + text
    }
    let label = name + String(repeating: " ", count: max(1, 6 - name.count)) + what + (unit == "ms" ? "" : ", \(unit)")
    let figures = [
      column(number(value), 8), column(limit.map { number($0) } ?? "-", 8),
      column(ratio.map { String(format: "%.2f", $0) } ?? "-", 7),
    ]
    return label + String(repeating: " ", count: max(1, 40 - label.count)) + figures.joined(separator: " ")
  }

  static let heading = "                                              ms      raw   ratio"

  init(name: String, what: String, value: Double, limit: Double?, unit: String = "ms") {
    self.name = name
    self.what = what
    self.value = value
    self.limit = limit
    self.unit = unit
  }

  /// Reads what ``json`` writes.
  init(json: String) throws {
    guard let object = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any],
      let name = object["name"] as? String, let what = object["what"] as? String,
      let value = object["value"] as? Double, let unit = object["unit"] as? String
    else { throw BenchmarkFailure("a run printed \(json)") }
    self.init(name: name, what: what, value: value, limit: object["raw"] as? Double, unit: unit)
  }

  var json: String {
    let limitText = limit.map { String(format: "%.1f", $0) } ?? "null"
    return
      "{\"name\":\"\(name)\",\"what\":\"\(what)\",\"unit\":\"\(unit)\",\"value\":\(String(format: "%.2f", value)),\"raw\":\(limitText)}"
  }
}

/// How long a part takes, in milliseconds.
func milliseconds(_ body: () throws -> Void) rethrows -> Double {
  let duration = try ContinuousClock().measure(body)
  return Double(duration.components.seconds) * 1000 + Double(duration.components.attoseconds) / 1e15
}
