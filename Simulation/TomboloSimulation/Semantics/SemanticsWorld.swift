import Synchronization
import Tombolo
import TomboloClient
import TomboloProtocol
import TomboloSQLite

/// Two replicas and a server in one process, without faults: the product's own store, engine and service.
final class SemanticsWorld {
  /// Who of the two: the first writes earlier.
  enum Side: Int, CaseIterable { case first, second }

  private static let worlds = Atomic<UInt64>(0)
  private static let stepsMax = 100_000
  private static let seed: UInt64 = 4

  let schema: StoreSchema
  private let time = VirtualTime(milliseconds: 1_796_000_000_000)
  private let server: SimulatedServer
  private let replicas: [SimulatedReplica]
  private var numbers = 0

  init(document: SchemaDocument) throws {
    let world = Self.worlds.add(1, ordering: .relaxed).newValue
    let time = self.time
    var generator = SeededGenerator(seed: Self.seed)
    func disk(_ name: String) throws -> MemoryFileSystem {
      let randomness = SeededRandomness(generator.fork())
      return try MemoryFileSystem(
        name: "tombolo-semantics-\(world)-\(name)",
        environment: .init(
          milliseconds: { time.milliseconds }, random: { randomness.next() },
          sleep: { time.advance(byMicroseconds: $0) }))
    }
    let clock = SkewedClock(time, skewMilliseconds: 0)
    let server = try SimulatedServer(
      disk: try disk("server"), clock: clock, randomness: SeededRandomness(generator.fork()), fault: nil)
    var replicas: [SimulatedReplica] = []
    for side in Side.allCases {
      let replica = SimulatedReplica(
        name: "\(side)", disk: try disk("\(side)"), clock: clock, randomness: SeededRandomness(generator.fork()),
        document: document, token: server.token, options: SyncEngine.Options(), fault: nil)
      try replica.boot()
      replicas.append(replica)
    }
    guard let store = replicas.first?.store else { throw SimulationFailure(.progress, "a store did not open") }
    schema = store.schema
    self.server = server
    self.replicas = replicas
  }

  func store(_ side: Side) throws -> Store {
    guard let store = replicas[side.rawValue].store else { throw SimulationFailure(.progress, "a store is closed") }
    return store
  }

  /// A number that was not given before, for values that must be unique.
  func nextNumber() -> Int {
    numbers += 1
    return numbers
  }

  /// One save, later than every one before it.
  func save(on side: Side, _ body: (StoreWriter) throws -> Void) throws {
    time.advance(toMilliseconds: time.milliseconds + 10)
    try store(side).save { try body($0) }
  }

  func makeID(on side: Side) throws -> RecordID { try store(side).makeRecordID() }

  /// Syncs the one, then the other, then once more, so that each has what the other sent.
  func settle(beginningWith side: Side) throws {
    let other: Side = side == .first ? .second : .first
    for side in [side, other, side, other] { try sync(side) }
  }

  private func sync(_ side: Side) throws {
    let replica = replicas[side.rawValue]
    guard var instruction = try replica.beginSync() else { return }
    for _ in 0..<Self.stepsMax {
      let event: SyncEvent
      switch instruction {
      case .finished: return
      case .wait(let milliseconds):
        time.advance(toMilliseconds: time.milliseconds + milliseconds)
        event = .timer
      case .send(let request):
        time.advance(toMilliseconds: time.milliseconds + 1)
        if let response = server.handle(request) {
          event = .response(response)
        } else {
          event = .transportFailed(TransportFailure(.lost, reason: "the server is down"))
        }
      }
      guard let next = try replica.engine?.handle(event) else { return }
      instruction = next
    }
    throw SimulationFailure(.progress, "a sync does not end")
  }
}
