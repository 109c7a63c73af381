import Testing

@testable import TomboloProtocol

@Suite("Arranging an ordered to-many")
struct PositionArrangementTests {
  private let me = ReplicaID(7)

  /// Keys for so many members, in order.
  private func keys(_ count: Int, by replica: ReplicaID = ReplicaID(3)) throws -> [PositionKey] {
    var keys: [PositionKey] = []
    for _ in 0..<count { keys.append(try #require(PositionKey(after: keys.last, before: nil, by: replica))) }
    return keys
  }

  /// The keys after arranging members, given by their places, in a new order; checks that they ascend.
  private func arrange(_ order: [Int], _ keys: [PositionKey?]) throws -> (changed: [Int], keys: [PositionKey?]) {
    let members = order.map { PositionArrangement.Member(key: keys[$0], place: $0) }
    let changes = PositionArrangement.changes(of: members, by: me)
    var result = members.map(\.key)
    for change in changes { result[change.index] = change.key }
    let given = Array(result.drop { $0 == nil })
    #expect(!given.contains(nil))
    for (a, b) in zip(given, given.dropFirst()) { #expect(try #require(a) < #require(b)) }
    return (changes.map { order[$0.index] }, result)
  }

  @Test(
    "Only what moved gets a new key",
    arguments: [
      ([0, 1, 2, 3, 4], []), ([1, 2, 3, 4, 0], [0]), ([4, 0, 1, 2, 3], [4]), ([0, 3, 1, 2, 4], [3]),
      ([1, 0, 2, 3, 4], [1]), ([4, 3, 2, 1, 0], [4, 3, 2, 1]),
    ] as [([Int], [Int])])
  func moves(order: [Int], moved: [Int]) throws { #expect(try arrange(order, try keys(5)).changed == moved) }

  @Test("Members without a key stay so at the beginning only") func keyless() throws {
    let given = try keys(2)
    #expect(try arrange([0, 1, 2, 3], [nil, nil, given[0], given[1]]).changed == [])
    #expect(try arrange([0, 1, 3, 2], [nil, nil, given[0], given[1]]).changed == [3])
    #expect(try arrange([0, 3, 1, 2], [nil, nil, given[0], given[1]]).changed == [3, 1])
    #expect(try arrange([1, 0, 2, 3], [nil, nil, given[0], given[1]]).changed == [1, 0])
  }

  @Test("Equal keys are parted") func equal() throws {
    let given = try keys(3)
    #expect(try arrange([0, 1, 2, 3], [given[0], given[1], given[1], given[2]]).changed == [2])
  }

  @Test("Keys that have grown long begin anew") func long() throws {
    var low = try #require(PositionKey(after: nil, before: nil, by: ReplicaID(1)))
    let end = try #require(PositionKey(after: low, before: nil, by: ReplicaID(1)))
    var high = end
    // Two who always go between the other's two last.
    for turn in 0..<400 {
      let middle = try #require(PositionKey(after: low, before: high, by: ReplicaID(turn % 2 == 0 ? 4 : 5)))
      if turn % 4 < 2 { low = middle } else { high = middle }
    }
    let (_, arranged) = try arrange([0, 2, 1], [low, high, end])
    #expect(arranged.allSatisfy { ($0?.bytes.count ?? 0) <= PositionKey.lengthMax })
  }

  @Test("Any order of a thousand is reached, again and again", arguments: 0..<3) func random(seed: UInt64) throws {
    var generator = Steps(seed)
    var keys: [PositionKey?] = try self.keys(1_000)
    for _ in 0..<5 {
      var order = Array(keys.indices)
      for _ in 0..<20 {
        order.insert(
          order.remove(at: generator.number(upTo: order.count)), at: generator.number(upTo: order.count))
      }
      let (changed, arranged) = try arrange(order, keys)
      #expect(changed.count <= 20)
      keys = arranged
    }
  }
}
