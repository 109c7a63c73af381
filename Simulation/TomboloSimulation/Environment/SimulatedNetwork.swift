import TomboloClient

/// Decides what becomes of each request: delayed, lost on the way there or back, doubled.
///
/// Since each message has its own delay, requests of different replicas overtake each other, and a doubled request may
/// arrive long after its sender has gone on.
struct SimulatedNetwork {
  /// A request on its way.
  struct Delivery {
    var replica: Int
    var session: Int
    var request: TransportRequest
    /// Nil where the answer is lost, and for a copy.
    var answerDelay: UInt64?
    /// Sent twice by the network: nobody waits for this one's answer.
    var isCopy = false
  }

  /// What becomes of one request, in times from now.
  struct Fate {
    var deliveries: [(delay: UInt64, delivery: Delivery)]
    /// When the sender gives up waiting; nil where an answer comes.
    var timeout: UInt64?
    var text: String
  }

  static let timeoutMilliseconds: UInt64 = 5_000
  var generator: SeededGenerator
  let hasFaults: Bool

  mutating func fate(of request: TransportRequest, replica: Int, session: Int) -> Fate {
    var delivery = Delivery(
      replica: replica, session: session, request: request, answerDelay: delay(), isCopy: false)
    guard hasFaults else { return Fate(deliveries: [(delay(), delivery)], timeout: nil, text: "delivered") }
    let dice = generator.below(100)
    if dice < 6 { return Fate(deliveries: [], timeout: Self.timeoutMilliseconds, text: "request lost") }
    if dice < 16 {
      delivery.answerDelay = nil
      return Fate(deliveries: [(delay(), delivery)], timeout: Self.timeoutMilliseconds, text: "answer lost")
    }
    if dice < 28 {
      var copy = delivery
      copy.isCopy = true
      copy.answerDelay = nil
      let later = delay() + UInt64(generator.below(6_000))
      return Fate(deliveries: [(delay(), delivery), (later, copy)], timeout: nil, text: "doubled")
    }
    return Fate(deliveries: [(delay(), delivery)], timeout: nil, text: "delivered")
  }

  private mutating func delay() -> UInt64 {
    let isSlow = hasFaults && generator.chance(0.1)
    return UInt64(isSlow ? generator.within(400...3_000) : generator.within(1...120))
  }
}
