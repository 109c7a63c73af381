import Foundation
import Tombolo
import TomboloProtocol
import TomboloSQLite

/// One replica's machine: a person who types commands, one at a time, while a sync may run beside them; every process is
/// killed now and then.
final class ChaosMachine: @unchecked Sendable {
  // Only its own thread touches it while the run goes on; the run waits for that thread before it looks itself.
  let replica: StoredReplica
  let run: ChaosRun
  private let letter: String
  private let folder: String
  private var generator: SeededGenerator
  private var person: OperationGenerator
  private let roles: SchemaRoles
  private var watcher: (process: ChildProcess, end: ContinuousClock.Instant)?
  /// Mean duration by command, in milliseconds: kills come at any moment of one.
  private var durations: [String: Double] = [:]
  private var owners = 0
  private var highestSave = SaveNumber.none
  private static let commandMilliseconds = 150_000
  private static let savesLooked = 200

  init(_ run: ChaosRun, letter: String, path: String, roles: SchemaRoles, generator: SeededGenerator) {
    self.run = run
    self.letter = letter
    folder = run.folder
    replica = StoredReplica(name: "Replica \(letter)", path: path)
    self.roles = roles
    var generator = generator
    // Few records make replicas meet in them.
    person = OperationGenerator(
      roles: roles, mix: .all, recordsMax: run.options.recordsMax, deletes: 12, cast: nil, clock: SystemClock(),
      generator: generator.fork())
    self.generator = generator
  }

  /// Does one thing after another until the time is up or something is broken.
  func work(until deadline: ContinuousClock.Instant) {
    do {
      while ContinuousClock.now < deadline, !run.witness.hasFailed { try step() }
      try endWatcher(kills: generator.chance(0.5))
    } catch {
      run.fail(error)
      watcher?.process.killAndWait()
    }
  }

  private func step() throws {
    if let watcher, ContinuousClock.now >= watcher.end { try endWatcher(kills: generator.chance(0.6)) }
    switch generator.below(100) {
    case ..<62: try edit()
    case ..<70: try importMany()
    case ..<90 where watcher == nil: try sync()
    case 90..<95 where watcher == nil: try beginWatcher()
    case 95 where watcher == nil: try rewrite()
    default: usleep(UInt32(generator.within(1...60)) * 1_000)
    }
  }

  // MARK: Commands

  private func edit() throws {
    let content = try replica.look { try StoreContent(of: $0) }
    let operations = person.save(on: content)
    if operations.count == 2, let edit = ProcessEdit(transfer: operations, roles, content) {
      // Both balances are absolute, so nobody else may move them meanwhile.
      if watcher == nil { try perform(edit) }
      return
    }
    for operation in operations {
      switch operation {
      case .link(let key): if watcher == nil { try write(key, isPresent: true) }
      case .unlink(let key): if watcher == nil { try write(key, isPresent: false) }
      default:
        if let edit = ProcessEdit(operation, roles, owner: nextOwner()) { try perform(edit) }
      }
    }
  }

  private func nextOwner() -> String {
    owners += 1
    return "\(letter)-\(owners)"
  }

  private func importMany() throws {
    let possible = roles.entities.filter { $0.canInsert }
    guard let role = generator.pick(possible),
      let edit = ProcessEdit(importing: generator.within(2...6), of: role, &generator, clock: SystemClock())
    else { return }
    try perform(edit)
  }

  /// A pair has no word on the command line: another program writes it, as the file allows.
  private func write(_ key: LinkKey, isPresent: Bool) throws {
    guard let plan = roles.schema.sourcePlan(of: key) else { return }
    let table = plan.table.quotedIdentifier
    do {
      let connection = try Connection(path: replica.path)
      try connection.run(
        isPresent
          ? "INSERT OR IGNORE INTO \(table)(source, target) VALUES (?1, ?2)"
          : "DELETE FROM \(table) WHERE source = ?1 AND target = ?2"
      ) {
        $0.bind(key.source, at: 1)
        $0.bind(key.target, at: 2)
      }
    }
    run.count("rows written by another program")
    run.note(
      "\(replica.name): another program \(isPresent ? "links" : "unlinks") \(key.source.short)–\(key.target.short)")
    replica.memory.hasPulledAll = false
    try look(wasKilled: false)
  }

  /// Another program takes a row or a pair away and puts it back as it was, in one of the ways that SQL has for it.
  private func rewrite() throws {
    let content = try replica.look { try StoreContent(of: $0) }
    guard let record = generator.pick(content.records), let entity = roles.schema.entity(record.entity) else { return }
    let plans = roles.schema.linkTables.filter { $0.link.source == record.entity }
    let (table, key) =
      generator.pick(plans).map { ($0.table, "source") } ?? (entity.table, "_tombolo_id")
    let (name, row) = (table.quotedIdentifier, "\(key) = \(Value.blob(record.id.bytes).literal)")
    do {
      let connection = try Connection(path: replica.path)
      var names: [String] = []
      try connection.eachRow("SELECT name FROM pragma_table_info(\(table.quotedLiteral))") {
        names.append($0.string(0))
      }
      let columns = names.map(\.quotedIdentifier).joined(separator: ", ")
      let values = columns.replacing("\"_tombolo_stamps\"", with: "NULL")
      try connection.execute(
        generator.chance(0.5)
          ? "INSERT OR REPLACE INTO \(name)(\(columns)) SELECT \(values) FROM \(name) WHERE \(row)"
          : "CREATE TEMP TABLE kept AS SELECT * FROM \(name) WHERE \(row); DELETE FROM \(name) WHERE \(row); "
            + "INSERT INTO \(name)(\(columns)) SELECT \(values) FROM kept")
    }
    run.count("rows written by another program")
    run.note("\(replica.name): another program takes \(record.entity) \(record.id.short) away and puts it back")
    try look(wasKilled: false)
  }

  private func perform(_ edit: ProcessEdit) throws {
    var arguments = edit.arguments.map { $0 == "STORE" ? replica.path : $0 }
    if let file = edit.file {
      let path = "\(folder)/\(letter).csv"
      try Data(file.utf8).write(to: URL(fileURLWithPath: path))
      arguments = arguments.map { $0 == "FILE" ? path : $0 }
    }
    replica.memory.hasPulledAll = false
    if watcher != nil {
      for id in edit.arguments.compactMap({ RecordID($0) }) {
        run.witness.notes.withLock { $0.fidelity.noteUnseenEdit(of: id) }
      }
    }
    let before = highestSave
    let outcome = try call(arguments, killChance: 0.12)
    try look(wasKilled: outcome.ending == nil)
    guard let ending = outcome.ending else { return }
    if ending == .status(0) {
      run.count("saves acknowledged")
      if edit.isAlwaysASave, highestSave == before {
        throw SimulationFailure(
          .noLostWrite, "\(replica.name) says that 'tombolo \(edit.arguments[0])' is done, and no save is there")
      }
    } else {
      try expect(outcome, ChaosRun.editRefusals, arguments)
    }
  }

  private func sync() throws {
    let outcome = try call(["sync", replica.path, "--json"], killChance: 0.25)
    if let ending = outcome.ending {
      if let report = run.report(outcome.output) {
        run.count("syncs completed")
        try run.check(report, of: replica.name)
        replica.memory.hasPulledAll = true
      } else if ending != .status(0) {
        try expect(outcome, ChaosRun.syncFailures, ["sync"])
      }
    }
    try look(wasKilled: outcome.ending == nil)
  }

  private func beginWatcher() throws {
    let process = try ChildProcess(
      run.options.tombolo, ["sync", replica.path, "--watch", "--json"], output: "\(folder)/\(letter)-watch.out",
      errors: "\(folder)/\(letter)-watch.err")
    run.count("commands run")
    run.note("\(replica.name): sync --watch begins")
    watcher = (process, .now + .milliseconds(generator.within(200...5_000)))
  }

  private func endWatcher(kills: Bool) throws {
    guard let (process, _) = watcher else { return }
    let kills = kills && run.options.hasFaults
    watcher = nil
    run.note("\(replica.name): sync --watch is \(kills ? "killed" : "asked to stop")")
    if let ending = process.poll() {
      let outcome = try outcome(of: "\(letter)-watch", ending)
      try expect(outcome, ChaosRun.syncFailures, ["sync", "--watch"])
    } else if kills {
      process.killAndWait()
      run.count("clients killed")
    } else {
      process.send(SIGTERM)
      guard let ending = process.wait(milliseconds: Self.commandMilliseconds) else {
        process.killAndWait()
        throw SimulationFailure(.progress, "\(replica.name)'s sync --watch does not stop when it is asked to")
      }
      // A signal that comes before the program listens for it ends it as ever.
      if ending != .status(0), ending != .signal(SIGTERM) {
        try expect(outcome(of: "\(letter)-watch", ending), ChaosRun.syncFailures, ["sync"])
      }
    }
    try look(wasKilled: kills)
  }

  struct Outcome {
    /// Nil where the process was killed.
    var ending: ChildProcess.Ending?
    var output: String
    var errors: String
  }

  private func call(_ arguments: [String], killChance: Double) throws -> Outcome {
    let word = arguments[0]
    let mean = durations[word, default: 80]
    let killAfter =
      run.options.hasFaults && generator.chance(killChance)
      ? Int(mean * 1.2 * Double(generator.below(1_000)) / 1_000) : nil
    let began = ContinuousClock.now
    let process = try ChildProcess(
      run.options.tombolo, arguments, output: "\(folder)/\(letter)-call.out", errors: "\(folder)/\(letter)-call.err")
    run.count("commands run")
    let ending = process.wait(milliseconds: killAfter ?? Self.commandMilliseconds)
    let took = began.duration(to: .now).milliseconds
    let told = arguments.dropFirst().filter { $0 != replica.path }.joined(separator: " ")
    guard let ending else {
      process.killAndWait()
      guard killAfter != nil else {
        throw SimulationFailure(.progress, "\(replica.name)'s 'tombolo \(word)' does not end")
      }
      run.count("clients killed")
      run.note("\(replica.name): \(word) \(told) is killed after \(Int(took)) ms")
      return Outcome(ending: nil, output: "", errors: "")
    }
    durations[word] = mean * 0.8 + took * 0.2
    let outcome = try outcome(of: "\(letter)-call", ending)
    run.note("\(replica.name): \(word) \(told) → \(ending) \(outcome.code ?? "")")
    return outcome
  }

  private func outcome(of name: String, _ ending: ChildProcess.Ending) throws -> Outcome {
    Outcome(
      ending: ending, output: try String(contentsOfFile: "\(folder)/\(name).out", encoding: .utf8),
      errors: try String(contentsOfFile: "\(folder)/\(name).err", encoding: .utf8))
  }

  private func expect(_ outcome: Outcome, _ codes: Set<ErrorCode>, _ arguments: [String]) throws {
    if let code = outcome.code, codes.contains(ErrorCode(rawValue: code)) {
      return run.count(arguments[0] == "sync" ? "syncs given up" : "edits refused")
    }
    let ending = outcome.ending.map { "\($0)" } ?? "killed"
    throw SimulationFailure(
      .progress,
      "\(replica.name)'s 'tombolo \(arguments.joined(separator: " "))' ends with \(ending): \(outcome.errors.prefix(600))"
    )
  }

  // MARK: Looking

  /// What anybody could see now must be right now. The outcome of a killed command is decided here: its save is there, whole
  /// and from now on promised, or nothing of it is.
  func look(wasKilled: Bool) throws {
    try replica.look { store in
      for save in try store.saveLog(limit: Self.savesLooked) where save.state != .local {
        replica.memory.confirmed[save.number] = save.id
        highestSave = max(highestSave, save.number)
      }
      guard let state = try store.replicaState(), let content = try replica.content() else { return }
      let unsent = try store.outbox(recordsMax: Int.max, bytesMax: Int.max)
      let (sentUpTo, isFirst) = run.witness.notes.withLock { notes in
        notes.machines[state.replica] = replica.name
        for set in unsent { notes.fidelity.remember(set) }
        return (notes.sentUpTo[state.replica] ?? .none, notes.statistics.states.insert(content.digest).inserted)
      }
      if isFirst { run.count("states seen") }
      try AtomicityChecker(roles: roles).check(content, on: replica.name)
      // While a sync is under way, two looks are at two moments.
      guard watcher == nil else { return }
      replica.memory.identify(as: state) { unsent }
      replica.memory.sentUpTo = max(replica.memory.sentUpTo, sentUpTo)
      try CursorChecker().check(state, replica)
      if wasKilled { try BookkeepingChecker().checkRestart(replica, mayLoseUnsynced: false) }
      replica.memory.contents[ReplicaMemory.StateKey(state)] = content.digest
      if state.unsent == 0, replica.memory.hasPulledAll {
        try IntegrityChecker(roles: roles).check(content, on: replica.name)
      }
    }
  }
}

extension ChaosMachine.Outcome {
  /// The code of the error that was printed.
  var code: String? {
    guard let start = errors.range(of: "error[")?.upperBound, let end = errors[start...].firstIndex(of: "]") else {
      return nil
    }
    return String(errors[start..<end])
  }
}

extension Duration {
  var milliseconds: Double { Double(components.seconds) * 1e3 + Double(components.attoseconds) / 1e15 }
}
