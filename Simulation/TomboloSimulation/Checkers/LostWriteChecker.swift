import Tombolo
import TomboloProtocol

/// I2: each accepted write stands, or somebody who had seen it wrote after it, or an entry says what became of it.
///
/// The judgement is made from the wire alone: the change sets that were accepted, and the entries that the replicas hold.
struct LostWriteChecker {
  let roles: SchemaRoles
  let ledger: WireLedger
  private let entries: [ConflictEntry]
  /// The machine behind each replica id: a restored one has several.
  private let machines: [ReplicaID: String]
  /// The greatest stamp with which a machine wrote a field: what it wrote over its own value is nobody's conflict.
  private var own: [Author: Stamp] = [:]

  private struct Author: Hashable {
    var record: RecordID
    var field: String
    var machine: String
  }

  /// Writes that a later accepted one names as its base: (record, field, clock, machine).
  private var seen: Set<Write> = []
  /// Writes that an entry calls lost, or that had the field of an entry about the whole record.
  private var reported: Set<Write> = []
  private var reportedRecords: Set<Write> = []
  /// The accepted saves that deleted a record.
  private var deletions: [RecordID: [WireLedger.Accepted]] = [:]
  /// The accepted saves that made a record one with another by a unique value.
  private var uniting: [RecordID: [WireLedger.Accepted]] = [:]
  /// Records that any entry is about.
  private var mentioned: Set<RecordID> = []
  /// How often a record was created.
  private var created: [RecordID: Int] = [:]

  /// The accepted writes that gave a field one value: they are one, since nobody can tell equal values apart.
  private var equals: [Content: [(id: RecordID, stamp: Stamp, accepted: WireLedger.Accepted)]] = [:]

  private struct Content: Hashable {
    var record: RecordID
    var field: String
    var value: Value
  }

  /// References to records that have become one are equal.
  private static func content(_ record: RecordID, _ field: String, _ value: Value, _ ledger: WireLedger) -> Content {
    Content(record: record, field: field, value: value.reference.map { Value(reference: ledger.resolve($0)) } ?? value)
  }

  private struct Write: Hashable {
    var record: RecordID
    var field: String
    var clock: UInt64
    /// A replica that was put back, or whose server was, goes on under another id, and renames what it had not sent.
    var machine: String
  }

  /// Replica ids that some store has, or had before it took another. One that was taken after a backup, and forgotten with
  /// the restore of it, is none: nobody asks for what is addressed to it.
  private let living: Set<ReplicaID>

  init(
    roles: SchemaRoles, ledger: WireLedger, entries: [ConflictEntry], machines: [ReplicaID: String],
    living: Set<ReplicaID>
  ) {
    self.living = living
    self.machines = machines
    self.roles = roles
    self.ledger = ledger
    // A replica does not keep an entry about a value that its own person wrote over; equal values of others go with it.
    self.entries =
      entries
      + ledger.delivered.filter { entry in
        entry.standing.map { machines[$0.stamp.replica] == machines[entry.replica] } ?? false
      }
    for entry in self.entries {
      let record = ledger.resolve(entry.record)
      mentioned.insert(record)
      if let field = entry.field {
        reported.insert(write(record, field, entry.lost.stamp))
      } else {
        reportedRecords.insert(write(record, "", entry.lost.stamp))
      }
    }
    // A base that names a write of a refused save counts as that write's own base.
    var bases: [Write: Stamp] = [:]
    for set in ledger.refusedSets {
      for case .update(let update) in set.changes {
        for field in update.writes {
          bases[write(ledger.resolve(update.id), field.name, set.stamp)] = field.base
        }
      }
    }
    for accepted in ledger.accepted.values {
      for change in accepted.changeSet.changes {
        switch change {
        case .update(let update):
          let record = ledger.resolve(update.id)
          let machine = machines[accepted.changeSet.stamp.replica, default: ""]
          for field in update.writes {
            let author = Author(record: record, field: field.name, machine: machine)
            own[author] = max(own[author, default: .zero], accepted.changeSet.stamp)
            var base = field.base
            var steps = 0
            while let next = bases[write(record, field.name, base)], steps <= bases.count {
              base = next
              steps += 1
            }
            if !base.isZero { seen.insert(write(record, field.name, base)) }
            equals[Self.content(record, field.name, field.value, ledger), default: []]
              .append((update.id, accepted.changeSet.stamp, accepted))
          }
        case .create(let create):
          created[create.id, default: 0] += 1
          for field in create.fields where field.isAssigned {
            equals[Self.content(ledger.resolve(create.id), field.name, field.value, ledger), default: []]
              .append((create.id, accepted.changeSet.stamp, accepted))
          }
        case .delete(let delete):
          deletions[ledger.resolve(delete.id), default: []].append(accepted)
          if delete.survivor != nil { uniting[delete.id, default: []].append(accepted) }
        case .link: break
        }
      }
    }
  }

  private func write(_ record: RecordID, _ field: String, _ stamp: Stamp) -> Write {
    Write(
      record: record, field: field, clock: stamp.clock.rawValue,
      machine: machines[stamp.replica] ?? stamp.replica.description)
  }

  func check(_ content: StoreContent) throws {
    for id in ledger.order {
      guard let accepted = ledger.accepted[id] else { continue }
      let set = accepted.changeSet
      for change in set.changes {
        switch change {
        case .create(let create):
          try checkPresence(of: create, accepted, content)
          for field in create.fields where field.isAssigned {
            try check(field.name, field.value, of: create.id, create.entity, accepted, content)
          }
        case .update(let update):
          for field in update.writes {
            try check(field.name, field.value, of: update.id, update.entity, accepted, content)
            try checkDead(field.name, field.value, of: update.id, update.entity, accepted, content)
          }
        case .delete, .link: break
        }
      }
    }
  }

  /// A record is there, or somebody deleted it, or an entry says why it is gone. Who deletes a record without having seen
  /// that another was merged into it deletes nothing of that other.
  private func checkPresence(of create: Change.Create, _ accepted: WireLedger.Accepted, _ content: StoreContent) throws
  {
    let record = ledger.resolve(create.id)
    guard content.record(record) == nil, !mentioned.contains(record), !ledger.deadWhenLost.contains(create.id)
    else { return }
    let isDeleted = deletions[record, default: []].contains { deletion in
      record == create.id || !ledger.knowsPositions || created[create.id, default: 0] > 1
        || deletion.changeSet.base.rawValue > UInt64(accepted.order)
        || machines[deletion.replica] == machines[accepted.replica]
    }
    guard !isDeleted else { return }
    throw SimulationFailure(
      .noLostWrite,
      "\(create.entity) \(record.short) was accepted and is gone; nobody deleted it, and no entry says why")
  }

  /// A write to a record that is dead now: the delete had seen it, or an entry says that it was lost.
  private func checkDead(
    _ name: String, _ value: Value, of id: RecordID, _ entity: String, _ accepted: WireLedger.Accepted,
    _ content: StoreContent
  ) throws {
    let record = ledger.resolve(id)
    guard ledger.knowsPositions, created[id, default: 0] <= 1, ledger.survivors[id] == nil,
      content.record(record) == nil, let deletions = deletions[record]
    else { return }
    let equal = equals[Self.content(record, name, value, ledger), default: []]
    let isSeen = deletions.contains { deletion in
      equal.contains { _, _, write in
        deletion.replica == write.replica && deletion.order > write.order
          || deletion.changeSet.base.rawValue > UInt64(write.order)
      }
    }
    guard !isSeen, !isExplained(record, name, value, accepted.changeSet.stamp) else { return }
    throw SimulationFailure(
      .noLostWrite,
      "\(entity) \(record.short).\(name), written by \(accepted.replica) and accepted, is lost to a delete that had not "
        + "seen it, and no entry says so; \(history(of: record, name))")
  }

  private func check(
    _ name: String, _ value: Value, of id: RecordID, _ entityName: String, _ accepted: WireLedger.Accepted,
    _ content: StoreContent
  ) throws {
    let stamp = accepted.changeSet.stamp
    let record = ledger.resolve(id)
    // Another life of the record, or a death: the edits of the dead are judged by whoever killed them.
    guard created[id, default: 0] <= 1, !ledger.deadWhenLost.contains(id), let now = content.record(record),
      now.entity == entityName,
      let entity = roles.entity(entityName), let column = entity.plan.column(name)
    else { return }
    switch column.kind {
    case .attribute(let attribute):
      guard attribute.merge == .lastWriter, now.values[column.position] != value else { return }
    case .reference:
      guard let target = value.reference else { return }
      let resolved = ledger.resolve(target)
      // A reference to a dead record reads as nil and keeps its value.
      guard content.record(resolved) != nil, now.values[column.position].reference != resolved, resolved != record
      else {
        return
      }
    }
    guard !isExplained(record, name, value, stamp),
      !wasUnited(id, with: accepted),
      !equals[Self.content(record, name, value, ledger), default: []].contains(where: {
        wasUnited($0.id, with: $0.accepted)
      }),
      !wasOfLostServer(record, name, stamp, isTakenAway: now.values[column.position].isNull)
    else { return }
    throw SimulationFailure(
      .noLostWrite,
      "\(entityName) \(record.short).\(name)=\(value.traceText), written by \(stamp.replica) and accepted, is now "
        + "\(now.values[column.position].traceText), and no entry says why; \(history(of: record, name))")
  }

  /// Whether somebody who had seen the value wrote after it, or an entry is about it.
  private func isExplained(_ record: RecordID, _ field: String, _ value: Value, _ stamp: Stamp) -> Bool {
    if !living.contains(stamp.replica) { return true }
    let equal = equals[Self.content(record, field, value, ledger), default: []].map(\.stamp)
    return ([stamp] + equal).contains { stamp in
      let author = Author(record: record, field: field, machine: machines[stamp.replica, default: ""])
      if self.own[author, default: .zero] > stamp { return true }
      let own = write(record, field, stamp)
      return seen.contains(own) || reported.contains(own) || reportedRecords.contains(write(record, "", stamp))
    }
  }

  /// Whether somebody who had seen the write, or had made it, made the record one with another, or one that it had become
  /// one with: he chose the values.
  private func wasUnited(_ id: RecordID, with write: WireLedger.Accepted) -> Bool {
    var names = [id]
    while let next = names.last.flatMap({ ledger.survivors[$0] }), !names.contains(next) { names.append(next) }
    return names.flatMap { uniting[$0, default: []] }.contains { unite in
      !ledger.knowsPositions || unite.changeSet.base.rawValue > UInt64(write.order)
        || unite.order >= write.order && machines[unite.replica] == machines[write.replica]
    }
  }

  /// Whether the write lost to another one, or to a rule that took its value away, at a server that is lost: its conflict
  /// log is lost with it, and a re-upload does not tell who had seen what.
  private func wasOfLostServer(_ record: RecordID, _ field: String, _ stamp: Stamp, isTakenAway: Bool) -> Bool {
    guard ledger.hasLostServer else { return false }
    func isLost(_ accepted: WireLedger.Accepted) -> Bool { accepted.life < ledger.lostServers }
    return ledger.accepted.values.contains { $0.changeSet.stamp == stamp && isLost($0) }
      && (isTakenAway
        || equals.contains { content, writes in
          content.record == record && content.field == field
            && writes.contains { $0.stamp > stamp && isLost($0.accepted) }
        })
  }

  /// Every accepted write of a field, in the order of acceptance: who, which save, the value, its stamp and its base.
  private func history(of record: RecordID, _ field: String) -> String {
    var lines: [String] = []
    for accepted in ledger.order.compactMap({ ledger.accepted[$0] }) {
      let set = accepted.changeSet
      let name = "\(accepted.replica) save \(set.number.rawValue) at \(set.stamp.traceText)"
      for change in set.changes where change.record.map(ledger.resolve) == record {
        switch change {
        case .create(let create):
          for written in create.fields where written.name == field {
            lines.append("\(name) creates \(written.value.traceText)\(written.isAssigned ? "" : " unassigned")")
          }
        case .update(let update):
          for written in update.writes where written.name == field {
            lines.append("\(name) writes \(written.value.traceText) over \(written.base.traceText)")
          }
        case .delete: lines.append("\(name) deletes it")
        case .link: break
        }
      }
    }
    for entry in entries where ledger.resolve(entry.record) == record {
      lines.append("entry \(entry.rule.rawValue) \(entry.field ?? "-") lost \(entry.lost.stamp.traceText)")
    }
    return lines.joined(separator: "; ")
  }
}

extension Stamp {
  var traceText: String {
    isZero
      ? "zero"
      : "\(clock.milliseconds % 10_000_000).\(clock.counter)/\(replica.rawValue >> 48)"
        + (derived > 0 ? "+\(derived)" : "")
  }
}
