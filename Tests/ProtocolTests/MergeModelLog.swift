import Testing
import TomboloProtocol

/// The conflict entries of one merge beside the model's.
///
/// The two differ where the model is wrong: it was made to find out what converges, and tells too few (I2). Each kind of
/// difference that is let pass says why; all others are faults.
struct MergeModelLog {
  private(set) var own: [String] = []
  private(set) var model: [String] = []
  private(set) var differences: [String] = []

  private struct Entry: Hashable {
    var author: ReplicaID
    var rule: ConflictRule
    var record: RecordID
    var field: String?
    var stamp: Stamp

    var text: String { "\(author.rawValue) \(rule.rawValue) \(record) \(field ?? "-") \(stamp)" }
  }

  private static let rules: [String: String] = [
    "lww": "later_edit", "first": "first_writer", "max": "extremum", "min": "extremum",
    "record gone": "record_gone", "older incarnation": "record_gone", "record deleted": "record_deleted",
    "overwritten by new incarnation": "overwritten_incarnation", "parent deleted": "parent_deleted",
    "target gone": "target_deleted", "deny": "deny", "editWins": "edit_wins",
    "delete did not see merge": "merge_unseen", "unique merge": "unique_merge", "one2one": "one_to_one",
    "cycle": "cycle", "re-upload": "reupload",
  ]

  init(model log: [Any], own entries: [ConflictEntry], save: Stamp, reader: MemoryMergeReader) throws {
    let model = try log.map { any -> Entry in
      let parts = try #require(any as? [Any])
      let name = try #require(parts[2] as? String)
      return Entry(
        author: ReplicaID(UInt64(try ModelForm.position(parts[0]).rawValue)),
        rule: ConflictRule(rawValue: try #require(Self.rules[name])), record: try ModelForm.id(parts[3]),
        field: (parts[4] as? String).map(ModelForm.field), stamp: try ModelForm.stamp(parts[1]))
    }
    let own = entries.map {
      Entry(author: $0.replica, rule: $0.rule, record: $0.record, field: $0.field, stamp: $0.lost.stamp)
    }
    (self.model, self.own) = (model.map(\.text).sorted(), own.map(\.text).sorted())
    var missing = model
    var extra: [Entry] = []
    for entry in own {
      if let index = missing.firstIndex(of: entry) { missing.remove(at: index) } else { extra.append(entry) }
    }
    for entry in missing where !Self.isNeedless(entry, own: own, reader) { differences.append("lacks \(entry.text)") }
    for entry in extra where !Self.isOwed(entry, save: save) { differences.append("has \(entry.text)") }
  }

  /// What the model tells, and nobody needs to be told.
  private static func isNeedless(_ entry: Entry, own: [Entry], _ reader: MemoryMergeReader) -> Bool {
    switch entry.rule {
    case .deny:
      // It names whatever came back with a deletion that does not stand, once for each record, where its author deleted one
      // thing; and of a record that was dead with its parent it tells the author of the reference, who deleted nothing.
      return true
    case .recordDeleted, .parentDeleted, .targetDeleted:
      // It tells of what came to nothing within the save: a record that died and lives again in its end.
      var id = entry.record
      while let survivor = reader.records[id]?.survivor { id = survivor }
      return reader.records[id]?.isLiving ?? false || entry.field == "cnt"
    case .recordGone: return entry.field == nil && own.contains { $0.record == entry.record && $0.field == "tags" }
    default: return false
    }
  }

  /// What the model keeps to itself.
  private static func isOwed(_ entry: Entry, save: Stamp) -> Bool {
    switch (entry.rule, entry.field) {
    // A deletion that came first and does not stand: its author did something as well.
    case (.deny, nil), (.editWins, nil), (.mergeUnseen, nil): return true
    // Pairs of many-to-many relationships, of which it never tells.
    case (_, "tags"?): return true
    // The one who added to a counter hears what he added, and not the sum under whoever's stamp is the greatest.
    case (.recordDeleted, "cnt"?), (.parentDeleted, "cnt"?), (.overwrittenIncarnation, "cnt"?): return true
    // An extreme value that stood until a more extreme one came, or two records became one.
    case (.extremum, _): return entry.stamp != save
    case (.uniqueMerge, "mx"?), (.uniqueMerge, "mn"?): return true
    // One that its deleter had written over in vain: it stands under his stamp, and the model takes it for his.
    case (.recordDeleted, "mx"?), (.recordDeleted, "mn"?): return entry.stamp != save
    // A tree's reference that names its own record through an alias.
    case (.uniqueMerge, "par"?): return entry.stamp == save
    // A reference that stood until its target was deleted by somebody who had not seen it.
    case (.targetDeleted, _): return entry.stamp != save
    // The values of a new record whose identity somebody else has taken meanwhile.
    case (.recordGone, _?): return entry.stamp == save
    default: return false
    }
  }
}
