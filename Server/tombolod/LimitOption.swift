import TomboloProtocol
import TomboloServer

/// A limit of the service that the command line may set.
struct LimitOption: Sendable {
  let name: String
  let range: ClosedRange<Int>
  let limit: any WritableKeyPath<ServiceLimits, Int> & Sendable

  static let all: [LimitOption] = [
    LimitOption(name: "request-bytes", range: 65_536...1 << 30, limit: \.requestBytesMax),
    LimitOption(name: "push-records", range: 1...1_000_000, limit: \.pushRecordsMax),
    LimitOption(name: "record-bytes", range: RecordSize.leastBytesMax...1 << 28, limit: \.recordBytesMax),
    LimitOption(name: "page-records", range: 1...100_000, limit: \.pageItemsMax),
    LimitOption(name: "page-bytes", range: 4_096...1 << 28, limit: \.pageBytesMax),
    LimitOption(name: "wait-seconds", range: 0...3_600, limit: \.waitSecondsMax),
    LimitOption(name: "stores", range: 1...1_000_000, limit: \.storesMax),
  ]

  /// - Throws: `usage`, naming the option and what it takes.
  func apply(_ arguments: Arguments, to limits: inout ServiceLimits) throws {
    guard let text = arguments.values[name] else { return }
    guard let value = Int(text), range.contains(value) else {
      throw TomboloError(
        .usage, "'\(text)' is no value for --\(name).", remedy: "Give \(range.lowerBound) to \(range.upperBound).")
    }
    limits[keyPath: limit] = value
  }
}
