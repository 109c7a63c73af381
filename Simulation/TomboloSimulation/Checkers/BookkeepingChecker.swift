import Tombolo
import TomboloProtocol

/// I4: after a crash the data belong to the bookkeeping beside them.
struct BookkeepingChecker {
  /// After a restart: the content that belongs to the state of the bookkeeping, and nothing lost that must not be.
  ///
  /// - Parameter survival: whether what was not synced may be gone.
  func checkRestart(_ replica: any CheckedReplica, mayLoseUnsynced: Bool) throws {
    guard let store = replica.store, let state = try store.replicaState(), let content = try replica.content() else {
      return
    }
    let memory = replica.memory
    if memory.isSameLife(as: state) {
      if state.highestSave < memory.sentUpTo {
        throw SimulationFailure(
          .bookkeeping,
          "\(replica.name) sent save \(memory.sentUpTo.rawValue) and has only \(state.highestSave.rawValue) after the crash"
        )
      }
      if !mayLoseUnsynced, let newest = memory.confirmed.keys.max(), state.highestSave < newest {
        throw SimulationFailure(
          .bookkeeping,
          "\(replica.name) confirmed save \(newest.rawValue) and has only \(state.highestSave.rawValue) after its process died"
        )
      }
    }
    if let known = memory.replica, known != state.replica, memory.sentUpTo > .none {
      throw SimulationFailure(
        .bookkeeping, "\(replica.name) sent saves as \(known) and calls itself \(state.replica) after the crash")
    }
    let key = ReplicaMemory.StateKey(state)
    if let expected = memory.contents[key] {
      if expected != content.digest {
        throw SimulationFailure(
          .bookkeeping,
          "\(replica.name) has other data than belong to save \(state.highestSave.rawValue) and cursor "
            + "\(state.cursor?.position.rawValue ?? 0)")
      }
    } else if !memory.wasBusy {
      throw SimulationFailure(
        .bookkeeping,
        "\(replica.name) comes back with bookkeeping that it never had (save \(state.highestSave.rawValue))")
    }
    let unsent = try store.outbox(recordsMax: Int.max, bytesMax: Int.max)
    try checkNewestSave(store, state, content, unsent, replica.name)
  }

  /// A save that touches a record which a refused save created is hidden with it until the server has refused it too.
  private func hangsOnRefused(_ set: ChangeSet, in store: Store, _ unsent: [ChangeSet]) throws -> Bool {
    func created(_ set: ChangeSet) -> [RecordID] {
      set.changes.compactMap { change in
        guard case .create(let create) = change else { return nil }
        return create.id
      }
    }
    var lost = Set(try store.parkedSaves().flatMap { created($0.changeSet) })
    if lost.isEmpty { return false }
    for earlier in unsent {
      guard earlier.changes.contains(where: { $0.names(anyOf: lost) }) else { continue }
      if earlier.id == set.id { return true }
      lost.formUnion(created(earlier))
    }
    return false
  }

  /// The newest unsent save is visible in the data, and nothing in it is missing.
  ///
  /// - Parameter unsent: the store's whole outbox.
  func checkNewestSave(
    _ store: Store, _ state: ReplicaState, _ content: StoreContent, _ unsent: [ChangeSet], _ replica: String
  ) throws {
    guard let set = unsent.last, set.number == state.highestSave, set.base == state.cursor?.base ?? .start else {
      return
    }
    if try hangsOnRefused(set, in: store, unsent) { return }
    var lastChange: [RecordID: Change] = [:]
    for change in set.changes { if let id = change.record { lastChange[id] = change } }
    for (id, change) in lastChange.sorted(by: { $0.key < $1.key }) {
      guard let plan = store.schema.entity(change.entity) else { continue }
      let record = content.record(id)
      let fields: [(String, Value)]
      switch change {
      case .create(let create): fields = create.fields.map { ($0.name, $0.value) }
      case .update(let update): fields = update.writes.map { ($0.name, $0.value) }
      case .delete:
        if record != nil {
          throw SimulationFailure(.bookkeeping, "\(replica): \(id.short) is in the outbox as deleted and in its table")
        }
        continue
      case .link: continue
      }
      guard let record else {
        throw SimulationFailure(.bookkeeping, "\(replica): \(id.short) is in the outbox and not in its table")
      }
      for (name, value) in fields {
        guard let column = plan.column(name), case .attribute(let attribute) = column.kind,
          attribute.merge == .lastWriter
        else { continue }
        if record.values[column.position] != value {
          throw SimulationFailure(
            .bookkeeping,
            "\(replica): \(id.short).\(name) is \(value.traceText) in the outbox and "
              + "\(record.values[column.position].traceText) in its table")
        }
      }
    }
  }
}
