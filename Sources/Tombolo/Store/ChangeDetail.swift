package import TomboloProtocol

/// `_tombolo_change.kind`.
package enum ChangeKind: Int, Sendable {
  case create = 0
  case update = 1
  case delete = 2
  case link = 3
}

/// `_tombolo_change.detail`: what a save did to a record or a pair, beyond what the row itself shows.
///
/// Values live in the row. The value that save N wrote to a field is, in this order: the explicit `own` in N's detail;
/// the `under` of the next save after N that wrote the field, or the image of the next one that deleted the record; the
/// row's. So nothing is copied when a later save writes over an earlier one, and whoever changes what a row shows without a
/// save (an applied pull) first puts the values that are about to go into the `own` of the pending saves that wrote them.
///
/// Columns are named by ``ColumnPlan/number``. Stamps are absent while the store has no remote.
package enum ChangeDetail: Hashable, Sendable {
  case create(CreateDetail)
  case update(UpdateDetail)
  case delete(DeleteDetail)
  case link(LinkDetail)

  /// Empty (NULL in the table) while the row shows everything.
  package struct CreateDetail: Hashable, Sendable {
    /// Explicit values by column number.
    package var own: [Int: Value] = [:]
    package init(own: [Int: Value] = [:]) { self.own = own }
  }

  package struct UpdateDetail: Hashable, Sendable {
    /// The life of the record that the save saw.
    package var incarnation: Stamp?
    package var fields: [FieldDetail]
    package init(incarnation: Stamp?, fields: [FieldDetail]) {
      self.incarnation = incarnation
      self.fields = fields
    }
  }

  package struct FieldDetail: Hashable, Sendable {
    package var column: Int
    /// The stamp of the value that the save replaced; it never changes.
    package var base: Stamp?
    /// What the row showed before: at first the replaced value; a pull puts the newer confirmed one there.
    package var under: Value
    package var underStamp: Stamp?
    /// The written value, where neither a later change nor the row has it any more.
    package var own: Value?
    /// How much was added, for a counter.
    package var delta: Int64?
    /// A reference that became nil because its target was deleted: every side derives it, nobody sends it.
    package var isConsequence: Bool
    package init(
      column: Int, base: Stamp?, under: Value, underStamp: Stamp?, own: Value? = nil, delta: Int64? = nil,
      isConsequence: Bool = false
    ) {
      self.column = column
      self.base = base
      self.under = under
      self.underStamp = underStamp
      self.own = own
      self.delta = delta
      self.isConsequence = isConsequence
    }
  }

  package struct DeleteDetail: Hashable, Sendable {
    /// The record that somebody deleted, of which this delete is a consequence; itself in the first place.
    package var root: RecordID
    package var incarnation: Stamp?
    /// The row as it was before the save: every column of its entity, by number.
    package var values: [Int: Value]
    /// `_tombolo_stamps` of the row as it was before the save.
    package var stamps: [UInt8]?
    package var links: [Pair]
    /// References of the record that were hidden because their targets are deleted: rows of `_tombolo_hidden`.
    package var hidden: [HiddenReference]
    /// The record that it became one with, where the save united the two by a unique value.
    package var survivor: Tombstone.Survivor?
    package init(
      root: RecordID, incarnation: Stamp?, values: [Int: Value], stamps: [UInt8]?, links: [Pair],
      hidden: [HiddenReference] = []
    ) {
      self.root = root
      self.incarnation = incarnation
      self.values = values
      self.stamps = stamps
      self.links = links
      self.hidden = hidden
    }
  }

  /// A row of a table of pairs, gone with the record.
  package struct Pair: Hashable, Sendable {
    package var link: LinkKey
    /// `_tombolo_stamps` of the row.
    package var stamp: [UInt8]?
    package init(link: LinkKey, stamp: [UInt8]?) {
      self.link = link
      self.stamp = stamp
    }
  }

  package struct HiddenReference: Hashable, Sendable {
    package var attribute: String
    package var target: RecordID
    package var stamp: [UInt8]?
    package init(attribute: String, target: RecordID, stamp: [UInt8]?) {
      self.attribute = attribute
      self.target = target
      self.stamp = stamp
    }
  }

  package struct LinkDetail: Hashable, Sendable {
    package var link: LinkKey
    package var isPresent: Bool
    /// The pair's stamp that the save replaced; it never changes. Zero for a pair that never was.
    package var base: Stamp?
    /// What held before, as ``FieldDetail/under``.
    package var underIsPresent: Bool
    package var underStamp: Stamp?
    package init(link: LinkKey, isPresent: Bool, base: Stamp?, underIsPresent: Bool, underStamp: Stamp?) {
      self.link = link
      self.isPresent = isPresent
      self.base = base
      self.underIsPresent = underIsPresent
      self.underStamp = underStamp
    }
  }

  package var kind: ChangeKind {
    switch self {
    case .create: .create
    case .update: .update
    case .delete: .delete
    case .link: .link
    }
  }
}
