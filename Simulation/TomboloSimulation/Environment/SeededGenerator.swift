/// A small, fast generator whose whole course follows from its seed: xoshiro256**, filled by SplitMix64.
///
/// Source: D. Blackman, S. Vigna, "Scrambled Linear Pseudorandom Number Generators", ACM TOMS, 2021.
package struct SeededGenerator: Hashable, Sendable {
  private var state: (UInt64, UInt64, UInt64, UInt64)

  package init(seed: UInt64) {
    var fill = seed
    func next() -> UInt64 {
      fill &+= 0x9E37_79B9_7F4A_7C15
      var mixed = fill
      mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return mixed ^ (mixed >> 31)
    }
    state = (next(), next(), next(), next())
  }

  package mutating func next() -> UInt64 {
    let product = state.1 &* 5
    let result = (product << 7 | product >> 57) &* 9
    let shifted = state.1 << 17
    state.2 ^= state.0
    state.3 ^= state.1
    state.1 ^= state.2
    state.0 ^= state.3
    state.2 ^= shifted
    state.3 = state.3 << 45 | state.3 >> 19
    return result
  }

  /// A generator of its own, so that what one part draws does not move another's course.
  package mutating func fork() -> SeededGenerator { SeededGenerator(seed: next()) }

  /// 0 up to, not including, `count`.
  package mutating func below(_ count: Int) -> Int { Int(next() % UInt64(max(count, 1))) }

  package mutating func within(_ range: ClosedRange<Int>) -> Int { range.lowerBound + below(range.count) }

  package mutating func chance(_ probability: Double) -> Bool { Double(next() >> 11) * 0x1p-53 < probability }

  package mutating func pick<Element>(_ elements: [Element]) -> Element? {
    elements.isEmpty ? nil : elements[below(elements.count)]
  }

  package static func == (a: SeededGenerator, b: SeededGenerator) -> Bool { a.state == b.state }
  package func hash(into hasher: inout Hasher) { hasher.combine(state.0) }
}
