import Tombolo
import TomboloClient
import TomboloProtocol

/// The facts about a record, in sentences that a person understands and in JSON for scripts.
struct RecordExplanation {
  /// What became of the identity, in one word.
  enum Fate: String { case here, merged, deleted, hidden, parked, aside, unknown }

  let facts: RecordFacts
  let schema: StoreSchema
  /// What was asked for, and what the record is called.
  let entity: EntityPlan
  let name: String?
  let path: String
  let server: ServerAnswer?
  let stamps: StampWording

  init(
    _ facts: RecordFacts, asked entity: EntityPlan, name: String?, schema: StoreSchema, path: String,
    server: ServerAnswer?
  ) {
    self.facts = facts
    self.entity = entity
    self.name = name
    self.schema = schema
    self.path = path
    self.server = server
    stamps = StampWording(origins: facts.origins, replicas: server?.replicas ?? [:])
  }

  var fate: Fate {
    if facts.isShown { return facts.mergedInto.isEmpty ? .here : .merged }
    if facts.isWhollyAside { return .aside }
    if pendingDelete != nil { return .deleted }
    if facts.pending.contains(where: { $0.kind == .create && $0.isHidden }) { return .hidden }
    if let tombstone = facts.tombstone { return tombstone.survivor == nil ? .deleted : .merged }
    if facts.parked.contains(where: creates) { return .parked }
    if facts.conflicts.contains(where: { $0.rule == .recordDeleted || $0.rule == .parentDeleted }) { return .deleted }
    return .unknown
  }

  private var pendingDelete: RecordFacts.PendingPart? {
    facts.pending.last { $0.kind == .delete && !$0.isHidden && !$0.fellWhole }
  }

  private func creates(_ save: ParkedSave) -> Bool { save.changeSet.changes.contains { $0.created == facts.id } }

  private var plan: EntityPlan { facts.entity.flatMap(schema.entity) ?? entity }

  // MARK: Sentences

  /// What became of the record, most important first.
  var sentences: [String] {
    var sentences: [String] = []
    if let found = facts.entity, !entity.concreteNames.contains(found) {
      sentences.append("It is \(found.withArticle), not \(entity.name.withArticle).")
    }
    switch fate {
    case .here:
      let created = facts.incarnation.flatMap(stamps.text).map { ", created \($0)" } ?? ""
      sentences.append("It is here\(created).")
    case .merged:
      sentences.append(
        "It was merged into \(facts.standing): the two had one unique value."
          + (facts.isShown ? " What follows is about that record." : " That record is not here."))
    case .deleted: sentences += deletions
    case .hidden:
      sentences.append("It is not shown: the save that created it hangs on one that the server refused.")
    case .parked: sentences.append("It is not shown: the server refused the save that created it.")
    case .aside:
      sentences.append(
        "It is set aside: \(schema.document.title) does not have its entity \(facts.entity ?? ""). It shows once the "
          + "program is upgraded to a schema that has it.")
    case .unknown: sentences.append(ignorance)
    }
    if fate != .merged, !facts.aliases.isEmpty {
      sentences.append(
        "\(facts.aliases.map(\.description).joined(separator: ", ")) "
          + "\(facts.aliases.count == 1 ? "was" : "were") merged into it, and edits of "
          + "\(facts.aliases.count == 1 ? "it" : "them") count for it.")
    }
    return sentences + pendingSentences + parkedSentences + conflictSentences + asideSentences + serverSentences
  }

  private var ignorance: String {
    if !facts.hasRemote { return "This store has never heard of it, and has no server to hear of it from." }
    if !facts.hasPulled { return "This replica has never heard of it, and has not received anything yet." }
    let hint = server == nil ? " 'tombolo explain … --server' asks the server." : ""
    return "This replica has never heard of it.\(hint)"
  }

  private var deletions: [String] {
    if let delete = pendingDelete {
      let cause = delete.root.flatMap { $0 == facts.standing ? nil : ", with \($0), by a delete rule" } ?? ""
      return ["It was deleted \(stamps.text(delete.stamp) ?? "here")\(cause); \(Self.state(delete.state))."]
    }
    guard let tombstone = facts.tombstone else { return ["It is not here: it was deleted elsewhere."] }
    return Self.deletions(tombstone, stamps)
  }

  static func deletions(_ tombstone: Tombstone, _ stamps: StampWording) -> [String] {
    if tombstone.causes.isEmpty {
      return ["It is dead because the record that it belongs to is; it lives again once it is given to a living one."]
    }
    return tombstone.causes.map { cause in
      let when = stamps.text(cause.stamp) ?? "at an unknown time"
      return cause.root == tombstone.id
        ? "It was deleted \(when)." : "It went, by a delete rule, with \(cause.root), which was deleted \(when)."
    }
  }

  static func state(_ state: SaveSummary.State) -> String {
    switch state {
    case .unsent: "the save is not sent so far"
    case .sent: "the server took the save, and no complete pull has passed it so far"
    case .confirmed: "the save is confirmed"
    case .parked: "the server refused the save"
    case .discarded: "the save was given up"
    case .local: "the save was made before there was a server"
    }
  }

  private var pendingSentences: [String] {
    facts.pending.map { part in
      let verb =
        switch part.kind {
        case .create: "creates it"
        case .update: "writes \(part.properties.joined(separator: ", "))"
        case .delete: "deletes it"
        case .link: "changes its links"
        }
      var text = "Pending: save \(part.save.rawValue) \(verb); \(Self.state(part.state))"
      if part.isHidden { text += "; it is not shown, since it hangs on a refused save" }
      if part.fellWhole { text += "; it did not stand" }
      if !part.fallen.isEmpty { text += "; \(part.fallen.joined(separator: ", ")) did not stand" }
      return text + "."
    }
  }

  private var parkedSentences: [String] {
    facts.parked.map {
      "Parked: \(ParkedCommand.sentence($0)) 'tombolo parked \(path)' retries, mends or discards it."
    }
  }

  private var conflictSentences: [String] {
    facts.conflicts.map {
      "Overridden: \(ConflictWording($0, schema: schema.resolved, name: name).sentence) [\($0.rule.rawValue)]"
    }
  }

  private var asideSentences: [String] {
    if facts.isWhollyAside { return [] }
    return facts.aside.map {
      "Set aside: \($0.name), written \(stamps.text($0.stamp) ?? "by nobody"), which this schema does not have."
    }
  }

  private var serverSentences: [String] {
    switch server?.record {
    case nil: return []
    case .failure(let error): return ["The server could not be asked: \(error.message) [\(error.code.rawValue)]"]
    case .success(.unknown):
      return ["The server does not know it" + (facts.pending.isEmpty ? "." : ": it is not sent so far.")]
    case .success(.tombstone(let tombstone)):
      if let survivor = tombstone.survivor { return ["On the server it was merged into \(survivor.id)."] }
      return Self.deletions(tombstone, stamps).map { "On the server: \($0)" }
    case .success(.record(let state)):
      let different = differences(from: state)
      let isHere = facts.isShown || pendingDelete != nil
      if !isHere { return ["The server has it, and this replica has not received it: sync, then look again."] }
      if different.isEmpty { return ["The server has it with the same values."] }
      return ["The server has other values of \(different.joined(separator: ", ")) than this replica has confirmed."]
    }
  }

  /// Fields of which the server has another write than the replica has confirmed.
  private func differences(from state: RecordState) -> [String] {
    let confirmed = Dictionary(
      facts.fields.map { ($0.name, $0.confirmed?.stamp ?? $0.kept?.stamp ?? $0.stamp) },
      uniquingKeysWith: { first, _ in first })
    return state.fields.filter { field in confirmed[field.name].map { $0 != field.stamp } ?? false }.map(\.name)
  }

  // MARK: Fields

  func text(_ value: Value, of name: String) -> String? {
    ValueText.text(value, type: plan.column(name)?.attributeType)
  }

  /// Why a field shows what it shows.
  func reason(_ field: RecordFacts.Field) -> String {
    if let kept = field.kept, let target = kept.value.reference {
      return field.value.isNull
        ? "names \(target), which is not here; it shows again when that record does"
        : "names \(target), which was merged into another"
    }
    guard let written = stamps.text(field.stamp.written) else {
      return facts.hasRemote ? "nobody assigned it" : "recorded before there was a server"
    }
    if field.isPending {
      guard let beneath = field.confirmed else { return "pending, written \(written)" }
      let old = text(beneath.value, of: field.name).map { "“\(TextTable.shown($0))”" } ?? "no value"
      return
        "pending, written \(written); confirmed is \(old), \(stamps.text(beneath.stamp) ?? "which nobody assigned")"
    }
    return field.stamp.isDerived ? "a consequence of what was written \(written)" : "written \(written)"
  }

  /// Why a record stands where it does in an ordered list.
  func reason(_ place: RecordFacts.Place) -> String {
    if !place.isGiven { return "nobody gave it a place: it comes before those that have one" }
    guard let written = stamps.text(place.stamp.written) else {
      return facts.hasRemote ? "nobody assigned it" : "recorded before there was a server"
    }
    return place.isPending ? "pending, given \(written)" : "given \(written)"
  }

  static func state(_ field: RecordFacts.Field, hasRemote: Bool) -> String {
    if field.kept != nil { return "hidden" }
    if field.isPending { return "pending" }
    if field.stamp.isZero { return hasRemote ? "unassigned" : "local" }
    return field.stamp.isDerived ? "derived" : "confirmed"
  }
}
