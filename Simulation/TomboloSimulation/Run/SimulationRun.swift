import Synchronization
import Tombolo
import TomboloClient
import TomboloProtocol
import TomboloSQLite

/// One run: the machines, the event loop, and the checkers that look after each event.
final class SimulationRun {
  let configuration: SimulationConfiguration
  let seed: UInt64
  let document: SchemaDocument
  let mix: SimulationMix
  let time: VirtualTime
  let server: SimulatedServer
  private(set) var replicas: [SimulatedReplica] = []
  var generator: SeededGenerator
  var network: SimulatedNetwork
  var queue = EventQueue()
  var trace: SimulationTrace
  var ledger = WireLedger()
  var counts: [String: Int] = [:]
  /// The machine behind each replica id that was seen.
  var machines: [ReplicaID: String] = [:]
  /// Saves that are still to be made.
  var savesLeft: Int
  /// Nil until a replica was opened.
  var roles: SchemaRoles?
  let engineOptions: SyncEngine.Options
  /// Records beyond which no person makes new ones.
  let recordsMax: Int
  /// Milliseconds between two readings of the replicas' clocks.
  private let clockStep: UInt64
  private static let disks = Atomic<UInt64>(0)
  /// 2023-11-14, 22:13:20 UTC.
  private static let startMilliseconds: UInt64 = 1_700_000_000_000
  private static let eventsMax = 200_000

  init(document: SchemaDocument, configuration: SimulationConfiguration, seed: UInt64) throws {
    self.document = document
    self.configuration = configuration
    self.seed = seed
    var generator = SeededGenerator(seed: seed)
    time = VirtualTime(milliseconds: Self.startMilliseconds)
    trace = SimulationTrace(keepsAll: configuration.keepsTrace)
    savesLeft = configuration.saves
    mix = configuration.mix ?? SimulationMix(rawValue: generator.below(SimulationMix.all.rawValue + 1))
    network = SimulatedNetwork(generator: generator.fork(), hasFaults: configuration.hasNetworkFaults)
    var options = SyncEngine.Options()
    options.limits.pageItemsMax = generator.pick([2, 7, 50, 5_000]) ?? 50
    options.limits.recordsMax = generator.pick([1, 4, 20, 5_000]) ?? 20
    options.scansRows = true
    engineOptions = options
    recordsMax = generator.pick([8, 20, 60]) ?? 60
    clockStep = configuration.hasSkew ? generator.pick([1, 1, 2_000]) ?? 1 : 1
    let serverClock = SkewedClock(time, skewMilliseconds: 0)
    server = try SimulatedServer(
      disk: try Self.disk(time, clock: serverClock, &generator), clock: serverClock,
      randomness: SeededRandomness(generator.fork()), fault: configuration.fault)
    self.generator = generator
    if configuration.fault == .serverAnswersBeforeCommit { server.disk.ignoreSyncs() }
  }

  /// A fresh machine.
  func makeReplica(_ name: String) throws -> SimulatedReplica {
    let skews: [Int64] = [0, 0, 0, -5_000, 120, 250, -70_000, 20_000, 600_000]
    let skew = configuration.hasSkew ? generator.pick(skews) ?? 0 : 0
    let clock = SkewedClock(time, skewMilliseconds: skew, stepMilliseconds: clockStep)
    return SimulatedReplica(
      name: name, disk: try Self.disk(time, clock: clock, &generator), clock: clock,
      randomness: SeededRandomness(generator.fork()), document: document, token: server.token,
      options: engineOptions, fault: configuration.fault)
  }

  private static func disk(_ time: VirtualTime, clock: SkewedClock, _ generator: inout SeededGenerator) throws
    -> MemoryFileSystem
  {
    let randomness = SeededRandomness(generator.fork())
    // The name is the process's own matter and never in the trace.
    let number = disks.add(1, ordering: .relaxed).newValue
    return try MemoryFileSystem(
      name: "tombolo-simulation-\(number)",
      environment: .init(
        milliseconds: { clock.milliseconds() }, random: { randomness.next() },
        sleep: { time.advance(byMicroseconds: $0) }))
  }

  // MARK: The loop

  func run() throws -> SimulationReport {
    note(
      "seed \(seed), mix \(mix.rawValue), page \(engineOptions.limits.pageItemsMax), batch \(engineOptions.limits.recordsMax)"
    )
    for index in 0..<max(1, configuration.replicas) {
      let replica = try makeReplica("r\(index)")
      replicas.append(replica)
      try open(index)
      schedule(.edit(replica: index), in: generator.within(1...500))
      schedule(.beginSync(replica: index), in: generator.within(1...2_000))
      if configuration.hasRestores, generator.chance(0.3) {
        schedule(.backUp(replica: index), in: generator.within(1_000...20_000))
      }
      if configuration.hasCrashes { schedule(.powerCut(replica: index), in: generator.within(2_000...30_000)) }
      if configuration.hasSkew { schedule(.changeClock(replica: index), in: generator.within(2_000...30_000)) }
    }
    if configuration.hasCrashes { schedule(.serverPowerCut, in: generator.within(2_000...40_000)) }
    var events = 0
    while let (moment, event) = queue.next() {
      events += 1
      guard events < Self.eventsMax else { throw SimulationFailure(.progress, "the run does not end") }
      time.advance(toMilliseconds: moment)
      try take(event)
    }
    return try conclude()
  }

  func schedule(_ event: SimulationEvent, in milliseconds: Int) {
    queue.add(event, at: time.milliseconds + UInt64(max(0, milliseconds)))
  }

  func note(_ text: String) {
    trace.append("\(time.milliseconds - Self.startMilliseconds) \(text)")
  }

  func count(_ kind: String) { counts[kind, default: 0] += 1 }

  /// Whether anything is still to happen that is not only an answer to something else.
  var isEditing: Bool { savesLeft > 0 }

  private func take(_ event: SimulationEvent) throws {
    switch event {
    case .edit(let index): try edit(index)
    case .beginSync(let index): try beginSync(index)
    case .timer(let index, let session): try step(index, session, .timer)
    case .arrive(let delivery): try arrive(delivery)
    case .answer(let index, let session, let event): try step(index, session, event)
    case .backUp(let index): backUp(index)
    case .restore(let index): try restore(index)
    case .changeClock(let index): changeClock(index)
    case .powerCut(let index): try cutPower(index)
    case .boot(let index): try boot(index)
    case .serverPowerCut: cutServerPower()
    case .serverBoot: try bootServer()
    }
  }
}
