import TomboloProtocol
import TomboloSQLite

/// A model object as the store's writer sees it: columns bound straight from its stored properties.
final class ModelSource: RowSource {
  private let writer = _$ColumnWriter()
  private var model: (any PersistentModel)?
  private var plan: ModelPlan?

  func point(at model: any PersistentModel, _ plan: ModelPlan) {
    self.model = model
    self.plan = plan
    writer.plan = plan
  }

  func bind(_ columns: ColumnSet, to statement: Statement, from first: Int32) throws {
    guard let model, let plan else { return }
    writer.target = .statement(statement)
    writer.parameter = first
    for position in plan.properties.indices where columns.contains(position) {
      writer.property = plan.properties[position]
      if writer.property < 0 {
        statement.bindNull(at: writer.parameter)
      } else {
        try model._$bind(writer.property, to: writer)
      }
      writer.parameter += 1
    }
  }

  func value(of column: ColumnPlan) throws -> Value {
    guard let model, let plan, !column.isPosition else { return .null }
    writer.target = .capture
    writer.property = plan.properties[column.position]
    try model._$bind(writer.property, to: writer)
    return writer.captured
  }

  func base(of column: ColumnPlan) -> Value? {
    guard let model, let plan else { return nil }
    return model._$state.counterBases?[plan.properties[column.position]]
  }

  /// The columns whose value somebody chose: all but those that equal a declared constant, or nil.
  func assigned() throws -> ColumnSet {
    var assigned = ColumnSet()
    guard let plan else { return assigned }
    for column in plan.entity.columns {
      if let unassigned = plan.unassigned[column.position], try value(of: column) == unassigned { continue }
      assigned.insert(column.position)
    }
    return assigned
  }
}
