import TomboloClient

/// What becomes of a request: lost on the way there or back, doubled, late, or delivered.
///
/// Each message has its own delay, so requests of different replicas overtake each other; a doubled or late one may
/// arrive long after its sender has gone on.
enum MessageFate: Int, CaseIterable {
  case delivered, requestLost, answerLost, doubled, late, slow, cutOff

  static let timeoutMilliseconds = 5_000

  /// A fate out of the kinds that may be injected.
  static func drawn(_ kinds: Set<InjectedFault>, _ generator: inout SeededGenerator) -> MessageFate {
    let dice = generator.below(100)
    switch dice {
    case ..<6: return kinds.contains(.drop) ? .requestLost : .delivered
    case ..<16: return kinds.contains(.drop) ? .answerLost : .delivered
    case ..<26: return kinds.contains(.duplicate) ? .doubled : .delivered
    case ..<32: return kinds.contains(.reorder) ? .late : .delivered
    case ..<44: return kinds.contains(.delay) ? .slow : .delivered
    default: return .delivered
    }
  }

  var fault: InjectedFault? {
    switch self {
    case .delivered: nil
    case .requestLost, .answerLost: .drop
    case .doubled: .duplicate
    case .late: .reorder
    case .slow: .delay
    case .cutOff: .partition
    }
  }

  /// What the story says after "sends …".
  var sentence: String {
    switch self {
    case .delivered: ""
    case .requestLost: "; the request is lost on the way"
    case .answerLost: "; the connection drops before the answer"
    case .doubled: "; the request arrives twice"
    case .late: "; the request arrives long after its sender has given up"
    case .slow: "; the request takes its time"
    case .cutOff: "; there is no way to the server"
    }
  }
}

/// A request on its way.
struct Delivery {
  var machine: Int
  var session: Int
  var request: TransportRequest
  /// Nil where the answer is lost, and for a copy.
  var answerDelay: Int?
  /// Sent twice by the network: nobody waits for this one's answer.
  var isCopy = false

  /// The deliveries that a fate leads to, each with its delay; whether the sender gives up waiting.
  static func deliveries(
    of delivery: Delivery, _ fate: MessageFate, _ generator: inout SeededGenerator
  ) -> (deliveries: [(delay: Int, delivery: Delivery)], timesOut: Bool) {
    var delivery = delivery
    let delay = fate == .slow ? generator.within(400...3_000) : generator.within(1...120)
    switch fate {
    case .delivered, .slow:
      delivery.answerDelay = generator.within(1...120)
      return ([(delay, delivery)], false)
    case .requestLost, .cutOff: return ([], true)
    case .answerLost: return ([(delay, delivery)], true)
    case .late: return ([(MessageFate.timeoutMilliseconds + generator.within(1...6_000), delivery)], true)
    case .doubled:
      var copy = delivery
      copy.isCopy = true
      delivery.answerDelay = generator.within(1...120)
      return ([(delay, delivery), (delay + generator.below(6_000), copy)], false)
    }
  }
}
