import TomboloProtocol
import TomboloSQLite

/// Pairs of many-to-many relationships: taken back, pulled, laid anew, shown where both ends are there.
extension ReplicaTransaction {
  private struct Pair: Hashable {
    var isPresent = false
    var stamp = Stamp.zero
  }

  /// The pending changes of pairs by the pair that they count for.
  func homesOfLinks() throws -> [LinkKey: [PendingChange]] {
    var homes: [LinkKey: [PendingChange]] = [:]
    for (key, changes) in queue.byLink { homes[try home(of: key), default: []] += changes }
    return homes
  }

  private func home(of key: LinkKey) throws -> LinkKey {
    LinkKey(
      relationship: key.relationship, source: try rows.resolve(key.source), target: try rows.resolve(key.target))
  }

  /// - Parameter pulled: what a page brings; a pair that is only laid anew has none.
  func relayLinks(_ pulled: [LinkKey: LinkState]) throws {
    let homes = try homesOfLinks()
    var keys = Set(pulled.keys)
    for key in openLinks { keys.insert(try home(of: key)) }
    keys.formUnion(openLinks)
    for (key, changes) in linkHomes where !Self.isSame(changes, homes[key] ?? []) { keys.insert(key) }
    for (key, changes) in homes where !Self.isSame(changes, linkHomes[key] ?? []) { keys.insert(key) }
    openLinks = []
    let ordered = keys.sorted()
    var pairs: [LinkKey: Pair] = [:]
    for key in ordered {
      guard let plan = plan(key) else { continue }
      pairs[key] = takeBack(try stored(key, plan), key, (linkHomes[key] ?? []).inOrder(\.number))
    }
    for key in ordered {
      guard let plan = plan(key), var pair = pairs[key] else { continue }
      if let state = pulled[key] {
        watch?.note(LinkState(link: key, isPresent: pair.isPresent, stamp: pair.stamp), state)
        pair = Pair(isPresent: state.isPresent, stamp: state.stamp)
      }
      pair = try lay((homes[key] ?? []).inOrder(\.order), over: pair, key)
      try write(pair, key, plan)
    }
    for changes in homes.values { for change in changes where isLink(change) { change.isRelaid = true } }
    linkHomes = homes
  }

  private static func isSame(_ a: [PendingChange], _ b: [PendingChange]) -> Bool {
    a.count == b.count && a.allSatisfy { change in b.contains { $0 === change } }
  }

  private func isLink(_ change: PendingChange) -> Bool {
    if case .link = change.detail { return true }
    return false
  }

  private func plan(_ key: LinkKey) -> LinkPlan? { schema.linkTables.first { $0.link.key == key.relationship } }

  private func stored(_ key: LinkKey, _ plan: LinkPlan) throws -> Pair {
    let linked = try connection.firstRow(
      "SELECT _tombolo_stamps FROM \(plan.table.quotedIdentifier) WHERE source = ?1 AND target = ?2",
      {
        $0.bind(key.source, at: 1)
        $0.bind(key.target, at: 2)
      },
      { row -> Stamp in
        if row.isNull(0) { return .zero }
        // A repair is to mend damaged stamps.
        return watch == nil ? try Stamp(row.bytes(0), replicas) : (try? Stamp(row.bytes(0), replicas)) ?? .zero
      })
    if let linked { return Pair(isPresent: true, stamp: linked) }
    let parted = try connection.firstRow(
      "SELECT stamp FROM _tombolo_unlinked WHERE relationship = ?1 AND source = ?2 AND target = ?3",
      {
        $0.bind(key.relationship, at: 1)
        $0.bind(key.source, at: 2)
        $0.bind(key.target, at: 3)
      }, { $0.isNull(0) ? Stamp.zero : try Stamp($0.bytes(0), replicas) })
    if parted == nil, try !aside.isEmpty, let kept = try aside.link(key) {
      return Pair(isPresent: kept.isPresent, stamp: kept.stamp)
    }
    return Pair(isPresent: false, stamp: parted ?? .zero)
  }

  private func takeBack(_ shown: Pair, _ key: LinkKey, _ chain: [PendingChange]) -> Pair {
    var pair = shown
    for change in chain.reversed() {
      switch change.detail {
      case .link(let detail):
        if change.wasLaid { pair = Pair(isPresent: detail.underIsPresent, stamp: detail.underStamp ?? .zero) }
      case .delete(let detail):
        // The delete took the pair along; it is there again, with its own stamp, whether or not the delete still counts.
        guard !pair.isPresent, let held = detail.links.first(where: { $0.link == key }) else { continue }
        let stamp = held.stamp.flatMap { try? Stamp($0, replicas) } ?? .zero
        if stamp >= pair.stamp { pair = Pair(isPresent: true, stamp: stamp) }
      default: break
      }
    }
    return pair
  }

  /// A pair as complete pulls brought it; nil where there never was one.
  func confirmedLink(_ key: LinkKey) throws -> LinkState? {
    guard let plan = plan(key) else { return nil }
    let pair = takeBack(try stored(key, plan), key, (linkHomes[key] ?? []).inOrder(\.number))
    return pair.stamp.isZero ? nil : LinkState(link: key, isPresent: pair.isPresent, stamp: pair.stamp)
  }

  private func lay(_ chain: [PendingChange], over confirmed: Pair, _ key: LinkKey) throws -> Pair {
    var pair = confirmed
    for change in chain where change.isLaid {
      switch change.detail {
      case .link(var detail):
        detail.underIsPresent = pair.isPresent
        detail.underStamp = pair.stamp
        change.rewrite(.link(detail))
        if change.save.stamp > pair.stamp { pair = Pair(isPresent: detail.isPresent, stamp: change.save.stamp) }
      case .delete(var detail):
        detail.links.removeAll { $0.link == key }
        if pair.isPresent {
          detail.links.append(ChangeDetail.Pair(link: key, stamp: try pair.stamp.encoded(replicas)))
        }
        change.rewrite(.delete(detail))
      default: break
      }
    }
    return pair
  }

  private func write(_ pair: Pair, _ key: LinkKey, _ plan: LinkPlan) throws {
    let isShown =
      try pair.isPresent && rows.isVisible(key.source, as: plan.link.source)
      && rows.isVisible(key.target, as: plan.link.target)
    let table = plan.table.quotedIdentifier
    let stamp = try pair.stamp.encoded(replicas)
    if isShown {
      try connection.run(
        "INSERT INTO \(table)(source, target, _tombolo_stamps) VALUES (?1, ?2, ?3) "
          + "ON CONFLICT(source, target) DO UPDATE SET _tombolo_stamps = ?3 WHERE _tombolo_stamps IS NOT ?3"
      ) {
        $0.bind(key.source, at: 1)
        $0.bind(key.target, at: 2)
        $0.bind(stamp, at: 3)
      }
    } else {
      try connection.run("DELETE FROM \(table) WHERE source = ?1 AND target = ?2") {
        $0.bind(key.source, at: 1)
        $0.bind(key.target, at: 2)
      }
    }
    if connection.changes > 0 {
      noteLink(key, plan)
      linkSum = nil
    }
    if try !aside.isEmpty { try setAside(pair, key, isShown: isShown) }
    let isParted = !pair.isPresent && !pair.stamp.isZero
    try connection.run(
      isParted
        ? "INSERT OR REPLACE INTO _tombolo_unlinked(relationship, source, target, stamp) VALUES (?1, ?2, ?3, ?4)"
        : "DELETE FROM _tombolo_unlinked WHERE relationship = ?1 AND source = ?2 AND target = ?3"
    ) {
      $0.bind(key.relationship, at: 1)
      $0.bind(key.source, at: 2)
      $0.bind(key.target, at: 3)
      if isParted { $0.bind(stamp, at: 4) }
    }
  }

  /// A pair with an end that only a later schema knows waits for it.
  private func setAside(_ pair: Pair, _ key: LinkKey, isShown: Bool) throws {
    linkSum = nil
    if pair.isPresent, !isShown, try aside.waits(key) {
      try aside.keep(LinkState(link: key, isPresent: true, stamp: pair.stamp))
    } else {
      try aside.forget(key)
    }
  }

  private func noteLink(_ key: LinkKey, _ plan: LinkPlan) {
    let ends = [
      (key.source, plan.link.source, plan.link.sourceName), (key.target, plan.link.target, plan.link.targetName),
    ]
    for (id, name, property) in ends {
      guard changed.disappeared[id] == nil, let entity = schema.entity(name) else { continue }
      noteChange(id, from: entity, to: entity)
      if let property { notes.note(id, link: property) }
    }
  }
}
