import Synchronization
import Tombolo
import TomboloClient
import TomboloProtocol
import TomboloSQLite

/// One run: the machines, the event loop, and the checkers that look after each event.
final class SimulationRun {
  let subject: SimulationSubject
  let configuration: SimulationConfiguration
  let seed: UInt64
  var plan: SimulationPlan
  let time: VirtualTime
  let server: SimulatedServer
  var replicas: [SimulatedReplica] = []
  var choices: Choices
  var queue = EventQueue()
  var trace: SimulationTrace
  var narrator = Narrator()
  var ledger = WireLedger()
  var fidelity = FidelityChecker()
  var statistics = SimulationStatistics()
  /// The machine behind each replica id that was seen; copies count as the one that they were copied from.
  var machines: [ReplicaID: String] = [:]
  /// Edits as they turned out, for a replay.
  var doneEdits: [SimulationPlan.Edit] = []
  var doneFaults: Set<Int> = []
  /// Pushes that wait for a common commit.
  var waitingPushes: [Delivery] = []
  var isServerFull = false
  /// Pulls that wait at the server.
  var heldPulls: [HeldPull] = []
  /// What schema the checkers of the end judge by.
  var roles: SchemaRoles? { replicas.first?.roles }
  let engineOptions: SyncEngine.Options
  var generator: SeededGenerator
  /// The place among ``FreshStores`` from which on the replicas take theirs.
  private let firstIdentity: Int
  private static let disks = Atomic<UInt64>(0)
  /// 2023-11-14, 22:13:20 UTC.
  static let startMilliseconds: UInt64 = 1_700_000_000_000
  private static let eventsMax = 200_000

  /// - Parameter plan: what happens, in a replay; nil lets the seed choose.
  init(
    subject: SimulationSubject, configuration: SimulationConfiguration, seed: UInt64, replaying plan: SimulationPlan?
  ) throws {
    self.subject = subject
    self.configuration = configuration
    self.seed = seed
    let plan = plan ?? SimulationPlan(seed: seed, configuration: configuration, subject: subject)
    self.plan = plan
    choices = Choices(seed: seed, script: plan.script)
    time = VirtualTime(milliseconds: Self.startMilliseconds)
    trace = SimulationTrace(keepsAll: configuration.keepsTrace)
    var options = SyncEngine.Options()
    options.limits.pageItemsMax = plan.setting.pageItemsMax
    options.limits.recordsMax = plan.setting.batchRecordsMax
    options.scansRows = true
    engineOptions = options
    var generator = SeededGenerator(seed: ~seed)
    let serverClock = SkewedClock(time, skewMilliseconds: 0)
    server = try SimulatedServer(
      disk: try Self.disk(time, clock: serverClock, &generator), clock: serverClock,
      randomness: SeededRandomness(generator.fork()), fault: configuration.plantedFault,
      historyMilliseconds: plan.setting.historyMilliseconds)
    firstIdentity = generator.below(FreshStores.count)
    self.generator = generator
    if configuration.plantedFault == .serverAnswersBeforeCommit { server.disk.ignoreSyncs() }
  }

  /// A fresh machine; one with a number has the clock and the schema version that the plan gives it.
  func makeReplica(_ index: Int, _ name: String, family: String? = nil) throws -> SimulatedReplica {
    let skew = plan.setting.skews.indices.contains(index) ? plan.setting.skews[index] : 0
    let clock = SkewedClock(time, skewMilliseconds: Int64(skew), stepMilliseconds: plan.setting.clockStep)
    if skew != 0 { statistics.count(.clockSkew) }
    let isOlder = plan.setting.olderReplicas.contains(index)
    return SimulatedReplica(
      index: index, name: name, family: family, disk: try Self.disk(time, clock: clock, &generator), clock: clock,
      randomness: SeededRandomness(generator.fork()),
      document: isOlder ? subject.older ?? subject.document : subject.document, token: server.token,
      options: engineOptions, fault: configuration.plantedFault, isShared: !subject.operations.isEmpty,
      identity: index < FreshStores.count ? firstIdentity + index : nil)
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
    for index in 0..<max(1, configuration.replicas) {
      replicas.append(try makeReplica(index, "Replica \(Self.letter(index))"))
      try open(index)
      var noise = choices.noise(.sync, of: index)
      schedule(.beginSync(machine: index), in: noise.within(1...2_000))
    }
    for (place, edit) in plan.edits.enumerated() { queue.add(.edit(place), at: Self.startMilliseconds + edit.time) }
    for (place, fault) in plan.faults.enumerated() { queue.add(.fault(place), at: Self.startMilliseconds + fault.time) }
    var events = 0
    while let (moment, event) = queue.next() {
      events += 1
      guard events < Self.eventsMax else { throw SimulationFailure(.progress, "the run does not end") }
      time.advance(toMilliseconds: moment)
      try take(event)
    }
    return try conclude()
  }

  /// A, B, … and then numbers.
  static func letter(_ index: Int) -> String {
    index < 26 ? String(UnicodeScalar(UInt8(65 + index))) : "\(index + 1)"
  }

  func schedule(_ event: SimulationEvent, in milliseconds: Int) {
    queue.add(event, at: time.milliseconds + UInt64(max(0, milliseconds)))
  }

  var elapsed: UInt64 { time.milliseconds - Self.startMilliseconds }

  func note(_ sentence: @autoclosure () -> String) { trace.append(elapsed, sentence()) }

  /// Whether anything is still to happen that is not only an answer to something else.
  var isEditing: Bool { elapsed < plan.end }

  /// What happened, as a plan that can be replayed.
  var recorded: SimulationPlan {
    var plan = plan
    plan.edits = doneEdits
    plan.faults = plan.faults.indices.filter(doneFaults.contains).map { plan.faults[$0] }
    plan.script = choices.taken
    return plan
  }

  private func take(_ event: SimulationEvent) throws {
    switch event {
    case .edit(let place): try edit(place)
    case .fault(let place): try inject(place)
    case .beginSync(let machine): try beginSync(machine)
    case .timer(let machine, let session): try step(machine, session, .timer)
    case .arrive(let delivery): try arrive(delivery)
    case .commitGroup: try commitGroup()
    case .wakePolls: try wakePolls()
    case .answer(let machine, let session, let event): try answered(machine, session, event)
    case .restore(let machine, let image): restore(machine, image)
    case .restoreServer(let image): try restoreServer(image)
    case .makeRoom(let machine): makeRoom(machine)
    case .boot(let machine): try boot(machine)
    case .serverBoot: try bootServer()
    }
  }
}
