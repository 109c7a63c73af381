import Testing
import Tombolo
import TomboloProtocol

/// Random runs over real stores and the real merge: after everything was pushed and pulled all are equal, stamps included.
@Suite struct SyncRandomTests {
  static let mixes = [
    SyncRun.Mix(name: "fields", entities: ["Task"]),
    SyncRun.Mix(name: "deletes", entities: ["Task", "Label"], features: ["delete"]),
    SyncRun.Mix(
      name: "references", entities: ["Task", "Task", "Note", "Part", "Deny", "Label", "Piece"], features: ["delete"]),
    SyncRun.Mix(name: "links", entities: ["Task", "Label"], features: ["delete", "link"]),
    SyncRun.Mix(name: "unique keys", entities: ["Task", "Part", "Note"], features: ["unique"]),
    SyncRun.Mix(
      name: "unique keys and deletes", entities: ["Task", "Part", "Note", "Label"],
      features: ["unique", "delete", "link"]),
    SyncRun.Mix(name: "one to one", entities: ["Task", "Claim"], features: ["delete"]),
    SyncRun.Mix(name: "trees", entities: ["Task"], features: ["tree", "delete"]),
    SyncRun.Mix(name: "refusals", entities: ["Serial", "Task"], features: ["delete"]),
    SyncRun.Mix(name: "clocks", entities: ["Task", "Note"], features: ["skew", "delete"]),
    SyncRun.Mix(name: "adoption", entities: ["Task", "Note", "Label"], features: ["adopt", "link", "delete"]),
    SyncRun.Mix(
      name: "everything", entities: ["Task", "Task", "Note", "Part", "Deny", "Label", "Piece", "Claim", "Serial"],
      features: ["delete", "link", "unique", "tree", "skew"]),
  ]

  @Test("replicas and server are equal once all is pushed and pulled", arguments: mixes)
  func converges(_ mix: SyncRun.Mix) throws {
    for seed in UInt64(1)...4 {
      let run = try SyncRun(mix, seed: seed)
      try run.run(steps: 50)
      for (index, replica) in run.replicas.enumerated() {
        let differences = try run.differences(replica.store)
        #expect(differences == [], "\(mix.name), seed \(seed), replica \(index)")
        if !differences.isEmpty { return }
      }
    }
  }
}
