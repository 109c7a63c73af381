import Tombolo
import TomboloProtocol

/// A rule between records that chance alone seldom leads to. Some runs have one, and people who often do what it is about.
enum RareRule: Hashable {
  /// Two who fill the same empty attribute, of which the first to do so has the word.
  case firstWriter(entity: String, attribute: String)
  /// Two moves that would close a circle in a tree.
  case cycle(entity: String, parent: String)
  /// A delete of a record that somebody refers to meanwhile: it must not go then, or the reference stays as it is.
  case reference(owner: String, child: String, reference: String)
  /// A delete of a record that became one with another meanwhile.
  case union(entity: String, attribute: String)

  /// Those that a schema has.
  static func rules(of document: SchemaDocument) -> [RareRule] {
    var rules: [RareRule] = []
    for entity in document.entities {
      for attribute in entity.attributes where attribute.merge == .firstWriter && attribute.isOptional {
        rules.append(.firstWriter(entity: entity.name, attribute: attribute.name))
      }
      for key in entity.unique where key.onConflict == .merge && key.attributes.count == 1 {
        rules.append(.union(entity: entity.name, attribute: key.attributes[0]))
      }
      for relationship in entity.relationships {
        if relationship.isAcyclic { rules.append(.cycle(entity: entity.name, parent: relationship.name)) }
        let isRare = relationship.deleteRule == .deny || relationship.deleteRule == .noAction
        if isRare, relationship.isToMany, let inverse = relationship.inverse {
          rules.append(.reference(owner: entity.name, child: relationship.destination, reference: inverse))
        }
      }
    }
    return rules
  }

  /// The entities that it is about.
  var cast: Set<String> {
    switch self {
    case .firstWriter(let entity, _), .cycle(let entity, _), .union(let entity, _): [entity]
    case .reference(let owner, let child, _): [owner, child]
    }
  }

  /// What people must be ready to do.
  var mix: SimulationMix {
    switch self {
    case .firstWriter: .policies
    case .cycle: .references
    case .reference: [.deletes, .references]
    case .union: [.deletes, .collisions]
    }
  }
}

extension OperationGenerator {
  /// Something that the run's rule may have to judge, if the person sees an occasion.
  mutating func operation(leadingTo rule: RareRule, on content: StoreContent, touched: inout Set<RecordID>)
    -> Operation?
  {
    switch rule {
    case .firstWriter(let entity, let attribute):
      let empty = records(of: entity, on: content).filter { value(attribute, of: $0) == .null }
      guard let record = generator.pick(Array(empty.prefix(2))), !touched.contains(record.id),
        let filled = column(attribute, of: record), case .attribute(let attribute) = filled.kind,
        !ValueGenerator.isOpaque(attribute)
      else { return nil }
      let drawn = ValueGenerator.value(of: attribute, &generator, clock: clock)
      return drawn.isNull ? nil : update(record, attribute.name, to: drawn, touched: &touched)
    case .cycle(let entity, let parent):
      let tree = Array(records(of: entity, on: content).prefix(4))
      guard let record = generator.pick(tree), !touched.contains(record.id),
        let above = generator.pick(tree.filter { !isBelow($0, record, parent, on: content) })
      else { return nil }
      return update(record, parent, to: Value(reference: above.id), touched: &touched)
    case .union(let entity, let attribute):
      let first = Array(records(of: entity, on: content).prefix(3))
      if generator.chance(0.4) { return delete(oneOf: first, on: content, touched: &touched) }
      guard let record = generator.pick(first), !touched.contains(record.id),
        let key = column(attribute, of: record), case .attribute(let attribute) = key.kind
      else { return nil }
      let drawn = ValueGenerator.collidingValue(of: attribute, &generator)
      return update(record, attribute.name, to: drawn, touched: &touched)
    case .reference(let owner, let child, let reference):
      let children = records(of: child, on: content)
      let owners = Array(records(of: owner, on: content).prefix(3))
      if generator.chance(0.5) {
        let free = owners.filter { owner in !children.contains { value(reference, of: $0)?.reference == owner.id } }
        return delete(oneOf: free, on: content, touched: &touched)
      }
      guard let record = generator.pick(children), !touched.contains(record.id), let target = generator.pick(owners)
      else { return nil }
      return update(record, reference, to: Value(reference: target.id), touched: &touched)
    }
  }

  /// Alone in its save, as every delete.
  private mutating func delete(
    oneOf records: [StoreContent.Record], on content: StoreContent, touched: inout Set<RecordID>
  ) -> Operation? {
    guard touched.isEmpty, let record = generator.pick(records) else { return nil }
    touched.formUnion(content.records.map(\.id))
    return .delete(entity: record.entity, record.id)
  }

  private func records(of entity: String, on content: StoreContent) -> [StoreContent.Record] {
    let names = roles.schema.entity(entity)?.concreteNames ?? []
    return content.records.filter { names.contains($0.entity) }
  }

  private func value(_ property: String, of record: StoreContent.Record) -> Value? {
    column(property, of: record).map { record.values[$0.position] }
  }

  private func column(_ property: String, of record: StoreContent.Record) -> ColumnPlan? {
    roles.entity(record.entity)?.plan.columns.first { $0.property == property }
  }

  private func isBelow(
    _ record: StoreContent.Record, _ top: StoreContent.Record, _ parent: String, on content: StoreContent
  ) -> Bool {
    var record = record
    for _ in 0...content.records.count {
      if record.id == top.id { return true }
      guard let above = value(parent, of: record)?.reference.flatMap(content.record) else { return false }
      record = above
    }
    return true
  }

  private func update(
    _ record: StoreContent.Record, _ property: String, to value: Value, touched: inout Set<RecordID>
  ) -> Operation {
    touched.insert(record.id)
    return .update(entity: record.entity, record.id, values: [property: value])
  }
}
