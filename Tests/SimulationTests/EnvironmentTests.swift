import Testing
import TomboloClient
import TomboloProtocol

@testable import TomboloSimulation

@Suite("The simulation's environment")
struct EnvironmentTests {
  @Test("A seed determines the whole course of a generator, and neighbouring seeds have nothing in common")
  func generator() {
    var first = SeededGenerator(seed: 7)
    var again = SeededGenerator(seed: 7)
    var other = SeededGenerator(seed: 8)
    let course = (0..<100).map { _ in first.next() }
    #expect(course == (0..<100).map { _ in again.next() })
    #expect(Set(course).isDisjoint(with: (0..<100).map { _ in other.next() }))
    #expect(Set(course).count == 100)
  }

  @Test("The generator is xoshiro256** behind SplitMix64: the first numbers of seed 0 are those of the published code")
  func publishedNumbers() {
    var generator = SeededGenerator(seed: 0)
    #expect(generator.next() == 0x99EC_5F36_CB75_F2B4)
    #expect(generator.next() == 0xBF6E_1F78_4956_452A)
  }

  @Test("Draws stay inside their bounds and reach all of them", arguments: [1, 2, 7])
  func bounds(_ count: Int) {
    var generator = SeededGenerator(seed: 3)
    let below = Set((0..<300).map { _ in generator.below(count) })
    #expect(below == Set(0..<count))
    let within = Set((0..<300).map { _ in generator.within(-2...count) })
    #expect(within == Set(-2...count))
    #expect((0..<100).allSatisfy { _ in !generator.chance(0) })
    #expect((0..<100).allSatisfy { _ in generator.chance(1) })
    #expect(generator.pick([Int]()) == nil)
  }

  @Test("A fork does not share the course of its parent")
  func fork() {
    var parent = SeededGenerator(seed: 1)
    var child = parent.fork()
    #expect((0..<20).map { _ in parent.next() } != (0..<20).map { _ in child.next() })
  }

  @Test("Events come in the order of their time, and those of one moment in the order in which they were added")
  func queue() {
    var queue = EventQueue()
    for (replica, time) in [(0, 30), (1, 10), (2, 20), (3, 10), (4, 10), (5, 0)] {
      queue.add(.edit(replica), at: UInt64(time))
    }
    var order: [Int] = []
    var times: [UInt64] = []
    while let (time, event) = queue.next() {
      if case .edit(let place) = event { order.append(place) }
      times.append(time)
    }
    #expect(order == [5, 1, 3, 4, 2, 0])
    #expect(times == times.sorted())
    #expect(queue.isEmpty)
  }

  @Test("Time never goes back, and a clock is wrong by its own error")
  func clocks() {
    let time = VirtualTime(milliseconds: 1_000)
    let late = SkewedClock(time, skewMilliseconds: -300)
    time.advance(toMilliseconds: 500)
    #expect(time.milliseconds == 1_000)
    #expect(late.milliseconds() == 700)
    time.advance(byMicroseconds: 2_500)
    #expect(late.milliseconds() == 702)
    late.setSkew(milliseconds: -100_000)
    #expect(late.milliseconds() == 0)
  }

  @Test("The fates of messages follow from their kinds: each kind has its own, and without any all are delivered")
  func network() {
    func fates(_ kinds: Set<InjectedFault>) -> Set<MessageFate> {
      var generator = SeededGenerator(seed: 5)
      return Set((0..<400).map { _ in MessageFate.drawn(kinds, &generator) })
    }
    #expect(fates([]) == [.delivered])
    #expect(fates([.drop]) == [.delivered, .requestLost, .answerLost])
    #expect(fates([.duplicate, .reorder, .delay]) == [.delivered, .doubled, .late, .slow])
  }

  @Test("Whoever gets no answer is told so, and nobody else", arguments: MessageFate.allCases)
  func timeouts(_ fate: MessageFate) {
    var generator = SeededGenerator(seed: 5)
    let request = TransportRequest(method: "GET", url: "http://server/v1/stores/main/changes?limit=1")
    let delivery = Delivery(machine: 0, session: 1, request: request)
    let (deliveries, timesOut) = Delivery.deliveries(of: delivery, fate, &generator)
    #expect(timesOut == !deliveries.contains { $0.delivery.answerDelay != nil })
    #expect(deliveries.filter { !$0.delivery.isCopy }.count == (fate == .requestLost || fate == .cutOff ? 0 : 1))
  }

  @Test("The digest of a trace is that of all lines, also of those that are not kept")
  func trace() {
    func digest(_ lines: [String], keepsAll: Bool) -> String {
      var trace = SimulationTrace(keepsAll: keepsAll)
      for line in lines { trace.append(line) }
      return trace.digest
    }
    let lines = (0..<1_000).map { "line \($0)" }
    #expect(digest(lines, keepsAll: true) == digest(lines, keepsAll: false))
    #expect(digest(lines, keepsAll: true) != digest(lines.dropFirst() + ["line 0"], keepsAll: true))
    #expect(digest(["ab", "c"], keepsAll: true) != digest(["a", "bc"], keepsAll: true))
    #expect(digest([], keepsAll: true) == "cbf29ce484222325")
  }
}
