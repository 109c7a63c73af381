import Tombolo
import TomboloProtocol

/// Makes up what a person does next, from the schema and from what the person's replica shows.
struct OperationGenerator {
  let roles: SchemaRoles
  let mix: SimulationMix
  let clock: any WallClock
  var generator: SeededGenerator
  /// Updates that may be taken back later: record, property, value before.
  private var reversible: [(entity: String, id: RecordID, values: [String: Value])] = []
  private static let reversibleMax = 32
  /// Few records make replicas meet in them.
  let recordsMax: Int
  /// The part of operations that are deletes, in a hundred.
  let deletes: Int

  /// The entities of which this run makes records: few, so that those meet.
  private let cast: [SchemaRoles.Entity]
  private let links: [LinkPlan]
  /// What people often do in this run.
  private let rule: RareRule?

  /// - Parameter cast: the names of the entities of which records are made; nil for all.
  init(
    roles: SchemaRoles, mix: SimulationMix, recordsMax: Int, deletes: Int, cast: Set<String>?, rule: RareRule? = nil,
    clock: any WallClock, generator: SeededGenerator
  ) {
    self.rule = rule
    self.recordsMax = recordsMax
    self.deletes = deletes
    self.roles = roles
    self.mix = mix
    self.clock = clock
    self.generator = generator
    let cast = roles.entities.filter { $0.canInsert && cast?.contains($0.plan.name) ?? true }
    self.cast = cast
    links = cast.flatMap(\.plan.links).filter(\.isSource)
  }

  /// The operations of one save; never two of one record, so that what the save should leave is plain.
  mutating func save(on content: StoreContent) -> [Operation] {
    if mix.contains(.reversals), !reversible.isEmpty, generator.chance(0.25) {
      let place = generator.below(reversible.count)
      let taken = reversible.remove(at: place)
      if content.record(taken.id) != nil { return [.update(entity: taken.entity, taken.id, values: taken.values)] }
    }
    if generator.chance(0.2), let transfer = transfer(on: content) { return transfer }
    var operations: [Operation] = []
    var touched: Set<RecordID> = []
    for _ in 0..<(generator.pick([1, 1, 2, 3]) ?? 1) {
      guard let operation = operation(on: content, touched: &touched) else { continue }
      operations.append(operation)
    }
    return operations
  }

  /// UUID version 7, as a store makes them.
  private mutating func makeID() -> RecordID {
    RecordID(
      high: clock.milliseconds() << 16 | 0x7000 | UInt64(generator.below(0x1000)),
      low: 0x8000_0000_0000_0000 | generator.next() & 0x3FFF_FFFF_FFFF_FFFF)
  }

  private mutating func operation(on content: StoreContent, touched: inout Set<RecordID>) -> Operation? {
    if let rule, generator.chance(0.5), let operation = operation(leadingTo: rule, on: content, touched: &touched) {
      return operation
    }
    let dice = generator.below(100)
    let isFull = content.records.count >= recordsMax
    if content.records.isEmpty || dice < 30 && !isFull { return insert(on: content, touched: &touched, id: makeID()) }
    if dice >= 84 - deletes, dice < 84, mix.contains(.deletes) { return delete(on: content, touched: &touched) }
    if dice >= 84, mix.contains(.links), let operation = link(on: content, touched: touched) { return operation }
    return update(on: content, touched: &touched)
  }

  // MARK: Inserts and updates

  private mutating func insert(on content: StoreContent, touched: inout Set<RecordID>, id: RecordID) -> Operation? {
    guard let entity = generator.pick(cast) else { return nil }
    var values: [String: Value] = [:]
    for column in entity.plan.declaredColumns {
      switch column.kind {
      case .attribute(let attribute):
        if ValueGenerator.isOpaque(attribute) { continue }
        let isNeeded = attribute.defaultValue == nil && !attribute.isOptional
        let isGenerated = attribute.defaultValue.map { if case .constant = $0 { false } else { true } } ?? false
        guard isNeeded || isGenerated || generator.chance(0.6) else { continue }
        values[column.property] = value(for: column, attribute, in: entity)
      case .reference(let reference):
        let isNeeded = !reference.isOptional
        guard isNeeded || generator.chance(0.5) else { continue }
        guard let target = target(of: reference, on: content, except: touched) else {
          if isNeeded { return nil }
          continue
        }
        values[column.property] = Value(reference: target)
      }
    }
    if let ledger = entity.ledger { values[entity.plan.columns[ledger].property] = .integer(0) }
    equalizeTwins(&values, in: entity, isInsert: true)
    touched.insert(id)
    return .insert(entity: entity.plan.name, id, values: values)
  }

  private mutating func update(on content: StoreContent, touched: inout Set<RecordID>) -> Operation? {
    guard let record = pick(content.records), !touched.contains(record.id), let entity = roles.entity(record.entity)
    else { return nil }
    var values: [String: Value] = [:]
    for _ in 0..<(1 + generator.below(2)) {
      guard let column = generator.pick(entity.plan.columns), column.position != entity.ledger else { continue }
      if column.isPosition {
        if let place = place(column, of: record, on: content) { values[column.property] = place }
        continue
      }
      switch column.kind {
      case .attribute(let attribute):
        if ValueGenerator.isOpaque(attribute) { continue }
        switch attribute.merge {
        case .counter:
          guard mix.contains(.policies), case .integer(let now) = record.values[column.position] else { continue }
          values[column.property] = .integer(now + Int64(generator.within(-2...3)))
        case .max, .min, .firstWriter:
          guard mix.contains(.policies) else { continue }
          values[column.property] = value(for: column, attribute, in: entity)
        case .lastWriter:
          values[column.property] = value(for: column, attribute, in: entity)
        }
      case .reference(let reference):
        guard mix.contains(.references) else { continue }
        let clears = reference.isOptional && generator.chance(0.25)
        let target = clears ? nil : target(of: reference, on: content, except: touched.union([record.id]))
        guard clears || target != nil else { continue }
        values[column.property] = Value(reference: target)
      }
    }
    equalizeTwins(&values, in: entity, isInsert: false)
    guard !values.isEmpty else { return nil }
    touched.insert(record.id)
    remember(values, of: record, in: entity)
    return .update(entity: entity.plan.name, record.id, values: values)
  }

  /// A place in the record's list: behind another member, as whoever moves it there would give it.
  private mutating func place(_ column: ColumnPlan, of record: StoreContent.Record, on content: StoreContent) -> Value?
  {
    let others = content.records.filter { $0.id != record.id && $0.entity == record.entity }
    guard let other = generator.pick(others) else { return nil }
    func key(_ record: StoreContent.Record) -> PositionKey? {
      if case .blob(let bytes) = record.values[column.position] { PositionKey(bytes: bytes) } else { nil }
    }
    let low = key(other)
    let high = others.compactMap(key).filter { key in low.map { $0 < key } ?? true }.min()
    let mover = ReplicaID(UInt64(generator.below(3)))
    return PositionKey(after: low, before: high, by: mover).map { .blob($0.bytes) }
  }

  private mutating func value(for column: ColumnPlan, _ attribute: SchemaAttribute, in entity: SchemaRoles.Entity)
    -> Value
  {
    guard entity.uniqueColumns.contains(column.position) else {
      return ValueGenerator.value(of: attribute, &generator, clock: clock)
    }
    return mix.contains(.collisions) && generator.chance(0.6)
      ? ValueGenerator.collidingValue(of: attribute, &generator) : ValueGenerator.freshValue(of: attribute, &generator)
  }

  /// Both twins get one value if either is written; on an insert always.
  private mutating func equalizeTwins(_ values: inout [String: Value], in entity: SchemaRoles.Entity, isInsert: Bool) {
    guard let twins = entity.twins else { return }
    let (first, second) = (entity.plan.columns[twins.0], entity.plan.columns[twins.1])
    guard isInsert || values[first.property] != nil || values[second.property] != nil else { return }
    guard case .attribute(let attribute) = first.kind else { return }
    let value = values[first.property] ?? values[second.property] ?? value(for: first, attribute, in: entity)
    values[first.property] = value
    values[second.property] = value
  }

  private mutating func remember(
    _ values: [String: Value], of record: StoreContent.Record, in entity: SchemaRoles.Entity
  ) {
    guard mix.contains(.reversals), reversible.count < Self.reversibleMax else { return }
    var before: [String: Value] = [:]
    for column in entity.plan.columns where values[column.property] != nil {
      guard case .attribute(let attribute) = column.kind, attribute.merge == .lastWriter,
        !entity.uniqueColumns.contains(column.position)
      else { return }
      before[column.property] = record.values[column.position]
    }
    reversible.append((entity.plan.name, record.id, before))
  }

  // MARK: References, links, deletes

  private mutating func target(
    of reference: ResolvedReference, on content: StoreContent, except: Set<RecordID>
  ) -> RecordID? {
    guard let plan = roles.schema.entity(reference.destination) else { return nil }
    let names = Set(plan.concreteNames)
    return pick(content.records.filter { names.contains($0.entity) && !except.contains($0.id) })?.id
  }

  private mutating func delete(on content: StoreContent, touched: inout Set<RecordID>) -> Operation? {
    // Alone in its save: its rules reach records that another operation of the save may have touched.
    guard touched.isEmpty, let record = pick(content.records), let entity = roles.entity(record.entity),
      entity.ledger == nil
    else { return nil }
    touched.formUnion(content.records.map(\.id))
    return .delete(entity: entity.plan.name, record.id)
  }

  private mutating func link(on content: StoreContent, touched: Set<RecordID>) -> Operation? {
    guard let plan = generator.pick(links) else { return nil }
    let key = plan.link.key
    if generator.chance(0.35), let pairs = content.links.first(where: { $0.key == key })?.pairs,
      let pair = generator.pick(pairs)
    {
      guard !touched.contains(pair.source), !touched.contains(pair.target) else { return nil }
      return .unlink(LinkKey(relationship: key, source: pair.source, target: pair.target))
    }
    let sources = roles.entities.first { $0.plan.links.contains { $0.link.key == key && $0.isSource } }?.plan
    guard let source = pick(content.records, of: sources?.concreteNames ?? []),
      let target = pick(content.records, of: roles.schema.entity(plan.destination)?.concreteNames ?? []),
      !touched.contains(source.id), !touched.contains(target.id)
    else { return nil }
    return .link(LinkKey(relationship: key, source: source.id, target: target.id))
  }

  /// One of the records; in a crowd mostly one of the first.
  private mutating func pick(_ records: [StoreContent.Record]) -> StoreContent.Record? {
    if mix.contains(.crowds), !records.isEmpty, generator.chance(0.7) {
      return records[generator.below(min(3, records.count))]
    }
    return generator.pick(records)
  }

  private mutating func pick(_ records: [StoreContent.Record], of names: [String]) -> StoreContent.Record? {
    pick(records.filter { names.contains($0.entity) })
  }

  /// Moves an amount from one record of a ledger to another, in one save.
  private mutating func transfer(on content: StoreContent) -> [Operation]? {
    guard let entity = generator.pick(roles.entities.filter { $0.ledger != nil }), let ledger = entity.ledger else {
      return nil
    }
    let records = content.records.filter { $0.entity == entity.plan.name }
    guard let from = generator.pick(records), let to = generator.pick(records), from.id != to.id,
      case .integer(let rich) = from.values[ledger], case .integer(let poor) = to.values[ledger]
    else { return nil }
    let amount = Int64(generator.within(1...5))
    let property = entity.plan.columns[ledger].property
    return [
      .update(entity: entity.plan.name, from.id, values: [property: .integer(rich - amount)]),
      .update(entity: entity.plan.name, to.id, values: [property: .integer(poor + amount)]),
    ]
  }
}
