import Foundation

extension PredicateExpressions.DictionaryKeySubscript: QueryExpression {
  func operand(in compiler: QueryCompiler) throws -> QueryOperand {
    let base = try compiler.operand(wrapped)
    if case .scalar(let stored) = base {
      return .scalar(try compiler.entry(of: stored, Wrapped.Output.self, Value.self, compiler.operand(key)))
    }
    guard case .constant(let dictionary as [Key.Output: Value]) = base,
      case .constant(let key as Key.Output) = try compiler.operand(key)
    else { throw QueryFailure.storedKey }
    return .constant(dictionary[key].flatMap { withoutOptional($0) })
  }
}

extension PredicateExpressions.DictionaryKeyDefaultValueSubscript: QueryExpression {
  func operand(in compiler: QueryCompiler) throws -> QueryOperand {
    let base = try compiler.operand(wrapped)
    if case .scalar(let stored) = base {
      if Default.Output.self is any OptionalType.Type {
        // SQL cannot tell a value that is nil from a key that is missing.
        throw QueryFailure.unsupported(
          "a default for a stored dictionary of optional values", instead: "Write $0.values[key] ?? value.")
      }
      let entry = try compiler.entry(of: stored, Wrapped.Output.self, Default.Output.self, compiler.operand(key))
      return .scalar(
        try compiler.coalesce(entry, compiler.scalar(compiler.operand(self.default), as: entry.type)))
    }
    guard case .constant(let dictionary as [Key.Output: Default.Output]) = base,
      case .constant(let key as Key.Output) = try compiler.operand(key)
    else { throw QueryFailure.storedKey }
    if let value = dictionary[key] { return .constant(withoutOptional(value)) }
    return try compiler.operand(self.default)
  }
}

extension PredicateExpressions.CollectionIndexSubscript: QueryExpression {
  func operand(in compiler: QueryCompiler) throws -> QueryOperand {
    let base = try compiler.operand(wrapped)
    switch base {
    case .scalar(let stored):
      guard stored.type == .attribute(.codable), Index.Output.self is Int.Type,
        let element = CodableElement.of(Wrapped.Output.self)
      else {
        throw QueryFailure.unsupported(
          "an index into a stored \(Wrapped.Output.self)",
          instead: "Only arrays of Codable values can be indexed, by an Int; ask texts by starts(with:) or contains.")
      }
      let place = try compiler.scalar(compiler.operand(index), as: .integer)
      return .scalar(element.scalar(of: stored, at: place, mayBeAbsent: false))
    case .constant(let collection as Wrapped.Output):
      guard case .constant(let index as Index.Output) = try compiler.operand(index) else {
        throw QueryFailure.unsupported(
          "a stored index into a captured array", instead: "Store the value itself, and use contains on the array.")
      }
      guard collection.indices.contains(index) else {
        throw QueryFailure.unsupported(
          "an index beyond a captured array", instead: "Check the index before the predicate.")
      }
      return .constant(withoutOptional(collection[index]))
    default:
      throw QueryFailure.unsupported(
        "an index into a to-many relationship",
        instead: "Use contains(where:), or an attribute of the member that has its place.")
    }
  }
}

extension QueryFailure {
  /// A captured dictionary has no column that SQL could search.
  fileprivate static var storedKey: TomboloError {
    unsupported(
      "a stored key into a captured dictionary",
      instead: "Capture a list of the keys whose values are wanted, and use contains on it.")
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
