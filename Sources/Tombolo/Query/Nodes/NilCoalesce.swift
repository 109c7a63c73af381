import Foundation

extension PredicateExpressions.NilCoalesce: QueryExpression {
  func operand(in compiler: QueryCompiler) throws -> QueryOperand {
    let left = try compiler.operand(lhs)
    switch left {
    case .constant(let value):
      return value == nil ? try compiler.operand(rhs) : left
    case .relation:
      // A to-many is never nil.
      return left
    case .row, .range:
      throw QueryFailure.unsupported(
        "?? between model objects or ranges", instead: "Use ?? on a property: (object?.name ?? other).")
    case .scalar(let a):
      let b = try compiler.scalar(compiler.operand(rhs), as: a.type)
      return .scalar(try compiler.coalesce(a, b))
    }
  }
}

extension QueryCompiler {
  func coalesce(_ a: QueryScalar, _ b: QueryScalar) throws -> QueryScalar {
    if !a.isNullable { return a }
    let mayFail = a.mayFail || b.mayFail
    // `if let … else { false }` and the like as plain AND and OR, which can use an index.
    if let guarded = a.guarded, !guarded.valueIsNullable, let constant = b.booleanConstant, !mayFail {
      var presence = QueryScalar.condition(guarded.presence, guarded.presenceBinding)
      if constant { presence = negation(of: presence) }
      let value = QueryScalar.condition(guarded.value, guarded.valueBinding)
      return Self.joined([presence, value], isConjunction: !constant)
    }
    var result = QueryScalar("coalesce(\(a.sql), \(b.sql))", .atom, a.type)
    if mayFail, b.mayFail {
      result.sql = "CASE WHEN \(a.inside(.equality)) IS NOT NULL THEN \(a.sql) ELSE \(b.sql) END"
    }
    result.isNullable = b.isNullable
    result.isComposed = a.isComposed && b.isComposed
    result.mayFail = mayFail
    result.mayBeNaN = a.mayBeNaN || b.mayBeNaN || b.isNaN
    return result
  }
}
