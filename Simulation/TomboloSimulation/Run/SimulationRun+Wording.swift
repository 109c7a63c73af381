import TomboloClient
import TomboloProtocol

/// What goes over the wire, in words.
extension SimulationRun {
  static func isPush(_ request: TransportRequest) -> Bool {
    request.method == "POST" && request.url.hasSuffix("/changes")
  }

  static func isPull(_ request: TransportRequest) -> Bool {
    request.method == "GET" && path(of: request) == "/changes"
  }

  static func push(in request: TransportRequest) -> PushRequest? {
    isPush(request) ? try? PushRequest(decoding: request.body, as: .cbor) : nil
  }

  static func path(of request: TransportRequest) -> Substring {
    request.url.prefix { $0 != "?" }.dropFirst(SimulatedServer.url.count)
  }

  static func told(_ request: TransportRequest) -> String {
    if let push = push(in: request) {
      if let fragment = push.fragment { return "piece \(fragment.index + 1) of \(fragment.count) of a large save" }
      guard let first = push.changeSets.first, let last = push.changeSets.last else { return "an empty push" }
      return first.number == last.number
        ? "save \(first.number.rawValue)" : "saves \(first.number.rawValue) to \(last.number.rawValue)"
    }
    if isPull(request) { return request.url.contains("wait=") ? "a pull that waits" : "a pull" }
    return "\(request.method) \(path(of: request))"
  }
}

extension PushAnswer {
  /// As a story tells it.
  var told: String {
    let name =
      switch verdict {
      case .accepted(let fell): fell.isEmpty ? "is taken" : "is taken, but for \(fell.count) of its parts"
      case .known: "is known already"
      case .refused(let code, _): "is refused (\(code.rawValue))"
      case .clockSkew: "has a stamp of a wrong clock"
      case .gap(let expected): "is not the next, which is \(expected.rawValue)"
      case .copiedReplica: "has a number that another save has: a copy is pushing"
      case .fragmentStored: "is kept until its other pieces are there"
      }
    return "save \(number.rawValue) \(name)"
  }
}

extension SyncReport {
  var told: String {
    var parts = ["pushed \(pushed)", "pulled \(pulled)"]
    if parked > 0 { parts.append("parked \(parked)") }
    if conflicts > 0 { parts.append("\(conflicts) conflicts") }
    return parts.joined(separator: ", ") + ", checksum \(checksum.rawValue)"
  }
}
