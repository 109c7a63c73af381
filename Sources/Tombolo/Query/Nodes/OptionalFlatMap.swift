import Foundation

extension PredicateExpressions.OptionalFlatMap: QueryExpression {
  func operand(in compiler: QueryCompiler) throws -> QueryOperand {
    let base = try compiler.operand(wrapped)
    switch base {
    case .constant(let value):
      guard value != nil else { return .constant(nil) }
      compiler.define(variable.key, as: base)
      return try compiler.operand(transform)
    case .relation, .range:
      compiler.define(variable.key, as: base)
      return try compiler.operand(transform)
    case .scalar(let scalar):
      return try mapped(scalar, in: compiler)
    case .row(let row):
      return try mapped(row, in: compiler)
    }
  }

  private func mapped(_ scalar: QueryScalar, in compiler: QueryCompiler) throws -> QueryOperand {
    var present = scalar
    present.isNullable = false
    present.guarded = nil
    present.nullWith.append(scalar.sql)
    compiler.define(variable.key, as: .scalar(present))
    let presence = QueryScalar.condition("\(scalar.inside(.equality)) IS NOT NULL", .equality, mayFail: scalar.mayFail)
    return try guarded(
      compiler.operand(transform), by: scalar.isNullable ? presence : .yes, key: scalar.sql, in: compiler)
  }

  private func mapped(_ row: RowOperand, in compiler: QueryCompiler) throws -> QueryOperand {
    var present = row
    present.isNullable = false
    compiler.define(variable.key, as: .row(present))
    let result = try compiler.operand(transform)
    if case .row(var next) = result {
      next.isNullable = true
      guard row.cast == nil || row.leads(to: next) else {
        throw QueryFailure.unsupported(
          "an object that has nothing to do with the one that as? casts",
          instead: "Take it from the cast object: (object as? Kind)?.other?.name.")
      }
      return .row(next)
    }
    return try guarded(
      result, by: compiler.presence(of: row), key: row.cast ?? row.row.presenceKey(in: compiler), in: compiler)
  }

  /// The transform's value where the base is there, null elsewhere.
  private func guarded(
    _ result: QueryOperand, by presence: QueryScalar, key: String, in compiler: QueryCompiler
  ) throws -> QueryOperand {
    if case .relation = result { return result }
    if presence.sql == "1" { return result }
    var value = try compiler.scalar(result)
    if value.isNaN { throw QueryFailure.unsupported("a captured NaN as a value", instead: "Compare with it directly.") }
    if value.nullWith.contains(key) {
      value.isNullable = true
      return .scalar(value)
    }
    let payload = QueryScalar.Guarded(
      presence: presence.sql, presenceBinding: presence.binding, value: value.sql, valueBinding: value.binding,
      valueIsNullable: value.isNullable)
    value.sql = "CASE WHEN \(presence.sql) THEN \(value.sql) END"
    value.binding = .atom
    value.isNullable = true
    value.mayFail = value.mayFail || presence.mayFail
    value.nullWith = []
    value.guarded = payload
    return .scalar(value)
  }
}
