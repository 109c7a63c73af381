import Foundation

extension PredicateExpressions.Negation: QueryExpression, NegatingExpression {
  var inner: any PredicateExpression { wrapped }

  func operand(in compiler: QueryCompiler) throws -> QueryOperand {
    // A chain of negations is counted, not nested.
    var isNegated = true
    var node: any PredicateExpression = wrapped
    while let next = node as? any NegatingExpression {
      node = next.inner
      isNegated.toggle()
    }
    let condition = try compiler.condition(node)
    return .scalar(isNegated ? compiler.negation(of: condition) : condition)
  }
}

/// `!`.
protocol NegatingExpression: QueryExpression {
  var inner: any PredicateExpression { get }
}

extension QueryCompiler {
  /// The opposite of a condition that is never null.
  func negation(of condition: QueryScalar) -> QueryScalar {
    if condition.sql == "1" { return .no }
    if condition.sql == "0" { return .yes }
    let suffix = " IS NOT NULL"
    if condition.binding == .equality, condition.sql.hasSuffix(suffix), !condition.sql.contains(" IS NOT NULL AND ") {
      return .condition(condition.sql.dropLast(suffix.count) + " IS NULL", .equality, mayFail: condition.mayFail)
    }
    // NOT binds less tightly than comparisons.
    return .condition("NOT \(condition.inside(.not))", .not, mayFail: condition.mayFail)
  }
}
