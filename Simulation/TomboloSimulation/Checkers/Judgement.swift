import Tombolo
import TomboloProtocol
import TomboloSQLite

/// What is judged when all is quiet and everybody has synced: by every checker that looks at the whole.
struct Judgement {
  let roles: SchemaRoles
  let ledger: WireLedger
  /// The machine behind each replica id.
  let machines: [ReplicaID: String]
  /// Every save as its person made it.
  let made: [ChangeSet]

  /// - Parameter auditor: a fresh replica that has everything from the server.
  func judge(_ replicas: [any CheckedReplica], against auditor: any CheckedReplica) throws {
    guard let content = try auditor.content() else { return }
    try ConvergenceChecker().check(replicas, against: auditor)
    try AtomicityChecker(roles: roles).check(content, on: auditor.name)
    try IntegrityChecker(roles: roles).check(content, on: auditor.name)
    for replica in replicas { try checkPromises(of: replica) }
    try StampChecker(ledger: ledger).check()
    try ExactlyOnceChecker(roles: roles, ledger: ledger).check(content)
    try OrderChecker(roles: roles, ledger: ledger).check(content)
    try LinkChecker(ledger: ledger).check(content)
    let entries = try replicas.flatMap { try $0.store?.conflicts() ?? [] } + ledger.toldBefore
    try ConflictLogChecker(ledger: ledger, machines: machines, made: made).check(replicas)
    let living = Set(try replicas.flatMap { try $0.replicaIDs() })
    try RefusalChecker(ledger: ledger).check(replicas)
    try DeleteRuleChecker(roles: roles, ledger: ledger, entries: entries + ledger.delivered, living: living)
      .check(content)
    try LostWriteChecker(roles: roles, ledger: ledger, entries: entries, machines: machines, living: living)
      .check(content)
  }

  /// Saves whose edits cancelled out, so that nothing is left of them to send.
  private func cancelledSaves(of replica: any CheckedReplica) throws -> Set<SaveID> {
    var ids: Set<SaveID> = []
    try replica.store?.read { connection in
      let statement = try connection.prepare(
        "SELECT id FROM _tombolo_save WHERE state = 1 AND NOT EXISTS (SELECT 1 FROM _tombolo_change WHERE save = number) "
          + "AND (attempted = 0 OR EXISTS (SELECT 1 FROM _tombolo_cancelled c WHERE c.save = number))")
      while try statement.step() { if let id = SaveID(bytes: statement.bytes(0)) { ids.insert(id) } }
    }
    return ids
  }

  /// Every save that was confirmed to a person, and not lost with the power before it was sent, was answered by the server.
  private func checkPromises(of replica: any CheckedReplica) throws {
    let cancelled = try cancelledSaves(of: replica)
    for (number, id) in replica.memory.confirmed.sorted(by: { $0.key < $1.key })
    where ledger.accepted[id] == nil && ledger.refused[id] == nil && !cancelled.contains(id) {
      throw SimulationFailure(.noLostWrite, "\(replica.name)'s save \(number.rawValue) never reached the server")
    }
    for id in replica.memory.promised.sorted(by: { $0.record < $1.record })
    where ledger.accepted[id] == nil && ledger.refused[id] == nil && !cancelled.contains(id) {
      throw SimulationFailure(.noLostWrite, "\(replica.name)'s save \(id) never reached the server")
    }
  }
}
