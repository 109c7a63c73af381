import Foundation
import TomboloProtocol

/// What the SQL of a fetch depends on, and the values that it only binds.
///
/// Two fetches of one shape have the same SQL, so it is made once. The type of a predicate's expression has its whole
/// structure; what the type leaves open (key paths, operators, Booleans) is listed in ``words``, in the order of the tree.
struct PlanShape: Hashable, @unchecked Sendable {
  // Guarded by being immutable once it is built; the key paths are literals that capture nothing.
  private(set) var words: [UInt] = []
  /// Held, so that no other key path gets an address that stands among the words.
  private(set) var paths: [AnyKeyPath] = []
  private(set) var arguments: [Value] = []

  static func == (a: PlanShape, b: PlanShape) -> Bool { a.words == b.words }
  func hash(into hasher: inout Hasher) { hasher.combine(words) }

  /// Nil for a fetch whose SQL has to be made each time: its predicate has other nodes, or values on which SQL depends.
  init?<Model>(
    predicate: Predicate<Model>?, sortBy: [SortDescriptor<Model>], limit: Int?, offset: Int?, entity: EntityPlan
  ) {
    words.append(UInt(bitPattern: entity.index))
    if let predicate {
      guard let expression = predicate.expression as? any ShapedExpression else { return nil }
      words.append(UInt(bitPattern: ObjectIdentifier(type(of: expression))))
      guard expression.isRead(into: &self, variable: predicate.variable.key) else { return nil }
    }
    for descriptor in sortBy {
      guard let path = descriptor.keyPath else { return nil }
      note(path)
      words.append(descriptor.order == .reverse ? 1 : 0)
    }
    // As in a plan, 0 stands for none; an offset alone has a limit of -1.
    let bounds = (limit.map { max(0, $0) } ?? 0, offset.map { max(0, $0) } ?? 0)
    words.append(bounds.1 > 0 ? 2 : bounds.0 > 0 ? 1 : 0)
    if bounds.0 > 0 || bounds.1 > 0 { arguments.append(.integer(bounds.0 > 0 ? Int64(bounds.0) : -1)) }
    if bounds.1 > 0 { arguments.append(.integer(Int64(bounds.1))) }
  }

  fileprivate mutating func note(_ path: AnyKeyPath) {
    paths.append(path)
    words.append(UInt(bitPattern: ObjectIdentifier(path)))
  }
  fileprivate mutating func note(_ word: UInt) { words.append(word) }

  /// False for a value of which more than a parameter may depend: nil, NaN, text that may have several forms.
  fileprivate mutating func note<Captured>(value: Captured) -> Bool {
    switch value {
    case let flag as Bool: words.append(flag ? 1 : 0)
    case let text as String:
      guard text.utf8.allSatisfy({ $0 < 0x80 }) else { return false }
      arguments.append(.text(text))
    case let number as Int: arguments.append(.integer(Int64(number)))
    case let date as Date: return note(real: date.timeIntervalSinceReferenceDate)
    case let number as Double: return note(real: number)
    case let identifier as UUID: arguments.append(.blob(withUnsafeBytes(of: identifier.uuid) { [UInt8]($0) }))
    case let identifier as PersistentIdentifier: arguments.append(.blob(identifier.record.bytes))
    default: return false
    }
    return true
  }

  private mutating func note(real: Double) -> Bool {
    guard !real.isNaN else { return false }
    arguments.append(.real(real == 0 ? 0 : real))
    return true
  }
}

/// A node of a predicate that a ``PlanShape`` knows how to read. That a whole tree consists of such nodes is part of its
/// type, so that one cast at the root is enough.
private protocol ShapedExpression: PredicateExpression {
  /// Lists what the node's type leaves open; false where the SQL has to be made each time.
  func isRead(into shape: inout PlanShape, variable: PredicateExpressions.VariableID) -> Bool
}

extension PredicateExpressions.Variable: ShapedExpression {
  fileprivate func isRead(into shape: inout PlanShape, variable: PredicateExpressions.VariableID) -> Bool {
    key == variable
  }
}

extension PredicateExpressions.Value: ShapedExpression {
  fileprivate func isRead(into shape: inout PlanShape, variable: PredicateExpressions.VariableID) -> Bool {
    shape.note(value: value)
  }
}

extension PredicateExpressions.KeyPath: ShapedExpression where Root: ShapedExpression {
  fileprivate func isRead(into shape: inout PlanShape, variable: PredicateExpressions.VariableID) -> Bool {
    shape.note(keyPath)
    return root.isRead(into: &shape, variable: variable)
  }
}

extension PredicateExpressions.Equal: ShapedExpression where LHS: ShapedExpression, RHS: ShapedExpression {
  fileprivate func isRead(into shape: inout PlanShape, variable: PredicateExpressions.VariableID) -> Bool {
    lhs.isRead(into: &shape, variable: variable) && rhs.isRead(into: &shape, variable: variable)
  }
}

extension PredicateExpressions.NotEqual: ShapedExpression where LHS: ShapedExpression, RHS: ShapedExpression {
  fileprivate func isRead(into shape: inout PlanShape, variable: PredicateExpressions.VariableID) -> Bool {
    lhs.isRead(into: &shape, variable: variable) && rhs.isRead(into: &shape, variable: variable)
  }
}

extension PredicateExpressions.Comparison: ShapedExpression where LHS: ShapedExpression, RHS: ShapedExpression {
  fileprivate func isRead(into shape: inout PlanShape, variable: PredicateExpressions.VariableID) -> Bool {
    switch op {
    case .lessThan: shape.note(0)
    case .lessThanOrEqual: shape.note(1)
    case .greaterThan: shape.note(2)
    case .greaterThanOrEqual: shape.note(3)
    @unknown default: return false
    }
    return lhs.isRead(into: &shape, variable: variable) && rhs.isRead(into: &shape, variable: variable)
  }
}

extension PredicateExpressions.Conjunction: ShapedExpression where LHS: ShapedExpression, RHS: ShapedExpression {
  fileprivate func isRead(into shape: inout PlanShape, variable: PredicateExpressions.VariableID) -> Bool {
    lhs.isRead(into: &shape, variable: variable) && rhs.isRead(into: &shape, variable: variable)
  }
}

extension PredicateExpressions.Disjunction: ShapedExpression where LHS: ShapedExpression, RHS: ShapedExpression {
  fileprivate func isRead(into shape: inout PlanShape, variable: PredicateExpressions.VariableID) -> Bool {
    lhs.isRead(into: &shape, variable: variable) && rhs.isRead(into: &shape, variable: variable)
  }
}

extension PredicateExpressions.Negation: ShapedExpression where Wrapped: ShapedExpression {
  fileprivate func isRead(into shape: inout PlanShape, variable: PredicateExpressions.VariableID) -> Bool {
    wrapped.isRead(into: &shape, variable: variable)
  }
}
