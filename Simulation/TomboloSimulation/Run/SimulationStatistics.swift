import TomboloProtocol

/// What happened in a run, or in many, in numbers.
public struct SimulationStatistics: Sendable {
  /// Saves, exchanges, syncs.
  public internal(set) var events: [String: Int] = [:]
  /// How often each fault was injected.
  public internal(set) var faults: [InjectedFault: Int] = [:]
  /// How often each situation of the merge came up.
  public internal(set) var situations: [MergeSituation: Int] = [:]
  /// How often each thing that goes wrong in the table of the merge came up.
  public internal(set) var faultSituations: [FaultSituation: Int] = [:]
  /// A number for each distinct content that some replica showed at some moment.
  public internal(set) var states: Set<UInt64> = []

  init() {}

  mutating func count(_ kind: String) { events[kind, default: 0] += 1 }
  mutating func count(_ fault: InjectedFault) { faults[fault, default: 0] += 1 }
  mutating func count(_ situation: FaultSituation) { faultSituations[situation, default: 0] += 1 }

  /// What came up less often than so many times: of the rules of the merge, of what goes wrong around it, and of the injected
  /// faults.
  public func situations(below minimum: Int) -> [String] {
    MergeSituation.allCases.filter { situations[$0, default: 0] < minimum }.map(\.rawValue)
      + FaultSituation.allCases.filter { faultSituations[$0, default: 0] < minimum }.map(\.rawValue)
      + InjectedFault.allCases.filter { faults[$0, default: 0] < minimum }.map(\.rawValue)
  }

  /// Adds those of another run.
  public mutating func add(_ other: SimulationStatistics) {
    events.merge(other.events) { $0 + $1 }
    faults.merge(other.faults) { $0 + $1 }
    situations.merge(other.situations) { $0 + $1 }
    faultSituations.merge(other.faultSituations) { $0 + $1 }
    states.formUnion(other.states)
  }
}

/// The rows of the merge's table of consequences: what a run may lead the rules into.
public enum MergeSituation: String, Sendable, Hashable, CaseIterable {
  /// Two edits of one value, neither of which had seen the other.
  case concurrentEdits = "concurrent edits"
  /// A greatest or smallest value against another.
  case extremum
  /// A first writer against a later one.
  case firstWriter = "first writer"
  /// An edit of a record that somebody else had deleted.
  case editOfDeleted = "edit of a deleted record"
  /// A delete that does not stand, since the model is declared `editWins`.
  case editWins = "edit wins over a delete"
  /// A reference to a dead record, rule `nullify`.
  case nullify = "nullify"
  /// A child of a dead parent, rule `cascade`.
  case cascade = "cascade to a late child"
  /// A reference to a dead record, rule `noAction`.
  case noAction = "no action"
  /// A required reference to a dead record.
  case required = "required reference to a dead record"
  /// A delete that does not stand, since a living child refers to the record.
  case deny = "deny"
  /// Two records with one unique value became one.
  case uniqueMerge = "unique merge"
  /// A unique value that is taken, under `onConflict: .reject`.
  case uniqueReject = "unique reject"
  /// A delete that had not seen a unique merge of its record.
  case mergeUnseen = "delete of an unseen merge"
  /// Two claims on one partner.
  case oneToOne = "one-to-one"
  /// A move that closed a cycle.
  case cycle
  /// A save that hangs on a refused one.
  case dependent = "depends on a refused save"
}

extension SimulationStatistics {
  /// Takes the situations from what the server reported and refused.
  mutating func note(_ ledger: WireLedger, _ schema: ResolvedSchema) {
    // Most unites lose nothing that an entry would have to tell.
    let united = Set(
      ledger.accepted.values.flatMap(\.changeSet.changes).compactMap { change -> RecordID? in
        if case .delete(let delete) = change, delete.survivor != nil { delete.id } else { nil }
      })
    situations[.uniqueMerge, default: 0] += ledger.survivors.keys.filter { !united.contains($0) }.count
    for entry in ledger.delivered {
      for situation in Self.situations(of: entry, schema) { situations[situation, default: 0] += 1 }
      // Nobody's deletion stands against it: the server does not know the record that it names, or not any more.
      let isOfReference = entry.rule == .targetDeleted || entry.rule == .parentDeleted
      if isOfReference, entry.standing == nil { count("references to unknown records") }
    }
    faultSituations[.refused, default: 0] += ledger.refused.count
    for code in ledger.refused.values {
      switch code {
      case .uniqueViolation: situations[.uniqueReject, default: 0] += 1
      case .dependsOnRefused: situations[.dependent, default: 0] += 1
      default: break
      }
    }
  }

  private static func situations(of entry: ConflictEntry, _ schema: ResolvedSchema) -> [MergeSituation] {
    switch entry.rule {
    case .laterEdit: return [.concurrentEdits]
    case .extremum: return [.extremum]
    case .firstWriter: return [.firstWriter]
    case .recordDeleted, .recordGone: return [.editOfDeleted]
    case .editWins: return [.editWins]
    case .deny: return [.deny]
    case .mergeUnseen: return [.mergeUnseen]
    case .oneToOne: return [.oneToOne]
    case .cycle: return [.cycle]
    case .targetDeleted:
      let reference = schema.entity(entry.entity)?.references.first { $0.name == entry.field }
      return [reference?.rule == .noAction ? .noAction : .nullify]
    case .parentDeleted:
      let references = schema.entity(entry.entity)?.references ?? []
      return (references.contains { $0.rule == .cascade } ? [.cascade] : [])
        + (references.contains { !$0.isOptional && $0.rule != .cascade } ? [.required] : [])
    default: return []
    }
  }
}
