package import Tombolo
package import TomboloProtocol
import TomboloSQLite

/// One thing that a person does to a record, as a part of a save.
package enum Operation: Sendable {
  /// `values` has what is assigned; the rest keeps its declared default.
  case insert(EntityPlan, RecordID, values: [String: Value])
  case update(EntityPlan, RecordID, values: [String: Value])
  case delete(EntityPlan, RecordID)
  case link(LinkPlan, own: RecordID, other: RecordID)
  case unlink(LinkPlan, own: RecordID, other: RecordID)

  /// Writes it, inside a save.
  package func apply(to writer: StoreWriter) throws {
    switch self {
    case .insert(let entity, let id, let values):
      var assigned = ColumnSet()
      for column in entity.columns where values[column.property] != nil { assigned.insert(column.position) }
      try writer.insert(entity, id, assigned: assigned, from: OperationRow(entity: entity, values: values))
    case .update(let entity, let id, let values):
      var changed = ColumnSet()
      for column in entity.columns where values[column.property] != nil { changed.insert(column.position) }
      try writer.update(entity, id, changed: changed, from: OperationRow(entity: entity, values: values))
    case .delete(let entity, let id): try writer.delete(entity, id)
    case .link(let plan, let own, let other): try writer.link(plan, own, other)
    case .unlink(let plan, let own, let other): try writer.unlink(plan, own, other)
    }
  }

  var traceText: String {
    func list(_ values: [String: Value]) -> String {
      values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.traceText)" }.joined(separator: " ")
    }
    return switch self {
    case .insert(let entity, let id, let values): "insert \(entity.name) \(id.short) \(list(values))"
    case .update(let entity, let id, let values): "update \(entity.name) \(id.short) \(list(values))"
    case .delete(let entity, let id): "delete \(entity.name) \(id.short)"
    case .link(let plan, let own, let other): "link \(plan.link.key) \(own.short) \(other.short)"
    case .unlink(let plan, let own, let other): "unlink \(plan.link.key) \(own.short) \(other.short)"
    }
  }
}

/// An operation's values as a row: what is missing has its declared default.
struct OperationRow: RowSource {
  let entity: EntityPlan
  let values: [String: Value]

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
