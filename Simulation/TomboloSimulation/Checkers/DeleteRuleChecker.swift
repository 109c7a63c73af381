import Tombolo
import TomboloProtocol

/// I7, from the accepted writes: a deletion stands in all of its parts or in none, what hangs on a dead record is dead, what a
/// living child denies lives, and what hangs on living records alone lives too.
///
/// Records with a second life, united ones, and runs in which a server was lost are left out.
struct DeleteRuleChecker {
  let roles: SchemaRoles
  let ledger: WireLedger
  private let entries: [ConflictEntry]
  /// Replica ids that some store has: what others were told is in no log here.
  private let living: Set<ReplicaID>

  private struct Version {
    var value: Value
    var stamp: Stamp
  }

  private var creations: [RecordID: [String]] = [:]
  private var references: [RecordID: [String: Version]] = [:]
  /// Every record that a reference ever named.
  private var everNamed: [RecordID: Set<RecordID>] = [:]
  /// The roots of the cascades that took a record along.
  private var roots: [RecordID: Set<RecordID>] = [:]

  init(roles: SchemaRoles, ledger: WireLedger, entries: [ConflictEntry], living: Set<ReplicaID>) {
    self.roles = roles
    self.ledger = ledger
    self.entries = entries
    self.living = living
    for accepted in ledger.accepted.values {
      let stamp = accepted.changeSet.stamp
      for change in accepted.changeSet.changes {
        switch change {
        case .create(let create):
          creations[create.id, default: []].append(create.entity)
          for field in create.fields where field.isAssigned { note(field.name, field.value, of: create.id, stamp) }
        case .update(let update):
          for write in update.writes { note(write.name, write.value, of: ledger.resolve(update.id), stamp) }
        case .delete(let delete):
          roots[ledger.resolve(delete.id), default: []].insert(delete.survivor == nil ? delete.cause.root : delete.id)
        case .link: break
        }
      }
    }
  }

  private mutating func note(_ field: String, _ value: Value, of record: RecordID, _ stamp: Stamp) {
    if let target = value.reference { everNamed[record, default: []].insert(ledger.resolve(target)) }
    if let known = references[record]?[field], known.stamp > stamp { return }
    references[record, default: [:]][field] = Version(value: value, stamp: stamp)
  }

  func check(_ content: StoreContent) throws {
    if ledger.hasLostServer { return }
    let united = Set(ledger.survivors.keys).union(ledger.survivors.values)
    for (id, names) in creations.sorted(by: { $0.key < $1.key }) where names.count == 1 && !united.contains(id) {
      guard let entity = roles.entity(names[0]), isToldHere(id) else { continue }
      if content.record(id) == nil {
        try checkDead(id, entity, content)
      } else {
        try checkLiving(id, entity, content)
      }
    }
  }

  private func isToldHere(_ id: RecordID) -> Bool {
    references[id, default: [:]].values.allSatisfy { living.contains($0.stamp.replica) }
  }

  private func holds(_ reference: ResolvedReference) -> Bool { reference.rule == .cascade || !reference.isOptional }

  private func checkLiving(_ id: RecordID, _ entity: SchemaRoles.Entity, _ content: StoreContent) throws {
    for column in entity.plan.columns {
      guard case .reference(let reference) = column.kind, !reference.isAcyclic, !reference.isOneToOne,
        holds(reference) || reference.rule == .deny,
        let named = references[id]?[column.property]?.value.reference.map(ledger.resolve),
        creations[named]?.count == 1, content.record(named) == nil
      else { continue }
      // Where the tombstone of what denies was collected, an entry says so, and names nobody's deletion (E4b).
      let isForgotten = entries.contains {
        ledger.resolve($0.record) == id && $0.field == column.property && $0.standing == nil
      }
      guard !isForgotten else { continue }
      throw SimulationFailure(
        .integrity,
        "\(entity.plan.name) \(id.short) lives, and what its \(column.property) names is dead (\(reference.rule))")
    }
  }

  private func checkDead(_ id: RecordID, _ entity: SchemaRoles.Entity, _ content: StoreContent) throws {
    let isGone = { (id: RecordID) in content.record(ledger.resolve(id)) == nil }
    // Forgotten by the server before it was written again.
    if entries.contains(where: { $0.rule == .recordGone && ledger.resolve($0.record) == id }) { return }
    let causes = roots[id, default: []]
    if causes.contains(where: { isGone($0) || creations[$0]?.count != 1 }) { return }
    let isHeld = entity.plan.columns.contains { column in
      guard case .reference(let reference) = column.kind, holds(reference) else { return false }
      // What a rule undid hangs where nobody wrote that it hangs.
      if !causes.isEmpty || reference.isAcyclic || reference.isOneToOne {
        return everNamed[id, default: []].contains(where: isGone)
      }
      guard let named = references[id]?[column.property]?.value.reference else { return !reference.isOptional }
      return isGone(named)
    }
    if isHeld { return }
    throw SimulationFailure(
      .integrity,
      "\(entity.plan.name) \(id.short) is dead, and "
        + (causes.isEmpty
          ? "nobody deleted it, nor what it hangs on" : "the deletion that took it along does not stand"))
  }
}
