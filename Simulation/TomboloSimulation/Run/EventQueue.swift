import TomboloClient

/// What happens in a run, and to whom.
enum SimulationEvent {
  /// A person saves something: a place in the plan.
  case edit(Int)
  /// Something goes wrong: a place in the plan.
  case fault(Int)
  case beginSync(machine: Int)
  /// The engine's own wait is over.
  case timer(machine: Int, session: Int)
  case arrive(Delivery)
  /// Pushes that came in together are handled.
  case commitGroup
  /// A waiting pull's time is up.
  case wakePolls
  /// An answer, or its absence, reaches the engine.
  case answer(machine: Int, session: Int, event: SyncEvent)
  /// A replica is put back to the copy that was made of it.
  case restore(machine: Int, image: [String: [UInt8]])
  case restoreServer(image: [String: [UInt8]])
  /// There is room on the disk again.
  case makeRoom(machine: Int)
  case boot(machine: Int)
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
