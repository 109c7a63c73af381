import Foundation

extension PredicateExpressions.DictionaryKeySubscript: QueryExpression {
  func operand(in compiler: QueryCompiler) throws -> QueryOperand {
    let base = try compiler.operand(wrapped)
    if case .scalar(let stored) = base {
      return .scalar(try compiler.entry(of: stored, Wrapped.Output.self, Value.self, compiler.operand(key)))
    }
    guard case .constant(let dictionary as [Key.Output: Value]) = base,
      case .constant(let key as Key.Output) = try compiler.operand(key)
    else { throw Self.unsupported }
    return .constant(dictionary[key].flatMap { withoutOptional($0) })
  }

  private static var unsupported: any Error {
    QueryFailure.unsupported(
      "a subscript of a stored dictionary", instead: "Store what you filter by in its own property.")
  }
}

extension PredicateExpressions.DictionaryKeyDefaultValueSubscript: QueryExpression {
  func operand(in compiler: QueryCompiler) throws -> QueryOperand {
    guard case .constant(let dictionary as [Key.Output: Default.Output]) = try compiler.operand(wrapped),
      case .constant(let key as Key.Output) = try compiler.operand(key)
    else {
      throw QueryFailure.unsupported(
        "a subscript of a stored dictionary", instead: "Store what you filter by in its own property.")
    }
    if let value = dictionary[key] { return .constant(withoutOptional(value)) }
    return try compiler.operand(self.default)
  }
}

extension PredicateExpressions.CollectionIndexSubscript: QueryExpression {
  func operand(in compiler: QueryCompiler) throws -> QueryOperand {
    guard case .constant(let collection as Wrapped.Output) = try compiler.operand(wrapped),
      case .constant(let index as Index.Output) = try compiler.operand(index)
    else {
      throw QueryFailure.unsupported(
        "a subscript of a relationship or a stored array", instead: "Use contains(where:), or a property of its own.")
    }
    guard collection.indices.contains(index) else {
      throw QueryFailure.unsupported(
        "an index beyond a captured array", instead: "Check the index before the predicate.")
    }
    return .constant(withoutOptional(collection[index]))
  }
}

extension PredicateExpressions.CollectionRangeSubscript: QueryExpression {
  func operand(in compiler: QueryCompiler) throws -> QueryOperand {
    throw QueryFailure.unsupported("a subscript with a range", instead: "Use contains(where:), starts(with:) or count.")
  }
}

extension PredicateExpressions.ExpressionEvaluate: QueryExpression {
  func operand(in compiler: QueryCompiler) throws -> QueryOperand {
    throw QueryFailure.unsupported(
      "evaluate of another expression", instead: "Use Predicates.value(of:satisfies:), or write it in the predicate.")
  }
}
