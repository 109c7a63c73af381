import Foundation
import TomboloProtocol

/// Evaluates a predicate in memory without the traps of Swift's arithmetic.
///
/// Foundation computes `a + b` and `a / b` with operators that end the process on overflow and on a division by zero.
/// Before such a predicate is evaluated, its arithmetic is tried, in the order of the evaluation.
struct CheckedEvaluation<Model> {
  private let predicate: Predicate<Model>
  private let hasArithmetic: Bool

  init(_ predicate: Predicate<Model>) {
    self.predicate = predicate
    let text = "\(type(of: predicate.expression))"
    // What a composed predicate consists of is no part of its type.
    let words = [
      "Arithmetic<", "IntDivision<", "IntRemainder<", "UnaryMinus<", "Range<", "PredicateGroup<", "ExpressionTest<",
    ]
    hasArithmetic = words.contains { text.contains($0) }
  }

  /// - Throws: `predicate_failed`, or what the predicate's own evaluation throws.
  func holds(for model: Model) throws -> Bool {
    do {
      if hasArithmetic {
        try checkParts(predicate.expression, PredicateBindings((predicate.variable, model)))
      }
      return try predicate.evaluate(model)
    } catch let error as PredicateError {
      throw failure(
        error == .forceUnwrapFailure ? "it unwraps nil" : "an index or another value lies outside of what is possible")
    }
  }
}

/// An expression with parts whose arithmetic has to be tried before it is evaluated.
private protocol CheckedExpression {
  func check(_ bindings: PredicateBindings) throws
}

private func checkParts(_ expression: Any, _ bindings: PredicateBindings) throws {
  try (expression as? any CheckedExpression)?.check(bindings)
}

private func failure(_ reason: String) -> TomboloError {
  TomboloError(
    .predicateFailed, "The predicate failed while it ran: \(reason).",
    remedy: "Guard the expression so that it is not reached for such records.")
}

private enum Operation { case add, subtract, multiply, divide, remainder }

/// Nothing for other numbers than integers, which have no traps.
private func attempt(_ operation: Operation, _ left: Any, _ right: Any) throws {
  guard let left = left as? any FixedWidthInteger else { return }
  try attemptInteger(operation, left, right)
}

private func attemptInteger<Number: FixedWidthInteger>(_ operation: Operation, _ left: Number, _ right: Any) throws {
  guard let right = right as? Number else { return }
  if right == 0, operation == .divide || operation == .remainder { throw failure("division by zero") }
  let overflows =
    switch operation {
    case .add: left.addingReportingOverflow(right).overflow
    case .subtract: left.subtractingReportingOverflow(right).overflow
    case .multiply: left.multipliedReportingOverflow(by: right).overflow
    case .divide: left.dividedReportingOverflow(by: right).overflow
    case .remainder: left.remainderReportingOverflow(dividingBy: right).overflow
    }
  if overflows { throw failure("an integer overflows") }
}

// MARK: Arithmetic

extension PredicateExpressions.Arithmetic: CheckedExpression {
  fileprivate func check(_ bindings: PredicateBindings) throws {
    try checkParts(lhs, bindings)
    try checkParts(rhs, bindings)
    let operation: Operation =
      switch op {
      case .add: .add
      case .subtract: .subtract
      case .multiply: .multiply
      @unknown default: .add
      }
    try attempt(operation, lhs.evaluate(bindings), rhs.evaluate(bindings))
  }
}

extension PredicateExpressions.IntDivision: CheckedExpression {
  fileprivate func check(_ bindings: PredicateBindings) throws {
    try checkParts(lhs, bindings)
    try checkParts(rhs, bindings)
    try attempt(.divide, lhs.evaluate(bindings), rhs.evaluate(bindings))
  }
}

extension PredicateExpressions.IntRemainder: CheckedExpression {
  fileprivate func check(_ bindings: PredicateBindings) throws {
    try checkParts(lhs, bindings)
    try checkParts(rhs, bindings)
    try attempt(.remainder, lhs.evaluate(bindings), rhs.evaluate(bindings))
  }
}

extension PredicateExpressions.UnaryMinus: CheckedExpression {
  fileprivate func check(_ bindings: PredicateBindings) throws {
    try checkParts(wrapped, bindings)
    let value = try wrapped.evaluate(bindings)
    try attempt(.subtract, type(of: value).zero, value)
  }
}

// MARK: What may keep arithmetic from being reached

extension PredicateExpressions.Conjunction: CheckedExpression {
  fileprivate func check(_ bindings: PredicateBindings) throws {
    try checkParts(lhs, bindings)
    if try lhs.evaluate(bindings) { try checkParts(rhs, bindings) }
  }
}

extension PredicateExpressions.Disjunction: CheckedExpression {
  fileprivate func check(_ bindings: PredicateBindings) throws {
    try checkParts(lhs, bindings)
    if try !lhs.evaluate(bindings) { try checkParts(rhs, bindings) }
  }
}

extension PredicateExpressions.Conditional: CheckedExpression {
  fileprivate func check(_ bindings: PredicateBindings) throws {
    try checkParts(test, bindings)
    if try test.evaluate(bindings) {
      try checkParts(trueBranch, bindings)
    } else {
      try checkParts(falseBranch, bindings)
    }
  }
}

extension PredicateExpressions.NilCoalesce: CheckedExpression {
  fileprivate func check(_ bindings: PredicateBindings) throws {
    try checkParts(lhs, bindings)
    if try lhs.evaluate(bindings) == nil { try checkParts(rhs, bindings) }
  }
}

extension PredicateExpressions.OptionalFlatMap: CheckedExpression {
  fileprivate func check(_ bindings: PredicateBindings) throws {
    try checkParts(wrapped, bindings)
    guard let value = try wrapped.evaluate(bindings) else { return }
    try checkParts(transform, bindings.binding(variable, to: value))
  }
}

// MARK: What holds it

extension PredicateExpressions.Negation: CheckedExpression {
  fileprivate func check(_ bindings: PredicateBindings) throws { try checkParts(wrapped, bindings) }
}

extension PredicateExpressions.ForcedUnwrap: CheckedExpression {
  fileprivate func check(_ bindings: PredicateBindings) throws { try checkParts(inner, bindings) }
}

extension PredicateExpressions.Comparison: CheckedExpression {
  fileprivate func check(_ bindings: PredicateBindings) throws {
    try checkParts(lhs, bindings)
    try checkParts(rhs, bindings)
  }
}

extension PredicateExpressions.Equal: CheckedExpression {
  fileprivate func check(_ bindings: PredicateBindings) throws {
    try checkParts(lhs, bindings)
    try checkParts(rhs, bindings)
  }
}

extension PredicateExpressions.NotEqual: CheckedExpression {
  fileprivate func check(_ bindings: PredicateBindings) throws {
    try checkParts(lhs, bindings)
    try checkParts(rhs, bindings)
  }
}

extension PredicateExpressions.FloatDivision: CheckedExpression {
  fileprivate func check(_ bindings: PredicateBindings) throws {
    try checkParts(lhs, bindings)
    try checkParts(rhs, bindings)
  }
}

// MARK: What runs over several objects

/// Tries the elements in the order of the evaluation, as far as it goes.
private func checkElements<Element>(
  _ elements: some Sequence<Element>, _ variable: PredicateExpressions.Variable<Element>,
  _ test: some PredicateExpression<Bool>, _ bindings: PredicateBindings, until end: Bool?
) throws {
  for element in elements {
    let inner = bindings.binding(variable, to: element)
    try checkParts(test, inner)
    if let end, try test.evaluate(inner) == end { return }
  }
}

extension PredicateExpressions.SequenceContainsWhere: CheckedExpression {
  fileprivate func check(_ bindings: PredicateBindings) throws {
    try checkParts(sequence, bindings)
    try checkElements(try sequence.evaluate(bindings), variable, test, bindings, until: true)
  }
}

extension PredicateExpressions.SequenceAllSatisfy: CheckedExpression {
  fileprivate func check(_ bindings: PredicateBindings) throws {
    try checkParts(sequence, bindings)
    try checkElements(try sequence.evaluate(bindings), variable, test, bindings, until: false)
  }
}

extension PredicateExpressions.Filter: CheckedExpression {
  fileprivate func check(_ bindings: PredicateBindings) throws {
    try checkParts(sequence, bindings)
    try checkElements(try sequence.evaluate(bindings), variable, filter, bindings, until: nil)
  }
}

extension PredicateExpressions.SequenceContains: CheckedExpression {
  fileprivate func check(_ bindings: PredicateBindings) throws {
    try checkParts(sequence, bindings)
    try checkParts(element, bindings)
  }
}

extension PredicateExpressions.KeyPath: CheckedExpression {
  fileprivate func check(_ bindings: PredicateBindings) throws { try checkParts(root, bindings) }
}

// MARK: Ranges, which trap where they end before they begin

private func attemptRange<Bound: Comparable>(_ lower: Bound, _ upper: Bound) throws {
  if !(lower <= upper) { throw failure("a range ends before it begins") }
}

extension PredicateExpressions.Range: CheckedExpression {
  fileprivate func check(_ bindings: PredicateBindings) throws {
    try checkParts(lower, bindings)
    try checkParts(upper, bindings)
    try attemptRange(lower.evaluate(bindings), upper.evaluate(bindings))
  }
}

extension PredicateExpressions.ClosedRange: CheckedExpression {
  fileprivate func check(_ bindings: PredicateBindings) throws {
    try checkParts(lower, bindings)
    try checkParts(upper, bindings)
    try attemptRange(lower.evaluate(bindings), upper.evaluate(bindings))
  }
}

extension PredicateExpressions.RangeExpressionContains: CheckedExpression {
  fileprivate func check(_ bindings: PredicateBindings) throws {
    try checkParts(range, bindings)
    try checkParts(element, bindings)
  }
}

// MARK: Texts, subscripts and kinds

extension PredicateExpressions.CollectionContainsCollection: CheckedExpression {
  fileprivate func check(_ bindings: PredicateBindings) throws {
    try checkParts(base, bindings)
    try checkParts(other, bindings)
  }
}

extension PredicateExpressions.StringLocalizedStandardContains: CheckedExpression {
  fileprivate func check(_ bindings: PredicateBindings) throws {
    try checkParts(root, bindings)
    try checkParts(other, bindings)
  }
}

extension PredicateExpressions.StringCompare: CheckedExpression {
  fileprivate func check(_ bindings: PredicateBindings) throws {
    try checkParts(root, bindings)
    try checkParts(other, bindings)
  }
}

extension PredicateExpressions.SequenceStartsWith: CheckedExpression {
  fileprivate func check(_ bindings: PredicateBindings) throws {
    try checkParts(base, bindings)
    try checkParts(prefix, bindings)
  }
}

extension PredicateExpressions.CollectionIndexSubscript: CheckedExpression {
  fileprivate func check(_ bindings: PredicateBindings) throws {
    try checkParts(wrapped, bindings)
    try checkParts(index, bindings)
  }
}

extension PredicateExpressions.DictionaryKeySubscript: CheckedExpression {
  fileprivate func check(_ bindings: PredicateBindings) throws {
    try checkParts(wrapped, bindings)
    try checkParts(key, bindings)
  }
}

extension PredicateExpressions.DictionaryKeyDefaultValueSubscript: CheckedExpression {
  fileprivate func check(_ bindings: PredicateBindings) throws {
    try checkParts(wrapped, bindings)
    try checkParts(key, bindings)
    try checkParts(self.default, bindings)
  }
}

extension PredicateExpressions.ConditionalCast: CheckedExpression {
  fileprivate func check(_ bindings: PredicateBindings) throws { try checkParts(input, bindings) }
}

extension PredicateExpressions.TypeCheck: CheckedExpression {
  fileprivate func check(_ bindings: PredicateBindings) throws { try checkParts(input, bindings) }
}

// MARK: Predicates inside predicates

extension PredicateExpressions.PredicateGroup: CheckedExpression {
  fileprivate func check(_ bindings: PredicateBindings) throws {
    let value = try input.evaluate(bindings)
    for predicate in predicates where try CheckedEvaluation(predicate).holds(for: value) != requiresAll { return }
  }
}

extension PredicateExpressions.ExpressionTest: CheckedExpression {
  fileprivate func check(_ bindings: PredicateBindings) throws {
    let value = try input.evaluate(bindings)
    try checkParts(expression.expression, PredicateBindings((expression.variable, value)))
    _ = try CheckedEvaluation(test).holds(for: expression.evaluate(value))
  }
}
