import Tombolo
import TomboloClient
package import TomboloProtocol

/// What becomes of two things that two people do to one schema's records without having seen each other: found out by doing
/// them, on the product's own stores and server.
///
/// All pairings are done beside each other in one world, and once more in another where the second one's writes reach the
/// server first: most rules have one result for every order of arrival, and those that do not are told with both.
package struct SchemaSemantics: Sendable {
  package let rows: [Row]

  package struct Row: Hashable, Sendable {
    package var entity: String
    /// Stable, in snake case, as `edit_delete`.
    package var pairing: String
    /// The attributes, relationships or keys that behave alike; empty for the record as a whole.
    package var properties: [String]
    /// What each did: the first one earlier.
    package var firstDid: String
    package var secondDid: String
    package var result: Outcome
    /// Where the order of arrival matters: what happens when the second one's write reaches the server first.
    package var reversed: Outcome?
  }

  package struct Outcome: Hashable, Sendable {
    /// What stands, in a sentence.
    package var sentence: String
    /// Who hears of what does not stand.
    package var told: [Told]
  }

  package struct Told: Hashable, Sendable {
    package var isFirst: Bool
    /// The rule, or the code of a refusal.
    package var rule: String
    package var sentence: String
  }

  /// - Throws: `invalid_schema`, `schema_not_syncable`; a ``SimulationFailure`` where the two do not come to the same.
  package init(of document: SchemaDocument) throws {
    var document = document
    // Only versioned stores sync; which version it is makes no difference to the merge.
    if document.version == nil { document.version = SchemaVersion(1, 0, 0) }
    try SchemaLint.requireSyncable(document)
    let straight = try Run(document, arrivingFirst: .first)
    let reversed = try Run(document, arrivingFirst: .second)
    var rows: [Row] = []
    for (pairing, outcomes) in zip(straight.pairings, zip(straight.outcomes, reversed.outcomes)) {
      let row = Row(
        entity: pairing.entity, pairing: pairing.code, properties: pairing.property.map { [$0] } ?? [],
        firstDid: pairing.firstDid, secondDid: pairing.secondDid, result: outcomes.0,
        reversed: outcomes.0.isLike(outcomes.1) ? nil : outcomes.1)
      if let same = rows.firstIndex(where: { $0.isLike(row) }) {
        rows[same].properties += row.properties
      } else {
        rows.append(row)
      }
    }
    self.rows = rows
  }
}

extension SchemaSemantics.Outcome {
  /// Whether both say the same, apart from the values and names in the sentences of the log.
  fileprivate func isLike(_ other: Self) -> Bool {
    sentence == other.sentence && told.map(\.isFirst) == other.told.map(\.isFirst)
      && told.map(\.rule) == other.told.map(\.rule)
  }
}

extension SchemaSemantics.Row {
  fileprivate func isLike(_ other: Self) -> Bool {
    guard entity == other.entity, pairing == other.pairing, firstDid == other.firstDid, result.isLike(other.result)
    else { return false }
    switch (reversed, other.reversed) {
    case (nil, nil): return true
    case (let mine?, let theirs?): return mine.isLike(theirs)
    default: return false
    }
  }
}

/// All pairings in one world.
private struct Run {
  let pairings: [Pairing]
  private(set) var outcomes: [SchemaSemantics.Outcome] = []
  private let world: SemanticsWorld
  private var stages: [SemanticsStage] = []
  /// Why a pairing cannot be done in this schema.
  private var failures: [Int: String] = [:]

  init(_ document: SchemaDocument, arrivingFirst side: SemanticsWorld.Side) throws {
    world = try SemanticsWorld(document: document)
    pairings = Pairing.all(in: world.schema)
    stages = pairings.map { _ in SemanticsStage(world) }
    try act(.first) { $0.prepare }
    try world.settle(beginningWith: .first)
    try act(.first) { $0.first }
    try act(.second) { $0.second }
    try world.settle(beginningWith: side)
    outcomes = try pairings.indices.map(outcome)
  }

  private mutating func act(
    _ side: SemanticsWorld.Side, _ deed: (Pairing) -> (SemanticsStage) throws -> Void
  ) throws {
    for (index, pairing) in pairings.enumerated() where failures[index] == nil {
      stages[index].side = side
      do {
        try deed(pairing)(stages[index])
      } catch let error as TomboloError {
        failures[index] = error.message
      }
    }
  }

  private func outcome(_ index: Int) throws -> SchemaSemantics.Outcome {
    if let failure = failures[index] { return .init(sentence: "This cannot be done: \(failure)", told: []) }
    let stage = stages[index]
    stage.side = .first
    let sentence = try pairings[index].observe(stage)
    stage.side = .second
    let other = try pairings[index].observe(stage)
    guard sentence == other else {
      throw SimulationFailure(
        .convergence,
        "\(pairings[index].entity) \(pairings[index].code): one replica says “\(sentence)”, the other “\(other)”")
    }
    return SchemaSemantics.Outcome(sentence: sentence, told: try told(stage))
  }

  private func told(_ stage: SemanticsStage) throws -> [SchemaSemantics.Told] {
    try SemanticsWorld.Side.allCases.flatMap { side in
      let store = try world.store(side)
      let entries = try store.conflicts().filter { stage.records.contains($0.record) }.map { entry in
        SchemaSemantics.Told(
          isFirst: side == .first, rule: entry.rule.rawValue,
          sentence: ConflictWording(
            entry, schema: store.schema.resolved, record: "this \(entry.entity)", isDated: false
          ).sentence)
      }
      let refused = try store.parkedSaves().filter { save in
        save.changeSet.changes.contains { $0.names(anyOf: stage.records) }
      }.map { save in
        SchemaSemantics.Told(
          isFirst: side == .first, rule: save.code.rawValue, sentence: "Your save was refused: \(save.message)")
      }
      return (entries + refused).sorted { ($0.rule, $0.sentence) < ($1.rule, $1.sentence) }
    }
  }
}
