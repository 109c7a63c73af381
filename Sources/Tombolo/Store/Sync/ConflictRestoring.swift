import TomboloProtocol
import TomboloSQLite

/// How each kind of entry is made good.
struct ConflictRestoring {
  private typealias Part = ConflictRestoration.Part

  private let writer: StoreWriter
  private let schema: StoreSchema
  private let replay: ChangeReplay

  init(writer: StoreWriter, schema: StoreSchema) throws {
    self.writer = writer
    self.schema = schema
    replay = try ChangeReplay(writer: writer, schema: schema)
  }

  func restore(_ entry: ConflictEntry, among entries: [ConflictEntry]) throws -> ConflictRestoration {
    guard let entity = schema.entity(entry.entity) else {
      throw TomboloError(
        .unknownEntity, "The store's schema has no entity \(entry.entity).",
        remedy: "Open the store with the schema version that has it.")
    }
    let id = try replay.resolve(entry.record)
    let concrete = try writer.concreteEntity(of: entity, id)
    if entry.field == nil, Self.undoneDeletes.contains(entry.rule) { return try deleteAgain(id, concrete, entry) }
    guard let concrete else { return try remake(id, entity, entry, among: entries) }
    guard let field = entry.field else { throw Self.unrestorable(entry) }
    var done = ConflictRestoration(entity: concrete.name, record: id, act: .written)
    done.settled = [entry.id]
    if let plan = concrete.links.first(where: { $0.property == field && $0.isSource }) {
      done.restored = [try writePair(plan, id, entry)]
      return done
    }
    guard let column = concrete.column(field) else { throw Self.unrestorable(entry) }
    var value = entry.lost.value
    if column.isCounter, case .integer(let delta) = value {
      value = try replay.sum(Change.CounterAddition(name: field, delta: delta), concrete, id)
    }
    try replay.put([field: value], in: concrete, id, isNew: false)
    done.restored = [Part(property: field, value: value)]
    return done
  }

  private func deleteAgain(
    _ id: RecordID, _ concrete: EntityPlan?, _ entry: ConflictEntry
  ) throws -> ConflictRestoration {
    var done = ConflictRestoration(entity: concrete?.name ?? entry.entity, record: id, act: .goneAlready)
    done.settled = [entry.id]
    guard let concrete else { return done }
    try writer.delete(concrete, id)
    done.act = .deleted
    return done
  }

  /// Links a pair again, or parts it: then nothing is the value that was lost, and the pair the one that stands.
  private func writePair(_ plan: LinkPlan, _ id: RecordID, _ entry: ConflictEntry) throws -> Part {
    let isParted = entry.lost.value.isNull
    guard let named = isParted ? entry.standing?.value.reference : entry.lost.value.reference else {
      throw Self.unrestorable(entry)
    }
    let target = try replay.resolve(named)
    guard try isThere(target, plan.destination) else {
      throw TomboloError(
        .unknownRecord, "The \(plan.destination) \(target), which this needs, is not there.",
        remedy: "Restore what was lost of that record first.")
    }
    if isParted { try writer.unlink(plan, id, target) } else { try writer.link(plan, id, target) }
    return Part(property: plan.property, value: entry.lost.value)
  }

  // MARK: A record that is gone

  /// Makes a record anew: as this replica last had it, with what it lost laid over that.
  private func remake(
    _ id: RecordID, _ entity: EntityPlan, _ entry: ConflictEntry, among entries: [ConflictEntry]
  ) throws -> ConflictRestoration {
    let image = try LostRecords(connection: writer.connection, schema: schema).image(of: entry.record)
    let losses = entries.filter { $0.record == entry.record && (Self.deaths.contains($0.rule) || $0.id == entry.id) }
      .sorted { ($0.lost.stamp, $0.id) < ($1.lost.stamp, $1.id) }
    guard image != nil || losses.contains(where: { $0.field != nil }) else { throw Self.unrestorable(entry) }
    let plan = image?.entity ?? entity
    var done = ConflictRestoration(entity: plan.name, record: id, act: .madeAnew)
    var values: [String: Value] = [:]
    for column in plan.columns {
      if let value = image?.detail.values[column.number], value != column.constantDefault, !value.isNull {
        values[column.property] = value
      }
    }
    for loss in losses {
      guard let field = loss.field, let column = plan.column(field) else { continue }
      if column.isCounter {
        // The image has what was added here.
        guard image == nil, case .integer(let delta) = loss.lost.value else { continue }
        values[field] = CounterMerge.sum(values[field] ?? column.constantDefault, delta)
      } else {
        values[field] = loss.lost.value
      }
    }
    try leaveOutAbsent(&values, of: plan, &done)
    try replay.put(values, in: plan, id, isNew: true)
    for column in plan.columns {
      if let value = values[column.property] { done.restored.append(Part(property: column.property, value: value)) }
    }
    try linkAgain(id, plan, image, losses, &done)
    let kept = Set(done.restored.map(\.property))
    done.settled = losses.filter { loss in
      guard let field = loss.field else { return true }
      if done.missing.contains(where: { $0.property == field && $0.value == loss.lost.value }) { return false }
      return kept.contains(field) && (plan.column(field)?.isCounter ?? true || values[field] == loss.lost.value)
    }.map(\.id)
    return done
  }

  /// A reference to a record that is gone as well stays empty; a required one cannot.
  private func leaveOutAbsent(
    _ values: inout [String: Value], of plan: EntityPlan, _ done: inout ConflictRestoration
  ) throws {
    for column in plan.columns {
      guard case .reference(let reference) = column.kind, let named = values[column.property]?.reference else {
        continue
      }
      let target = try replay.resolve(named)
      if try !column.isOptional || isThere(target, reference.destination) { continue }
      values[column.property] = nil
      done.missing.append(
        Part(
          property: column.property, value: Value(reference: named),
          absent: .init(entity: reference.destination, id: target)))
    }
  }

  private func linkAgain(
    _ id: RecordID, _ entity: EntityPlan, _ image: LostRecords.Image?, _ losses: [ConflictEntry],
    _ done: inout ConflictRestoration
  ) throws {
    var pairs: [(plan: LinkPlan, other: RecordID)] = []
    func add(_ plan: LinkPlan, _ other: RecordID) throws {
      let other = try replay.resolve(other)
      if !pairs.contains(where: { $0.plan.property == plan.property && $0.other == other }) {
        pairs.append((plan, other))
      }
    }
    for plan in entity.links {
      for pair in image?.detail.links ?? [] where pair.link.relationship == plan.link.key {
        try add(plan, plan.isSource ? pair.link.target : pair.link.source)
      }
      for loss in losses where loss.field == plan.property && plan.isSource {
        if let target = loss.lost.value.reference { try add(plan, target) }
      }
    }
    for (plan, other) in pairs {
      let part = Part(property: plan.property, value: Value(reference: other))
      if try isThere(other, plan.destination) {
        try writer.link(plan, id, other)
        done.restored.append(part)
      } else {
        done.missing.append(
          Part(property: plan.property, value: part.value, absent: .init(entity: plan.destination, id: other)))
      }
    }
  }

  private func isThere(_ id: RecordID, _ entity: String) throws -> Bool {
    guard let entity = schema.entity(entity) else { return false }
    return try writer.contains(entity, id)
  }

  static let undoneDeletes: Set<ConflictRule> = [.deny, .editWins, .mergeUnseen]
  /// By these a write is lost because its record is.
  private static let deaths: Set<ConflictRule> = [.recordDeleted, .recordGone, .parentDeleted, .overwrittenIncarnation]

  private static func unrestorable(_ entry: ConflictEntry) -> TomboloError {
    TomboloError(
      .unknownRecord, "The conflict \(entry.id) names no value that could be written again.",
      remedy: "Make the change again by hand.")
  }
}
