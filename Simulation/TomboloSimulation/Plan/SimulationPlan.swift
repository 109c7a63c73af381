import TomboloProtocol

/// What happens in a run and when: drawn from a seed, or what is left of an earlier run's in a replay.
struct SimulationPlan {
  struct Edit {
    /// Milliseconds from the start.
    var time: UInt64
    var machine: Int
    var action: Action

    enum Action {
      /// Made up when its time comes, from what the replica shows then.
      case drawn
      case save([Operation])
      /// A closure of the user's own, by its place in the list, and the seed that it gets.
      case custom(Int, seed: UInt64)
    }
  }

  struct Fault: Hashable {
    var time: UInt64
    var kind: InjectedFault
    /// -1 for the server.
    var machine: Int
    /// What it means is the kind's matter: milliseconds that it lasts, or a clock's new error.
    var amount: Int
  }

  static let server = -1

  /// In the order of time.
  var edits: [Edit]
  var faults: [Fault]
  /// What goes wrong at the run's own choices; nil lets the seed choose.
  var script: [Choices.Point: Int]?
  /// What may go wrong in this run.
  var kinds: Set<InjectedFault>
  var mix: SimulationMix
  var setting: Setting

  /// What holds for the whole run.
  struct Setting: Hashable {
    var pageItemsMax = 5_000
    var batchRecordsMax = 5_000
    /// Records beyond which no person makes new ones.
    var recordsMax = 60
    /// Milliseconds between two readings of the replicas' clocks.
    var clockStep: UInt64 = 1
    /// By replica: milliseconds by which a clock is wrong from the start.
    var skews: [Int] = []
    /// How long the server waits for a silent replica before it forgets tombstones without it.
    var historyMilliseconds: UInt64 = 90 * 24 * 3_600 * 1_000
    /// Replicas that begin on the older schema version.
    var olderReplicas: Set<Int> = []
    /// The part of operations that are deletes, in a hundred.
    var deletes = 12
    /// The entities of which records are made; nil for all.
    var cast: Set<String>?
    /// The rule that people often give work to.
    var rule: RareRule?
  }

  /// Milliseconds from the start after which nothing goes wrong any more, and everybody only syncs.
  var end: UInt64
}

extension SimulationPlan {
  /// Draws a plan from a seed.
  init(seed: UInt64, configuration: SimulationConfiguration, subject: SimulationSubject) {
    var generator = SeededGenerator(seed: seed)
    kinds = Self.kinds(configuration, &generator)
    mix = configuration.mix ?? SimulationMix(rawValue: generator.below(SimulationMix.all.rawValue + 1))
    let replicas = max(1, configuration.replicas)
    setting = Self.setting(kinds, replicas: replicas, hasOlderVersion: subject.older != nil, &generator)
    setting.cast = Self.cast(of: subject.document, &generator)
    if configuration.mix == nil { Self.lead(&setting, &mix, toRuleOf: subject.document, seed: seed) }
    faults = []
    edits = Self.edits(
      configuration.saves, replicas: replicas, isCrowded: mix.contains(.crowds),
      customShares: subject.operations.map(\.share), &generator)
    script = nil
    end = edits.last.map { $0.time + 1 } ?? 0
    drawFaults(replicas: replicas, &generator)
  }

  private static func kinds(_ configuration: SimulationConfiguration, _ generator: inout SeededGenerator)
    -> Set<InjectedFault>
  {
    let allowed = InjectedFault.allCases.filter(configuration.faults.contains)
    guard configuration.isSwarm else { return Set(allowed).subtracting([.serverRestore]) }
    var kinds = Set(allowed.filter { _ in generator.chance(0.6) })
    // A server is lost seldom, and then alone.
    if kinds.contains(.serverRestore) {
      if generator.chance(0.4) {
        kinds.subtract(InjectedFault.foesOfServerRestore)
      } else {
        kinds.remove(.serverRestore)
      }
    }
    return kinds
  }

  private static func setting(
    _ kinds: Set<InjectedFault>, replicas: Int, hasOlderVersion: Bool, _ generator: inout SeededGenerator
  ) -> Setting {
    var setting = Setting()
    setting.pageItemsMax = generator.pick([2, 7, 50, 5_000]) ?? 50
    setting.batchRecordsMax = generator.pick([1, 4, 20, 5_000]) ?? 20
    setting.recordsMax = generator.pick([6, 8, 20, 60]) ?? 60
    setting.deletes = generator.pick([6, 12, 24]) ?? 12
    setting.clockStep = generator.pick([1, 1, 5_000]) ?? 1
    let skews = [0, 0, 0, -5_000, 120, 250, -70_000, 20_000, 600_000]
    setting.skews = (0..<replicas).map { _ in kinds.contains(.clockSkew) ? generator.pick(skews) ?? 0 : 0 }
    if kinds.contains(.collection), generator.chance(0.5) { setting.historyMilliseconds = 15_000 }
    if kinds.contains(.schemaUpgrade), hasOlderVersion {
      setting.olderReplicas = Set((0..<replicas).filter { _ in generator.chance(0.5) })
    }
    return setting
  }

  /// One run in three leads to a rule that chance seldom comes to. Drawn apart, so that the other runs are what they are.
  private static func lead(
    _ setting: inout Setting, _ mix: inout SimulationMix, toRuleOf document: SchemaDocument, seed: UInt64
  ) {
    var generator = SeededGenerator(seed: ~seed)
    guard generator.chance(0.35), let rule = generator.pick(RareRule.rules(of: document)) else { return }
    setting.rule = rule
    setting.recordsMax = 8
    setting.cast = completed(rule.cast, in: document)
    mix.formUnion(rule.mix)
  }

  /// A few entities that have to do with each other, so that their records meet.
  private static func cast(of document: SchemaDocument, _ generator: inout SeededGenerator) -> Set<String>? {
    guard document.entities.count > 4, generator.chance(0.8) else { return nil }
    var cast: Set<String> = []
    for _ in 0..<(generator.pick([1, 1, 2, 3]) ?? 1) {
      guard let entity = generator.pick(document.entities) else { break }
      cast.insert(entity.name)
      for neighbour in entity.relationships where generator.chance(0.8) || !neighbour.isOptional {
        cast.insert(neighbour.destination)
      }
    }
    return completed(cast, in: document)
  }

  /// With what one of them cannot be without.
  private static func completed(_ cast: Set<String>, in document: SchemaDocument) -> Set<String> {
    var cast = cast
    for _ in document.entities {
      for entity in document.entities where cast.contains(entity.name) {
        if let base = entity.superentity { cast.insert(base) }
        for needed in entity.relationships where !needed.isOptional && !needed.isToMany {
          cast.insert(needed.destination)
        }
      }
    }
    return cast
  }

  private static func edits(
    _ count: Int, replicas: Int, isCrowded: Bool, customShares: [Double], _ generator: inout SeededGenerator
  ) -> [Edit] {
    var edits: [Edit] = []
    var next = (0..<replicas).map { _ in UInt64(generator.within(1...500)) }
    while edits.count < count {
      guard let machine = next.indices.min(by: { next[$0] < next[$1] }) else { break }
      let time = next[machine]
      next[machine] += UInt64(generator.within(20...4_000))
      edits.append(Edit(time: time, machine: machine, action: action(customShares, &generator)))
      // Somebody else edits at the very same moment.
      if isCrowded, replicas > 1, edits.count < count, generator.chance(0.3) {
        let other = (machine + 1 + generator.below(replicas - 1)) % replicas
        edits.append(Edit(time: time, machine: other, action: action(customShares, &generator)))
      }
    }
    return edits
  }

  private static func action(_ customShares: [Double], _ generator: inout SeededGenerator) -> Edit.Action {
    let dice = Double(generator.below(1_000)) / 1_000
    var sum = 0.0
    for (place, share) in customShares.enumerated() {
      sum += share
      if dice < sum { return .custom(place, seed: generator.next()) }
    }
    return .drawn
  }

  private mutating func drawFaults(replicas: Int, _ generator: inout SeededGenerator) {
    let horizon = end
    /// Moments about so far apart, from the first on.
    func moments(every milliseconds: Int, from first: Int = 2_000) -> [UInt64] {
      var moments: [UInt64] = []
      var time = UInt64(generator.within(first...first + milliseconds))
      while time < horizon {
        moments.append(time)
        time += UInt64(generator.within(milliseconds / 2...milliseconds * 2))
      }
      return moments
    }
    for machine in 0..<replicas {
      add(.replicaCrash, machine, at: moments(every: 20_000))
      add(.clockJump, machine, at: moments(every: 20_000)) {
        $0.pick([0, -3_000, 90, -120_000, 45_000, 400_000, 86_400_000]) ?? 0
      }
      add(.partition, machine, at: moments(every: 25_000)) { $0.within(2_000...20_000) }
      add(.tokenLoss, machine, at: moments(every: 40_000)) { $0.within(1_000...6_000) }
      add(.diskFull, machine, at: moments(every: 40_000)) { $0.within(500...5_000) }
      if generator.chance(0.3) {
        add(.backupRestore, machine, at: moments(every: 30_000).prefix(1)) { $0.within(2_000...20_000) }
      }
      if setting.olderReplicas.contains(machine) {
        add(.schemaUpgrade, machine, at: [UInt64(generator.below(Int(horizon) + 1))])
      }
    }
    // Now and then nobody has a way to the server, and all go on alone.
    if generator.chance(0.5) {
      for moment in moments(every: 15_000) {
        for machine in 0..<replicas { add(.partition, machine, at: [moment]) { $0.within(6_000...16_000) } }
      }
    }
    add(.serverCrash, Self.server, at: moments(every: 25_000))
    add(.diskFull, Self.server, at: moments(every: 50_000)) { $0.within(300...3_000) }
    add(.collection, Self.server, at: moments(every: 8_000))
    add(.serverRestore, Self.server, at: [UInt64(generator.below(Int(horizon / 2) + 1))]) {
      $0.within(500...max(501, Int(horizon / 2)))
    }
    drawCopies(replicas: replicas, &generator)
    faults.sort { $0.time < $1.time }
  }

  private mutating func add(
    _ kind: InjectedFault, _ machine: Int, at moments: some Sequence<UInt64>,
    _ amount: (inout SeededGenerator) -> Int = { _ in 1 }
  ) {
    guard kinds.contains(kind) else { return }
    let place = UInt64(InjectedFault.allCases.firstIndex(of: kind) ?? 0)
    for moment in moments {
      var own = SeededGenerator(seed: moment << 16 ^ place << 8 ^ UInt64(UInt8(truncatingIfNeeded: machine)))
      faults.append(Fault(time: moment, kind: kind, machine: machine, amount: amount(&own)))
    }
  }

  /// A copied replica is a machine of its own from then on, with a person who edits.
  private mutating func drawCopies(replicas: Int, _ generator: inout SeededGenerator) {
    guard kinds.contains(.fileCopy), generator.chance(0.5), end > 4_000 else { return }
    let time = UInt64(generator.within(1_000...Int(end) * 3 / 4))
    faults.append(Fault(time: time, kind: .fileCopy, machine: generator.below(replicas), amount: replicas))
    for index in edits.indices where edits[index].time > time && generator.chance(0.25) {
      edits[index].machine = replicas
    }
  }
}
