import TomboloProtocol
import TomboloSQLite

/// Positions in ordered lists: whoever comes to an owner without a position is given the one behind its last member.
extension StoreWriter {
  /// One record's position in the list at the other end of one reference.
  struct PlaceName: Hashable {
    var id: RecordID
    /// The number of the key's column.
    var column: Int
  }

  /// The positions of a new record, by the place of their columns: for each owner that it names and no key beside.
  func newPlaces(
    _ entity: EntityPlan, _ id: RecordID, assigned: inout ColumnSet, _ source: some RowSource
  ) throws -> [(position: Int, key: Value)] {
    var places: [(position: Int, key: Value)] = []
    for order in entity.orders where !assigned.contains(order.key) {
      let owner = try source.value(of: entity.columns[order.reference])
      guard !owner.isNull else { continue }
      places.append((order.key, try newPlace(order, entity, id, owner)))
      assigned.insert(order.key)
    }
    return places
  }

  /// The set with the keys of every reference in it.
  func withKeys(of entity: EntityPlan, _ changed: ColumnSet) -> ColumnSet {
    var columns = changed
    for order in entity.orders where changed.contains(order.reference) { columns.insert(order.key) }
    return columns
  }

  /// The position that a record gets with an owner that an update writes; nil where it keeps its owner, or loses it.
  func newPlace(
    _ entity: EntityPlan, _ id: RecordID, key position: Int, beside writes: [ChangeRecorder.Write]
  ) throws -> Value? {
    guard let order = entity.orders.first(where: { $0.key == position }),
      let owner = writes.first(where: { $0.column.position == order.reference })?.new, !owner.isNull
    else { return nil }
    return try newPlace(order, entity, id, owner)
  }

  func newPlace(_ order: OrderPlan, _ entity: EntityPlan, _ id: RecordID, _ owner: Value) throws -> Value {
    let last = try lastPlace(order, entity, of: owner)
    // Above a last key of any form there is another, unless it is none at all: then the list begins anew.
    guard let key = try PositionKey(after: last, before: nil, by: positionReplica()) else { return .null }
    places?[PlaceName(id: id, column: entity.columns[order.key].number)] = key
    return .blob(key.bytes)
  }

  /// The position of an owner's last member.
  func lastPlace(_ order: OrderPlan, _ entity: EntityPlan, of owner: Value) throws -> PositionKey? {
    let statement = try statements.question(.init(kind: .lastPlace, entity: entity.index, column: order.key)) {
      let (key, reference) = (entity.columns[order.key].column, entity.columns[order.reference].column)
      return "SELECT \(key.quotedIdentifier) FROM \(entity.table.quotedIdentifier) "
        + "WHERE \(reference.quotedIdentifier) = ?1 ORDER BY \(key.quotedIdentifier) DESC LIMIT 1"
    }
    statement.bind(owner, at: 1)
    defer { statement.reset() }
    guard try statement.step(), !statement.isNull(0) else { return nil }
    return PositionKey(bytes: statement.bytes(0))
  }

  /// The replica that new keys name.
  func positionReplica() throws -> ReplicaID {
    if let knownReplica { return knownReplica }
    let replica = try StoreMeta(connection).replica
    knownReplica = replica
    return replica
  }

  // MARK: Lists whose order somebody chose

  /// Remembers from now on which positions this save gives.
  package func notePlaces() { if places == nil { places = [:] } }

  /// Members that were added to the end of an owner's list, in that order: those whose position does not say so get a new one.
  ///
  /// - Parameter list: the owner's side.
  package func append(_ members: [RecordID], to list: FarSidePlan, of owner: RecordID) throws {
    guard let base = schema.entity(list.destination), let order = order(of: list, base) else { return }
    let number = base.columns[order.key].number
    var last: PositionKey?
    var isEnd = false
    for id in members {
      if !isEnd, let key = places?[PlaceName(id: id, column: number)], last.map({ $0 < key }) ?? true {
        last = key
        continue
      }
      isEnd = true
      guard let (entity, order) = try orderedRecord(id, of: list) else { continue }
      let column = entity.columns[order.key]
      let key = try newPlace(order, entity, id, Value(reference: owner))
      try update(
        entity, id, changed: ColumnSet([column.position]), from: ValueRow(entity, [column.property: key]))
    }
  }

  /// Gives an owner's members the order of `members`; others that the list has keep their position.
  package func arrange(_ members: [RecordID], in list: FarSidePlan, of owner: RecordID) throws {
    guard let column = list.positionColumn else { return }
    var stored: [RecordID: PositionArrangement.Member] = [:]
    try connection.eachRow(
      "SELECT t0._tombolo_id, t0.\(column.quotedIdentifier) FROM \(list.table.quotedIdentifier) AS t0 "
        + "WHERE t0.\(list.column.quotedIdentifier) = ?1 ORDER BY \(list.order(in: "t0"))",
      { $0.bind(owner, at: 1) }
    ) { row in
      guard let id = row.recordID(0) else { return }
      stored[id] = PositionArrangement.Member(
        key: row.isNull(1) ? nil : PositionKey(bytes: row.bytes(1)), place: stored.count)
    }
    let present = members.filter { stored[$0] != nil }
    for (index, key) in PositionArrangement.changes(of: present.compactMap { stored[$0] }, by: try positionReplica()) {
      guard let (entity, order) = try orderedRecord(present[index], of: list) else { continue }
      let column = entity.columns[order.key]
      try update(
        entity, present[index], changed: ColumnSet([column.position]),
        from: ValueRow(entity, [column.property: .blob(key.bytes)]))
    }
  }

  private func orderedRecord(_ member: RecordID, of list: FarSidePlan) throws -> (EntityPlan, OrderPlan)? {
    guard let base = schema.entity(list.destination), let entity = try concreteEntity(of: base, member),
      let order = order(of: list, entity)
    else { return nil }
    return (entity, order)
  }

  private func order(of list: FarSidePlan, _ entity: EntityPlan) -> OrderPlan? {
    entity.orders.first { entity.columns[$0.key].column == list.positionColumn }
  }
}

extension FarSidePlan {
  /// The terms of ORDER BY for its members: by position, of equal ones by identity; who has none comes first, as linked here.
  package func order(in alias: String) -> String {
    guard let positionColumn else { return "\(alias).rowid" }
    let key = "\(alias).\(positionColumn.quotedIdentifier)"
    return "\(key), CASE WHEN \(key) IS NULL THEN \(alias).rowid ELSE \(alias).\"_tombolo_id\" END"
  }
}
