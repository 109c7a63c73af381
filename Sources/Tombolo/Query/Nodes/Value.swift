import Foundation

extension PredicateExpressions.Value: QueryExpression {
  func operand(in compiler: QueryCompiler) throws -> QueryOperand { .constant(withoutOptional(value)) }
}

extension PredicateExpressions.NilLiteral: QueryExpression {
  func operand(in compiler: QueryCompiler) throws -> QueryOperand { .constant(nil) }
}
