import Foundation

extension PredicateExpressions.ForcedUnwrap: QueryExpression {
  /// In memory `x!` throws where x is nil; so does the fetch, with `predicate_failed`.
  func operand(in compiler: QueryCompiler) throws -> QueryOperand {
    let operand = try compiler.operand(inner)
    switch operand {
    case .constant(let value):
      guard value != nil else {
        throw QueryFailure.unsupported("! on a captured nil", instead: "Unwrap the value before the predicate.")
      }
      return operand
    case .relation, .range: return operand
    case .scalar(var scalar):
      guard scalar.isNullable else { return operand }
      scalar.sql = "tombolo_unwrap(\(scalar.sql))"
      scalar.binding = .atom
      scalar.isNullable = false
      scalar.mayFail = true
      scalar.nullWith = []
      scalar.guarded = nil
      return .scalar(scalar)
    case .row(let row):
      guard row.isNullable || row.cast != nil else { return operand }
      throw QueryFailure.unsupported("! on a model object", instead: "Use optional chaining: object?.property.")
    }
  }
}
