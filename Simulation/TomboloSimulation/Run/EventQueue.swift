import TomboloClient

/// What happens in a run, and to whom.
enum SimulationEvent {
  /// The person at a replica saves something.
  case edit(replica: Int)
  case beginSync(replica: Int)
  /// The engine's own wait is over.
  case timer(replica: Int, session: Int)
  case arrive(SimulatedNetwork.Delivery)
  /// An answer, or its absence, reaches the engine.
  case answer(replica: Int, session: Int, event: SyncEvent)
  case backUp(replica: Int)
  case restore(replica: Int)
  case changeClock(replica: Int)
  case powerCut(replica: Int)
  case boot(replica: Int)
  case serverPowerCut
  case serverBoot
}

/// Events in the order of their time; those of one moment in the order in which they were added.
struct EventQueue {
  private struct Entry {
    var time: UInt64
    var event: SimulationEvent
  }
  /// The last one is the next.
  private var entries: [Entry] = []

  var isEmpty: Bool { entries.isEmpty }

  mutating func add(_ event: SimulationEvent, at time: UInt64) {
    // Behind the entries that are later or of the same moment, seen from the end.
    var low = 0
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].time > time { low = middle + 1 } else { high = middle }
    }
    entries.insert(Entry(time: time, event: event), at: low)
  }

  mutating func next() -> (time: UInt64, event: SimulationEvent)? {
    entries.popLast().map { ($0.time, $0.event) }
  }
}
