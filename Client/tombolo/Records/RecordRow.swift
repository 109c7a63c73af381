package import Tombolo
import TomboloClient
package import TomboloProtocol
package import TomboloSQLite

/// One record's columns, and the forms in which it is shown.
package struct RecordRow: Sendable {
  package var id: RecordID
  /// The record's own entity; nil where its table has only one.
  package var entity: String?
  /// In the order of the plan's declared columns.
  package var values: [Value]

  /// The head of a statement whose rows ``init(_:)`` reads.
  package static func selection(of plan: EntityPlan) -> String {
    let names = plan.declaredColumns.map { $0.value(in: plan.table.quotedIdentifier) }
    return "SELECT "
      + (["_tombolo_id", plan.hasEntityColumn ? "_tombolo_entity" : "NULL"] + names).joined(separator: ", ")
      + " FROM \(plan.table.quotedIdentifier)"
  }

  package init?(_ statement: Statement) {
    guard let halves = statement.halves(0) else { return nil }
    id = RecordID(high: halves.high, low: halves.low)
    entity = statement.isNull(1) ? nil : statement.string(1)
    values = (2..<statement.columnCount).map { statement.value($0) }
  }

  package func json(_ plan: EntityPlan) -> [(String, JSONText)] {
    var members: [(String, JSONText)] = [(plan.identifierKey, .string(id.description))]
    if let entity { members.append(("entity", .string(entity))) }
    for (column, value) in zip(plan.declaredColumns, values) {
      members.append((column.property, Self.json(value, column)))
    }
    return members
  }

  static func json(_ value: Value, _ column: ColumnPlan) -> JSONText {
    let type = column.attributeType
    switch (value, type) {
    case (.integer(let number), .bool): return .bool(number != 0)
    case (.integer(let number), _): return .integer(number)
    case (.real(let number), .double), (.real(let number), .float): return .real(number)
    default: return .optional(ValueText.text(value, type: type))
    }
  }

  /// The columns as text; nil for no value.
  package func texts(_ plan: EntityPlan) -> [String?] {
    zip(plan.declaredColumns, values).map { column, value in
      ValueText.text(value, type: column.attributeType)
    }
  }
}

extension ColumnPlan {
  /// Nil for a reference.
  package var attributeType: AttributeType? { attribute?.type }

  package var attribute: SchemaAttribute? {
    guard case .attribute(let attribute) = kind else { return nil }
    return attribute
  }
}

extension EntityPlan {
  /// What the record's identifier is called in output: `id`, with underscores before it as long as the entity has an attribute
  /// of that name.
  package var identifierKey: String {
    var key = "id"
    while column(key) != nil { key = "_" + key }
    return key
  }
}
