import Tombolo
import TomboloProtocol

/// Who wrote something and when, in words.
struct StampWording {
  let origins: [Stamp: RecordFacts.Origin]
  /// What the server calls other replicas: the names of their tokens.
  var replicas: [ReplicaID: String] = [:]

  /// `2026-11-30T16:12:43Z here, in save 3`; nil for what nobody assigned.
  func text(_ stamp: Stamp) -> String? {
    if stamp.isZero { return nil }
    let time = TimeText.text(stamp.clock.milliseconds)
    return "\(time) \(author(stamp))"
  }

  /// `here, in save 3`, or `by replica 0123456789abcdef (Ana's laptop)`.
  func author(_ stamp: Stamp) -> String {
    let origin = origins[stamp] ?? origins[stamp.written]
    guard let origin, origin.isOwn else {
      let name = replicas[stamp.replica].map { $0.isEmpty ? "" : " (\($0))" } ?? ""
      return "by replica \(stamp.replica)\(name)"
    }
    let author = origin.author.map { " by \($0)" } ?? ""
    return "here\(author)" + (origin.save.map { ", in save \($0.rawValue)" } ?? "")
  }

  func json(_ stamp: Stamp) -> JSONText {
    if stamp.isZero { return .null }
    let origin = origins[stamp] ?? origins[stamp.written]
    return .object([
      ("time", .string(TimeText.text(stamp.clock.milliseconds))), ("replica", .string(stamp.replica.description)),
      ("name", .optional(replicas[stamp.replica])), ("isOwn", .bool(origin?.isOwn ?? false)),
      ("save", origin?.save.map { .integer(Int64(clamping: $0.rawValue)) } ?? .null),
      ("author", .optional(origin?.author)), ("derived", .number(Int(stamp.derived))),
    ])
  }
}
