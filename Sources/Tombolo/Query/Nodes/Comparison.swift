import Foundation

extension PredicateExpressions.Comparison: QueryExpression, DemandedExpression {
  func operand(in compiler: QueryCompiler) throws -> QueryOperand {
    let (a, b) = try compiler.scalars(lhs, rhs)
    compiler.noteBound(a, sqlOperator, b)
    return .scalar(QueryCompiler.comparison(a, sqlOperator, b))
  }

  private var sqlOperator: String {
    switch op {
    case .lessThan: "<"
    case .lessThanOrEqual: "<="
    case .greaterThan: ">"
    case .greaterThanOrEqual: ">="
    @unknown default: "<"
    }
  }
}

extension QueryCompiler {
  /// `<` and its kin. Swift compares only what is not nil; NaN is in no order.
  static func comparison(_ a: QueryScalar, _ sqlOperator: String, _ b: QueryScalar) -> QueryScalar {
    if a.isNaN || b.isNaN { return .no }
    let mayFail = a.mayFail || b.mayFail
    if a.type.isDecimal {
      return .condition(
        "tombolo_decimal_compare(\(a.sql), \(b.sql)) \(sqlOperator) 0", .comparison, mayFail: mayFail)
    }
    let sql = "\(a.comparable(inside: .comparison)) \(sqlOperator) \(b.comparable(inside: .comparison))"
    if a.mayBeNaN || b.mayBeNaN || a.isNullable || b.isNullable {
      return .condition("coalesce(\(sql), 0)", .atom, mayFail: mayFail)
    }
    return .condition(sql, .comparison, mayFail: mayFail)
  }
}
