import Foundation

extension PredicateExpressions.Equal: QueryExpression {
  func operand(in compiler: QueryCompiler) throws -> QueryOperand {
    let toleratesNull = compiler.toleratesNull
    return .scalar(
      try compiler.equality(compiler.operand(lhs), compiler.operand(rhs), isEqual: true, toleratesNull: toleratesNull))
  }
}

extension PredicateExpressions.NotEqual: QueryExpression {
  func operand(in compiler: QueryCompiler) throws -> QueryOperand {
    .scalar(try compiler.equality(compiler.operand(lhs), compiler.operand(rhs), isEqual: false, toleratesNull: false))
  }
}

extension QueryCompiler {
  /// `==` and `!=` as Swift has them: nil equals nil and nothing else, and the answer is never null.
  func equality(
    _ left: QueryOperand, _ right: QueryOperand, isEqual: Bool, toleratesNull: Bool
  ) throws -> QueryScalar {
    if let presence = try presence(of: left, comparedWith: right) ?? presence(of: right, comparedWith: left) {
      return isEqual ? negation(of: presence) : presence
    }
    let (a, b) = try scalars(left, right)
    if a.isNaN || b.isNaN { return isEqual ? .no : .yes }
    let mayFail = a.mayFail || b.mayFail
    if !isEqual, a.type.isFloatingPoint, a.mayBeNaN || b.mayBeNaN {
      return .condition("NOT coalesce(\(a.inside(.equality)) = \(b.inside(.equality)), 0)", .not, mayFail: mayFail)
    }
    if a.type == .bool, !a.isNullable, let constant = b.booleanConstant {
      return constant == isEqual ? a : negation(of: a)
    }
    let isNullable = a.isNullable || b.isNullable
    let mayUseEquals = !isNullable || (toleratesNull && isEqual && !(a.isNullable && b.isNullable))
    let name = mayUseEquals ? (isEqual ? "=" : "<>") : (isEqual ? "IS" : "IS NOT")
    var result = QueryScalar.condition(
      "\(a.comparable(inside: .equality)) \(name) \(b.comparable(inside: .equality))", .equality, mayFail: mayFail)
    // NaN came out of arithmetic as null.
    if isEqual, a.mayBeNaN || b.mayBeNaN {
      result = .condition(
        "coalesce(\(a.inside(.equality)) = \(b.inside(.equality)), 0)", .atom, mayFail: mayFail)
    }
    return result
  }

  /// The condition under which `operand` is there, where `other` is a captured nil; nil where it is something else.
  private func presence(of operand: QueryOperand, comparedWith other: QueryOperand) throws -> QueryScalar? {
    guard case .constant(nil) = other else { return nil }
    switch operand {
    case .constant(let value): return value == nil ? .no : .yes
    case .row(let row): return self.presence(of: row)
    case .scalar(let scalar):
      if !scalar.isNullable { return scalar.mayFail ? nil : .yes }
      if let guarded = scalar.guarded, !guarded.valueIsNullable {
        return .condition(guarded.presence, guarded.presenceBinding, mayFail: scalar.mayFail)
      }
      return .condition("\(scalar.inside(.equality)) IS NOT NULL", .equality, mayFail: scalar.mayFail)
    case .relation:
      throw QueryFailure.unsupported(
        "a comparison of a to-many relationship with nil", instead: "Ask whether it isEmpty.")
    case .range: return .yes
    }
  }

  /// The condition under which a row is there; never null.
  func presence(of row: RowOperand) -> QueryScalar {
    if let cast = row.cast { return .condition(cast, .equality) }
    if !row.isNullable { return .yes }
    return .condition("\(row.row.presenceKey(in: self)) IS NOT NULL", .equality)
  }
}
