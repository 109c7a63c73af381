/// What integrity still has to look at, a set for each of its rules. A record that changes is put in each that its entity
/// has a use for.
struct IntegrityMarks {
  var references: Set<RecordID> = []
  var orphans: Set<RecordID> = []
  var keys: Set<RecordID> = []
  var claims: Set<RecordID> = []
  var trees: Set<RecordID> = []
  /// Records that were merged away, whose links are to be rewritten.
  var aliases: Set<RecordID> = []
  /// Unique keys that may be held twice.
  var openKeys = OrderedQueue<UniqueKey>()
  /// Records that came to life during the present pass: the next one looks at them.
  private(set) var revived: Set<RecordID> = []
  /// Records marked while the references of the present pass are walked.
  var arrivals: [RecordID] = []

  /// - Parameter entity: nil puts the record in all of them.
  mutating func insert(_ id: RecordID, of entity: MergeSchema.Entity?) {
    if entity.map({ !$0.references.isEmpty }) ?? true {
      if references.insert(id).inserted { arrivals.append(id) }
      orphans.insert(id)
      if entity.map({ !$0.oneToOne.isEmpty }) ?? true { claims.insert(id) }
      if entity.map({ !$0.acyclic.isEmpty }) ?? true { trees.insert(id) }
    }
    if entity.map({ !$0.keys.isEmpty }) ?? true { keys.insert(id) }
  }

  mutating func noteRevival(of id: RecordID) { revived.insert(id) }
  mutating func beginPass() { revived.removeAll(keepingCapacity: true) }

  var isEmpty: Bool {
    references.isEmpty && orphans.isEmpty && keys.isEmpty && claims.isEmpty && trees.isEmpty && aliases.isEmpty
      && openKeys.isEmpty
  }
}

/// A unique key declared `.reject` is held twice: the change set is to be refused whole.
struct UniqueRejection: Error {
  let key: String
}

/// The integrity rules, run to a fixpoint after each change set: delete rules, unique keys, one-to-one claims, cycles, links.
extension MergeSession {
  func restoreIntegrity() throws {
    guard rules.checksIntegrity else { return }
    var passes = 0
    while !marks.isEmpty {
      passes += 1
      // A merge a pass, and a few passes for what follows from it.
      guard passes <= 100 + 8 * changed.count else {
        throw TomboloError(.internalFault, "The integrity rules do not come to rest on save \(changeSet.id).")
      }
      try pass()
    }
  }

  private func pass() throws {
    marks.beginPass()
    try checkReferences()
    if rules.lateCascadeLifts { try liftOrphans() } else { marks.orphans = [] }
    if try uniteOneGroup() { return }
    try settleClaims()
    try openCycles()
    try rewriteLinks()
  }

  /// Living records with references to dead ones, in ascending order, those included that come up on the way.
  private func checkReferences() throws {
    var queue = marks.references.sorted()
    marks.references = []
    marks.arrivals = []
    var next = 0
    var skipped: Set<RecordID> = []
    while next < queue.count {
      let id = queue[next]
      next += 1
      if marks.revived.contains(id) {
        skipped.insert(id)
      } else {
        marks.references.remove(id)
        try checkReferences(of: id)
      }
      let later = marks.arrivals.filter { $0 > id }
      marks.arrivals = []
      if !later.isEmpty {
        let known = Set(queue[next...])
        queue = queue[next...] + later.filter { !known.contains($0) }
        queue.sort()
        next = 0
      }
    }
    marks.references.formUnion(skipped)
  }

  private func checkReferences(of id: RecordID) throws {
    guard let found = try record(id), found.isLiving else { return }
    let entity = try entity(of: found)
    for place in entity.references {
      let field = entity.fields[place]
      guard let record = try record(id), try hangsInTheAir(record, field) else { continue }
      let stored = self.field(field, of: record)
      let parent = try stored.value.reference.map(resolve).flatMap { try self.record($0) }
      if field.rule == .deny, let parent, rules.denyDeletes {
        try revive(parent.id, .deny, by: stored.stamp)
      } else if field.holdsLife, field.isOptional ? rules.cascadeToChildren : rules.cascadeToRequiring {
        try orphan(id, stamp: stored.stamp)
        for lost in record.fields where !lost.stamp.isDerived && !lost.stamp.isZero {
          try reportDeath(of: lost, in: record, named: id, .parentDeleted, standing: parent?.death)
        }
        for link in try links(of: id) where link.isPresent { try reportIfHidden(link) }
        return
      } else if !stored.stamp.isDerived, !stored.stamp.isZero, isNews(stored, of: parent),
        reportedFields.insert(RefusedWrite.Key(record: id, field: field.name, stamp: stored.stamp)).inserted
      {
        report(
          .targetDeleted, entity: record.entity, record: id, field: field.name,
          lost: Version(value: stored.value, stamp: stored.stamp), standing: parent?.death)
      }
    }
  }

  /// Whether the author of a reference to a dead record has to be told: he wrote it now, or the deleter had not seen it, or
  /// nobody deleted the record itself.
  private func isNews(_ stored: MergeField, of target: MergeRecord?) -> Bool {
    if stored.writePosition == position { return true }
    guard let target, target.lifePosition == position else { return false }
    return target.life == .orphaned || target.life == .deleted && isUnseen(stored)
  }

  /// Whether a reference names a dead record; a required one also where a rule took its value away.
  private func hangsInTheAir(_ record: MergeRecord, _ field: MergeSchema.Field) throws -> Bool {
    let stored = self.field(field, of: record)
    guard let named = stored.value.reference else { return !field.isOptional && stored.stamp.isDerived }
    return try isGone(try resolve(named))
  }

  /// Records that are dead only because their parent was.
  private func liftOrphans() throws {
    let candidates = marks.orphans.sorted()
    marks.orphans = []
    for id in candidates {
      guard let found = try record(id), found.life == .orphaned else { continue }
      let entity = try entity(of: found)
      let isHeld = try entity.references.contains { place in
        let field = entity.fields[place]
        return try field.holdsLife && hangsInTheAir(found, field)
      }
      if !isHeld { try enliven(id) }
    }
  }

  /// Two claims on one partner of a one-to-one: the greater stamp keeps it.
  private func settleClaims() throws {
    let candidates = rules.settleClaims ? marks.claims.sorted() : []
    marks.claims = []
    for id in candidates {
      guard let found = try record(id), found.isLiving else { continue }
      let entity = try entity(of: found)
      for place in entity.oneToOne {
        let field = entity.fields[place]
        guard let partner = try effective(field, of: found).value.reference else { continue }
        var claims: [(stamp: Stamp, id: RecordID)] = []
        for holder in try holders(of: namesakes(of: partner)) {
          guard let record = try record(holder), record.isLiving, let own = try claim(field, of: record),
            try effective(own, of: record).value.reference == partner
          else { continue }
          claims.append((self.field(own, of: record).stamp, holder))
        }
        claims.sort { $0.stamp != $1.stamp ? $0.stamp < $1.stamp : $0.id < $1.id }
        guard let winner = claims.last else { continue }
        for loser in claims.dropLast() { try takeAway(field.name, of: loser.id, .oneToOne, inFavourOf: winner.id) }
      }
    }
  }

  /// The same one-to-one reference in another record, which may be of another class below the declaring one.
  private func claim(_ field: MergeSchema.Field, of record: MergeRecord) throws -> MergeSchema.Field? {
    guard let own = try entity(of: record).field(field.name),
      own.reference?.declaringEntity == field.reference?.declaringEntity
    else { return nil }
    return own
  }

  private func takeAway(_ name: String, of id: RecordID, _ rule: ConflictRule, inFavourOf winner: RecordID) throws {
    guard let record = try record(id), let field = try entity(of: record).field(name) else { return }
    let stored = self.field(field, of: record)
    let standing = try self.record(winner).map { Version(value: Value(reference: winner), stamp: $0.incarnation) }
    report(
      rule, entity: record.entity, record: id, field: name, lost: Version(value: stored.value, stamp: stored.stamp),
      standing: standing)
    try set(field, of: id, to: Version(value: .null, stamp: stored.stamp.consequence), isWritten: true)
  }

  /// A tree declared acyclic: the move with the greatest stamp in a cycle is undone.
  private func openCycles() throws {
    let candidates = rules.openCycles ? marks.trees.sorted() : []
    marks.trees = []
    var rooted: [String: Set<RecordID>] = [:]
    for id in candidates {
      guard let found = try record(id), found.isLiving else { continue }
      for place in try entity(of: found).acyclic {
        let name = try entity(of: found).fields[place].name
        guard let cycle = try cycle(from: id, along: name, &rooted[name, default: []]) else { continue }
        var greatest: (stamp: Stamp, id: RecordID)?
        for member in cycle {
          guard let record = try record(member), let field = try entity(of: record).field(name) else { continue }
          let stamp = self.field(field, of: record).stamp
          if let known = greatest, (known.stamp, known.id) > (stamp, member) { continue }
          greatest = (stamp, member)
        }
        if let greatest { try undoMove(of: greatest.id, along: name) }
      }
    }
  }

  /// The members of the cycle that the walk from `start` ends in; nil if it ends at a root.
  /// - Parameter rooted: records from which a walk ended at a root: no move that is undone later lies on their way.
  private func cycle(
    from start: RecordID, along name: String, _ rooted: inout Set<RecordID>
  ) throws -> [RecordID]? {
    var path: [RecordID] = []
    var places: [RecordID: Int] = [:]
    var next: RecordID? = start
    while let id = next, !rooted.contains(id) {
      if let place = places[id] { return Array(path[place...]) }
      places[id] = path.count
      path.append(id)
      next = try parent(of: id, along: name)
    }
    rooted.formUnion(path)
    return nil
  }

  private func parent(of id: RecordID, along name: String) throws -> RecordID? {
    guard let record = try record(id), let field = try entity(of: record).field(name) else { return nil }
    return try effective(field, of: record).value.reference
  }

  /// Back to the replaced value, if that lives and closes no cycle; else nil.
  private func undoMove(of id: RecordID, along name: String) throws {
    guard let record = try record(id), let field = try entity(of: record).field(name) else { return }
    let stored = self.field(field, of: record)
    var undone = Version(value: .null, stamp: stored.stamp.consequence)
    if let earlier = try stored.replaced?.reference.map(resolve), try !isGone(earlier), earlier != id {
      var next: RecordID? = earlier
      var seen: Set<RecordID> = []
      while let walked = next, walked != id, seen.insert(walked).inserted { next = try parent(of: walked, along: name) }
      if next == nil { undone.value = Value(reference: earlier) }
    }
    report(
      .cycle, entity: record.entity, record: id, field: name, lost: Version(value: stored.value, stamp: stored.stamp),
      standing: undone)
    try set(field, of: id, to: undone, isWritten: true)
  }
}
