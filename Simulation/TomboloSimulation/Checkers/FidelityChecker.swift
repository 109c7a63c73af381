import TomboloProtocol

/// I2, I3: what travels under a save's identity is what the person saved: nothing added, nothing left out but what two
/// saves cancelled out, no value changed, and no base that names another's write which the person had not seen.
struct FidelityChecker {
  /// Each save as its replica had it right after it was made.
  private(set) var originals: [SaveID: ChangeSet] = [:]
  /// The saves that touched a record, before they were sent.
  private var touching: [RecordID: Set<SaveID>] = [:]

  /// Records that a command edited while a sync ran beside it: the two may have cancelled out before anybody looked.
  private var editedUnseen: Set<RecordID> = []

  /// The save that created a record, as long as it was not sent.
  private var unsentCreators: [RecordID: SaveID] = [:]
  private var creators: [RecordID: SaveID] = [:]
  /// Whether some machine goes on from an older state: what was sent since may be unsent there.
  private var hasOlderStates = false

  private struct Part: Hashable {
    var record: RecordID
    var kind: Kind
    var field: String
    var other: RecordID?
    enum Kind: Hashable { case create, write, addition, delete, link }
  }

  private struct Content: Hashable {
    var value: Value
    var base: Stamp
  }

  mutating func remember(_ set: ChangeSet) {
    guard originals[set.id] == nil else { return }
    originals[set.id] = set
    for case .create(let create) in set.changes {
      unsentCreators[create.id] = set.id
      creators[create.id] = set.id
    }
    for part in Self.parts(of: set).keys {
      touching[part.record, default: []].insert(set.id)
      if let other = part.other { touching[other, default: []].insert(set.id) }
    }
  }

  /// A command is about to edit the record, while a sync runs beside it.
  mutating func noteUnseenEdit(of record: RecordID) { editedUnseen.insert(record) }

  /// A machine goes on from an older state.
  mutating func forgetSent() { hasOlderStates = true }

  mutating func check(_ push: PushRequest, replica: String, ledger: WireLedger) throws {
    defer {
      for set in push.changeSets {
        for case .create(let create) in set.changes { unsentCreators[create.id] = nil }
      }
    }
    for set in push.changeSets {
      guard let original = originals[set.id] else { continue }
      let before = Self.parts(of: original)
      let now = Self.parts(of: set)
      for (part, content) in now.sorted(by: Self.isBefore) {
        // A record that hangs on a refused one is hidden, and then nothing tells any more what of it was assigned: its
        // defaults travel as assigned.
        if part.kind == .create, before[part] == nil, Self.isDefault(content.value, part, original) { continue }
        guard let own = before[part] else {
          throw SimulationFailure(
            .atomicity,
            "\(replica) sends \(Self.told(part)) in save \(set.number.rawValue), which its person did not make")
        }
        try check(own, content, part, replica, ledger)
      }
      for (part, _) in before.sorted(by: Self.isBefore) where now[part] == nil {
        guard mayCancel(part, original) else {
          throw SimulationFailure(
            .atomicity, "\(replica) leaves \(Self.told(part)) out of save \(set.number.rawValue)")
        }
      }
    }
  }

  private func check(_ own: Content, _ sent: Content, _ part: Part, _ replica: String, _ ledger: WireLedger) throws {
    guard own.value == sent.value || Self.isOneRecord(own.value, sent.value, ledger) else {
      throw SimulationFailure(
        .noLostWrite,
        "\(replica) sends \(Self.told(part)) as \(sent.value.traceText); its person wrote \(own.value.traceText)")
    }
    // Its own earlier writes are renamed with their saves; a base that names another's write never moves.
    guard
      own.base.isSameWrite(as: sent.base) || own.base.replica == sent.base.replica || sent.base.isZero
        || isOwn(own.base, sent.base)
    else {
      throw SimulationFailure(
        .noLostWrite,
        "\(replica) sends \(Self.told(part)) as if it had seen \(sent.base.traceText); its person had seen \(own.base.traceText)"
      )
    }
  }

  /// A reference to a record that became one with another may travel under either name.
  private static func isOneRecord(_ own: Value, _ sent: Value, _ ledger: WireLedger) -> Bool {
    guard let own = own.reference, let sent = sent.reference else { return false }
    return ledger.resolve(own) == ledger.resolve(sent)
  }

  /// Whether the base named a write of a save that is remembered here: those may be renamed.
  private func isOwn(_ before: Stamp, _ now: Stamp) -> Bool {
    originals.values.contains { $0.stamp.isSameWrite(as: before) }
  }

  /// Only edits of one record in more than one save cancel out, and a delete only with a create that nobody saw.
  private func mayCancel(_ part: Part, _ set: ChangeSet) -> Bool {
    if part.kind == .delete { return (hasOlderStates ? creators : unsentCreators)[part.record] != nil }
    return touching[part.record, default: []].count > 1 || editedUnseen.contains(part.record)
  }

  private static func parts(of set: ChangeSet) -> [Part: Content] {
    var parts: [Part: Content] = [:]
    for change in set.changes {
      switch change {
      case .create(let create):
        parts[Part(record: create.id, kind: .create, field: create.entity)] = Content(value: .null, base: .zero)
        for field in create.fields where field.isAssigned {
          parts[Part(record: create.id, kind: .create, field: field.name)] = Content(value: field.value, base: .zero)
        }
      case .update(let update):
        for write in update.writes {
          parts[Part(record: update.id, kind: .write, field: write.name)] = Content(
            value: write.value, base: write.base)
        }
        for addition in update.additions {
          parts[Part(record: update.id, kind: .addition, field: addition.name)] =
            Content(value: .integer(addition.delta), base: .zero)
        }
      case .delete(let delete):
        parts[Part(record: delete.id, kind: .delete, field: delete.entity)] = Content(value: .null, base: .zero)
      case .link(let link):
        let part = Part(
          record: link.link.source, kind: .link, field: link.link.relationship, other: link.link.target)
        parts[part] = Content(value: .integer(link.isPresent ? 1 : 0), base: link.base)
      }
    }
    return parts
  }

  /// Whether the save created the record, and its field with this value or without being known then.
  private static func isDefault(_ value: Value, _ part: Part, _ original: ChangeSet) -> Bool {
    for case .create(let create) in original.changes where create.id == part.record {
      return create.fields.first { $0.name == part.field }.map { $0.value == value } ?? true
    }
    return false
  }

  private static func isBefore(_ a: (key: Part, value: Content), _ b: (key: Part, value: Content)) -> Bool {
    (a.key.record, a.key.field) < (b.key.record, b.key.field)
  }

  private static func told(_ part: Part) -> String {
    switch part.kind {
    case .create: "the creation of \(part.record.short) (\(part.field))"
    case .write: "\(part.record.short).\(part.field)"
    case .addition: "an addition to \(part.record.short).\(part.field)"
    case .delete: "the deletion of \(part.field) \(part.record.short)"
    case .link: "the link \(part.field) \(part.record.short)–\(part.other?.short ?? "")"
    }
  }
}
