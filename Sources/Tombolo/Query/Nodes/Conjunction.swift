import Foundation

extension PredicateExpressions.Conjunction: QueryExpression, ConnectiveExpression, DemandedExpression {
  static var isConjunction: Bool { true }
  var sides: (any PredicateExpression, any PredicateExpression) { (lhs, rhs) }

  func operand(in compiler: QueryCompiler) throws -> QueryOperand { .scalar(try compiler.connective(self)) }
}

extension PredicateExpressions.Disjunction: QueryExpression, ConnectiveExpression {
  static var isConjunction: Bool { false }
  var sides: (any PredicateExpression, any PredicateExpression) { (lhs, rhs) }

  func operand(in compiler: QueryCompiler) throws -> QueryOperand { .scalar(try compiler.connective(self)) }
}

/// `&&` and `||`.
protocol ConnectiveExpression: QueryExpression {
  static var isConjunction: Bool { get }
  var sides: (any PredicateExpression, any PredicateExpression) { get }
}

extension QueryCompiler {
  /// A chain of one connective is taken apart without recursion, so that a thousand alternatives need no deep stack.
  fileprivate func connective(_ node: some ConnectiveExpression) throws -> QueryScalar {
    let toleratesNull = self.toleratesNull
    let isConjunction = type(of: node).isConjunction
    var parts: [QueryScalar] = []
    var pending: [any PredicateExpression] = [node]
    while let next = pending.popLast() {
      if let chained = next as? any ConnectiveExpression, type(of: chained).isConjunction == isConjunction {
        let (left, right) = chained.sides
        pending.append(right)
        pending.append(left)
      } else {
        parts.append(try condition(next, toleratesNull: toleratesNull))
      }
    }
    return Self.joined(parts, isConjunction: isConjunction)
  }

  static func joined(_ parts: [QueryScalar], isConjunction: Bool) -> QueryScalar {
    // Constants fall away: a condition that a captured flag switches on or off must not spoil the plan.
    let neutral = isConjunction ? "1" : "0"
    let absorbing = isConjunction ? "0" : "1"
    let parts = parts.filter { $0.sql != neutral }
    guard let first = parts.first else { return isConjunction ? .yes : .no }
    if parts.count == 1 { return first }
    if parts.contains(where: \.mayFail) { return inOrder(parts, isConjunction: isConjunction) }
    if parts.contains(where: { $0.sql == absorbing }) { return isConjunction ? .no : .yes }
    let binding: QueryScalar.Binding = isConjunction ? .and : .or
    return .condition(
      balanced(parts[...], by: isConjunction ? " AND " : " OR ", binding), binding, mayFail: false
    )
    .nullable(parts.contains(where: \.isNullable))
  }

  /// SQLite's tree of a flat chain is as deep as the chain is long, and at most 1000 deep.
  private static func balanced(
    _ parts: ArraySlice<QueryScalar>, by separator: String, _ binding: QueryScalar.Binding
  ) -> String {
    let width = 64
    // The same operator inside needs no parentheses.
    if parts.count <= width {
      return parts.map { $0.binding >= binding ? $0.sql : "(\($0.sql))" }.joined(separator: separator)
    }
    var size = (parts.count + width - 1) / width
    size = max(size, width)
    var groups: [String] = []
    var start = parts.startIndex
    while start < parts.endIndex {
      let end = min(start + size, parts.endIndex)
      groups.append("(" + balanced(parts[start..<end], by: separator, binding) + ")")
      start = end
    }
    return groups.joined(separator: separator)
  }

  /// Only CASE promises not to evaluate what comes after the decision.
  private static func inOrder(_ parts: [QueryScalar], isConjunction: Bool) -> QueryScalar {
    var text = parts[parts.count - 1].sql
    for part in parts.dropLast().reversed() {
      text =
        isConjunction
        ? "CASE WHEN \(part.sql) THEN \(text) ELSE 0 END" : "CASE WHEN \(part.sql) THEN 1 ELSE \(text) END"
    }
    return .condition(text, .atom, mayFail: true).nullable(parts.contains(where: \.isNullable))
  }
}

extension QueryScalar {
  func nullable(_ isNullable: Bool) -> QueryScalar {
    var scalar = self
    scalar.isNullable = isNullable
    return scalar
  }
}
