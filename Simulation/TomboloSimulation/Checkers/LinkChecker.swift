import TomboloProtocol

/// I6 for many-to-many links: each pair is what the accepted write with the greatest stamp made it, whatever the order.
///
/// Pairs of records that died, were born again or united are left out.
struct LinkChecker {
  let ledger: WireLedger

  private struct Version {
    var stamp: Stamp
    var isPresent: Bool
  }

  func check(_ content: StoreContent) throws {
    var versions: [LinkKey: Version] = [:]
    var creations: [RecordID: Int] = [:]
    for accepted in ledger.accepted.values {
      for change in accepted.changeSet.changes {
        switch change {
        case .create(let create): creations[create.id, default: 0] += 1
        case .link(let change):
          let stamp = accepted.changeSet.stamp
          if let known = versions[change.link], known.stamp > stamp { continue }
          versions[change.link] = Version(stamp: stamp, isPresent: change.isPresent)
        case .update, .delete: break
        }
      }
    }
    let united = Set(ledger.survivors.keys).union(ledger.survivors.values)
    var present: Set<LinkKey> = []
    for (key, pairs) in content.links {
      for pair in pairs { present.insert(LinkKey(relationship: key, source: pair.source, target: pair.target)) }
    }
    func isPlain(_ id: RecordID) -> Bool {
      content.record(id) != nil && creations[id] == 1 && !united.contains(id) && !ledger.deadWhenLost.contains(id)
    }
    for (key, version) in versions.sorted(by: { $0.key < $1.key }) where isPlain(key.source) && isPlain(key.target) {
      guard present.contains(key) != version.isPresent else { continue }
      throw SimulationFailure(
        .noLostWrite,
        "the link \(key.relationship) \(key.source.short)–\(key.target.short) is "
          + (version.isPresent
            ? "gone, and the last accepted write made it" : "there, and the last accepted write ended it"))
    }
    for key in present.sorted() where isPlain(key.source) && isPlain(key.target) && versions[key] == nil {
      throw SimulationFailure(
        .exactlyOnce,
        "the link \(key.relationship) \(key.source.short)–\(key.target.short) is there, and nobody made it")
    }
  }
}
