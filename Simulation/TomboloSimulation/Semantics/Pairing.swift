import Tombolo
import TomboloProtocol

/// Two things that two people do without having seen each other, and how to tell what became of them.
struct Pairing {
  /// Stable, in snake case.
  let code: String
  let entity: String
  /// The attribute, relationship or key that it is about; nil for the record as a whole.
  let property: String?
  /// What each did, as a sentence's end.
  let firstDid: String
  let secondDid: String
  /// Before they part: on the first one's replica, which then syncs with the other.
  let prepare: (SemanticsStage) throws -> Void
  /// The earlier write.
  let first: (SemanticsStage) throws -> Void
  /// The later one.
  let second: (SemanticsStage) throws -> Void
  /// A sentence on what stands when everything is exchanged.
  let observe: (SemanticsStage) throws -> String
}

extension Pairing {
  /// The pairings that a schema can have, by entity.
  static func all(in schema: StoreSchema) -> [Pairing] {
    schema.entities.sorted { $0.name < $1.name }.flatMap { entity -> [Pairing] in
      let alone = edits(of: entity) + lives(of: entity)
      let related = references(of: entity, in: schema) + links(of: entity) + orders(of: entity, in: schema)
      return alone + related + uniqueKeys(of: entity)
    }
  }

  static func attributes(of entity: EntityPlan) -> [SchemaAttribute] {
    entity.declaredColumns.compactMap { column in
      guard case .attribute(let attribute) = column.kind, SemanticsValues.admitsTwo(attribute) else { return nil }
      return attribute
    }
  }

  /// An attribute whose edits say nothing but that the record was edited; not part of a key.
  static func plainAttribute(of entity: EntityPlan, besides others: Set<String> = []) -> SchemaAttribute? {
    let keys = Set(entity.uniqueKeys.flatMap(\.columns).map { entity.columns[$0].property })
    let all = attributes(of: entity).filter { !others.contains($0.name) && !keys.contains($0.name) }
    return all.first { $0.merge == .lastWriter } ?? all.first
  }

  // MARK: Attributes

  private static func edits(of entity: EntityPlan) -> [Pairing] {
    let name = entity.name
    let keys = Set(entity.uniqueKeys.flatMap(\.columns).map { entity.columns[$0].property })
    var pairings = attributes(of: entity).map { edit($0, of: entity, isUnique: keys.contains($0.name)) }
    if let one = plainAttribute(of: entity), let other = plainAttribute(of: entity, besides: [one.name]) {
      let mine = SemanticsValues.value(of: one, .first)
      let theirs = SemanticsValues.value(of: other, .second)
      pairings.append(
        Pairing(
          code: "edit_other", entity: name, property: nil, firstDid: "edits one attribute",
          secondDid: "edits another", prepare: { try $0.make("it", name) },
          first: { try $0.set("it", name, [one.name: mine]) }, second: { try $0.set("it", name, [other.name: theirs]) },
          observe: { stage in
            let stands = (
              try stage.value("it", name, one.name) == mine, try stage.value("it", name, other.name) == theirs
            )
            return stands == (true, true) ? "Both edits stand." : "One of the edits is lost."
          }))
    }
    return pairings
  }

  private static func edit(_ attribute: SchemaAttribute, of entity: EntityPlan, isUnique: Bool) -> Pairing {
    let (name, property) = (entity.name, attribute.name)
    // Values of a key must not meet those of other records, which is another pairing.
    final class Values {
      var old = Value.null
      var first = Value.null
      var second = Value.null
    }
    let values = Values()
    return Pairing(
      code: "edit_edit", entity: name, property: property, firstDid: "sets it", secondDid: "sets it too, later",
      prepare: { stage in
        func value(_ whose: SemanticsValues.Whose) -> Value {
          SemanticsValues.value(of: attribute, whose, number: isUnique ? stage.world.nextNumber() : nil)
        }
        (values.old, values.first, values.second) = (value(.old), value(.first), value(.second))
        // What nobody has written so far has a first writer.
        let isGiven = attribute.merge != .firstWriter && attribute.merge != .counter
        try stage.make("it", name, isGiven ? [property: values.old] : [:])
        values.old = try stage.value("it", name, property)
      }, first: { try $0.set("it", name, [property: values.first]) },
      second: { try $0.set("it", name, [property: values.second]) },
      observe: { stage in
        let stands = try stage.value("it", name, property)
        if attribute.merge == .counter { return counted(stands, values.old, values.first, values.second) }
        if stands == values.second { return "The later edit stands." }
        if stands == values.first {
          switch attribute.merge {
          case .max: return "The greater value stands, whoever wrote later."
          case .min: return "The smaller value stands, whoever wrote later."
          case .firstWriter: return "The first value stands."
          default: return "The earlier edit stands."
          }
        }
        return stands == values.old ? "Neither edit stands: the first value does." : "Another value stands."
      })
  }

  private static func counted(_ stands: Value, _ old: Value, _ first: Value, _ second: Value) -> String {
    func number(_ value: Value) -> Double {
      switch value {
      case .integer(let integer): Double(integer)
      case .real(let real): real
      case .text(let text): Double(text) ?? 0
      default: 0
      }
    }
    let sum = number(first) + number(second) - number(old)
    return number(stands) == sum ? "Both count: what each added is added." : "The additions do not add up."
  }

  // MARK: Lives

  private static func lives(of entity: EntityPlan) -> [Pairing] {
    let name = entity.name
    func fate(_ stage: SemanticsStage) throws -> String {
      try stage.has("it", name) ? "The record stays, with the edit." : "The record stays deleted."
    }
    var pairings = [
      Pairing(
        code: "delete_delete", entity: name, property: nil, firstDid: "deletes it", secondDid: "deletes it too",
        prepare: { try $0.make("it", name) }, first: { try $0.delete("it", name) },
        second: { try $0.delete("it", name) },
        observe: { try $0.has("it", name) ? "The record is there." : "The record is deleted." })
    ]
    guard let attribute = plainAttribute(of: entity) else { return pairings }
    let edit = [attribute.name: SemanticsValues.value(of: attribute, .first)]
    pairings.append(
      Pairing(
        code: "edit_delete", entity: name, property: nil, firstDid: "edits it", secondDid: "deletes it, later",
        prepare: { try $0.make("it", name) }, first: { try $0.set("it", name, edit) },
        second: { try $0.delete("it", name) }, observe: fate))
    pairings.append(
      Pairing(
        code: "delete_edit", entity: name, property: nil, firstDid: "deletes it", secondDid: "edits it, later",
        prepare: { try $0.make("it", name) }, first: { try $0.delete("it", name) },
        second: { try $0.set("it", name, edit) }, observe: fate))
    return pairings
  }
}
