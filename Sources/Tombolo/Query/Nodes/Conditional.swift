import Foundation

extension PredicateExpressions.Conditional: QueryExpression {
  func operand(in compiler: QueryCompiler) throws -> QueryOperand {
    let test = try compiler.condition(test)
    let (a, b) = try compiler.scalars(trueBranch, falseBranch)
    var result = QueryScalar("CASE WHEN \(test.sql) THEN \(a.sql) ELSE \(b.sql) END", .atom, a.type)
    result.isNullable = a.isNullable || b.isNullable
    result.isComposed = a.isComposed && b.isComposed
    result.mayFail = test.mayFail || a.mayFail || b.mayFail
    result.mayBeNaN = a.mayBeNaN || b.mayBeNaN || a.isNaN || b.isNaN
    return .scalar(result)
  }
}
