package import TomboloProtocol

/// A record of which the replica's rows and the server's differ although everything is exchanged.
package struct RecordDifference: Hashable, Sendable {
  package enum Kind: String, Hashable, Sendable {
    /// Both have it, with other values, stamps or pairs.
    case changed
    /// The server has it.
    case missing
    /// Only the replica has it.
    case extra
  }
  package var id: RecordID
  package var kind: Kind
  package init(id: RecordID, kind: Kind) {
    self.id = id
    self.kind = kind
  }
}

/// What a repair did.
package struct RepairOutcome: Hashable, Sendable {
  /// Records that are now as the server has them.
  package var records: Int
  /// Values of this replica that were later than the server's: they were saved again, and are unsent.
  package var rewritten: Int
  /// Values of this replica that gave way; each has an entry among the conflicts.
  package var replaced: Int
  package init(records: Int = 0, rewritten: Int = 0, replaced: Int = 0) {
    self.records = records
    self.rewritten = rewritten
    self.replaced = replaced
  }
}

/// A repair in the log.
package struct RepairIncident: Hashable, Sendable {
  package enum Kind: String, Hashable, Sendable {
    /// It differed from the server's record, as ``RecordDifference/Kind`` has it.
    case changed, missing, extra
    /// Another program had written text that was not UTF-8; it was read as ISO 8859-1.
    case text

    init(_ difference: RecordDifference.Kind) {
      switch difference {
      case .changed: self = .changed
      case .missing: self = .missing
      case .extra: self = .extra
      }
    }
  }
  package struct Record: Hashable, Sendable {
    package var id: RecordID
    /// Nil where this schema does not have it.
    package var entity: String?
    package var kind: Kind
  }
  /// Milliseconds since 1970.
  package var time: UInt64
  /// Empty where so much differed that everything was fetched anew.
  package var records: [Record]
}

/// What a repair replaces, as the relaying comes upon it.
final class RepairWatch {
  struct Field {
    var entity: String
    var record: RecordID
    var name: String
    var lost: FieldMerge.Version
    /// Nil where the record is gone.
    var standing: FieldMerge.Version?
    /// Whether the record is the same life of it.
    var isSameLife: Bool
  }
  private(set) var fields: [Field] = []
  private(set) var links: [(lost: LinkState, standing: LinkState)] = []

  func note(_ id: RecordID, _ before: RecordImage?, _ after: RecordImage?) {
    guard let before else { return }
    let isSameLife = before.incarnation == after?.incarnation
    for (name, lost) in before.fields.sorted(by: { $0.key < $1.key }) {
      let standing = after?.fields[name]
      if lost == standing { continue }
      fields.append(
        Field(
          entity: before.entity, record: id, name: name, lost: lost, standing: standing, isSameLife: isSameLife))
    }
  }

  func note(_ before: LinkState, _ after: LinkState) {
    if before != after, before.isPresent || !before.stamp.isZero { links.append((before, after)) }
  }
}
