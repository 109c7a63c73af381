import Tombolo
import TomboloClient
import TomboloProtocol
import TomboloSQLite

/// The end of a run: everything works again, everybody syncs until nothing is left, and the checkers judge the whole.
extension SimulationRun {
  private static let roundsMax = 12
  private static let exchangesMax = 2_000

  func conclude() throws -> SimulationReport {
    note("all is quiet: every machine runs, and everybody syncs")
    try bootServer()
    makeRoom(SimulationPlan.server)
    for replica in replicas {
      makeRoom(replica.index)
      replica.cutOffUntil = 0
      replica.tokenLostUntil = 0
      if replica.store == nil { try boot(replica.index) }
      try upgrade(replica)
    }
    try settle()
    try damageRows()
    let auditor = try makeReplica(replicas.count, "A fresh replica")
    auditor.document = subject.document
    try auditor.boot()
    let audit = try syncWhole(auditor)
    if audit.checksum != .equal {
      throw SimulationFailure(.convergence, "a fresh replica's checksum is \(audit.checksum.rawValue)")
    }
    try judge(auditor)
    return try makeReport(auditor)
  }

  /// Rounds of syncs until nobody has anything to send or to pull.
  private func settle() throws {
    for _ in 0..<Self.roundsMax {
      var isQuiet = true
      for replica in replicas {
        let report = try syncWhole(replica)
        guard let state = try replica.store?.replicaState() else { continue }
        if report.pushed > 0 || report.parked > 0 || report.applied > 0 || state.unsent > 0 { isQuiet = false }
        if report.checksum == .different {
          throw SimulationFailure(
            .convergence, "\(replica.name)'s checksum differs from the server's when all is quiet")
        }
      }
      if isQuiet { return }
    }
    throw SimulationFailure(
      .progress, "after \(Self.roundsMax) rounds somebody still has something to send or to pull")
  }

  /// Rows of each replica are damaged behind its back: its next sync finds and mends them.
  private func damageRows() throws {
    guard configuration.hasDamage else { return }
    for replica in replicas {
      guard let store = replica.store else { continue }
      let before = try store.checksum()
      let damages = try RowDamage().strike(store, &generator)
      if try damages.isEmpty || store.checksum() == before { continue }
      statistics.count("damages")
      statistics.count(.checksumDiffers)
      note("\(replica.name)'s rows are damaged: " + damages.joined(separator: ", "))
      replica.memory.isDamaged = true
      let report = try syncWhole(replica)
      guard report.repaired > 0, report.checksum == .equal, try store.checksum() == before else {
        throw SimulationFailure(
          .convergence,
          "\(replica.name)'s sync leaves damaged rows: repaired \(report.repaired), \(report.checksum.rawValue)")
      }
      statistics.count("repairs")
    }
  }

  /// One sync over a perfect network.
  private func syncWhole(_ replica: SimulatedReplica) throws -> SyncReport {
    guard var instruction = try replica.beginSync(now: time.milliseconds, waitSeconds: 0) else {
      throw SimulationFailure(.progress, "\(replica.name) is not open")
    }
    for _ in 0..<Self.exchangesMax {
      let event: SyncEvent
      switch instruction {
      case .finished(let report):
        replica.engine = nil
        replica.memory.hasPulledAll = true
        try checkRepairs(report, of: replica)
        note("\(replica.name) has synced: \(report.told)")
        try observe(replica)
        return report
      case .wait(let milliseconds):
        time.advance(toMilliseconds: time.milliseconds + milliseconds)
        event = .timer
      case .send(let request):
        note("\(replica.name) sends \(Self.told(request))")
        try noteSent(request, by: replica)
        time.advance(toMilliseconds: time.milliseconds + 7)
        guard let response = server.handle(request) else {
          throw SimulationFailure(.progress, "the server gives no answer to \(Self.told(request))")
        }
        try witness(request, response, nil)
        event = .response(response)
      }
      guard let next = try advance(replica, event) else { break }
      instruction = next
      try observe(replica)
    }
    throw SimulationFailure(.progress, "\(replica.name)'s sync does not end")
  }

  /// The engine's next step; one that meets another server begins again, and uploads what the replica has.
  private func advance(_ replica: SimulatedReplica, _ event: SyncEvent) throws -> SyncInstruction? {
    do {
      return try replica.engine?.handle(event)
    } catch let error as TomboloError where error.code == .otherEpoch && ledger.hasLostServer {
      note("\(replica.name) meets another server")
      statistics.count(.otherServer)
      replica.meetsAnotherServer = true
      return try replica.beginSync(now: time.milliseconds, waitSeconds: 0)
    }
  }

  private func judge(_ auditor: SimulatedReplica) throws {
    guard let roles = auditor.roles else { return }
    statistics.note(ledger, roles.schema.resolved)
    let judgement = Judgement(
      roles: roles, ledger: ledger, machines: machines, made: Array(fidelity.originals.values))
    try judgement.judge(replicas, against: auditor)
    for replica in replicas { try checkInvariants(.settled, replica) }
  }

  private func makeReport(_ auditor: SimulatedReplica) throws -> SimulationReport {
    let content = try auditor.content()
    // What a repair took out is no conflict of two people.
    let entries = try replicas.flatMap { try $0.store?.conflicts() ?? [] }
    let conflicts = entries.filter { $0.rule != .repaired }.count
    note("the end: \(content?.records.count ?? 0) records, content \(String(content?.digest ?? 0, radix: 16))")
    return SimulationReport(
      seed: seed, trace: trace, statistics: statistics, records: content?.records.count ?? 0, conflicts: conflicts)
  }
}
