import Testing

@testable import TomboloProtocol

@Suite("Positions in an ordered to-many")
struct PositionKeyTests {
  private let me = ReplicaID(7)
  private let other = ReplicaID(9)

  private func key(after low: PositionKey?, before high: PositionKey?, by replica: ReplicaID) throws -> PositionKey {
    let key = try #require(PositionKey(after: low, before: high, by: replica))
    #expect(low.map { $0 < key } ?? true)
    #expect(high.map { key < $0 } ?? true)
    #expect(PositionKey(bytes: key.bytes) == key)
    return key
  }

  @Test("10 000 appends and 10 000 prepends keep keys below 16 bytes") func ends() throws {
    var first: PositionKey?
    var last: PositionKey?
    for _ in 0..<10_000 {
      last = try key(after: last, before: nil, by: me)
      first = try key(after: nil, before: first ?? last, by: me)
      #expect(max(first?.bytes.count ?? 0, last?.bytes.count ?? 0) < 16)
    }
  }

  @Test("Two replicas that append in turn keep keys at one step") func turns() throws {
    var last: PositionKey?
    for turn in 0..<1_000 {
      last = try key(after: last, before: nil, by: turn % 2 == 0 ? me : other)
      #expect(last?.steps.count == 1)
    }
  }

  @Test("Typing forward and backward in the middle stays at two steps", arguments: [true, false])
  func middle(isForward: Bool) throws {
    var low = try key(after: nil, before: nil, by: me)
    var high = try key(after: low, before: nil, by: me)
    for _ in 0..<5_000 {
      let middle = try key(after: low, before: high, by: other)
      #expect(middle.steps.count == 2)
      if isForward { low = middle } else { high = middle }
    }
  }

  @Test("Random inserts by three replicas keep keys strictly ascending, as keys and as bytes", arguments: 0..<5)
  func random(seed: UInt64) throws {
    var generator = Steps(seed)
    var keys: [PositionKey] = []
    for _ in 0..<3_000 {
      let place = generator.number(upTo: keys.count + 1)
      let replica = ReplicaID(UInt64(generator.number(upTo: 3)) << 62 | 5)
      let new = try key(
        after: place > 0 ? keys[place - 1] : nil, before: place < keys.count ? keys[place] : nil, by: replica)
      keys.insert(new, at: place)
    }
    for (a, b) in zip(keys, keys.dropFirst()) {
      #expect(a < b)
      #expect(a.bytes.lexicographicallyPrecedes(b.bytes))
    }
    #expect(keys.map(\.bytes.count).max() ?? 0 < 400)
  }

  @Test("Blocks that replicas insert at one place without knowing of each other never interleave", arguments: 0..<10)
  func blocks(tens: UInt64) throws {
    for seed in tens * 50..<tens * 50 + 50 {
      let blocks = try self.blocks(seed: seed)
      let all = blocks.flatMap { $0 }.sorted()
      #expect(Set(all).count == all.count, "seed \(seed)")
      let isWhole = blocks.allSatisfy { block in
        guard let from = all.firstIndex(of: block[0]), from + block.count <= all.count else { return false }
        return Array(all[from..<from + block.count]) == block
      }
      #expect(isWhole, "seed \(seed)")
    }
  }

  /// What three replicas insert at one place of a list that all have seen, each in order.
  private func blocks(seed: UInt64) throws -> [[PositionKey]] {
    var generator = Steps(seed)
    let replicas = (1...3).map { _ in ReplicaID(UInt64(generator.number(upTo: 1 << 30))) }
    var keys: [PositionKey] = []
    func insert(at place: Int, by replica: ReplicaID) throws -> PositionKey {
      let low = place > 0 ? keys[place - 1] : nil
      let high = place < keys.count ? keys[place] : nil
      return try #require(PositionKey(after: low, before: high, by: replica))
    }
    for _ in 0..<generator.number(upTo: 30) {
      let place = generator.number(upTo: keys.count + 1)
      keys.insert(try insert(at: place, by: replicas[generator.number(upTo: 3)]), at: place)
    }
    let place = generator.number(upTo: keys.count + 1)
    return try replicas.map { replica in
      var low = place > 0 ? keys[place - 1] : nil
      var high = place < keys.count ? keys[place] : nil
      // Forward, backward, or both ways.
      let way = generator.number(upTo: 3)
      return try (0..<8).map { _ in
        let new = try #require(PositionKey(after: low, before: high, by: replica))
        if way == 0 || way == 2 && generator.number(upTo: 2) == 0 { low = new } else { high = new }
        return new
      }.sorted()
    }
  }

  @Test(
    "Numbers are ordered as their bytes are",
    arguments: [
      (.min, .min + 1), (-65_537, -65_536), (-257, -256), (-256, -255), (-65, -64), (-64, -63), (-1, 0), (0, 1),
      (63, 64),
      (64, 65), (255, 256), (256, 257), (65_535, 65_536), (.max - 1, .max),
    ] as [(Int64, Int64)])
  func numbers(smaller: Int64, greater: Int64) {
    func key(_ number: Int64, _ count: Int64) -> [UInt8] {
      PositionKey(steps: [.init(number: number, replica: me, count: count)]).bytes
    }
    #expect(key(smaller, 0).lexicographicallyPrecedes(key(greater, 0)))
    #expect(key(0, smaller).lexicographicallyPrecedes(key(0, greater)))
    #expect(PositionKey(bytes: key(smaller, greater))?.steps[0].number == smaller)
    #expect(PositionKey(bytes: key(smaller, greater))?.steps[0].count == greater)
  }

  @Test(
    "Bytes that are no key are none",
    arguments: [
      [], [0x80], [0x80, 0, 0, 0, 0, 0, 0, 0, 1], [0xC1, 0x05, 0, 0, 0, 0, 0, 0, 0, 1, 0x80],
      [0xC9, 0, 0, 0, 0, 0, 0, 0, 1, 0x80], [0xC2, 0, 0x40, 0, 0, 0, 0, 0, 0, 0, 1, 0x80], [0xFF], [0x00],
      [0x80, 0, 0, 0, 0, 0, 0, 0, 1, 0xC8, 0xFF, 0, 0, 0, 0, 0, 0, 0],
    ] as [[UInt8]])
  func malformed(bytes: [UInt8]) { #expect(PositionKey(bytes: bytes) == nil) }

  @Test("Keys with extreme numbers, as only a faulty client makes them, leave room or say that there is none")
  func extremes() throws {
    func extreme(_ number: Int64, _ count: Int64) -> PositionKey {
      PositionKey(steps: [.init(number: number, replica: me, count: count)])
    }
    for number in [Int64.min, .max] {
      for count in [Int64.min, .max] {
        _ = try key(after: extreme(number, count), before: nil, by: me)
        let first = PositionKey(after: nil, before: extreme(number, count), by: me)
        if let first { #expect(first < extreme(number, count)) } else { #expect(number == .min) }
      }
    }
  }

  @Test("There is nothing between equal or turned keys") func noRoom() throws {
    let low = try key(after: nil, before: nil, by: me)
    let high = try key(after: low, before: nil, by: other)
    #expect(PositionKey(after: low, before: low, by: me) == nil)
    #expect(PositionKey(after: high, before: low, by: me) == nil)
  }
}

/// A small generator: the same numbers on every machine.
struct Steps {
  private var state: UInt64
  init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }
  mutating func number(upTo limit: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int((state >> 33) % UInt64(limit))
  }
}
