package import TomboloProtocol
package import TomboloSQLite

/// A record as a dictionary of values by property: the command line's and the tests' row.
///
/// A property that is missing has its declared constant default, else null.
package struct ValueRow: RowSource {
  package let entity: EntityPlan
  package private(set) var values: [String: Value]

  /// - Throws: `unknown_attribute` for a name that is no attribute or reference of the entity.
  package init(_ entity: EntityPlan, _ values: [String: Value]) throws {
    self.entity = entity
    self.values = values
    for name in values.keys.sorted() where entity.column(name) == nil {
      throw TomboloError(
        .unknownAttribute, "\(entity.name) has no attribute or reference \(name).",
        remedy: "It has: \(entity.declaredColumns.map(\.property).joined(separator: ", ")).")
    }
  }

  /// The columns that have a value here.
  package var assigned: ColumnSet {
    var set = ColumnSet()
    for column in entity.columns where values[column.property] != nil { set.insert(column.position) }
    return set
  }

  package func bind(_ columns: ColumnSet, to statement: Statement, from first: Int32) throws {
    var parameter = first
    columns.forEach {
      statement.bind(values[entity.columns[$0].property] ?? entity.columns[$0].constantDefault, at: parameter)
      parameter += 1
    }
  }

  package func value(of column: ColumnPlan) throws -> Value { values[column.property] ?? column.constantDefault }
}
