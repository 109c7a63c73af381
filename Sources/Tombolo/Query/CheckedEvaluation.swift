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
    hasArithmetic = ["Arithmetic<", "IntDivision<", "IntRemainder<", "UnaryMinus<"].contains { text.contains($0) }
  }

  /// - Throws: `predicate_failed`, or what the predicate's own evaluation throws.
  func holds(for model: Model) throws -> Bool {
    if hasArithmetic {
      try checkParts(predicate.expression, PredicateBindings((predicate.variable, model)))
    }
    return try predicate.evaluate(model)
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
