public import Foundation

extension PredicateExpressions {
  /// Several predicates over the same input, joined by and or by or.
  public struct PredicateGroup<Input>: PredicateExpression, StandardPredicateExpression {
    /// Whether the group holds.
    public typealias Output = Bool
    /// The members.
    public let predicates: [Predicate<Input>]
    /// Whether all of them have to hold, or one.
    public let requiresAll: Bool
    /// The value that they are asked about.
    public let input: Variable<Input>

    /// Makes the node.
    public init(_ predicates: [Predicate<Input>], requiresAll: Bool, input: Variable<Input>) {
      self.predicates = predicates
      self.requiresAll = requiresAll
      self.input = input
    }

    /// Evaluates the node in memory.
    public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
      let value = try input.evaluate(bindings)
      for predicate in predicates where try predicate.evaluate(value) != requiresAll { return !requiresAll }
      return requiresAll
    }
  }
}

// Predicates themselves are not codable on this platform; a node of one has to claim that it is.
extension PredicateExpressions.PredicateGroup {
  /// Always throws: a composed predicate cannot be decoded.
  public init(from decoder: any Decoder) throws {
    throw DecodingError.dataCorrupted(
      DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "A composed predicate is not decodable."))
  }

  /// Always throws: a composed predicate cannot be encoded.
  public func encode(to encoder: any Encoder) throws {
    throw EncodingError.invalidValue(
      predicates.count,
      EncodingError.Context(codingPath: encoder.codingPath, debugDescription: "A composed predicate is not encodable."))
  }
}

extension PredicateExpressions.PredicateGroup: QueryExpression {
  func operand(in compiler: QueryCompiler) throws -> QueryOperand {
    let toleratesNull = compiler.toleratesNull
    let value = try compiler.operand(input)
    let parts = try predicates.map { predicate in
      compiler.define(predicate.variable.key, as: value)
      return try compiler.condition(predicate.expression, toleratesNull: toleratesNull)
    }
    return .scalar(QueryCompiler.joined(parts, isConjunction: requiresAll))
  }
}

/// Predicates put together at run time: a nested `evaluate` inside `#Predicate` does not compile on this platform.
///
///     let open = #Predicate<Ticket> { !$0.isClosed }
///     let mine = #Predicate<Ticket> { $0.owner == name }
///     let both = Predicates.all([open, mine])
public enum Predicates {
  /// A predicate that holds where all of these do; for none of them, everywhere.
  public static func all<Model>(_ predicates: [Predicate<Model>]) -> Predicate<Model> {
    Predicate { PredicateExpressions.PredicateGroup(predicates, requiresAll: true, input: $0) }
  }

  /// A predicate that holds where one of these does; for none of them, nowhere.
  public static func any<Model>(_ predicates: [Predicate<Model>]) -> Predicate<Model> {
    Predicate { PredicateExpressions.PredicateGroup(predicates, requiresAll: false, input: $0) }
  }

  /// A predicate that holds where this one does not.
  public static func not<Model>(_ predicate: Predicate<Model>) -> Predicate<Model> {
    Predicate {
      PredicateExpressions.build_Negation(
        PredicateExpressions.PredicateGroup([predicate], requiresAll: true, input: $0))
    }
  }
}
