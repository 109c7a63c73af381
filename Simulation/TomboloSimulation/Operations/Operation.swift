package import Tombolo
package import TomboloProtocol
import TomboloSQLite

/// One thing that a person does to a record, as a part of a save. It names what it touches, so that it outlives the run
/// in which it was made up.
package enum Operation: Hashable, Sendable {
  /// `values` has what is assigned; the rest keeps its declared default.
  case insert(entity: String, RecordID, values: [String: Value])
  case update(entity: String, RecordID, values: [String: Value])
  case delete(entity: String, RecordID)
  case link(LinkKey)
  case unlink(LinkKey)

  /// Writes it, inside a save. What the schema does not have, an older version, is left out.
  package func apply(to writer: StoreWriter, _ schema: StoreSchema) throws {
    switch self {
    case .insert(let name, let id, let values):
      guard let entity = schema.entity(name) else { return }
      let row = OperationRow(entity: entity, values: values)
      try writer.insert(entity, id, assigned: row.assigned, from: row)
    case .update(let name, let id, let values):
      guard let entity = schema.entity(name) else { return }
      let row = OperationRow(entity: entity, values: values)
      guard !row.assigned.isEmpty else { return }
      try writer.update(entity, id, changed: row.assigned, from: row)
    case .delete(let name, let id):
      if let entity = schema.entity(name) { try writer.delete(entity, id) }
    case .link(let key):
      if let plan = schema.sourcePlan(of: key) { try writer.link(plan, key.source, key.target) }
    case .unlink(let key):
      if let plan = schema.sourcePlan(of: key) { try writer.unlink(plan, key.source, key.target) }
    }
  }

  /// The records that must be there before it can be done.
  var needed: [RecordID] {
    switch self {
    case .insert(_, _, let values): values.values.compactMap(\.reference)
    case .update(_, let id, let values): [id] + values.values.compactMap(\.reference)
    case .delete(_, let id): [id]
    case .link(let key), .unlink(let key): [key.source, key.target]
    }
  }

  var made: RecordID? {
    if case .insert(_, let id, _) = self { return id }
    return nil
  }
}

extension StoreSchema {
  /// The relationship's side that owns the table.
  func sourcePlan(of key: LinkKey) -> LinkPlan? {
    for entity in entities {
      if let plan = entity.links.first(where: { $0.link.key == key.relationship && $0.isSource }) { return plan }
    }
    return nil
  }
}

/// An operation's values as a row: what is missing has its declared default.
struct OperationRow: RowSource {
  let entity: EntityPlan
  let values: [String: Value]

  var assigned: ColumnSet {
    var assigned = ColumnSet()
    for column in entity.columns where values[column.property] != nil { assigned.insert(column.position) }
    return assigned
  }

  func bind(_ columns: ColumnSet, to statement: Statement, from first: Int32) throws {
    var index = first
    for column in entity.columns where columns.contains(column.position) {
      switch try value(of: column) {
      case .null: statement.bindNull(at: index)
      case .integer(let value): statement.bind(value, at: index)
      case .real(let value): statement.bind(value, at: index)
      case .text(let value): statement.bind(value, at: index)
      case .blob(let value): statement.bind(value, at: index)
      }
      index += 1
    }
  }

  func value(of column: ColumnPlan) throws -> Value {
    if let value = values[column.property] { return value }
    guard case .attribute(let attribute) = column.kind, case .constant(let value) = attribute.defaultValue else {
      return .null
    }
    return value
  }
}
