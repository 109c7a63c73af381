import Foundation
import Tombolo
import TomboloProtocol

/// What a run of real processes has left: the stores, and what went over the wire. It can be judged as often as one
/// likes; whoever damages a store in between sees what the checkers say to that.
package final class ChaosEvidence {
  /// The folder that everything lies in.
  package let folder: String
  /// The replicas' files.
  package let stores: [String]
  /// The file of a replica that was made at the end.
  package let auditor: String
  /// What happened how often.
  package let statistics: SimulationStatistics
  private let replicas: [StoredReplica]
  let notes: WireWitness.Notes

  init(_ run: ChaosRun, replicas: [StoredReplica], auditor: String) {
    folder = run.folder
    stores = replicas.map(\.path)
    self.auditor = auditor
    self.replicas = replicas
    notes = run.witness.notes.withLock { $0 }
    statistics = notes.statistics
  }

  /// Conflicts that the replicas' logs hold.
  package func conflicts() throws -> Int {
    try replicas.reduce(0) { sum, replica in sum + (try replica.look { try $0.conflicts().count }) }
  }

  /// Lets every checker of the simulation look at the stores as they are.
  ///
  /// - Throws: ``SimulationFailure``.
  package func judge() throws {
    let audit = StoredReplica(name: "A fresh replica", path: auditor)
    try audit.look { store in
      let roles = SchemaRoles(store.schema)
      try withOpen(replicas[...]) {
        var machines = notes.machines
        for replica in replicas {
          for id in try replica.replicaIDs() { machines[id] = replica.name }
        }
        let judgement = Judgement(
          roles: roles, ledger: notes.ledger, machines: machines, made: Array(notes.fidelity.originals.values))
        try judgement.judge(replicas, against: audit)
      }
    }
  }

  private func withOpen(_ replicas: ArraySlice<StoredReplica>, _ body: () throws -> Void) throws {
    guard let first = replicas.first else { return try body() }
    try first.look { _ in try withOpen(replicas.dropFirst(), body) }
  }
}
