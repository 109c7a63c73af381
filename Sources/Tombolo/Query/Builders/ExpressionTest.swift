public import Foundation

extension PredicateExpressions {
  /// Whether the value of an expression satisfies a predicate.
  public struct ExpressionTest<Input, Value>: PredicateExpression, StandardPredicateExpression {
    /// Whether it does.
    public typealias Output = Bool
    /// What makes the value.
    public let expression: Expression<Input, Value>
    /// What it has to satisfy.
    public let test: Predicate<Value>
    /// The value that the expression is asked for.
    public let input: Variable<Input>

    /// Makes the node.
    public init(_ expression: Expression<Input, Value>, _ test: Predicate<Value>, input: Variable<Input>) {
      self.expression = expression
      self.test = test
      self.input = input
    }

    /// Evaluates the node in memory.
    public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
      try test.evaluate(expression.evaluate(input.evaluate(bindings)))
    }
  }
}

// As with a group of predicates: the protocol asks for a coding that its parts do not have here.
extension PredicateExpressions.ExpressionTest {
  /// Always throws: a composed predicate cannot be decoded.
  public init(from decoder: any Decoder) throws {
    throw DecodingError.dataCorrupted(
      DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "A composed predicate is not decodable."))
  }

  /// Always throws: a composed predicate cannot be encoded.
  public func encode(to encoder: any Encoder) throws {
    throw EncodingError.invalidValue(
      "\(Self.self)",
      EncodingError.Context(codingPath: encoder.codingPath, debugDescription: "A composed predicate is not encodable."))
  }
}

extension PredicateExpressions.ExpressionTest: QueryExpression {
  func operand(in compiler: QueryCompiler) throws -> QueryOperand {
    let toleratesNull = compiler.toleratesNull
    compiler.define(expression.variable.key, as: try compiler.operand(input))
    compiler.define(test.variable.key, as: try compiler.operand(expression.expression))
    return .scalar(try compiler.condition(test.expression, toleratesNull: toleratesNull))
  }
}

extension Predicates {
  /// A predicate that holds where the value of an expression satisfies another predicate: an expression's `evaluate` inside
  /// `#Predicate` does not compile on this platform.
  ///
  ///     let openCount = #Expression<Folder, Int> { $0.tickets.filter { !$0.isClosed }.count }
  ///     let busy = Predicates.value(of: openCount, satisfies: #Predicate { $0 > 10 })
  public static func value<Model, Value>(
    of expression: Expression<Model, Value>, satisfies test: Predicate<Value>
  ) -> Predicate<Model> {
    Predicate { PredicateExpressions.ExpressionTest(expression, test, input: $0) }
  }
}
