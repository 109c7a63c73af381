import TomboloProtocol
import TomboloSQLite

/// A model object as the store's writer sees it: columns bound straight from its stored properties.
final class ModelSource: RowSource {
  private let writer = _$ColumnWriter()
  private var model: (any PersistentModel)?
  private var plan: ModelPlan?
  /// Records of which it was asked in this save whether they still stand for themselves.
  private var lookedUp: Set<RecordID> = []

  /// Begins a save, and ends one: what became of records is asked anew.
  func forgetStanding() {
    lookedUp = []
    writer.survivors = [:]
  }

  /// The record that stands for an object's: its own, but where others have made it one with another since it was read.
  /// From now on, references that are written to the one lead to the other.
  ///
  /// - Parameter destination: what a reference to the object leads to.
  func standing(
    for target: any PersistentModel, _ destination: EntityPlan? = nil, in store: StoreWriter
  ) throws -> RecordID {
    let state = target._$state
    let record = state.recordID()
    guard let plan = state.plan, plan.canBecomeAnother, state.flags.contains(.stored) else { return record }
    if lookedUp.insert(record).inserted,
      let home = try store.standing(for: record, plan.entity, among: destination ?? plan.entity)
    {
      writer.survivors[record] = home
    }
    return writer.survivors[record] ?? record
  }

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
