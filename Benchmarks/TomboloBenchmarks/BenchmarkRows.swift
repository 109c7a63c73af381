/// The workload's rows, the same as the raw programs' (`Benchmarks/Raw/common.h`): deterministic, from SplitMix64.
struct BenchmarkRow {
  var id: (high: UInt64, low: UInt64)
  var title: String
  var author: String
  var isFinished: Bool
  /// Seconds since 2001.
  var createdAt: Double
  var updatedAt: Double

  static func generate(_ count: Int, seed: UInt64 = 42) -> [BenchmarkRow] {
    var generator = SplitMix64(state: seed)
    return (0..<count).map { number in
      let id = (high: generator.next(), low: generator.next())
      let random = generator.next()
      let created = 700_000_000.0 + Double((random >> 24) % 100_000_000)
      return BenchmarkRow(
        id: id, title: "The Long Road, Vol. " + padded(number, to: 10),
        author: "Author Name " + padded(Int(random % 5000), to: 8), isFinished: (random >> 20) & 1 == 1,
        createdAt: created, updatedAt: created + 1000)
    }
  }

  private static func padded(_ number: Int, to width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  /// The order of the lookups.
  static func permutation(_ count: Int, seed: UInt64 = 7) -> [Int] {
    var order = Array(0..<count)
    var generator = SplitMix64(state: seed)
    for index in stride(from: count - 1, to: 0, by: -1) {
      order.swapAt(index, Int(generator.next() % UInt64(index + 1)))
    }
    return order
  }
}

/// S. Vigna's SplitMix64 (public domain), as the raw programs use it.
struct SplitMix64: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
