import Tombolo
import TomboloProtocol
import TomboloSQLite

/// The records of one pairing, by names that the pairing gives them, and what is done to them.
final class SemanticsStage {
  private static let depthMax = 16

  let world: SemanticsWorld
  /// On whose replica things are done.
  var side = SemanticsWorld.Side.first
  private(set) var ids: [String: RecordID] = [:]
  /// Every record that was made for the pairing.
  private(set) var records: Set<RecordID> = []

  init(_ world: SemanticsWorld) { self.world = world }

  private func plan(_ entity: String) throws -> EntityPlan {
    guard let plan = world.schema.entity(entity) else {
      throw TomboloError(.unknownEntity, "The schema has no entity \(entity).")
    }
    return plan
  }

  func id(_ name: String) throws -> RecordID {
    guard let id = ids[name] else { throw TomboloError(.unknownRecord, "There is no record \(name) in this pairing.") }
    return id
  }

  func reference(_ name: String) throws -> Value { Value(reference: try id(name)) }

  // MARK: What people do

  /// A new record, with everything that it requires.
  func make(_ name: String, _ entity: String, _ values: [String: Value] = [:]) throws {
    try world.save(on: side) { writer in ids[name] = try insert(entity, values, writer, depth: 0) }
  }

  private func insert(
    _ entity: String, _ given: [String: Value], _ writer: StoreWriter, depth: Int
  ) throws -> RecordID {
    let plan = try plan(entity)
    guard depth < Self.depthMax else {
      throw TomboloError(
        .limitExceeded, "What \(entity) requires leads in a circle, so none can be made.",
        remedy: "Make one of the required references on that circle optional.")
    }
    var values = given
    let unique = Set(plan.uniqueKeys.flatMap(\.columns))
    for column in plan.columns where values[column.property] == nil {
      switch column.kind {
      case .reference(let reference):
        if reference.isOptional { continue }
        values[column.property] = Value(
          reference: try insert(reference.destination, [:], writer, depth: depth + 1))
      case .attribute(let attribute):
        if attribute.isOptional, attribute.defaultValue == nil { continue }
        let isUnique = unique.contains(column.position)
        if !isUnique, case .constant? = attribute.defaultValue { continue }
        values[column.property] = SemanticsValues.value(
          of: attribute, .old, number: isUnique ? world.nextNumber() : nil)
      }
    }
    let id = try world.makeID(on: side)
    let row = try ValueRow(plan, values)
    try writer.insert(plan, id, assigned: row.assigned, from: row)
    records.insert(id)
    return id
  }

  func set(_ name: String, _ entity: String, _ values: [String: Value]) throws {
    let plan = try plan(entity)
    let row = try ValueRow(plan, values)
    try world.save(on: side) { writer in
      _ = try writer.update(plan, try id(name), changed: row.assigned, from: row)
    }
  }

  func delete(_ name: String, _ entity: String) throws {
    let plan = try plan(entity)
    try world.save(on: side) { writer in _ = try writer.delete(plan, try id(name)) }
  }

  func link(_ plan: LinkPlan, _ own: String, _ other: String, isPresent: Bool = true) throws {
    try world.save(on: side) { writer in
      if isPresent {
        try writer.link(plan, try id(own), try id(other))
      } else {
        try writer.unlink(plan, try id(own), try id(other))
      }
    }
  }

  /// Gives the members of an ordered to-many the order of the names.
  func arrange(_ names: [String], _ list: FarSidePlan, of owner: String) throws {
    let members = try names.map(id)
    try world.save(on: side) { try $0.arrange(members, in: list, of: try id(owner)) }
  }

  /// New members of an ordered to-many, in the places that the order gives them: one save.
  func makeMembers(
    _ names: [String], _ entity: String, _ reference: String, in list: FarSidePlan, of owner: String, order: [String]
  ) throws {
    try world.save(on: side) { writer in
      for name in names {
        ids[name] = try insert(entity, [reference: try self.reference(owner)], writer, depth: 0)
      }
      try writer.arrange(try order.map(id), in: list, of: try id(owner))
    }
  }

  // MARK: What came of it

  /// The names of an ordered to-many's members, in their order.
  func members(_ list: FarSidePlan, of owner: String) throws -> [String] {
    let owner = try id(owner)
    let names = Dictionary(ids.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    return try world.store(side).read { connection in
      var members: [String] = []
      try connection.eachRow(
        "SELECT t0._tombolo_id FROM \(list.table.quotedIdentifier) AS t0 WHERE t0.\(list.column.quotedIdentifier) = ?1 "
          + "ORDER BY \(list.order(in: "t0"))", { $0.bind(owner, at: 1) }
      ) { row in
        if let name = row.recordID(0).flatMap({ names[$0] }) { members.append(name) }
      }
      return members
    }
  }

  func has(_ name: String, _ entity: String) throws -> Bool {
    try world.store(side).row(try plan(entity), try id(name)) != nil
  }

  func value(_ name: String, _ entity: String, _ property: String) throws -> Value {
    try world.store(side).row(try plan(entity), try id(name))?[property] ?? .null
  }

  func isLinked(_ plan: LinkPlan, _ own: String, _ other: String) throws -> Bool {
    let (own, other) = (try id(own), try id(other))
    return try world.store(side).read { connection in
      try connection.firstRow(
        "SELECT 1 FROM \(plan.table.quotedIdentifier) WHERE \(plan.ownColumn) = ?1 AND \(plan.otherColumn) = ?2",
        {
          $0.bind(own, at: 1)
          $0.bind(other, at: 2)
        }, { _ in true }) ?? false
    }
  }
}
