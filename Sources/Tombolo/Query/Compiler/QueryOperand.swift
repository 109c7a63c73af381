import Foundation

/// What a node of a predicate stands for.
indirect enum QueryOperand {
  case scalar(QueryScalar)
  /// A model object, which may be absent.
  case row(RowOperand)
  /// The records of a to-many relationship.
  case relation(QueryRelation)
  /// A captured Swift value; nil for a captured nil. Optionals around it are gone.
  case constant(Any?)
  case range(QueryRange)
}

/// A range inside a predicate: `lower..<upper` or `lower...upper`; a missing bound is open.
struct QueryRange {
  var lower: QueryOperand?
  var upper: QueryOperand?
  var includesUpper: Bool
}

/// Lets an optional of any type be told from its value.
protocol OptionalValue {
  /// The value without any optional around it.
  var flattened: Any? { get }
}

extension Optional: OptionalValue {
  var flattened: Any? {
    switch self {
    case nil: return nil
    case .some(let value):
      if let inner = value as? any OptionalValue { return inner.flattened }
      return value
    }
  }
}

/// A captured value without any optional around it.
func withoutOptional(_ value: Any) -> Any? {
  if let optional = value as? any OptionalValue { return optional.flattened }
  return value
}
