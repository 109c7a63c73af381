import TomboloProtocol

/// The sentence for one conflict entry: what somebody did, what became of it, and by what.
struct ConflictSentence {
  let entry: ConflictEntry
  let property: ConflictProperty
  /// What the record is called.
  let record: String
  let lost: String
  let standing: String
  /// `elsewhere`, or who and when.
  let by: String

  var text: String { "\(act) \(fate)" }

  /// What its author did.
  private var act: String {
    let name = property.name ?? ""
    switch entry.rule {
    case .deny, .editWins, .mergeUnseen: return "Your deletion of \(record)"
    case .repaired where property.place != nil: return "The place of \(record) in \(property.place ?? "")"
    case .repaired: return "The \(property.name ?? "value") \(lost) of \(record)"
    default: break
    }
    if let place = property.place { return "Your place of \(record) in \(place)" }
    if property.isPair {
      return entry.lost.value.isNull
        ? "Your removal of \(standing) from \(name) of \(record)" : "Your addition of \(lost) to \(name) of \(record)"
    }
    if property.isCounter, case .integer(let delta) = entry.lost.value {
      return "Your change of \(name) of \(record) by \(delta < 0 ? "" : "+")\(delta)"
    }
    if property.destination != nil { return "Your \(name) of \(record), \(lost)," }
    return property.name == nil ? "Your change of \(record)" : "Your \(name) \(lost) of \(record)"
  }

  /// What became of it.
  private var fate: String {
    switch entry.rule {
    case .laterEdit: return overwritten
    case .extremum: return "gave way to \(standing): the attribute is declared to keep the extreme value."
    case .firstWriter: return "gave way to \(standing): the attribute is declared to keep the first value."
    case .recordDeleted: return "was lost: the record had been deleted \(by) without knowledge of it."
    case .recordGone: return "was lost: the server no longer knows this record, or knows a later one with its identity."
    case .overwrittenIncarnation: return "was lost: the record was deleted and created again \(by)."
    case .parentDeleted: return "was lost: the record that it belongs to was deleted \(by), and this one went with it."
    case .targetDeleted: return targetDeleted
    case .deny: return "was undone: a record refers to it, by a change made \(by), and the rule is to deny that."
    case .editWins:
      return "was undone: it, or what it took along, had been edited \(by), and edits win there."
    case .mergeUnseen:
      return "was undone: it had been merged with another record \(by), which you had not seen."
    case .uniqueMerge: return united
    case .oneToOne: return "is empty: another record, \(winner), claimed the same partner later."
    case .cycle: return "was undone: together with a move made elsewhere it closed a cycle."
    case .reupload: return "gave way to \(standing), which was written after the server had been restored."
    case .repaired:
      return entry.standing == nil
        ? "was taken out in a repair: the server did not have it."
        : "gave way to \(standing) in a repair: this replica differed from the server."
    default: return "does not stand (\(entry.rule.rawValue)); what stands is \(standing)."
    }
  }

  private var overwritten: String {
    if !property.isPair { return "gave way to \(standing), which was written later \(by)." }
    return entry.lost.value.isNull
      ? "does not stand: it was added again \(by)." : "does not stand: it was removed later \(by)."
  }

  private var targetDeleted: String {
    if property.isPair { return "was lost: that \(property.destination ?? "record") was deleted \(by)." }
    return "is empty: that record was deleted \(by). It shows again if that record comes back."
  }

  private var united: String {
    if property.isPair {
      return "does not stand: two records with the same unique value became one, and the other has it."
    }
    if entry.standing == nil { return "is empty: the two records had the same unique value and became one." }
    return "gave way to \(standing): two records had the same unique value and became one."
  }

  private var winner: String {
    entry.standing?.value.reference.map { String($0.description.prefix(13)) } ?? "elsewhere"
  }
}
