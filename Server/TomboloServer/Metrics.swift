/// Counters since the process started, in the text form that Prometheus reads.
struct Metrics {
  var requests: [Int: Int] = [:]
  var changeSetsAccepted = 0
  var changeSetsKnown = 0
  var changeSetsRefused = 0
  var groupCommits = 0
  var pagesServed = 0
  var itemsServed = 0
  var faults = 0

  /// https://prometheus.io/docs/instrumenting/exposition_formats/
  func text(stores: Int) -> String {
    var lines = ["# TYPE tombolo_requests_total counter"]
    for (status, count) in requests.sorted(by: { $0.key < $1.key }) {
      lines.append("tombolo_requests_total{status=\"\(status)\"} \(count)")
    }
    lines.append("# TYPE tombolo_change_sets_total counter")
    lines.append("tombolo_change_sets_total{verdict=\"accepted\"} \(changeSetsAccepted)")
    lines.append("tombolo_change_sets_total{verdict=\"known\"} \(changeSetsKnown)")
    lines.append("tombolo_change_sets_total{verdict=\"refused\"} \(changeSetsRefused)")
    for (name, value) in [
      ("group_commits", groupCommits), ("pages", pagesServed), ("items", itemsServed), ("faults", faults),
    ] {
      lines.append("# TYPE tombolo_\(name)_total counter")
      lines.append("tombolo_\(name)_total \(value)")
    }
    lines.append("# TYPE tombolo_stores gauge")
    lines.append("tombolo_stores \(stores)")
    return lines.joined(separator: "\n") + "\n"
  }
}
