import Tombolo
import TomboloProtocol

/// I2 for what the server refuses: the save is kept for its author, and nothing that hangs on it is taken.
struct RefusalChecker {
  let ledger: WireLedger

  func check(_ replicas: [any CheckedReplica]) throws {
    // What a lost server or a machine's older copy had refused is nobody's any more.
    if ledger.hasLostServer || ledger.hasForgottenMachine { return }
    let parked = Set(try replicas.flatMap { try $0.store?.parkedSaves().map(\.changeSet.id) ?? [] })
    for id in ledger.refused.keys.sorted(by: { $0.record < $1.record }) where !parked.contains(id) {
      throw SimulationFailure(.noLostWrite, "save \(id) was refused, and nobody has it to mend it")
    }
    var made: Set<RecordID> = []
    for set in ledger.accepted.values.map(\.changeSet) { made.formUnion(Self.created(set)) }
    let lost = Set(ledger.refusedSets.flatMap(Self.created)).subtracting(made)
    for set in ledger.order.compactMap({ ledger.accepted[$0]?.changeSet }) {
      guard let change = set.changes.first(where: { $0.names(anyOf: lost) }) else { continue }
      throw SimulationFailure(
        .integrity,
        "a save was taken that changes \(change.entity), though it names a record whose creation was refused")
    }
  }

  private static func created(_ set: ChangeSet) -> [RecordID] {
    set.changes.compactMap { if case .create(let create) = $0 { create.id } else { nil } }
  }
}
