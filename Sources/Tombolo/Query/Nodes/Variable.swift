import Foundation

extension PredicateExpressions.Variable: QueryExpression {
  func operand(in compiler: QueryCompiler) throws -> QueryOperand {
    guard let operand = compiler.value(of: key) else {
      throw QueryFailure.unsupported(
        "a variable of another predicate", instead: "Use the variables of the predicate's own closures.")
    }
    return operand
  }
}
