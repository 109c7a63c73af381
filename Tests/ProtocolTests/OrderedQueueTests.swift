import Testing

@testable import TomboloProtocol

@Suite("A queue that gives its least element")
struct OrderedQueueTests {
  @Test("Whatever comes in, in whatever order, comes out in order, each once", arguments: 0..<20)
  func order(_ seed: UInt64) {
    var state = seed &* 2_654_435_761 &+ 1
    func next() -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 57)
    }
    var queue = OrderedQueue<Int>()
    var expected: Set<Int> = []
    for _ in 0..<500 {
      if next() < 90 {
        let element = next()
        queue.insert(element)
        expected.insert(element)
      } else {
        #expect(queue.first == expected.min())
        queue.removeFirst()
        if let least = expected.min() { expected.remove(least) }
      }
      #expect(queue.isEmpty == expected.isEmpty)
    }
  }
}
