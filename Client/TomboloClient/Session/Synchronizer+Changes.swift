import Observation
import Tombolo
import TomboloProtocol

/// What does not stand, and what was refused: to be listed, made good, or given up.
extension Synchronizer {
  /// The writes made here that do not stand, newest last. Reads the store; observable.
  ///
  /// - Throws: a ``TomboloError`` when the store cannot be read.
  public var conflicts: [Conflict] {
    get throws {
      registrar.access(self, keyPath: \.revision)
      let naming = RecordNaming(store)
      return try store.conflicts().map { entry in
        Conflict(
          entry, schema: store.schema.resolved, name: try naming.name(of: entry.record, entity: entry.entity),
          base: try store.base(of: entry)?.value, standsAgain: try store.standsAgain(entry))
      }
    }
  }

  /// Writes the value that was lost again, as a save of now, and takes the conflict from ``conflicts``.
  ///
  /// A record that is gone is made anew with everything that this replica knew of it; a deletion that was undone is made
  /// again. Only conflicts whose loss is made good by that leave the list.
  ///
  /// - Returns: what is back, and what could not be brought back.
  /// - Throws: a ``TomboloError``: `unknown_record` if there is nothing to write the value into, and what a save throws.
  @discardableResult
  public func restore(_ conflict: Conflict) throws -> RestoredConflict {
    guard let id = RecordID(conflict.id) else {
      throw TomboloError(
        .unknownRecord, "There is no conflict \(conflict.id).",
        remedy: "Take one from the list of conflicts as it is now: it may have been restored.")
    }
    let restoration = try store.restoreConflict(id)
    noteChanges()
    return RestoredConflict(restoration, schema: store.schema.resolved)
  }

  /// The saves that the server refused, in the order in which they were made. Reads the store; observable.
  ///
  /// - Throws: a ``TomboloError`` when the store cannot be read.
  public var parkedChanges: [ParkedChange] {
    get throws {
      registrar.access(self, keyPath: \.revision)
      let saves = try store.parkedSaves()
      return saves.map { ParkedChange($0, among: saves, schema: store.schema.resolved) }
    }
  }

  /// Makes a refused save again, as a save of now; the next sync sends it.
  ///
  /// - Throws: a ``TomboloError``: `unknown_record` if it is not there any more, or a record that it changed is not; what a
  ///   save throws. It stays parked then.
  public func retry(_ change: ParkedChange) throws {
    try store.retryParked(SaveNumber(change.id))
    noteChanges()
  }

  /// Makes a refused save again with other values for one of the records that it made or edited.
  ///
  /// - Parameters:
  ///   - record: the record's identifier, as in ``ParkedChange/edits``.
  ///   - values: by attribute, as text in the form of ``ParkedChange/Written``; nil for no value.
  /// - Throws: a ``TomboloError``: `unknown_record`, `unknown_attribute`, `invalid_text` and its like for a value that the
  ///   attribute cannot have; what a save throws. It stays parked then.
  public func mend(_ change: ParkedChange, record: String, setting values: [String: String?]) throws {
    guard let id = RecordID(record), let edit = change.edits.first(where: { RecordID($0.record) == id }),
      let plan = store.schema.entity(edit.entity)
    else {
      throw TomboloError(
        .unknownRecord, "The save does not touch a record \(record).",
        remedy: "Name a record of the refused save; its changes list them.")
    }
    var parsed: [String: Value] = [:]
    for (name, text) in values {
      guard let column = plan.column(name) else {
        throw TomboloError(
          .unknownAttribute, "\(plan.name) has no attribute or reference \(name).",
          remedy: "Name a property as the schema spells it.")
      }
      switch (column.kind, text) {
      case (_, nil): parsed[name] = .null
      case (.attribute(let attribute), let text?):
        parsed[name] = try ValueRules.value(parsing: text, as: attribute.type, named: "\(plan.name).\(name)")
      case (.reference, let text?):
        guard let target = RecordID(text) else {
          throw TomboloError(
            .unknownRecord, "The value for \(plan.name).\(name) is no identifier.",
            remedy: "Give the identifier of a record, or nil.")
        }
        parsed[name] = Value(reference: target)
      }
    }
    try store.retryParked(SaveNumber(change.id), mends: [ParkedMend(record: id, values: parsed)])
    noteChanges()
  }

  /// Gives a refused save up. Nothing that is shown changes.
  ///
  /// - Throws: a ``TomboloError``: `unknown_record` if it is not there any more.
  public func discard(_ change: ParkedChange) throws {
    try store.discardParked(SaveNumber(change.id))
    noteChanges()
  }

  /// Counts the changes of the two lists, for whoever observes them.
  var revision: Int { shared.withLock { $0.revision } }

  func noteChanges() {
    registrar.withMutation(of: self, keyPath: \.revision) { shared.withLock { $0.revision += 1 } }
  }
}
