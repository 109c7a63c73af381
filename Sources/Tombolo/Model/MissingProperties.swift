import TomboloProtocol
import TomboloSQLite

/// The attributes of an object that were not read with its row: left out by `propertiesToFetch`, or lying outside of the row.
/// They are read when they are asked for.
package final class MissingProperties {
  /// By their place in the class.
  package internal(set) var properties: ColumnSet
  /// The objects that were fetched together, whose attributes are read together.
  let batch: FetchBatch?

  init(_ properties: ColumnSet, _ batch: FetchBatch?) {
    self.properties = properties
    self.batch = batch
  }
}

/// Objects that one fetch made without some of their attributes.
final class FetchBatch {
  /// So many are read by one query.
  static let countMax = 500
  var records: [RecordID] = []
}

extension _$ModelState {
  /// Takes over from the reader what the row did not tell.
  func noteMissing(_ row: _$RowReader) {
    let missing = row.missing()
    if missing.isEmpty {
      self.missing = nil
      flags.remove(.partial)
      return
    }
    let batch = row.batch
    self.missing = MissingProperties(missing, batch)
    flags.insert(.partial)
    if let batch, let record { batch.records.append(record) }
  }

  /// Reads an attribute that is missing; costs a comparison with each of them otherwise.
  func fill(_ model: some PersistentModel, _ path: AnyKeyPath) {
    guard let missing, let plan else { return }
    let properties = plan.description.properties
    var found: Int?
    missing.properties.forEach { property in
      if properties[property].path == path || properties[property].declaredPath == path { found = property }
    }
    if let found { fill(model, found) }
  }

  /// Reads an attribute that is missing, and the same ones of the objects that were fetched with this one. Large values are
  /// read one by one. Where the store cannot be read, the attribute stays missing, and shows its neutral value.
  func fill(_ model: some PersistentModel, _ property: Int) {
    guard let missing, missing.properties.contains(property), let plan, let part = plan.part, let record, let link,
      flags.contains(.stored)
    else { return }
    do {
      if plan.externalProperties.contains(property) {
        var only = ColumnSet()
        only.insert(property)
        try part.store.readOnce { try MissingRead(plan, only, $0, link).read([record]) { _ in model } }
        return
      }
      var wanted = missing.properties
      for external in plan.externalProperties { wanted.remove(external) }
      let registry = link.context?.registry ?? [:]
      let batch = (missing.batch?.records ?? []).filter { record in
        guard let other = registry[record]?._$state else { return false }
        return other.plan === plan && other.missing?.batch === missing.batch
      }
      try part.store.readOnce { connection in
        try MissingRead(plan, wanted, connection, link).read(batch.contains(record) ? batch : [record]) {
          $0 == record ? model : registry[$0]
        }
      }
    } catch {
      link.context?.deferredFaults.append(
        (error as? TomboloError)
          ?? TomboloError(
            .databaseFailure,
            "The attribute \(plan.entity.name).\(plan.description.propertyName(at: property)) could not be read."))
    }
  }

  /// Notes what a row that was read again did not tell; what has an edit is not missing.
  func noteReloaded(_ row: _$RowReader) {
    guard row.mayMiss || missing != nil else { return }
    var left = row.missing()
    changed.forEach { left.remove($0) }
    missing = left.isEmpty ? nil : MissingProperties(left, nil)
    if left.isEmpty { flags.remove(.partial) } else { flags.insert(.partial) }
  }

  /// Reads everything that is missing.
  func fillAll(_ model: some PersistentModel) {
    guard let missing else { return }
    missing.properties.forEach { fill(model, $0) }
  }

  /// The attributes have their values now: read, or assigned.
  func noteFilled(_ properties: ColumnSet) {
    guard let missing else { return }
    properties.forEach { missing.properties.remove($0) }
    guard missing.properties.isEmpty else { return }
    self.missing = nil
    flags.remove(.partial)
  }
}

/// One query for some attributes of some records of one class.
private struct MissingRead {
  private let plan: ModelPlan
  private let properties: ColumnSet
  private let connection: Connection
  private let link: ContextLink

  init(_ plan: ModelPlan, _ properties: ColumnSet, _ connection: Connection, _ link: ContextLink) {
    self.plan = plan
    self.properties = properties
    self.connection = connection
    self.link = link
  }

  func read(_ records: [RecordID], _ model: (RecordID) -> (any PersistentModel)?) throws {
    let columns = plan.positions.enumerated().map { property, position in
      guard let position, properties.contains(property) else { return "NULL" }
      return plan.entity.columns[position].value(in: "t0")
    }.joined(separator: ", ")
    let marks = records.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
    let statement = try connection.cached(
      "SELECT t0.\"_tombolo_id\", \(columns) FROM \(plan.entity.table.quotedIdentifier) AS t0 "
        + "WHERE t0.\"_tombolo_id\" IN (\(marks))")
    for (index, record) in records.enumerated() { statement.bind(record, at: Int32(index + 1)) }
    defer { statement.reset() }
    let reader = _$RowReader(statement: statement, first: 1, plan: plan, link: link)
    while try statement.step() {
      guard let record = statement.recordID(0), let model = model(record) else { continue }
      let state = model._$state
      reader.record = record
      reader.target = state
      // What was assigned meanwhile keeps its value.
      var only = ColumnSet()
      properties.forEach { property in
        if state.missing?.properties.contains(property) == true { only.insert(property) }
      }
      reader.only = only
      try model._$reload(reader)
      state.noteFilled(only)
    }
  }
}
