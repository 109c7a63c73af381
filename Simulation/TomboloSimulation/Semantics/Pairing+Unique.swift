import Tombolo
import TomboloProtocol

/// One unique value in two records.
extension Pairing {
  static func uniqueKeys(of entity: EntityPlan) -> [Pairing] {
    entity.uniqueKeys.flatMap { key -> [Pairing] in
      let columns = key.columns.map { entity.columns[$0] }
      var attributes: [SchemaAttribute] = []
      for column in columns { if case .attribute(let attribute) = column.kind { attributes.append(attribute) } }
      // A key over references has values of its own; nobody meets another's by chance.
      guard attributes.count == columns.count else { return [] }
      return UniquePair(entity: entity, attributes: attributes, onConflict: key.onConflict).pairings
    }
  }
}

private struct UniquePair {
  let entity: EntityPlan
  let attributes: [SchemaAttribute]
  let onConflict: UniqueConflict

  private final class Key { var values: [String: Value] = [:] }

  private var name: String { entity.name }

  private func fresh(_ stage: SemanticsStage) -> [String: Value] {
    let number = stage.world.nextNumber()
    return Dictionary(
      attributes.map { ($0.name, SemanticsValues.value(of: $0, .first, number: number)) },
      uniquingKeysWith: { first, _ in first })
  }

  private func fate(_ stage: SemanticsStage, _ key: Key) throws -> String {
    let isThere = (try stage.has("one", name), try stage.has("other", name))
    func holds(_ record: String) throws -> Bool {
      try key.values.allSatisfy { try stage.value(record, name, $0.key) == $0.value }
    }
    switch isThere {
    case (true, true):
      let held = (try holds("one"), try holds("other"))
      return held == (true, true)
        ? "Both have the value."
        : held == (true, false)
          ? "The first one's record has the value; the other's save is refused."
          : held == (false, true)
            ? "The second one's record has the value; the other's save is refused." : "Neither has the value."
    case (true, false): return survived("first")
    case (false, true): return survived("second")
    case (false, false): return "Both are gone."
    }
  }

  private func survived(_ whose: String) -> String {
    onConflict == .merge
      ? "They become one record, under the \(whose) one's identity."
      : "Only the \(whose) one's record is there; the other's save is refused."
  }

  var pairings: [Pairing] {
    let (name, property) = (name, attributes.map(\.name).joined(separator: ","))
    let plain = Pairing.plainAttribute(of: entity)
    func with(_ whose: SemanticsValues.Whose, _ values: [String: Value]) -> [String: Value] {
      guard let plain else { return values }
      return values.merging([plain.name: SemanticsValues.value(of: plain, whose)]) { first, _ in first }
    }
    let (created, edited, united) = (Key(), Key(), Key())
    var pairings = [
      Pairing(
        code: "same_value_create", entity: name, property: property, firstDid: "makes a record with a value",
        secondDid: "makes one with the same value, later", prepare: { created.values = fresh($0) },
        first: { try $0.make("one", name, with(.first, created.values)) },
        second: { try $0.make("other", name, with(.second, created.values)) }, observe: { try fate($0, created) }),
      Pairing(
        code: "same_value_edit", entity: name, property: property, firstDid: "gives a record a value",
        secondDid: "gives another record the same value, later",
        prepare: { stage in
          edited.values = fresh(stage)
          try stage.make("one", name, with(.first, fresh(stage)))
          try stage.make("other", name, with(.second, fresh(stage)))
        }, first: { try $0.set("one", name, edited.values) }, second: { try $0.set("other", name, edited.values) },
        observe: { try fate($0, edited) }),
    ]
    guard onConflict == .merge else { return pairings }
    pairings.append(
      Pairing(
        code: "unite_delete", entity: name, property: property,
        firstDid: "gives a record the value of another, which makes them one", secondDid: "deletes that other, later",
        prepare: { stage in
          united.values = fresh(stage)
          try stage.make("one", name, with(.first, united.values))
          try stage.make("other", name, with(.second, fresh(stage)))
        }, first: { try $0.set("other", name, united.values) }, second: { try $0.delete("one", name) },
        observe: { stage in
          let isThere = (try stage.has("one", name), try stage.has("other", name))
          switch isThere {
          case (true, true): return "Both are there."
          case (false, false): return "Both are deleted."
          default: return "The deletion is undone: the united record stays."
          }
        }))
    return pairings
  }
}
